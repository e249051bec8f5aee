import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { expect, test } from 'vitest';

import { createMaintenance } from '../../src/engine/maintenance.ts';
import { watchStatements } from '../reliability/statements.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createContract, send } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';

const directory = newDirectory();

/** Of two customers with that many contracts on one price: what doctor reads of them all, and what it finds. */
async function examine(contractCount: number, { isBilled = false, isBusy = false } = {}) {
  const database = join(directory, `${contractCount} ${isBilled} ${isBusy}.db`);
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', database });
  const body = { startDate: '2026-01-01' };
  const customers = [
    await subscribe(world, { contract: body }),
    await subscribe(world, { name: 'globex', contract: body }),
  ];
  for (let count = 1; count < contractCount; count += 1) {
    for (const { customerId, pricingId } of customers) {
      await createContract(world, { customerId, pricingIds: [pricingId], ...body });
    }
  }
  for (const { customerId } of customers) {
    await send(world, { customerId, timestamp: '2026-02-05T00:00:00Z', properties: { tokens: 100 } });
  }
  if (isBilled) await world.call('bill.run', { body: {} });
  await world.close();
  const readings: string[] = [];
  const other = new DatabaseSync(database);
  const stop = watchStatements((sql) => {
    if (isBusy && sql.includes('from "invoiceLines"')) other.exec(`UPDATE "products" SET "name" = "name" || '.'`);
    if (/from "contracts" where "orgId" = \? and "customerId" = \?|from "eventTail/i.test(sql)) readings.push(sql);
  });
  const { findings } = await createMaintenance({ now: world.clock.now }).examine(database, {
    isFull: false,
    events: undefined,
  });
  stop();
  other.close();
  return { readings, checks: findings.map(({ check }) => check) };
}

test('contracts and events of a customer are read once, however many contracts there are', async () => {
  const few = await examine(2);
  const many = await examine(5);
  expect([few.checks, many.checks]).toEqual([2, 8].map((count) => Array<string>(count).fill('attribution')));
  expect(few.readings).not.toEqual([]);
  expect(many.readings).toEqual(few.readings);
});

test('events behind the invoices of a customer are read together, however many contracts there are', async () => {
  const few = await examine(3, { isBilled: true });
  const many = await examine(6, { isBilled: true });
  expect(few.readings).not.toEqual([]);
  expect(many.readings).toEqual(few.readings);
});

test('a customer is read once for many contracts, while others write, too', async () => {
  const few = await examine(3, { isBilled: true, isBusy: true });
  const many = await examine(6, { isBilled: true, isBusy: true });
  expect(few.readings).not.toEqual([]);
  expect(many.readings).toEqual(few.readings);
});
