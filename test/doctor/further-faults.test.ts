import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import type { CheckName } from '../../src/engine/doctor/checks.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { damage } from './damage.ts';
import type { Damage } from './damage.ts';
import { withoutIds } from './faults.ts';
import { makeSoundBook } from './sound-book.ts';
import type { SoundBook } from './sound-book.ts';

let directory: string;
let book: SoundBook;
beforeAll(async () => {
  directory = newDirectory();
  book = await makeSoundBook(join(directory, 'sound.db'));
});

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

const lineOf = (number: string) => `invoiceId = (SELECT id FROM invoices WHERE number = '${number}')`;

/** Where a check looks at several things, each that it is for beside the one in `doctor.test.ts`. */
describe('doctor finds', () => {
  test.each<[string, CheckName, string, (change: Damage) => void]>([
    [
      'an entry that lost its seal, behind all others',
      'ledger-chain',
      'entry ID does not fit the one before it',
      ({ append, run }) => {
        const id = append(book.young, { type: 'adjustment', amountCents: -10n, grantEntryId: book.dollars });
        run(`UPDATE ledgerEntries SET hash = '' WHERE id = ?`, id);
      },
    ],
    [
      'a finalized invoice that lost its seal',
      'invoice-seals',
      'invoice INV-000001 is not as it was when it was finalized',
      ({ run }) => run(`UPDATE invoices SET contentHash = '' WHERE ${first}`),
    ],
    [
      'tiers with a gap of one',
      'tiers',
      'item ID of contract ID has tiers with a gap or overlap',
      set('contracts', `items = replace(items, '"minQty":"100"', '"minQty":"101"')`, '1'),
    ],
    [
      'an exhausted budget without a cap',
      'budgets',
      'budget Big model is exhausted, but has no cap',
      set('budgets', 'isExhausted = 1, maxCreditsCents = NULL', '1'),
    ],
    [
      'a grant for a meter that is not there',
      'tenancy',
      'contract ID or a grant of it names gone, which its organization does not have',
      set('ledgerEntries', `specifiers = '{"meterIds":["gone"]}'`, 'creditRateCents = 10'),
    ],
    [
      'usage that no line of the contract has',
      'eligibility',
      'usage ID pays for no metered line of the contract',
      set('ledgerEntries', `lineKey = 'gone'`, usageOf('INV-000002')),
    ],
    [
      'usage that was written after its invoice was finalized',
      'eligibility',
      'usage ID was written after its invoice was finalized',
      set('ledgerEntries', `createdAt = '2026-05-09T00:00:00.000Z'`, usageOf('INV-000002')),
    ],
    [
      'usage that a younger grant paid',
      'eligibility',
      'usage ID was paid by grant ID, which is younger than the finalized invoice',
      set('ledgerEntries', `createdAt = '2026-05-09T00:00:00.000Z'`, `externalId = 'first'`),
    ],
    [
      'usage that a grant paid after its expiry',
      'eligibility',
      'usage ID was paid by grant ID, which had expired before the usage',
      set('ledgerEntries', `expiresAt = '2026-04-01T00:00:00.000Z'`, `externalId = 'first'`),
    ],
    [
      'what lapsed before its time',
      'expiry',
      'expiration ID was written before 2026-12-31T00:00:00Z',
      ({ append }) => void append(book.young, { type: 'expiration', amountCents: -100n, grantEntryId: book.dollars }),
    ],
    [
      'what is left of free credits that have lapsed',
      'expiry',
      'grant ID has lapsed and still holds 0 cents, 1000000 millionths of a credit',
      ({ append }) => {
        const at = '2026-05-03T00:00:00.000Z';
        const free = { type: 'grant', amountCents: 0n, creditMicros: 5_000_000n, expiresAt: at };
        const grantEntryId = append(book.young, { ...free, createdAt: '2026-05-02T00:00:00.000Z' });
        const lapse = { type: 'expiration', amountCents: 0n, creditMicros: -4_000_000n, grantEntryId };
        append(book.young, { ...lapse, createdAt: at });
      },
    ],
    [
      'credits that a voided invoice has kept',
      'credit-lines',
      'invoice INV-000002 is Cancelled, but the ledger still takes 200 cents of grant ID for it',
      set('invoices', `status = 'Cancelled', latestPaymentDate = NULL`, second),
    ],
    [
      'credits that a refunded invoice got twice',
      'credit-lines',
      'invoice INV-000002 shows 200 cents of grant ID, but the ledger took 201',
      ({ run, reseal }) => {
        run(`UPDATE invoices SET status = 'Refunded' WHERE ${second}`);
        run(`UPDATE ledgerEntries SET appliedCents = appliedCents + 1 WHERE ${usageOf('INV-000002')}`);
        reseal(book.billed);
      },
    ],
    [
      'a period that begins later',
      'periods',
      'invoice DRAFT has other dates than period 0 of its contract',
      set('invoices', `periodStart = '2026-05-02'`, draft),
    ],
    [
      'a period that ends later',
      'periods',
      'invoice DRAFT has other dates than period 0 of its contract',
      set('invoices', `periodEnd = '2026-08-02'`, draft),
    ],
    [
      'an invoice of another day',
      'periods',
      'invoice DRAFT has other dates than period 0 of its contract',
      set('invoices', `invoiceDate = '2026-08-02'`, draft),
    ],
    [
      'a period that is left out',
      'periods',
      'invoice DRAFT is of period 9, but 1 is next',
      set('invoices', 'periodIndex = 9', draft),
    ],
    [
      'a draft after the end that a cancellation gave its contract',
      'periods',
      'invoice DRAFT has other dates than period 1 of its contract',
      ({ run }) =>
        run(
          `UPDATE contracts SET cancelledAt = '2026-05-09T00:00:00.000Z', effectiveEndDate = '2026-06-01' WHERE id = ?`,
          book.young,
        ),
    ],
    [
      'a finalized invoice that is a draft again',
      'invoice-states',
      'invoice INV-000002 is Drafted and was finalized',
      set('invoices', `status = 'Drafted', latestPaymentDate = NULL`, second),
    ],
    [
      'a finalized invoice without a legal number',
      'invoice-states',
      'invoice DRAFT is Paid and has a draft number, though it was finalized',
      set('invoices', `number = 'DRAFT-12345678'`, second),
    ],
    [
      'a draft that was sent',
      'invoice-states',
      'invoice DRAFT is Drafted and has an amount, lines, or was sent, before it was finalized',
      set('invoices', `sentAt = '2026-05-09T00:00:00.000Z'`, draft),
    ],
    [
      'a paid invoice without the day of its payment',
      'invoice-states',
      'invoice INV-000002 is Paid and has no payment date',
      set('invoices', 'latestPaymentDate = NULL', second),
    ],
    [
      'an invoice to be paid that comes to nothing',
      'invoice-states',
      'invoice INV-000002 is In Progress and has nothing to pay',
      set('invoices', `status = 'In Progress', latestPaymentDate = NULL`, second),
    ],
    [
      'an invoice that was sent before it was finalized',
      'invoice-states',
      'invoice INV-000001 is Paid and was sent before it was finalized',
      set('invoices', `sentAt = '2026-04-01T00:00:00.000Z'`, first),
    ],
    [
      'a legal number that is left out',
      'invoice-numbers',
      'invoice INV-000003 stands where number 2 is due',
      set('invoices', `number = 'INV-000003'`, second),
    ],
    [
      'legal numbers that are not in the order of finalization',
      'invoice-numbers',
      'invoice INV-000002 was finalized before INV-000001',
      set('invoices', `finalizedAt = '2026-05-09T00:00:00.000Z', sentAt = NULL`, first),
    ],
    [
      'an invoice below nothing',
      'invoice-sums',
      'invoice INV-000001 is below 0',
      (change) => {
        change.run('PRAGMA ignore_check_constraints = 1');
        set('invoices', 'totalCents = -1', first)(change);
      },
    ],
    [
      'cents of a line that its exact amount does not round to',
      'invoice-sums',
      'invoice INV-000002 has cents in line ID that are not its exact amount',
      set('invoiceLines', `totalAmount = '2.01'`, `${lineOf('INV-000002')} AND kind = 'metered'`),
    ],
    [
      'a credit line of a grant that is not there',
      'credit-lines',
      'invoice INV-000002 has the credit line gone of no grant',
      set('invoiceLines', `grantId = 'gone', lineKey = 'gone'`, `${lineOf('INV-000002')} AND kind = 'credit'`),
    ],
    [
      'more credits than usage',
      'credit-lines',
      'invoice INV-000002 takes off more credits than it has usage',
      set('invoiceLines', 'totalCents = totalCents - 1', `${lineOf('INV-000002')} AND kind = 'credit'`),
    ],
    [
      'a line that is of nothing',
      'invoice-lines',
      'invoice INV-000002 has the line gone, which does not follow from events and prices',
      set('invoiceLines', `lineKey = 'gone'`, `${lineOf('INV-000002')} AND kind = 'metered'`),
    ],
    [
      'a line that is taken out',
      'invoice-lines',
      'invoice INV-000002 lacks the line ID of 200 cents',
      ({ run }) => run(`DELETE FROM invoiceLines WHERE ${lineOf('INV-000002')} AND kind = 'metered'`),
    ],
    [
      'an invoice after the end of its contract',
      'invoice-lines',
      'invoice INV-000002 has no period in its contract',
      set('contracts', `endDate = '2026-04-01'`, `id = (SELECT contractId FROM invoices WHERE ${second})`),
    ],
    [
      'an invoice for another customer',
      'tenancy',
      'invoice INV-000002 is for another customer than its contract',
      set('invoices', `customerId = (SELECT max(id) FROM customers)`, second),
    ],
    [
      'an external id that two grants have',
      'grant-keys',
      'grant ID repeats the external id first',
      ({ run, append }) => {
        run('DROP INDEX ledgerEntries_externalId');
        append(book.billed, { type: 'grant', externalId: 'first' });
      },
    ],
    [
      'an invoice that is paid before it was finalized',
      'invoice-states',
      'invoice DRAFT is Paid and was not finalized',
      set('invoices', `status = 'Paid', latestPaymentDate = '2026-05-09'`, draft),
    ],
    [
      'a draft with a legal number',
      'invoice-states',
      'invoice INV-000009 is Drafted and has a legal number, though it was not finalized',
      set('invoices', `number = 'INV-000009'`, draft),
    ],
    [
      'an unpaid invoice with the day of its payment',
      'invoice-states',
      'invoice INV-000002 is In Progress and has a payment date',
      set('invoices', `status = 'In Progress'`, second),
    ],
    [
      'an event on the contract of another customer',
      'events',
      "event c names another customer's contract",
      ({ run }) =>
        run(
          `UPDATE events SET contractSeq = (SELECT seq FROM contracts WHERE id = ?) WHERE idempotencyKey = 'c'`,
          book.young,
        ),
    ],
    [
      'an event whose properties are broken',
      'events',
      'event c has properties that are not JSON',
      set('events', `propertiesJson = '{'`, `idempotencyKey = 'c'`),
    ],
    [
      'what is kept of events for metering and is gone',
      'roll-ups',
      'the data kept to meter customer ID quickly does not match the events',
      ({ run }) => run('DELETE FROM eventTail'),
    ],
  ])('%s', async (_what, name, words, fault) => {
    const file = join(directory, 'damaged.db');
    copyFileSync(join(directory, 'sound.db'), file);
    damage(file, fault);
    const { findings } = await createMaintenance({ now: () => book.now }).examine(file, {
      isFull: true,
      events: undefined,
    });
    expect(findings.map(({ check, problem }) => `${check}: ${withoutIds(problem)}`)).toContain(`${name}: ${words}`);
  });
});
