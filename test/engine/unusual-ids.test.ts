/** Ids of characters that none has, and that a database may not even be able to look for. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { allOperations } from '../../src/operations/all.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { refusalOf } from '../support/refusal.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.close();
});

const unusual = ['', '\u0000', '01900000-0000-7000-8000-000000000001\u0000', '\ud800'];

describe('an id in a path that no record can have is answered like an unknown one', () => {
  const named = allOperations.flatMap(({ name, route, params, examples }) =>
    route === undefined
      ? []
      : Object.keys(params.shape).map((parameter) => ({ name, parameter, input: examples[0]?.input ?? {} })),
  );
  test.each(named)('$name $parameter', async ({ name, parameter, input }) => {
    const refused = async (id: string) =>
      await refusalOf(
        world.billing.call(name as OperationName, { ...input, params: { ...input.params, [parameter]: id } }),
      );
    const unknown = await refused('01900000-0000-7000-8000-ffffffffffff');
    expect(unknown).toMatch(/^notFound /);
    for (const id of unusual) expect(await refused(id)).toBe(unknown);
  });
});

describe('an id elsewhere that no record can have', () => {
  const dates = { startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' };
  const ids = ['\u0000', 'a\u0000', '\ud800'];

  test.each(ids)('in a body is told with its field: %j', async (id) => {
    for (const field of ['customerId', 'externalCustomerId', 'contractId']) {
      const refusal = await refusalOf(world.call('usage.cost', { body: { ...dates, [field]: id } }));
      expect(refusal).toMatch(new RegExp(`^invalidInput ${field}: must (?:not contain control|be well-formed)`));
    }
  });

  test.each(ids)('in a query is told with its parameter: %j', async (id) => {
    const refusal = await refusalOf(world.call('customers.list', { query: { externalCustomerId: id } }));
    expect(refusal).toMatch(/^badRequest externalCustomerId: must (?:not contain control|be well-formed)/);
    expect(await refusalOf(world.call('usage.events', { query: { eventName: id } }))).toMatch(
      /^badRequest eventName: /,
    );
  });

  test('does not stand for a customer whose id has what is written in place of half a character', async () => {
    await createCustomer(world, '\ufffd');
    const body = { ...dates, externalCustomerId: '\ud800' };
    expect(await refusalOf(world.call('usage.cost', { body }))).toMatch(/^invalidInput externalCustomerId: /);
  });

  test('finds the customer that was made with it, however many units its characters take', async () => {
    const externalCustomerId = '\u{1f600}'.repeat(255);
    const customerId = await createCustomer(world, externalCustomerId);
    const found = await world.call('customers.list', { query: { externalCustomerId } });
    expect(found.data.map(({ id }) => id)).toEqual([customerId]);
  });
});
