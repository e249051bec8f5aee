/**
 * A ClickHouse database as the event store uses it: questions, inserts, and what its failures mean to a person. Only this file
 * and the settings beside it know the client library.
 */

import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';

import { withoutPassword } from '../../../database-url.ts';
import { BillingError, oneLine, shortName, UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { type Patience, watchForSilence } from './silence.ts';
import { type EventTable, unfitTable } from './tables.ts';
import { clickhouseConnectionOf } from './url.ts';

export type EventRow = Readonly<Record<string, unknown>>;

export interface ClickhouseServer {
  /** The URL without its password. */
  readonly location: string;
  /** The rows that a question gives; its text names parameters as `{name:Type}`. */
  readonly ask: (text: string, parameters?: Readonly<Record<string, unknown>>) => Promise<readonly EventRow[]>;
  /** Resolves when the server has written all rows. */
  readonly insert: (table: EventTable, rows: readonly EventRow[]) => Promise<void>;
  readonly run: (text: string) => Promise<void>;
  /** Reads nothing; throws UnavailableError if no answer comes soon. */
  readonly checkAnswers: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What a question throws that finds less there than the book has moved. */
export const missingBatch = 'tallybook: a batch is missing';

/** A server's `http_max_field_value_size`, which no request can raise. */
const longestField = 128 * 1024;

/** A client of the server at `url`; it sends nothing yet. */
export function connectClickhouse(url: string, patience?: Patience): ClickhouseServer {
  const location = withoutPassword(url);
  const options = { ...clickhouseConnectionOf(url), log: { level: ClickHouseLogLevel.OFF } };
  const client = createClient(options);
  // Slow answers may occupy every connection of the first client.
  const aside = createClient({ ...options, max_open_connections: 2 });
  const watched = watchForSilence(location, async (over) => await isThere(aside, over), patience);
  const attempt = async <T>(work: (over: AbortSignal) => Promise<T>, hasRows = false): Promise<T> => {
    try {
      return await watched.whileItAnswers(work);
    } catch (error) {
      throw meaningOf(error, { location, hasRows });
    }
  };
  return {
    location,
    ask: async (text, parameters = {}) =>
      await attempt(async (over) => {
        const answer = await client.query({
          query: text,
          abort_signal: over,
          query_params: { ...parameters },
          format: 'JSON',
          // Sent as a form, the question is held to the server's limit for one field; sent as the body, it may be any length.
          use_multipart_params_auto: Buffer.byteLength(text) <= longestField,
        });
        return rowsOf(await answer.text(), location);
      }),
    insert: async (table, rows) => {
      if (rows.length === 0) return;
      const sent = { table, values: [...rows], format: 'JSONEachRow' } as const;
      await attempt(async (over) => await client.insert({ ...sent, abort_signal: over }), true);
    },
    run: async (text) => {
      await attempt(async (over) => await client.command({ query: text, abort_signal: over }));
    },
    checkAnswers: async () => {
      const soon = AbortSignal.timeout(limits.readinessMilliseconds);
      try {
        // Read to the end, or the connection would not be reused.
        await (await aside.query({ query: 'SELECT 1', format: 'JSONEachRow', abort_signal: soon })).text();
      } catch (error) {
        throw soon.aborted ? watched.silent(error) : meaningOf(error, { location, hasRows: false });
      }
      watched.hasAnswered();
    },
    close: async () => {
      watched.close();
      await Promise.all([client.close(), aside.close()]);
    },
  };
}

/** Whether anything answers, even a proxy that knows no pings. */
async function isThere(client: ClickHouseClient, over: AbortSignal): Promise<boolean> {
  const answer = await client.ping({ select: false, abort_signal: over });
  return answer.success || !(over.aborted || isLostConnection(answer.error));
}

/**
 * The rows of an answer. Its format has an end, because the library takes an answer that breaks off for whole, and so does a
 * proxy that reads until the server hangs up. From fewer rows bills would be too low, and known keys would be taken for new.
 */
function rowsOf(answer: string, location: string): readonly EventRow[] {
  try {
    const { data, exception } = (JSON.parse(answer) ?? {}) as { data?: unknown; exception?: unknown };
    if (Array.isArray(data) && exception === undefined) return data as EventRow[];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UnavailableError(`the events at ${location} cannot be read: their server broke off its answer`, {
    retryAfterSeconds: 1,
    hint: 'repeat the command; if it keeps failing, look in the log of that server',
  });
}

function isLostConnection(error: Error): boolean {
  const lost = /^E[A-Z]+$|timeout|socket hang up/i;
  return !(error instanceof ClickHouseError) && (lost.test(codeOf(error)) || lost.test(error.message));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const refusals = new Set(['164', '192', '193', '194', '497', '516']);
const unfitTables = new Set(['16', '47', '60', '117']);
const unfitSettings = new Set(['115', '418']);
/** A value of a row, or a setting in the URL; the latter is refused before any row is sent. */
const unreadable = new Set(['6', '26', '27', '72', '376', '467']);
const limited = new Set(['158', '160', '191', '307', '359', '396']);
const busy = new Set([
  '75',
  '159',
  '173',
  '198',
  '201',
  '202',
  '203',
  '209',
  '210',
  '225',
  '236',
  '241',
  '242',
  '243',
  '252',
  '279',
  '285',
  '286',
  '289',
  '319',
  '369',
  '384',
  '394',
  '425',
  '439',
  '499',
  '517',
  '745',
  '999',
]);

function meaningOf(error: unknown, { location, hasRows }: { location: string; hasRows: boolean }): unknown {
  if (!(error instanceof Error) || error instanceof BillingError) return error;
  const code = codeOf(error);
  if (!(error instanceof ClickHouseError)) {
    if (isLostConnection(error)) {
      return new UnavailableError(`the events at ${location} cannot be reached: ${error.message || code}`, {
        cause: error,
        retryAfterSeconds: 1,
        hint: 'check that the server runs and that its address is right, then repeat the command',
      });
    }
    // The library's error for an answer that does not come from ClickHouse. Our own faults have other classes.
    if (error.constructor !== Error) return error;
    return new UnavailableError(
      `what answers at ${location} is not a supported ClickHouse server: ${shortName(oneLine(error.message))}`,
      {
        cause: error,
        retryAfterSeconds: 1,
        hint: 'check host and port; the port is that of its HTTP interface: 8123, or 8443 with ?secure=true; very old servers are not supported',
      },
    );
  }
  if (refusals.has(code)) {
    return new UnavailableError(`the server of ${location} refuses this user: ${error.message}`, {
      cause: error,
      hint: 'check user and password in the URL; the user must be able to read, to insert, and to create tables',
    });
  }
  if (unfitTables.has(code) || (hasRows && unreadable.has(code))) {
    return unfitTable(location, error.message, { cause: error });
  }
  if (unfitSettings.has(code) || (unreadable.has(code) && location.includes('?'))) {
    return new BillingError('usage', `the server does not take a setting of ${location}: ${error.message}`, {
      cause: error,
      hint: 'check the settings after the ? in the URL; a server that is much older than 26.7 may not know all of them',
    });
  }
  if (code === '81') {
    return new UnavailableError(`the database of ${location} does not exist`, {
      cause: error,
      hint: 'create it first: CREATE DATABASE; its tables are created for you',
    });
  }
  if (code === '48') {
    return new UnavailableError(`the tables of ${location} do not take this statement: ${error.message}`, {
      cause: error,
      hint: 'on a cluster, give it to every shard; system.query_log shows it',
    });
  }
  if (code === '395' && error.message.includes(missingBatch)) {
    return new UnavailableError(`events at ${location} that this book has moved there are missing`, {
      cause: error,
      retryAfterSeconds: 1,
      hint: 'restore them as of the time of this book, or read from the server that you write to',
    });
  }
  if (code === '395') {
    return new UnavailableError(`events at ${location} that this book still needs were dropped`, {
      cause: error,
      retryAfterSeconds: 1,
      hint: 'if they were dropped just now, repeat the command; a book that was restored from an older backup needs the events of the same time',
    });
  }
  if (limited.has(code)) {
    return new UnavailableError(`a limit of the user of ${location} was reached: ${error.message}`, {
      cause: error,
      hint: 'raise that limit for this user, or in the URL; a part of the events is never taken for all of them',
    });
  }
  if (!busy.has(code)) return error;
  return new UnavailableError(`the server of ${location} cannot do this now: ${error.message}`, {
    cause: error,
    retryAfterSeconds: 1,
    hint: 'repeat the command',
  });
}
