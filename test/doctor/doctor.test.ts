import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { contractChecks, databaseChecks, organizationChecks } from '../../src/engine/doctor/checks.ts';
import type { CheckName } from '../../src/engine/doctor/checks.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import type { Examination } from '../../src/operations/findings.ts';
import { createKeyHash } from '../../src/store/backends/sqlite/events/key-hash.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { openStore } from '../../src/store/open.ts';
import { finalize, invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import { createContract, createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import { damage } from './damage.ts';
import type { Damage } from './damage.ts';
import { makeSoundBook } from './sound-book.ts';
import type { SoundBook } from './sound-book.ts';

let directory: string;
let original: string;
let book: SoundBook;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tallybook-doctor-'));
  original = join(directory, 'sound.db');
  book = await makeSoundBook(original);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let copies = 0;

function copyOfBook(): string {
  copies += 1;
  const file = join(directory, `copy-${copies}.db`);
  copyFileSync(original, file);
  chmodSync(file, 0o600);
  return file;
}

async function examined(file: string, now = book.now): Promise<Examination> {
  return await createMaintenance({ now: () => now }).examine(file, { isFull: true, events: undefined });
}

/** What is done to a sound book so that it breaks one rule and no other. */
type Fault = (change: Damage, book: SoundBook) => void;

const created = { createdAt: '2026-05-02T00:00:00.000Z' };

/**
 * What is no fault inside of a file has tests of its own: below, in disk-space, reliability/lost-log, engine/usage-drop (events
 * can be dropped there), and store/postgres-backup (where a schema cannot be compared).
 */
type TestedElsewhere = Exclude<keyof typeof databaseChecks, 'integrity' | 'schema' | 'references'> | 'dropped-events';
const faults: Readonly<Record<Exclude<CheckName, TestedElsewhere>, Fault>> = {
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
    run('INSERT INTO grantExpiries SELECT orgId, contractId, id, expiresAt FROM ledgerEntries WHERE id = ?', id);
    append(young, {
      type: 'expiration',
      amountCents: -60n,
      grantEntryId: id,
      createdAt: '2026-05-03T00:00:00.000Z',
    });
  },
  'noted-expiries': ({ run }, { later }) => run('DELETE FROM grantExpiries WHERE grantId = ?', later),
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

test('a sound book has no findings, and its head is shown', async () => {
  const examination = await examined(copyOfBook());
  expect(examination.findings).toEqual([]);
  expect(examination).toMatchObject({ isFull: true, findingCount: 0, checkedAt: '2026-05-10T00:00:00.000Z' });
  const [organization] = examination.organizations;
  expect(organization).toMatchObject({
    name: 'default',
    contractCount: 3,
    ledgerHead: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

describe('every check finds the fault that it is for, and no other check does', () => {
  test.each(Object.entries(faults))('%s', async (name, fault) => {
    const file = copyOfBook();
    damage(file, (change) => fault(change, book));
    const { findings } = await examined(file);
    expect([...new Set(findings.map(({ check }) => check))]).toEqual([name]);
  });
});

test('what waits for an endpoint that is disabled is not due', async () => {
  const file = copyOfBook();
  damage(file, (change) => faults['outbox']?.(change, book));
  damage(file, ({ run }) => run('UPDATE webhookEndpoints SET isEnabled = 0'));
  expect((await examined(file)).findings).toEqual([]);
});

describe('what is noted to fall due', () => {
  test.each<[string, CheckName, Fault]>([
    [
      'drafts of no day',
      'noted-drafts',
      ({ run }, { young }) => run('UPDATE contracts SET draftsDueOn = NULL WHERE id = ?', young),
    ],
    [
      'a last draft that is gone',
      'noted-drafts',
      ({ run }, { young }) =>
        run(
          'DELETE FROM invoices WHERE contractId = ? AND periodIndex = (SELECT max(periodIndex) FROM invoices WHERE contractId = ?)',
          young,
          young,
        ),
    ],
    [
      'an expiry at another instant',
      'noted-expiries',
      ({ run }) => run(`UPDATE grantExpiries SET expiresAt = '2027-01-01T00:00:00.000Z'`),
    ],
  ])('finds %s', async (_what, name, fault) => {
    const file = copyOfBook();
    damage(file, (change) => fault(change, book));
    const { findings } = await examined(file);
    expect([...new Set(findings.map(({ check }) => check))]).toEqual([name]);
  });
});

test('the last draft of a fixed term that is gone is missed, also where nothing more was to be drafted', async () => {
  const file = join(directory, 'fixed.db');
  const world = await createWorld({ start: '2026-03-02T00:00:00.000Z', database: file });
  const { contractId } = await subscribe(world, { contract: { endDate: '2027-03-01' } });
  await world.close();
  const now = Temporal.Instant.from('2026-03-02T00:00:00Z');
  expect((await examined(file, now)).findings).toEqual([]);
  damage(file, ({ run }) => run('DELETE FROM invoices WHERE periodIndex = 11'));
  expect((await examined(file, now)).findings).toMatchObject([{ check: 'noted-drafts', objectId: contractId }]);
});

test('free credits that nothing values are told of until the instant at which they expire', async () => {
  const file = join(directory, 'free.db');
  const world = await createWorld({ start: '2026-03-02T00:00:00.000Z', database: file });
  const { contractId } = await subscribe(world);
  await world.call('credits.grant', {
    params: { contractId },
    body: { creditAmount: 5, creditRateCents: 0, expiresAt: '2026-03-05T00:00:00Z' },
  });
  await world.close();
  const checksAt = async (now: string) =>
    (await examined(file, Temporal.Instant.from(now))).findings.map(({ check }) => check);
  expect(await checksAt('2026-03-04T23:59:59.999Z')).toEqual(['unpriced-credits']);
  expect(await checksAt('2026-03-05T00:00:00Z')).toEqual([]);
});

test('every fault that leaves the books right is a warning, every other an error', () => {
  const checks = { ...databaseChecks, ...contractChecks, ...organizationChecks };
  const warnings = Object.entries(checks).filter(([, { severity }]) => severity === 'warning');
  expect(warnings.map(([name]) => name)).toEqual([
    'permissions',
    'passing-copies',
    'disk-space',
    'schema-unknown',
    'attribution',
    'unpriced-credits',
    'late-events',
    'dropped-events',
    'outbox',
    'clock',
  ]);
  for (const { rule } of Object.values(checks)) expect(rule).toMatch(/^[A-Z].*\.$/);
});

describe('the file', () => {
  test.skipIf(process.platform === 'win32')('that others may read is pointed out', async () => {
    const file = copyOfBook();
    chmodSync(file, 0o644);
    const { findings } = await examined(file);
    expect(findings.map(({ check, objectId }) => `${check} ${objectId}`)).toContain(`permissions ${file}`);
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(['permissions']));
  });

  test('beside which a copy was left is sound, and what was left is named and not removed', async () => {
    const file = copyOfBook();
    const left = mkdtempSync(join(directory, '.tally-'));
    const { findings } = await examined(file);
    expect(findings).toMatchObject([{ check: 'passing-copies', severity: 'warning', objectId: left }]);
    expect(existsSync(left)).toBe(true);
    rmSync(left, { recursive: true });
  });

  test('with a damaged page is reported, and its rows are not believed', async () => {
    const file = copyOfBook();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096 * 40, 4096 * 41);
    writeFileSync(file, bytes);
    const { findings, organizations } = await examined(file);
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(['integrity']));
    expect(findings[0]?.fix).toContain('tally restore');
    expect(organizations).toEqual([]);
  });

  test('is not changed by looking at it', async () => {
    const file = copyOfBook();
    const before = readFileSync(file);
    await examined(file);
    expect(readFileSync(file)).toEqual(before);
  });
});

// The database of schema 1 has invoices without the events that they bill.
test.each(Array.from({ length: schemaVersion - 2 }, (_value, index) => index + 2))(
  'a book of schema %i, with its finalized invoices, is right once it is upgraded',
  async (version) => {
    const file = join(directory, `v${version}.db`);
    const fixture = join(import.meta.dirname, `../fixtures/db/v${version}.sqlite.gz`);
    writeFileSync(file, gunzipSync(readFileSync(fixture)), { mode: 0o600 });
    await (await openStore(file)).close();
    expect((await examined(file)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  },
);

test('of many findings of one check a hundred are listed, and all are counted', async () => {
  const file = copyOfBook();
  damage(file, ({ append }) => {
    for (let count = 0; count < 130; count += 1) append(book.young, { type: 'adjustment' });
  });
  const { findings, findingCount } = await examined(file);
  expect(findings).toHaveLength(100);
  expect(findingCount).toBe(130);
});

test('the query of a meter is run again, outside of the database', async () => {
  const file = join(directory, 'query.db');
  const world = await createWorld({ start: '2026-03-20T00:00:00.000Z', database: file });
  const meter = { sql: `SELECT sum(properties['tokens']) AS value FROM events` };
  const acme = await subscribe(world, { contract: { startDate: '2026-03-01' }, meter });
  await use(world, acme, { tokens: 300, at: '2026-03-05T00:00:00Z', key: 'a' });
  world.clock.set('2026-04-01T00:00:00Z');
  await finalize(world, (await invoiceAt(world, acme, 0)).id);
  const verified = await world.call('credits.verify', { params: { contractId: acme.contractId } });
  await world.close();
  expect(verified.data.findings).toEqual([]);
  expect((await examined(file)).findings).toEqual([]);
  damage(file, ({ run }) => run(`UPDATE events SET propertiesJson = '{"tokens":301}'`));
  expect((await examined(file)).findings).toMatchObject([{ check: 'invoice-lines' }]);
});

test('a cancellation, which cuts a longer period that was billed whole, leaves the invoices before it right', async () => {
  const file = join(directory, 'cancelled.db');
  const world = await createWorld({ start: '2026-03-02T00:00:00.000Z', database: file });
  const customerId = await createCustomer(world, 'acme');
  const price = async (name: string, priceInterval: string) => {
    const body = { productName: name, name, model: 'FLAT', unitAmount: '120', priceInterval };
    return (await world.call('pricing.create', { body })).data.id;
  };
  const pricingIds = [await price('Support', 'YEAR'), await price('Seats', 'MONTH')];
  const contractId = await createContract(world, {
    customerId,
    pricingIds,
    startDate: '2026-03-01',
    endDate: undefined,
  });
  const { data } = await world.call('invoices.list', { query: { customerId } });
  await finalize(world, data.at(-1)?.id ?? '');
  world.clock.set('2026-04-10T00:00:00Z');
  await world.call('contracts.cancel', { params: { contractId }, body: { cancelAt: 'end_of_period' } });
  await world.close();
  expect((await examined(file)).findings).toEqual([]);
});
