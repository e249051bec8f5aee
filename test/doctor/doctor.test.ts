import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { beforeAll, describe, expect, test } from 'vitest';

import { contractChecks, databaseChecks, organizationChecks } from '../../src/engine/doctor/checks.ts';
import type { CheckName } from '../../src/engine/doctor/checks.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import type { Examination } from '../../src/operations/findings.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { openStore } from '../../src/store/open.ts';
import { finalize, invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createContract, createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import { damage } from './damage.ts';
import { type Fault, faults, told, withoutIds } from './faults.ts';
import { makeSoundBook } from './sound-book.ts';
import type { SoundBook } from './sound-book.ts';

let directory: string;
let original: string;
let book: SoundBook;

beforeAll(async () => {
  directory = newDirectory();
  original = join(directory, 'sound.db');
  book = await makeSoundBook(original);
});

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

describe('every check finds the fault that it is for, and no other check does, and says what it is', () => {
  test.each(Object.keys(faults) as (keyof typeof faults)[])('%s', async (name) => {
    const file = copyOfBook();
    damage(file, (change) => faults[name](change, book));
    const { findings } = await examined(file);
    expect([...new Set(findings.map(({ check }) => check))]).toEqual([name]);
    expect(findings.map(({ problem }) => withoutIds(problem))).toEqual(told[name]);
  });
});

test('what waits for an endpoint that is disabled is not due', async () => {
  const file = copyOfBook();
  damage(file, (change) => faults.outbox(change, book));
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
      'an expiry at a later instant',
      'noted-expiries',
      ({ run }) => run(`UPDATE contracts SET nextExpiryAt = '2100-01-01T00:00:00.000Z'`),
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
  damage(file, ({ run }) => run(`UPDATE meters SET sql = 'SELECT ''much'' AS value'`));
  expect((await examined(file)).findings).toMatchObject([
    {
      check: 'readable',
      problem: `contract ${acme.contractId} could not be read: the meter TOKENS_ACME (${acme.meterId}) gave no quantity: value must be a number, but is text: cast or sum it`,
    },
  ]);
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
