import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { dump, withDatabase } from '../reliability/database-image.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { writeYear } from '../support/year-of-books.ts';

const folder = newDirectory();

/** The books a year after they began, when the clock was advanced in these steps and then to the end. */
async function booksAfter(name: string, step: string, steps: number): Promise<string> {
  const file = join(folder, name);
  const world = await writeYear(file);
  for (let count = 0; count < steps; count += 1) await world.call('clock.advance', { body: { by: step } });
  const { data } = await world.call('clock.advance', { body: { to: '2028-02-20' } });
  expect(data.failures).toEqual([]);
  await world.close();
  return dump(file);
}

describe('a year', () => {
  let atOnce: string;
  beforeAll(async () => {
    atOnce = await booksAfter('at-once', 'P1Y', 0);
  });

  test('in one step has everything that falls due', () => {
    const count = (sql: string) =>
      withDatabase(join(folder, 'at-once'), (database) => Number(Object.values(database.prepare(sql).get() ?? {})[0]));
    expect(count(`SELECT count(*) FROM invoices WHERE finalizedAt IS NOT NULL`)).toBeGreaterThan(100);
    expect(count(`SELECT count(*) FROM invoices WHERE status = 'Drafted' AND invoiceDate <= '2028-02-20'`)).toBe(0);
    expect(count(`SELECT count(*) FROM ledgerEntries WHERE type = 'expiration'`)).toBeGreaterThan(6);
    expect(count(`SELECT count(*) FROM webhookEvents WHERE type = 'contract.terminated'`)).toBe(2);
    expect(count(`SELECT count(*) FROM customers WHERE pausedUntil IS NOT NULL`)).toBe(0);
  });

  test.each([
    ['365 steps of a day', 'P1D', 365],
    ['steps of 11 days and 7 hours', 'P11DT7H', 32],
  ])('in %s gives books that are the same to the byte', async (name, step, steps) => {
    expect(await booksAfter(name, step, steps)).toBe(atOnce);
  });
});
