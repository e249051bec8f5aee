/**
 * SEC-34: whatever another tenant's id is given for, in a path, a query or a body, it is answered like one that nobody has. By
 * the examples of every operation of the service, whose ids are those of the demo's tenant.
 */

import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { BillingError } from '../../src/errors.ts';
import { allOperations } from '../../src/operations/all.ts';
import type { Billing, Engine, OperationName } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { openStore } from '../../src/store/open.ts';
import { createPlayground } from '../support/playground.ts';
import type { Playground } from '../support/playground.ts';
import { countedBytes, countedIds } from '../support/world.ts';

let playground: Playground;
let engine: Engine;
/** Nothing of what these are asked is kept. */
let theirs: Billing;
let ours: Billing;
/** External ids of the demo's customers. */
let externalIds: readonly string[];

beforeAll(async () => {
  playground = await createPlayground();
  engine = createEngine({
    store: await openStore(join(playground.copy(), 'demo.db')),
    now: () => Temporal.Instant.from('2026-11-21T12:00:00Z'),
    newId: countedIds(),
    randomBytes: countedBytes(),
    finalizationGraceHours: 0,
  });
  const owner = await engine.owner();
  await engine.as(owner).call('orgs.create', { body: { name: 'rival' } });
  const { body } = await engine.as(owner).call('customers.list', { query: { limit: '100' } });
  externalIds = body.data.flatMap(({ metadata }) => metadata.externalCustomerId ?? []);
  theirs = engine.rehearsal(owner);
  ours = engine.rehearsal(await engine.owner('rival'));
}, 60_000);
afterAll(async () => {
  await engine.close();
  await playground.close();
});

const ids = /01900000-0000-7000-8000-0000/g;

/** The same request with ids that nobody has. */
function ofNobody(input: CallInput): CallInput {
  const text = JSON.stringify(input).replaceAll(ids, '01900000-0000-7000-8000-ffff');
  return JSON.parse(
    externalIds.reduce((rest, id) => rest.replaceAll(`"${id}"`, `"${id}-of-nobody"`), text),
  ) as CallInput;
}

async function outcomeOf(billing: Billing, name: OperationName, input: CallInput): Promise<string> {
  try {
    const { status, body } = await billing.call(name, input);
    return status === 200 ? `200 ${JSON.stringify(body)}` : String(status);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return `${error.kind}: ${error.message} (${error.hint ?? ''})`;
  }
}

const same = (outcome: string): string =>
  outcome.replaceAll('01900000-0000-7000-8000-ffff', '01900000-0000-7000-8000-0000').replaceAll('-of-nobody', '');

const asked = allOperations
  .filter(({ route }) => route !== undefined)
  .flatMap(({ name, examples }) => examples.map(({ input, about }) => ({ name: name as OperationName, about, input })));

describe("another tenant's ids", () => {
  test.each(asked)('are as unknown as those of nobody to $name: $about', async ({ name, input }) => {
    expect(same(await outcomeOf(ours, name, input))).toBe(same(await outcomeOf(ours, name, ofNobody(input))));
  });

  test('are those of the other tenant: it does what is refused here', async () => {
    const refused: string[] = [];
    for (const { name, input } of asked) {
      const [here, there] = [await outcomeOf(ours, name, input), await outcomeOf(theirs, name, input)];
      if (/^[a-z]/i.test(here) && /^\d/.test(there)) refused.push(name);
    }
    expect(new Set(refused).size).toBeGreaterThan(40);
  });
});
