/** Lists of a mirror are read in the order of an index, and no more of it than a page. */

import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { expect, test } from 'vitest';

import { applicationIds } from '../../src/store/application-id.ts';
import { openSqliteMirror } from '../../src/store/backends/sqlite/mirror.ts';
import { watchStatements } from '../reliability/statements.ts';
import { refusal } from '../support/refusal.ts';
import { asOrdinaryUser, directory, file, useTestFile } from './test-file.ts';

useTestFile();

const source = { environment: 'sandbox', address: 'https://billing.example.com', hasContracts: false };

test('a mirror that another process makes between the look and the making is the one that is opened', async () => {
  writeFileSync(`${file}-new`, '');
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const opening = openSqliteMirror(file, source);
  other.exec(`CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO facts VALUES ('source', '"made by the other"');
    PRAGMA application_id = ${applicationIds.mirror};
    PRAGMA user_version = 1;`);
  await new Promise((resolve) => setImmediate(resolve));
  other.exec('COMMIT');
  other.close();
  const mirror = await opening;
  expect(await mirror.source()).toBe('made by the other');
  await mirror.close();
});

test('a mirror that a pull commits to is opened as soon as it has done so', async () => {
  await (await openSqliteMirror(file, source)).close();
  for (const as of [undefined, source]) {
    const pull = new DatabaseSync(file);
    const opening = openSqliteMirror(file, as);
    pull.exec('BEGIN EXCLUSIVE');
    await new Promise((resolve) => setImmediate(resolve));
    pull.exec('COMMIT');
    pull.close();
    const mirror = await opening;
    expect(await mirror.source()).toEqual(source);
    await mirror.close();
  }
});

test('a page of a mirror, or of what it has of one contract, sorts nothing and looks at nothing else', async () => {
  const mirror = await openSqliteMirror(file, source);
  const records = ['2026-01-01', '2026-01-03', '2026-01-02', '2026-01-03'].map((day, index) => ({
    kind: 'invoice' as const,
    id: `invoice ${index}`,
    contractId: `contract ${index % 2}`,
    rank: index,
    body: { createdAt: `${day}T00:00:00.000Z` },
  }));
  await mirror.keep(records, { pulledAt: '2026-02-01T00:00:00.000Z' });
  const statements = new Set<string>();
  const stop = watchStatements((sql) => statements.add(sql));
  const all = await mirror.list('invoice', { limit: 2, offset: 1 });
  const own = await mirror.list('invoice', { contractId: 'contract 1', limit: 2 });
  stop();
  await mirror.close();
  expect([all, own].map(({ rows }) => rows.map(({ id }) => id))).toEqual([
    ['invoice 1', 'invoice 2'],
    ['invoice 3', 'invoice 1'],
  ]);
  const database = new DatabaseSync(file);
  const plans = [...statements]
    .filter((sql) => sql.includes('records'))
    .map((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
  database.close();
  const [inOrder, ofContract] = [
    /INDEX recordsInOrder \(kind=\?\)$/,
    /INDEX recordsOfContract \(contractId=\? AND kind=\?\)$/,
  ];
  expect(plans.map((steps) => steps.map(({ detail }) => detail))).toEqual(
    [inOrder, inOrder, ofContract, ofContract].map((plan) => [expect.stringMatching(plan)]),
  );
});

/** Leaves a mirror as a process does that is killed while the second of two writes goes into its file; gives its path. */
async function cutOff(): Promise<string> {
  const mirror = await openSqliteMirror(file, source);
  const records = Array.from({ length: 500 }, (_, index) => ({
    kind: 'invoice' as const,
    id: `invoice ${index}`,
    rank: index,
    body: { status: 'DRAFT', description: 'x'.repeat(200) },
  }));
  await mirror.keep(records, { pulledAt: '2026-02-01T00:00:00.000Z' });
  await mirror.close();
  const killed = `${file}.killed`;
  const writer = new DatabaseSync(file);
  writer.exec(`PRAGMA cache_size = 10;
    BEGIN;
    UPDATE records SET body = json_set(body, '$.status', 'FINALIZED')`);
  for (const end of ['', '-journal']) copyFileSync(file + end, killed + end);
  writer.close();
  return killed;
}

test('a write that was cut off while it went into the file is undone before anything is read', async () => {
  const mirror = await openSqliteMirror(await cutOff());
  const { rows, total } = await mirror.list('invoice', {});
  await mirror.close();
  expect(total).toBe(500);
  expect(new Set(rows.map(({ body }) => body['status']))).toEqual(new Set(['DRAFT']));
});

// Windows has no such directories.
test.skipIf(process.platform === 'win32')('whoever may not undo such a write is refused', async () => {
  const killed = await cutOff();
  for (const end of ['', '-journal']) chmodSync(killed + end, 0o444);
  chmodSync(directory, 0o555);
  expect(await refusal(asOrdinaryUser(() => openSqliteMirror(killed)))).toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('was cut off in the middle') as string,
  });
});
