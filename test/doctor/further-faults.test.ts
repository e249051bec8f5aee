import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CheckName } from '../../src/engine/doctor/checks.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import { damage } from './damage.ts';
import type { Damage } from './damage.ts';
import { makeSoundBook } from './sound-book.ts';
import type { SoundBook } from './sound-book.ts';

let directory: string;
let book: SoundBook;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tallybook-doctor-'));
  book = await makeSoundBook(join(directory, 'sound.db'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Sets columns of the rows of a table, and makes the seals of the billed and the young contract fit. */
function set(table: string, changes: string, where: string): (change: Damage) => void {
  return ({ run, reseal }) => {
    run(`UPDATE ${table} SET ${changes} WHERE ${where}`);
    reseal(book.billed);
    reseal(book.young);
  };
}

const first = `number = 'INV-000001'`;
const second = `number = 'INV-000002'`;
const draft = `periodIndex = 0 AND contractId = (SELECT contractId FROM ledgerEntries WHERE creditRateCents = 10)`;
const usageOf = (number: string) =>
  `type = 'usage' AND invoiceId = (SELECT id FROM invoices WHERE number = '${number}')`;

/** Where a check looks at several things, each that it is for beside the one in `doctor.test.ts`. */
describe('doctor finds', () => {
  test.each<[string, CheckName, (change: Damage) => void]>([
    [
      'tiers with a gap of one',
      'tiers',
      set('contracts', `items = replace(items, '"minQty":"100"', '"minQty":"101"')`, '1'),
    ],
    ['an exhausted budget without a cap', 'budgets', set('budgets', 'isExhausted = 1, maxCreditsCents = NULL', '1')],
    [
      'a grant for a meter that is not there',
      'tenancy',
      set('ledgerEntries', `specifiers = '{"meterIds":["gone"]}'`, 'creditRateCents = 10'),
    ],
    [
      'usage that no line of the contract has',
      'eligibility',
      set('ledgerEntries', `lineKey = 'gone'`, usageOf('INV-000002')),
    ],
    [
      'usage that was written after its invoice was finalized',
      'eligibility',
      set('ledgerEntries', `createdAt = '2026-05-09T00:00:00.000Z'`, usageOf('INV-000002')),
    ],
    [
      'usage that a younger grant paid',
      'eligibility',
      set('ledgerEntries', `createdAt = '2026-05-09T00:00:00.000Z'`, `externalId = 'first'`),
    ],
    [
      'usage that a grant paid after its expiry',
      'eligibility',
      set('ledgerEntries', `expiresAt = '2026-04-01T00:00:00.000Z'`, `externalId = 'first'`),
    ],
    [
      'what lapsed before its time',
      'expiry',
      ({ append }) => void append(book.young, { type: 'expiration', amountCents: -100n, grantEntryId: book.dollars }),
    ],
    [
      'credits that a voided invoice has kept',
      'credit-lines',
      set('invoices', `status = 'Cancelled', latestPaymentDate = NULL`, second),
    ],
    [
      'credits that a refunded invoice got twice',
      'credit-lines',
      ({ run, reseal }) => {
        run(`UPDATE invoices SET status = 'Refunded' WHERE ${second}`);
        run(`UPDATE ledgerEntries SET appliedCents = appliedCents + 1 WHERE ${usageOf('INV-000002')}`);
        reseal(book.billed);
      },
    ],
    ['a period that begins later', 'periods', set('invoices', `periodStart = '2026-05-02'`, draft)],
    ['a period that ends later', 'periods', set('invoices', `periodEnd = '2026-08-02'`, draft)],
    ['an invoice of another day', 'periods', set('invoices', `invoiceDate = '2026-08-02'`, draft)],
    ['a period that is left out', 'periods', set('invoices', 'periodIndex = 9', draft)],
    [
      'a draft after the end that a cancellation gave its contract',
      'periods',
      ({ run }) =>
        run(
          `UPDATE contracts SET cancelledAt = '2026-05-09T00:00:00.000Z', effectiveEndDate = '2026-06-01' WHERE id = ?`,
          book.young,
        ),
    ],
    [
      'a finalized invoice that is a draft again',
      'invoice-states',
      set('invoices', `status = 'Drafted', latestPaymentDate = NULL`, second),
    ],
    [
      'a finalized invoice without a legal number',
      'invoice-states',
      set('invoices', `number = 'DRAFT-12345678'`, second),
    ],
    ['a draft that was sent', 'invoice-states', set('invoices', `sentAt = '2026-05-09T00:00:00.000Z'`, draft)],
    [
      'a paid invoice without the day of its payment',
      'invoice-states',
      set('invoices', 'latestPaymentDate = NULL', second),
    ],
    [
      'an invoice to be paid that comes to nothing',
      'invoice-states',
      set('invoices', `status = 'In Progress', latestPaymentDate = NULL`, second),
    ],
    [
      'an invoice that was sent before it was finalized',
      'invoice-states',
      set('invoices', `sentAt = '2026-04-01T00:00:00.000Z'`, first),
    ],
    ['a legal number that is left out', 'invoice-numbers', set('invoices', `number = 'INV-000003'`, second)],
    [
      'legal numbers that are not in the order of finalization',
      'invoice-numbers',
      set('invoices', `finalizedAt = '2026-05-09T00:00:00.000Z', sentAt = NULL`, first),
    ],
  ])('%s', async (_what, name, fault) => {
    const file = join(directory, 'damaged.db');
    copyFileSync(join(directory, 'sound.db'), file);
    damage(file, fault);
    const { findings } = await createMaintenance({ now: () => book.now }).examine(file, {
      isFull: false,
      events: undefined,
    });
    expect([...new Set(findings.map(({ check }) => check))]).toContain(name);
  });
});
