/** The tables of events in ClickHouse. */

import { UnavailableError } from '../../../errors.ts';

/** By a column that all copies of a row share: copies are equal, so any of them may go. */
const month = 'PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(timestampEpochMs))';

/** Which version of which event a row belongs to, and in which batch it moved. */
const eventVersion = {
  orgId: 'String',
  customerId: 'String',
  timestampEpochMs: 'Int64',
  place: 'UInt64',
  version: 'UInt32',
  batch: 'UInt64',
} as const;

/**
 * `tallybookEvents` has every version of every event, in the order in which meters read; `tallybookEventKeys` where the
 * versions of a key are; `tallybookSupersededEvents` which versions have been replaced. Rows are never changed: a batch that is
 * written again has the same rows again, and these tables keep one of each. `tallybookBatches` names a batch before its rows are
 * written; `tallybookDropped` says from when on an organization has events; `tallybookBook` names the book that owns all this.
 */
const tables = {
  tallybookEvents: {
    columns: {
      ...eventVersion,
      id: 'String',
      idempotencyKey: 'String',
      contractId: 'Nullable(String)',
      eventName: 'LowCardinality(String)',
      propertiesJson: 'String CODEC(ZSTD)',
      receivedAtEpochMs: 'Int64',
      isLate: 'UInt8',
    },
    keys: `${month} ORDER BY (orgId, customerId, timestampEpochMs, place, version)`,
  },
  tallybookEventKeys: {
    columns: { ...eventVersion, idempotencyKey: 'String' },
    keys: `${month} ORDER BY (orgId, idempotencyKey, version)`,
  },
  tallybookSupersededEvents: {
    columns: eventVersion,
    keys: `${month} ORDER BY (orgId, customerId, timestampEpochMs, place, version)`,
  },
  tallybookBatches: {
    columns: { orgId: 'String', batch: 'UInt64', digest: 'String' },
    keys: 'ORDER BY (orgId, batch, digest)',
  },
  tallybookDropped: {
    columns: { orgId: 'String', beforeEpochMs: 'Int64' },
    keys: 'ORDER BY (orgId, beforeEpochMs)',
  },
  tallybookBook: { columns: { bookId: 'String' }, keys: 'ORDER BY bookId' },
} as const satisfies Readonly<Record<string, { columns: Readonly<Record<string, string>>; keys: string }>>;

export type EventTable = keyof typeof tables;

/** Tables in which any row shows that a book has its events there, even after all events were dropped. */
export const tablesOfBook = (Object.keys(tables) as EventTable[]).filter((name) => name !== 'tallybookBook');

interface TableServer {
  readonly location: string;
  readonly ask: (
    text: string,
    parameters: Readonly<Record<string, unknown>>,
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly run: (text: string) => Promise<void>;
}

/**
 * Makes the missing tables. Whoever runs a cluster makes them beforehand, with engines of their choice. Throws UnavailableError
 * if such a table has other columns: a number too large for its column would be stored as a different number.
 */
export async function prepareTables(server: TableServer): Promise<void> {
  for (const [name, { columns, keys }] of Object.entries(tables)) {
    const definitions = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
    await server.run(
      `CREATE TABLE IF NOT EXISTS ${name} (${definitions.join(', ')}) ENGINE = ReplacingMergeTree ${keys}`,
    );
  }
  const found = await server.ask(
    'SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND table IN {tables:Array(String)}',
    { tables: Object.keys(tables) },
  );
  const typeOf = new Map(found.map(({ table, name, type }) => [`${String(table)}.${String(name)}`, String(type)]));
  for (const [table, { columns }] of Object.entries(tables)) {
    for (const [column, definition] of Object.entries(columns)) {
      const type = typeOf.get(`${table}.${column}`);
      const wanted = definition.replace(/ CODEC.*/, '');
      if (type !== undefined && plain(type) === plain(wanted)) continue;
      throw unfitTable(server.location, `${table} needs a column ${column} ${wanted}, but has ${type ?? 'none'}`);
    }
  }
}

/** How a column stores its values does not change them. */
function plain(type: string): string {
  return type.replace(/^LowCardinality\((.*)\)$/, '$1');
}

/** The error for tables that others made, or that are gone. */
export function unfitTable(
  location: string,
  why: string,
  options: { readonly cause?: unknown } = {},
): UnavailableError {
  return new UnavailableError(`the tables of ${location} are not those of this program: ${why}`, {
    ...options,
    hint: 'compare them, with SHOW CREATE TABLE, to those that an empty database gets; restore one that was dropped from its backup',
  });
}
