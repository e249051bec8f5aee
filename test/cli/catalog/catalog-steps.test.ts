/** How the calls of a diff are made. */

import { afterEach, beforeEach, expect, test } from 'vitest';

import { readCatalogFile } from '../../../src/cli/catalog/file.ts';
import { readCatalog } from '../../../src/cli/catalog/live.ts';
import { diffOf } from '../../../src/cli/catalog/diff.ts';
import { takeSteps } from '../../../src/cli/catalog/steps.ts';
import { createWaitingNote } from '../../../src/cli/session/patiently.ts';
import type { OnWait } from '../../../src/cli/session/patiently.ts';
import { testTerminal } from '../../support/test-terminal.ts';
import { BillingError, RateLimitedError } from '../../../src/errors.ts';
import type { Billing, OperationName } from '../../../src/operations/index.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';
import { catalog, dearer } from './catalog-sample.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => await world.close());

/** The service, with the calls that change something, which `before` may refuse. */
function watched(before: (operation: OperationName, calls: number) => void = () => undefined) {
  const calls: OperationName[] = [];
  const billing: Billing = {
    call: async (operation, input) => {
      before(operation, calls.length);
      calls.push(operation);
      return await world.billing.call(operation, input);
    },
  };
  return { calls, billing };
}

async function apply(text: string, billing: Billing, onWait?: OnWait): Promise<void> {
  const file = readCatalogFile(text, 'catalog.yaml');
  const { steps, known } = diffOf(file, await readCatalog(world.billing), { prune: true });
  await takeSteps(steps, known, { billing, ...(onWait === undefined ? {} : { onWait }) });
}

test('a new price stands before the old one goes, and so does a plan', async () => {
  await apply(catalog, world.billing);
  const { calls, billing } = watched();
  await apply(dearer, billing);
  expect(calls).toEqual([
    'pricing.create',
    'plans.create',
    'plans.create',
    'plans.archive',
    'plans.archive',
    'pricing.archive',
  ]);
});

test('what holds a code goes before its successor comes, after all that hangs on it', async () => {
  await apply(catalog, world.billing);
  const { calls, billing } = watched();
  await apply(catalog.replace('displayName: Tokens', 'displayName: Words'), billing);
  expect(calls).toEqual([
    'plans.archive',
    'pricing.archive',
    'meters.archive',
    'meters.create',
    'meters.setRateCard',
    'pricing.create',
    'plans.create',
  ]);
});

test('what the file leaves out goes last, each after what refers to it', async () => {
  await apply(catalog, world.billing);
  const { calls, billing } = watched();
  await apply('products: []\nmeters: []\npricing: []\nplans: []\n', billing);
  expect(calls.map((operation) => operation.split('.')[0])).toEqual([
    'plans',
    'plans',
    'pricing',
    'pricing',
    'meters',
    'products',
    'products',
  ]);
});

test('a service that has had too many requests is waited for, and that is said once', async () => {
  const refused = new Set<number>();
  const { billing, calls } = watched((_operation, count) => {
    if (refused.has(count)) return;
    refused.add(count);
    throw new RateLimitedError('too many requests', { retryAfterSeconds: 0 });
  });
  const terminal = testTerminal();
  await apply(catalog, billing, createWaitingNote({ terminal, flags: {} }));
  expect([calls.length, refused.size]).toEqual([8, 8]);
  expect(terminal.written.stderr).toBe('the service limits the requests a minute: going on as it allows\n');
  await expect(apply(catalog, billing)).resolves.toBeUndefined();
});

test('one that never gets better is given up', async () => {
  const { billing } = watched(() => {
    throw new RateLimitedError('too many requests', { retryAfterSeconds: 0 });
  });
  await expect(apply(catalog, billing)).rejects.toMatchObject({ kind: 'rateLimited' });
});

test('a failure keeps its kind, names the step, and says how far it came', async () => {
  const { billing } = watched((operation) => {
    if (operation === 'pricing.create') throw new BillingError('forbidden', 'the key may not', { requestId: 'r1' });
  });
  await expect(apply(catalog, billing)).rejects.toMatchObject({
    kind: 'forbidden',
    message: 'cannot create price Inference / Tokens: the key may not',
    hint: '4 of 8 steps are done; once this is settled, the same command goes on from there',
    requestId: 'r1',
  });
});

test('plans outside of the file that were made anew before a failure are not made once more', async () => {
  await apply(catalog, world.billing);
  const pricing = dearer.slice(dearer.indexOf('pricing:'), dearer.indexOf('plans:'));
  const broken = watched((operation) => {
    if (operation === 'plans.archive') throw new BillingError('network', 'no answer');
  });
  await expect(apply(pricing, broken.billing)).rejects.toMatchObject({ kind: 'network' });
  const { calls, billing } = watched();
  await apply(pricing, billing);
  expect(calls).toEqual(['plans.archive', 'plans.archive', 'pricing.archive']);
});

test('a rate card that cannot be read is not taken for none', async () => {
  await apply(catalog, world.billing);
  const refusing = (kind: 'network' | 'notOffered') =>
    watched((operation) => {
      if (operation === 'meters.rateCard') throw new BillingError(kind, 'no');
    }).billing;
  await expect(readCatalog(refusing('network'))).rejects.toMatchObject({ kind: 'network' });
  expect((await readCatalog(refusing('notOffered'))).rateCards).toEqual([]);
});
