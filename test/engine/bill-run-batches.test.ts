/** More contracts than one transaction works off. */

import { expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { watchStatements } from '../reliability/statements.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';

test('a bill run works contracts off by batches, and misses none', async () => {
  const others = 2 * limits.billRunBatch;
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 12 });
  const first = await subscribe(world, { contract: { endDate: '2026-04-01' } });
  const { planId } = (await world.call('contracts.get', { params: { contractId: first.contractId } })).data;
  for (let index = 0; index < others; index += 1) {
    const customerId = await createCustomer(world, `customer ${index}`);
    await world.call('contracts.create', {
      body: { customerId, planId, startDate: '2026-03-01', endDate: '2026-04-01' },
    });
  }
  world.clock.set('2026-05-01T00:00:00Z');
  expect((await world.call('bill.run', { body: {} })).data).toMatchObject({
    finalizedCount: others + 1,
    endedContractCount: others + 1,
    failedCount: 0,
  });
  await world.close();
});

test('a transaction of a bill run ends behind the contract whose invoices bring it to a thousand lines', async () => {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', graceHours: 0 });
  for (const name of ['one', 'two', 'three', 'four']) {
    const contract = { endDate: '2026-04-01' };
    const { customerId } = await subscribe(world, { name, contract, meter: { groupKeys: ['model'] } });
    world.clock.set('2026-03-02T00:00:00Z');
    const lines = name === 'four' ? 1 : limits.billRunBatchLines / 2;
    const events = Array.from({ length: lines }, (_, index) => ({
      eventName: 'request',
      customerId,
      idempotencyKey: `${name} ${index}`,
      timestamp: '2026-03-02T00:00:00Z',
      properties: { tokens: 1, model: `m${index}` },
    }));
    await world.call('usage.ingestBatch', { body: { events } });
  }
  world.clock.set('2026-04-01T00:00:00Z');
  const numbersAtCommit: number[] = [];
  let numbers = 0;
  const stop = watchStatements((sql) => {
    if (sql.startsWith('update "organizations" set "nextInvoiceNumber"')) numbers += 1;
    if (sql === 'COMMIT' && numbers > (numbersAtCommit.at(-1) ?? 0)) numbersAtCommit.push(numbers);
  });
  const { data } = await world.call('bill.run', { body: {} });
  stop();
  expect(data).toMatchObject({ finalizedCount: 4, failedCount: 0, totalCents: 1501 });
  expect(numbersAtCommit).toEqual([2, 4]);
  await world.close();
});
