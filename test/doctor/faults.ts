/** One fault for each check of doctor, made so that no other check finds it. */

import type { CheckName, databaseChecks } from '../../src/engine/doctor/checks.ts';
import { createKeyHash } from '../../src/store/backends/sqlite/events/key-hash.ts';
import type { Damage } from './damage.ts';
import type { SoundBook } from './sound-book.ts';

/** What is done to a sound book so that it breaks one rule and no other. */
export type Fault = (change: Damage, book: SoundBook) => void;

const created = { createdAt: '2026-05-02T00:00:00.000Z' };

/**
 * What is no fault inside of a file has tests of its own: in doctor.test, disk-space, reliability/lost-log, engine/usage-drop
 * (events can be dropped there), and store/postgres-backup (where a schema cannot be compared).
 */
type TestedElsewhere = Exclude<keyof typeof databaseChecks, 'integrity' | 'schema' | 'references'> | 'dropped-events';
export const faults: Readonly<Record<Exclude<CheckName, TestedElsewhere>, Fault>> = {
  integrity: ({ run, one }) => {
    // An index that is set aside while a row changes says something else than its table.
    const index = one(`SELECT name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'customers_created'`);
    run('PRAGMA writable_schema = 1');
    run(`DELETE FROM sqlite_schema WHERE name = 'customers_created'`);
    run('PRAGMA writable_schema = RESET');
    run(`UPDATE customers SET createdAt = '2026-01-01T00:00:00.000Z'`);
    run('PRAGMA writable_schema = 1');
    run(
      `INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('index', ?, ?, ?, ?)`,
      ...Object.values(index),
    );
    run('PRAGMA writable_schema = RESET');
  },
  schema: ({ run }) => run('DROP INDEX events_late'),
  references: ({ run }) => run(`UPDATE contacts SET customerId = 'gone' WHERE seq = 1`),
  readable: ({ run }, { young }) => run(`UPDATE contracts SET items = '{}' WHERE id = ?`, young),
  'entry-signs': ({ append }, { young, dollars }) => {
    const id = append(young, { type: 'adjustment', amountCents: -30n, grantEntryId: dollars });
    append(young, { type: 'reversal', amountCents: 20n, grantEntryId: dollars, reversesEntryId: id });
  },
  'grant-bounds': ({ append }, { young, dollars }) => {
    append(young, { type: 'adjustment', amountCents: -50n, grantEntryId: dollars });
    append(young, { type: 'adjustment', amountCents: 80n, grantEntryId: dollars });
  },
  balances: ({ append, one }, { young, dollars }) => {
    const last = one('SELECT * FROM ledgerEntries WHERE contractId = ? ORDER BY seq DESC LIMIT 1', young);
    const balanceAfterCents = last['balanceAfterCents'] ?? null;
    append(young, { type: 'adjustment', amountCents: -30n, grantEntryId: dollars, balanceAfterCents });
  },
  'no-dust': ({ append }, { young, rated }) =>
    void append(young, { type: 'adjustment', amountCents: -100n, creditMicros: -9_900_000n, grantEntryId: rated }),
  'grant-links': ({ append }, { young, dollars }) =>
    void append(young, { type: 'adjustment', amountCents: -10n, currency: 'EUR', grantEntryId: dollars }),
  conservation: ({ append }, { young }) => void append(young, { type: 'adjustment', amountCents: -10n }),
  'burn-order': ({ run, reseal }, { billed, later }) => {
    run(
      `UPDATE ledgerEntries SET grantEntryId = ? WHERE seq =
         (SELECT max(seq) FROM ledgerEntries WHERE contractId = ? AND type = 'usage')`,
      later,
      billed,
    );
    reseal(billed);
  },
  eligibility: ({ run, one, reseal }, { billed, first }) => {
    const other = one(`SELECT id FROM meters WHERE code = 'TOKENS_GLOBEX'`)['id'];
    run('UPDATE ledgerEntries SET specifiers = ? WHERE id = ?', JSON.stringify({ meterIds: [other] }), first);
    reseal(billed);
  },
  expiry: ({ append, run }, { young }) => {
    const lapsing = { expiresAt: '2026-05-03T00:00:00.000Z', ...created };
    const id = append(young, { type: 'grant', amountCents: 100n, ...lapsing });
    run('UPDATE contracts SET nextExpiryAt = ? WHERE id = ?', lapsing.expiresAt, young);
    append(young, {
      type: 'expiration',
      amountCents: -60n,
      grantEntryId: id,
      createdAt: '2026-05-03T00:00:00.000Z',
    });
  },
  'noted-expiries': ({ run }, { billed }) => run('UPDATE contracts SET nextExpiryAt = NULL WHERE id = ?', billed),
  reversals: ({ append }, { young }) => {
    const at = '2026-05-03T00:00:00.000Z';
    const id = append(young, { type: 'grant', amountCents: 100n, expiresAt: at, ...created });
    const lapse = { type: 'expiration', amountCents: -100n, grantEntryId: id, createdAt: at };
    const lapsed = append(young, lapse);
    append(young, { ...lapse, type: 'reversal', amountCents: 100n, reversesEntryId: lapsed });
    append(young, lapse);
  },
  'grant-keys': ({ append }, { young, dollars }) =>
    void append(young, { type: 'adjustment', amountCents: -10n, grantEntryId: dollars, externalId: 'mine' }),
  'ledger-chain': ({ run }, { first }) =>
    run(`UPDATE ledgerEntries SET description = 'never mind' WHERE id = ?`, first),
  'entry-times': ({ append }, { young, dollars }) => {
    const before = { createdAt: '2026-05-01T00:00:00.000Z' };
    append(young, { type: 'adjustment', amountCents: -10n, grantEntryId: dollars, ...before });
  },
  'invoice-sums': ({ run, reseal }, { billed }) => {
    run(`UPDATE invoices SET totalCents = totalCents + 1 WHERE number = 'INV-000001'`);
    run(`UPDATE invoices SET status = 'In Progress', latestPaymentDate = NULL WHERE number = 'INV-000001'`);
    reseal(billed);
  },
  'credit-lines': ({ run, reseal }, { billed }) => {
    run(
      `UPDATE ledgerEntries SET appliedCents = appliedCents + 1 WHERE seq = (
         SELECT max(ledgerEntries.seq) FROM ledgerEntries JOIN invoices ON invoices.id = ledgerEntries.invoiceId
         WHERE invoices.number = 'INV-000002')`,
    );
    reseal(billed);
  },
  'invoice-seals': ({ run }) =>
    run(`UPDATE invoices SET createdAt = '2026-01-01T00:00:00.000Z' WHERE number = 'INV-000001'`),
  periods: ({ run }, { young }) => run(`UPDATE invoices SET dueDate = '2027-01-01' WHERE contractId = ?`, young),
  'noted-drafts': ({ run }, { young }) => run(`UPDATE contracts SET draftsDueOn = '2026-06-02' WHERE id = ?`, young),
  'invoice-lines': ({ run }) => run(`UPDATE events SET propertiesJson = '{"tokens":201}' WHERE idempotencyKey = 'b'`),
  tiers: ({ run }, { young }) =>
    run(`UPDATE contracts SET items = replace(items, '"minQty":"100"', '"minQty":"200"') WHERE id = ?`, young),
  budgets: ({ run }) => run('UPDATE budgets SET position = 1'),
  'invoice-states': ({ run }, { young }) => run('UPDATE invoices SET isHeld = 1 WHERE contractId = ?', young),
  tenancy: ({ run, one }, { young }) => {
    const own = one(`SELECT json_extract(items, '$[0].productId') AS id FROM contracts WHERE id = ?`, young)['id'];
    run(`UPDATE contracts SET items = replace(items, ?, 'elsewhere') WHERE id = ?`, own ?? null, young);
  },
  attribution: ({ run }) => run(`UPDATE events SET contractSeq = NULL WHERE idempotencyKey = 'c'`),
  'unpriced-credits': ({ append }, { billed }) =>
    void append(billed, { type: 'grant', creditMicros: 5_000_000n, ...created }),
  'invoice-numbers': ({ run }) => run('UPDATE organizations SET nextInvoiceNumber = 9'),
  events: ({ run }) => run(`UPDATE events SET version = 2 WHERE idempotencyKey = 'c'`),
  'late-flags': ({ run }) => run(`UPDATE events SET isLate = 1 WHERE idempotencyKey = 'c'`),
  'late-events': ({ run, one }) => {
    run(`INSERT INTO events (idempotencyKey, id, customerSeq, contractSeq, nameId, timestampEpochMs, propertiesJson,
      receivedAtEpochMs, isLate, version) SELECT 'too late', 'too late', customerSeq, contractSeq, nameId,
      timestampEpochMs, propertiesJson, receivedAtEpochMs, 1, 1 FROM events WHERE idempotencyKey = 'b'`);
    const { id } = one('SELECT id FROM organizations') as { readonly id: string };
    const hash = createKeyHash(id)('too late');
    run(`INSERT INTO eventKeyTail SELECT ?, seq FROM events WHERE idempotencyKey = 'too late'`, hash);
    run(
      `INSERT INTO eventTail SELECT customerSeq, timestampEpochMs, seq FROM events WHERE idempotencyKey = 'too late'`,
    );
  },
  'roll-ups': ({ run }) => run('UPDATE eventKeyTail SET hash = 1 WHERE eventSeq = 1'),
  outbox: ({ run, one }) => {
    const orgId = one('SELECT id FROM organizations')['id'] ?? null;
    const at = '2026-05-09T00:00:00.000Z';
    run(
      `INSERT INTO webhookEndpoints (orgId, id, url, isEnabled, allowPrivate, secret, createdAt, updatedAt)
       VALUES (?, 'e', 'https://example.com', 1, 0, 's', ?, ?)`,
      orgId,
      at,
      at,
    );
    run(`INSERT INTO webhookEvents (orgId, id, type, body, createdAt) VALUES (?, 'v', 't', '{}', ?)`, orgId, at);
    run(
      `INSERT INTO webhookDeliveries (orgId, id, eventId, endpointId, status, attempts, createdAt)
       VALUES (?, 'd', 'v', 'e', 'pending', 0, ?)`,
      orgId,
      at,
    );
  },
  clock: ({ run }) => run(`UPDATE organizations SET lastCreatedAt = '2026-05-10T00:10:00.000Z'`),
};

/** What doctor says of each, without the ids. */
export const told: Readonly<Record<keyof typeof faults, readonly string[]>> = {
  integrity: ['row 1 missing from index customers_created', 'row 2 missing from index customers_created'],
  schema: ['the index events_late is missing'],
  references: ['a row of contacts names a row of customers that is not there'],
  readable: ['ID could not be checked: contract.items.flatMap is not a function'],
  'entry-signs': ['reversal ID is not the opposite of ID'],
  'grant-bounds': ['grant ID is out of bounds after entry ID'],
  balances: ['the balance after entry ID is not the sum of the entries'],
  'no-dust': ['grant ID has cents left without credits, or credits without cents'],
  'grant-links': ['adjustment ID has no grant of its contract and currency before it'],
  conservation: ['entry ID belongs to no grant, so cents are not conserved'],
  'burn-order': ['usage ID was paid by grant ID, but grant ID goes first'],
  eligibility: Array<string>(4).fill('usage ID was paid by grant ID, which is for other usage'),
  expiry: ['grant ID has lapsed and still holds 40 cents, 0 millionths of a credit'],
  'noted-expiries': ['contract ID has a grant that expires at 2026-11-01T00:00:00Z, and is noted for no expiry'],
  reversals: ['reversal ID undoes an entry of type expiration'],
  'grant-keys': ['adjustment ID has the external id mine, and only grants have one'],
  'ledger-chain': ['entry ID does not fit the one before it'],
  'entry-times': ['entry ID is older than ID, which comes before it'],
  'invoice-sums': ['invoice INV-000001 is 1 cents, but its lines come to 0'],
  'credit-lines': ['invoice INV-000002 shows 200 cents of grant ID, but the ledger took 201'],
  'invoice-seals': ['invoice INV-000001 is not as it was when it was finalized'],
  periods: [0, 1].map((index) => `invoice DRAFT has other dates than period ${index} of its contract`),
  'noted-drafts': ['contract ID lacks drafts from 2026-06-01 on, and is noted for 2026-06-02'],
  'invoice-lines': ['invoice INV-000002 has quantity of line ID as 200, and events and prices give 201'],
  tiers: ['item ID of contract ID has tiers with a gap or overlap'],
  budgets: ['budgets of contract ID are numbered 1'],
  'invoice-states': Array<string>(2).fill(
    'invoice DRAFT is Drafted and has an amount, lines, or was sent, before it was finalized',
  ),
  tenancy: ['contract ID or a grant of it names elsewhere, which its organization does not have'],
  attribution: ['1 event of meter ID counts on an earlier contract than ID, which prices it too'],
  'unpriced-credits': ['grant ID has credits that pay for nothing'],
  'invoice-numbers': ['the next invoice would get number 9, after 2 finalized ones'],
  events: ['event c lacks a version that it superseded'],
  'late-flags': ['event c is marked late, so nothing bills it, but its period is not finalized'],
  'late-events': ['1 event came after its period was finalized: nothing is billed for that'],
  'roll-ups': ['event a is not found by its key, so that it would count twice if it were sent again'],
  outbox: ['a webhook delivery has been due for 86400 seconds'],
  clock: ['the clock is 600 seconds behind the newest row'],
};

/** A problem with ids and numbers of drafts set aside. */
export function withoutIds(problem: string): string {
  return problem.replaceAll(/\b0190[\w-]{32}\b|\bappended-\d+\b/g, 'ID').replaceAll(/\bDRAFT-\w+/g, 'DRAFT');
}
