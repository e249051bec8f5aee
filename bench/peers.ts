/**
 * Other databases in the same run: events in batches of 1,000, without duplicate keys where the database can do that, and sums
 * of 48 groups over 30 ragged days of the largest customer. A database that is not installed is skipped, with a line.
 */

import { join } from 'node:path';

import { customerName, eventAt } from './event-data.ts';
import { openBare, raggedRange, rawScanMilliseconds, bareIngestRate, removeDatabase } from './event-limits.ts';
import type { InstalledPackage } from './installed-package.ts';
import type { Result } from './report.ts';

const count = 100_000;
const batch = 1_000;

interface Row {
  readonly org: string;
  readonly id: string;
  readonly customer: string;
  readonly time: number;
  readonly properties: string;
}

interface Peer {
  readonly insert: (rows: readonly Row[]) => Promise<unknown>;
  /** Gives the number of groups in the sums. */
  readonly sums: (range: { readonly from: number; readonly to: number }) => Promise<number>;
  readonly close: () => Promise<unknown>;
}

const table =
  'CREATE TABLE events (org TEXT, id TEXT, customer TEXT, time BIGINT, properties TEXT, PRIMARY KEY (org, id))';
const found = 'CREATE INDEX found ON events (customer, time)';

const peers: Readonly<Record<string, (folder: string) => Promise<Peer>>> = {
  'PostgreSQL, durable': async () => {
    const { startPostgres } = await import('../test/support/postgres-process.ts');
    const { default: pg } = await import('pg');
    const server = await startPostgres({ isDurable: true });
    const client = new pg.Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query(`${table}; ${found}`);
    return {
      insert: async (rows) =>
        await client.query({
          name: 'insert',
          text: `INSERT INTO events SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
            ON CONFLICT DO NOTHING`,
          values: [
            rows.map((row) => row.org),
            rows.map((row) => row.id),
            rows.map((row) => row.customer),
            rows.map((row) => row.time),
            rows.map((row) => row.properties),
          ],
        }),
      sums: async ({ from, to }) => {
        const { rows } = await client.query(
          `SELECT properties::jsonb->>'model', properties::jsonb->>'region', sum((properties::jsonb->>'tokens')::numeric)
           FROM events WHERE customer = $1 AND time >= $2 AND time < $3 GROUP BY 1, 2`,
          [customerName(0), from, to],
        );
        return rows.length;
      },
      close: async () => {
        await client.end();
        await server.remove();
      },
    };
  },
  'ClickHouse in process, duplicates kept': async (folder) => {
    const { Session } = await import('chdb');
    const session = new Session(join(folder, 'clickhouse'));
    session.query('CREATE DATABASE bench');
    session.query(`CREATE TABLE bench.events (org LowCardinality(String), id String, customer LowCardinality(String), time Int64,
      properties String) ENGINE = MergeTree ORDER BY (org, customer, time)`);
    return {
      insert: async (rows) =>
        session.query(
          `INSERT INTO bench.events FORMAT JSONEachRow ${rows.map((row) => JSON.stringify(row)).join('\n')}`,
        ),
      sums: async ({ from, to }) => {
        const text = session.query(
          `SELECT JSONExtractString(properties, 'model') AS model, JSONExtractString(properties, 'region') AS region,
             sum(JSONExtract(properties, 'tokens', 'Decimal(38, 9)')) FROM bench.events
           WHERE org = 'organization' AND customer = '${customerName(0)}' AND time >= ${from} AND time < ${to}
           GROUP BY model, region`,
          'TSV',
        );
        return text.trimEnd().split('\n').length;
      },
      close: async () => {
        session.close();
      },
    };
  },
  DuckDB: async (folder) => {
    const name: string = '@duckdb/node-api';
    const { DuckDBInstance } = (await import(name)) as DuckDb;
    const instance = await DuckDBInstance.create(join(folder, 'peer.duckdb'));
    const connection = await instance.connect();
    await connection.run(table);
    const texts = (rows: readonly Row[]): string =>
      rows.map((row) => `('${row.org}', '${row.id}', '${row.customer}', ${row.time}, '${row.properties}')`).join();
    return {
      insert: async (rows) => await connection.run(`INSERT INTO events VALUES ${texts(rows)} ON CONFLICT DO NOTHING`),
      sums: async ({ from, to }) => {
        const result = await connection.runAndReadAll(
          `SELECT properties->>'model' AS model, properties->>'region' AS region,
             sum((properties->>'tokens')::DECIMAL(38, 9)) FROM events
           WHERE customer = '${customerName(0)}' AND time >= ${from} AND time < ${to} GROUP BY ALL`,
        );
        return result.getRows().length;
      },
      close: async () => instance.closeSync(),
    };
  },
};

/** The few parts of DuckDB's interface that are used; the package is not a dependency. */
interface DuckDb {
  readonly DuckDBInstance: {
    create: (file: string) => Promise<{
      connect: () => Promise<{
        run: (sql: string) => Promise<unknown>;
        runAndReadAll: (sql: string) => Promise<{ getRows: () => readonly unknown[] }>;
      }>;
      closeSync: () => void;
    }>;
  };
}

export async function measurePeers({ folder }: InstalledPackage): Promise<Result[]> {
  const rows = Array.from({ length: count }, (_, i): Row => {
    const { key, customer, timestampEpochMs, properties } = eventAt(i, count);
    const texts = { customer: customerName(customer), properties: JSON.stringify(properties) };
    return { org: 'organization', id: key, time: timestampEpochMs, ...texts };
  });
  const results = measureSqlite(folder);
  for (const [name, open] of Object.entries(peers)) {
    const peer = await open(folder).catch((error: unknown) => skipped(name, error));
    if (peer !== undefined) results.push(...(await measured(name, peer, rows)));
  }
  return results;
}

function skipped(name: string, error: unknown): undefined {
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  const [, missing] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' && missing !== undefined;
  const reason = isMissing ? `npm install --no-save ${missing} brings it` : message.split('\n', 1)[0];
  process.stderr.write(`${name} is left out: ${reason}\n`);
}

function measureSqlite(folder: string): Result[] {
  const file = join(folder, 'peer.db');
  const database = openBare(file);
  const rate = bareIngestRate(database, { first: 0, last: count, count, batch });
  const milliseconds = rawScanMilliseconds(database, raggedRange());
  database.close();
  removeDatabase(file);
  return resultsOf('bare SQLite, durable', rate, milliseconds);
}

async function measured(name: string, peer: Peer, rows: readonly Row[]): Promise<Result[]> {
  try {
    const began = performance.now();
    for (let first = 0; first < rows.length; first += batch) await peer.insert(rows.slice(first, first + batch));
    const rate = (rows.length / (performance.now() - began)) * 1000;
    await peer.sums(raggedRange(1));
    const asked = performance.now();
    const groups = await peer.sums(raggedRange());
    const milliseconds = performance.now() - asked;
    if (groups !== 48) throw new Error(`${name} found ${groups} groups`);
    return resultsOf(name, rate, milliseconds);
  } finally {
    await peer.close();
  }
}

function resultsOf(name: string, rate: number, milliseconds: number): Result[] {
  return [
    {
      name: `beside: ${name}, events in batches of ${batch.toLocaleString('en-US')}`,
      measured: rate,
      unit: 'events/s',
    },
    { name: `beside: ${name}, sums of 30 days out of ${count / 1e6} million`, measured: milliseconds, unit: 'ms' },
  ];
}
