/**
 * Mirrors in SQLite files: answers as JSON text, found by kind and id. The application id marks the file as a mirror, so that it
 * is never taken for a database that keeps books. It has no log beside it, and can be copied.
 */

import { BillingError } from '../../../errors.ts';
import { reviveExactJson } from '../../../exact-json.ts';
import type {
  Mirror,
  MirrorFilter,
  MirrorSource,
  Mirrored,
  MirroredKind,
  StoredMirrored,
} from '../../../operations/mirror.ts';
import { applicationIds } from '../../application-id.ts';
import { openConnection, pragma } from './connection.ts';
import type { SqliteConnection } from './connection.ts';
import { meaningOf } from './errors.ts';
import { noteBegun } from './handle.ts';
import { waitForLock } from './lock-wait.ts';

const version = 1n;

/** The order of lists. Both indexes have it, because SQLite prefers an index in this order to one that finds few rows. */
const order = "body ->> '$.createdAt' DESC, rank DESC, id DESC";

const schema = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    kind TEXT NOT NULL, id TEXT NOT NULL, contractId TEXT, rank INTEGER NOT NULL,
    body TEXT NOT NULL, pulledAt TEXT NOT NULL, PRIMARY KEY (kind, id)
  ) STRICT;
  CREATE INDEX recordsOfContract ON records (contractId, kind, ${order});
  CREATE INDEX recordsInOrder ON records (kind, ${order}) WHERE rank >= 0;
  PRAGMA application_id = ${applicationIds.mirror};
  PRAGMA user_version = ${version};`;

/** Opens the mirror at `path` for reading alone; with a source for writing, and then makes the file if there is none. */
export async function openSqliteMirror(path: string, source?: MirrorSource): Promise<Mirror> {
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(path, { readOnly: source === undefined });
    const mirror = mirrorOn(connection);
    const opened = connection;
    // Without a log, a pull that commits keeps readers out for a moment.
    const applicationId = await waitForLock(opened, () => pragma(opened, 'application_id'));
    if (source !== undefined && applicationId === 0n) {
      await mirror.make(source);
      noteBegun(path);
    }
    await waitForLock(opened, () => checkVersion(opened));
    return mirror;
  } catch (error) {
    connection?.close();
    throw meaningOf(error, path);
  }
}

function checkVersion(connection: SqliteConnection): void {
  const found = pragma(connection, 'user_version');
  if (pragma(connection, 'application_id') === BigInt(applicationIds.mirror) && found === version) return;
  throw new BillingError('internal', `${connection.path} is not a mirror of version ${version}; it was left as it is`, {
    hint: 'pull into a new file',
  });
}

function mirrorOn(connection: SqliteConnection): Mirror & { make(source: MirrorSource): Promise<void> } {
  const { path } = connection;

  /** `work` is synchronous, so that two transactions never meet on the one connection. */
  async function transact<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): Promise<T> {
    try {
      return await waitForLock(connection, () => {
        connection.execute(begin);
        try {
          const result = work();
          connection.execute('COMMIT');
          return result;
        } catch (error) {
          if (connection.isTransaction) connection.execute('ROLLBACK');
          throw error;
        }
      });
    } catch (error) {
      throw meaningOf(error, path);
    }
  }
  const read = async <T>(work: () => T): Promise<T> => await transact('BEGIN', work);
  const write = async (work: () => void): Promise<void> => await transact('BEGIN IMMEDIATE', work);

  function fact(name: string): unknown {
    const row = connection.prepare('SELECT value FROM facts WHERE name = ?').get(name);
    return row === undefined ? undefined : JSON.parse(String(row['value']));
  }

  function noteFact(name: string, value: unknown): void {
    if (value === undefined) connection.prepare('DELETE FROM facts WHERE name = ?').run(name);
    else connection.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)').run(name, JSON.stringify(value));
  }

  return {
    location: path,
    make: async (source) =>
      await write(() => {
        // Another process may have made it since this one looked.
        if (pragma(connection, 'application_id') !== 0n) return;
        connection.execute(schema);
        noteFact('source', source);
      }),
    source: async () => await read(() => fact('source') as MirrorSource),
    noteSource: async (source) => await write(() => noteFact('source', source)),
    unfinishedRun: async () => await read(() => fact('run') as Awaited<ReturnType<Mirror['unfinishedRun']>>),
    noteRun: async (run) => await write(() => noteFact('run', run)),
    find: async (kind, id) =>
      await read(() => {
        const row = connection.prepare('SELECT * FROM records WHERE kind = ? AND id = ?').get(kind, id);
        return row === undefined ? undefined : recordOf(row);
      }),
    list: async (kind, filter) => await read(() => listRecords(connection, kind, filter)),
    keep: async (records, { pulledAt, contractId }) =>
      await write(() => {
        if (contractId !== undefined) removeOtherInvoices(connection, contractId, records);
        const statement = connection.prepare(
          `INSERT INTO records (kind, id, contractId, rank, body, pulledAt) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (kind, id) DO UPDATE SET contractId = excluded.contractId, rank = excluded.rank,
             body = excluded.body, pulledAt = excluded.pulledAt`,
        );
        for (const { kind, id, contractId: owner = null, rank, body } of records) {
          statement.run(kind, id, owner, BigInt(rank), JSON.stringify(body), pulledAt);
        }
      }),
    close: async () => connection.close(),
  };
}

function removeOtherInvoices(connection: SqliteConnection, contractId: string, records: readonly Mirrored[]): void {
  const kept = new Set(records.filter(({ kind }) => kind === 'invoice').map(({ id }) => id));
  const stored = connection.prepare("SELECT id FROM records WHERE contractId = ? AND kind = 'invoice'").all(contractId);
  const remove = connection.prepare("DELETE FROM records WHERE kind = 'invoice' AND id = ?");
  for (const { id } of stored) if (!kept.has(String(id))) remove.run(String(id));
}

function listRecords(connection: SqliteConnection, kind: MirroredKind, filter: MirrorFilter) {
  const { where = {}, contractId, createdAfter, createdBefore, limit = -1, offset = 0 } = filter;
  const conditions: (readonly [string, ...(string | bigint)[]])[] = [['kind = ? AND rank >= 0', kind]];
  if (contractId !== undefined) conditions.push(['contractId = ?', contractId]);
  if (createdAfter !== undefined) conditions.push([`body ->> '$.createdAt' >= ?`, createdAfter]);
  if (createdBefore !== undefined) conditions.push([`body ->> '$.createdAt' < ?`, createdBefore]);
  for (const [member, value] of Object.entries(where)) {
    const bound = typeof value === 'boolean' ? BigInt(value) : value;
    if (bound !== undefined) conditions.push(['body ->> ? = ?', `$.${member}`, bound]);
  }
  const condition = conditions.map(([text]) => text).join(' AND ');
  const values = conditions.flatMap(([, ...bound]) => bound);
  const counted = connection.prepare(`SELECT count(*) AS total FROM records WHERE ${condition}`).get(...values);
  const rows = connection
    .prepare(
      `SELECT * FROM records WHERE ${condition}
       ORDER BY ${order} LIMIT ? OFFSET ?`,
    )
    .all(...values, BigInt(limit), BigInt(offset));
  return { rows: rows.map(recordOf), total: Number(counted?.['total']) };
}

function recordOf(row: Readonly<Record<string, unknown>>): StoredMirrored {
  return {
    kind: row['kind'] as MirroredKind,
    id: String(row['id']),
    ...(typeof row['contractId'] === 'string' ? { contractId: row['contractId'] } : {}),
    rank: Number(row['rank']),
    body: reviveExactJson(String(row['body'])) as Mirrored['body'],
    pulledAt: String(row['pulledAt']),
  };
}
