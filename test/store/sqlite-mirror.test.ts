/** Lists of a mirror are read in the order of an index, and no more of it than a page. */

import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { expect, test } from 'vitest';

import { applicationIds } from '../../src/store/application-id.ts';
import { openSqliteMirror } from '../../src/store/backends/sqlite/mirror.ts';
import { watchStatements } from '../reliability/statements.ts';
import { file, useTestFile } from './test-file.ts';

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
