/** Reliability 11: a database of every earlier version opens, comes to the same as a new one, and loses nothing. */

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import { schemaVersion } from '../../src/store/backends/sqlite/migrations/migration.ts';
import { openStore } from '../../src/store/open.ts';
import { row } from '../store/rows.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { openBook, readBook, stepsOf } from './book.ts';
import { dump, placeImage, schemaOf, tablesOf, withDatabase } from './database-image.ts';
import { selectAsBefore6 } from './older-events.ts';
import { migrateTo } from './migrate-to.ts';
import { firstDifference } from './reference-book.ts';
import { damageOf, problemsOf } from './soundness.ts';
import { momentsOf, watchStatements } from './statements.ts';

const fixtures = join(import.meta.dirname, '../fixtures/db');
const older = Array.from({ length: schemaVersion - 1 }, (_value, index) => index + 1);

const directory = newDirectory();
let files = 0;

function newFile(): string {
  files += 1;
  return join(directory, `${files}.db`);
}

/** A copy of the database of a version. */
function old(version: number): string {
  const fixture = join(fixtures, `v${version}.sqlite.gz`);
  if (!existsSync(fixture)) {
    throw new Error(
      `there is no database of schema ${version}: run node test/fixtures/db/make.ts, and commit ${fixture}`,
    );
  }
  const file = newFile();
  writeFileSync(file, gunzipSync(readFileSync(fixture)));
  return file;
}

async function upgraded(file: string): Promise<string> {
  const store = await openStore(file);
  await store.close();
  return file;
}

function versionOf(file: string): number {
  return withDatabase(file, (database) => Number(database.prepare('PRAGMA user_version').get()?.['user_version']));
}

type Row = Readonly<Record<string, unknown>>;

/** What it held is elsewhere in a later version. */
const leftLater: ReadonlySet<string> = new Set(['eventTailRuns', 'grantExpiries']);

/** The rows of every table, without what a later version added. */
function rowsOf(file: string, like?: ReadonlyMap<string, readonly Row[]>): Map<string, Row[]> {
  return withDatabase(file, (database) => {
    const tables = like === undefined ? tablesOf(database).filter((name) => !leftLater.has(name)) : [...like.keys()];
    return new Map(
      tables.map((table) => {
        const known = Object.keys(like?.get(table)?.[0] ?? {});
        const columns = known.length === 0 ? '*' : known.map((name) => `"${name}"`).join(', ');
        const source = known.includes('eventName') ? selectAsBefore6(table) : undefined;
        const rows = database
          .prepare(`SELECT ${columns} FROM ${source === undefined ? `"${table}"` : `(${source})`}`)
          .all();
        return [table, rows.map((row) => ({ ...row }))];
      }),
    );
  });
}

/** A version that is moved to another table may stand at another place. */
function inAnyOrder(rows: ReadonlyMap<string, readonly Row[]>): Map<string, string[]> {
  return new Map([...rows].map(([table, own]) => [table, own.map((row) => inspect(row)).toSorted()]));
}

describe.each(older)('a database of schema %i', (version) => {
  test('is what it says, sound, and not empty', () => {
    const file = old(version);
    expect(versionOf(file)).toBe(version);
    expect(damageOf(file)).toEqual([]);
    expect(rowsOf(file).get('ledgerEntries')?.length).toBeGreaterThan(10);
  });

  test('is upgraded to the definitions of a new one', async () => {
    const file = await upgraded(old(version));
    expect(versionOf(file)).toBe(schemaVersion);
    expect(schemaOf(file)).toEqual(schemaOf(await upgraded(newFile())));
    expect(damageOf(file)).toEqual([]);
  });

  test('is kept beside as it was, in the place of no other copy, before anything of it changes', async () => {
    const file = old(version);
    const before = dump(file);
    const copy = `${file}.schema-${version}`;
    writeFileSync(copy, 'an earlier copy');
    writeFileSync(`${copy}-2-wal`, 'what an old program has written');
    const store = await openStore(file);
    await store.close();
    expect(store.copyBefore).toBe(`${copy}-3`);
    expect([versionOf(`${copy}-3`), dump(`${copy}-3`)]).toEqual([version, before]);
    expect(statSync(`${copy}-3`).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
    expect(readFileSync(copy, 'utf8')).toBe('an earlier copy');
    const again = await openStore(file);
    await again.close();
    expect(again.copyBefore).toBeUndefined();
  });

  test('comes to the same in one go and version by version', async () => {
    const direct = await upgraded(old(version));
    const stepwise = old(version);
    for (let next = version + 1; next <= schemaVersion; next += 1) {
      migrateTo(stepwise, next);
      expect(versionOf(stepwise)).toBe(next);
    }
    expect(firstDifference(dump(direct), dump(stepwise))).toBeUndefined();
    expect(schemaOf(direct)).toEqual(schemaOf(stepwise));
  });

  test('keeps every row with every value', async () => {
    const file = old(version);
    const before = rowsOf(file);
    await upgraded(file);
    expect(inAnyOrder(rowsOf(file, before))).toEqual(inAnyOrder(before));
  });

  test('reads the same: invoices and ledgers as they were, whole and sealed, and the work goes on', async () => {
    const file = old(version);
    const rows = rowsOf(file);
    const book = await openBook(file);
    const { world } = book;
    world.clock.set(stepsOf().at(-1)?.at ?? '');
    expect(await problemsOf(world)).toEqual([]);
    const answers = await readBook(world);
    expect(answers.length).toBeGreaterThan(10);

    const { data: invoices } = await world.call('invoices.list', { query: { limit: '100' } });
    const final = rows.get('invoices')?.filter((row) => row['finalizedAt'] !== null) ?? [];
    expect(final.length).toBeGreaterThan(3);
    for (const { id, number, totalCents, status } of final) {
      const read = invoices.find((invoice) => invoice.id === id);
      expect([read?.invoiceNumber, textOfNumber(read?.totalCents ?? 0), read?.status]).toEqual([
        number,
        String(totalCents),
        status,
      ]);
    }
    for (const contractId of new Set(rows.get('ledgerEntries')?.map((row) => String(row['contractId'])))) {
      const { entries } = (await world.call('credits.ledger', { params: { contractId } })).data;
      const own = rows.get('ledgerEntries')?.filter((row) => row['contractId'] === contractId) ?? [];
      expect(entries.toReversed().map((entry) => [entry.id, textOfNumber(entry.amountCents)])).toEqual(
        own.map((row) => [row['id'], String(row['amountCents'])]),
      );
      await world.call('credits.settle', { params: { contractId } });
    }
    expect(await problemsOf(world)).toEqual([]);
    await world.close();
  });

  test('that is killed between any two statements of the upgrade is upgraded by the next opening', async () => {
    const direct = await upgraded(old(version));
    const file = old(version);
    const moments = await momentsOf(file, async () => await upgraded(file));
    // One state ahead of each step, and one behind the last.
    expect(moments.length).toBeGreaterThan(schemaVersion - version);
    for (const { image } of moments) {
      placeImage(file, image);
      expect(firstDifference(dump(direct), dump(await upgraded(file)))).toBeUndefined();
      expect(schemaOf(file)).toEqual(schemaOf(direct));
    }
  });
});

test('new events of a run with a row for each customer are new events still, and a damaged row stops nothing', async () => {
  const file = old(13);
  const selectTail = 'SELECT customerSeq, timestampEpochMs, eventSeq FROM eventTail ORDER BY 1, 2, 3';
  const readTail = () => withDatabase(file, (database) => database.prepare(selectTail).all());
  const before = readTail();
  expect(before.length).toBeGreaterThan(3);
  withDatabase(file, (database) => {
    const insert = database.prepare('INSERT INTO eventTailRuns VALUES (?, ?, ?, ?)');
    for (const [customerSeq, rows] of Map.groupBy(before, (each) => Number(each['customerSeq']))) {
      const pairs = rows.flatMap((each) => [Number(each['timestampEpochMs']), Number(each['eventSeq'])]);
      insert.run(0, customerSeq, rows.length, new Float64Array(pairs));
    }
    insert.run(1, 99, 1, Buffer.from('damaged'));
    database.exec('DELETE FROM eventTail');
  });
  await upgraded(file);
  expect(readTail()).toEqual(before);
});

test('the earliest noted expiry of a contract stands in its row from schema 17 on, and none where none is noted', async () => {
  const file = old(16);
  const noted = withDatabase(file, (database) => {
    const grants = database.prepare(`SELECT orgId, contractId, id FROM ledgerEntries WHERE type = 'grant'`).all();
    const [first, second] = Map.groupBy(grants, ({ contractId }) => contractId).values();
    const insert = database.prepare('INSERT INTO grantExpiries VALUES (?, ?, ?, ?)');
    for (const [grant, expiresAt] of [
      [first?.[0], '2031-01-01T00:00:00.000Z'],
      [first?.[0], '2030-01-01T00:00:00.000Z'],
      [second?.[0], '2032-01-01T00:00:00.000Z'],
    ] as const) {
      insert.run(...(['orgId', 'contractId', 'id'] as const).map((name) => grant?.[name] ?? ''), expiresAt);
    }
    return new Map([
      [first?.[0]?.['contractId'], '2030-01-01T00:00:00.000Z'],
      [second?.[0]?.['contractId'], '2032-01-01T00:00:00.000Z'],
    ]);
  });
  await upgraded(file);
  const rows = withDatabase(file, (database) => database.prepare('SELECT id, nextExpiryAt FROM contracts').all());
  expect(rows.length).toBeGreaterThan(2);
  for (const { id, nextExpiryAt } of rows) expect(nextExpiryAt).toBe(noted.get(id) ?? null);
});

test('a database that was just upgraded takes no row that names what is not there', async () => {
  const store = await openStore(old(1));
  const dangling = store.write((tx) => tx.insertInto('customers').values(row.customer('nobody', 'c')).execute());
  await expect(dangling).rejects.toMatchObject({ rule: 'reference' });
  await store.close();
});

test('a new database is made at once as its steps make it, one after another', async () => {
  const atOnce = await upgraded(newFile());
  const stepwise = newFile();
  migrateTo(stepwise, schemaVersion);
  expect(schemaOf(atOnce)).toEqual(schemaOf(stepwise));
  expect(firstDifference(dump(atOnce), dump(stepwise))).toBeUndefined();
  expect(rowsOf(atOnce)).toEqual(rowsOf(stepwise));
});

test('a new database that is killed between any two statements of its making is made by the next opening', async () => {
  const expected = schemaOf(await upgraded(newFile()));
  const file = newFile();
  const moments = await momentsOf(file, async () => await upgraded(file));
  // No file, an empty one, one with a log, and the whole schema.
  expect(moments.length).toBeGreaterThan(3);
  for (const { image } of moments) {
    placeImage(file, image);
    expect(schemaOf(await upgraded(file))).toEqual(expected);
    expect(versionOf(file)).toBe(schemaVersion);
  }
});

test('a database that two programs upgrade at once is opened by both, and kept as it was under a name for each', async () => {
  const file = old(5);
  const before = dump(file);
  const copies = [`${file}.schema-5`, `${file}.schema-5-2`];
  // Neither upgrades before both have a copy: the other would need none then.
  const holder = new DatabaseSync(file);
  holder.exec('BEGIN IMMEDIATE');
  const opening = Promise.all([openStore(file), openStore(file)]);
  await expect.poll(() => copies.filter((copy) => existsSync(copy))).toEqual(copies);
  holder.close();
  const stores = await opening;
  for (const store of stores) await store.close();
  expect(new Set(stores.map(({ copyBefore }) => copyBefore))).toEqual(new Set(copies));
  for (const copy of copies) expect(dump(copy)).toBe(before);
  expect(versionOf(file)).toBe(schemaVersion);
});

test('a database that cannot be upgraded now stays as it is, and leaves no copy beside it however often it is tried', async () => {
  const file = old(5);
  const holder = new DatabaseSync(file);
  holder.exec('BEGIN IMMEDIATE');
  const message = `the database ${file} is locked by another process (waited 10 ms); nothing was changed`;
  for (let times = 0; times < 2; times += 1) {
    await expect(openStore(file, { busyTimeoutMilliseconds: 10 })).rejects.toMatchObject({ message });
  }
  expect(readdirSync(directory).filter((name) => name.startsWith(`${basename(file)}.`))).toEqual([]);
  holder.close();
});

test('an upgrade that stops between two versions says so, names the copy, and is done by the next opening', async () => {
  const file = old(5);
  const before = dump(file);
  const direct = dump(await upgraded(old(5)));
  const stop = watchStatements((sql) => {
    if (sql.includes('"invoices_status"')) throw Object.assign(new Error('full'), { errcode: 13 });
  });
  try {
    await expect(openStore(file)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `no space is left for the database ${file}; it is upgraded in part, and a copy from before is kept: ${file}.schema-5`,
      hint: 'free some space on its disk, then repeat the command',
    });
  } finally {
    stop();
  }
  expect([versionOf(file), dump(`${file}.schema-5`)]).toEqual([12, before]);
  expect(firstDifference(direct, dump(await upgraded(file)))).toBeUndefined();
});

test('an upgrade whose commit may have been kept when the disk failed keeps the copy, and names it', async () => {
  const file = old(5);
  const before = dump(file);
  const stop = watchStatements((sql) => {
    if (sql === 'COMMIT') throw Object.assign(new Error('disk I/O error'), { errcode: 1034 });
  });
  try {
    await expect(openStore(file)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `the disk failed while using the database ${file}: disk I/O error; it may be upgraded in part, and a copy from before is kept: ${file}.schema-5`,
    });
  } finally {
    stop();
  }
  expect(dump(`${file}.schema-5`)).toBe(before);
});

test('a database of a later version is refused, and no byte of it changes', async () => {
  const file = await upgraded(newFile());
  withDatabase(file, (database) => database.exec(`PRAGMA user_version = ${schemaVersion + 1}`));
  const before = readFileSync(file);
  await expect(openStore(file)).rejects.toMatchObject({ kind: 'internal' });
  expect(readFileSync(file).equals(before)).toBe(true);
});
