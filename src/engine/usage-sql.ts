/**
 * What SQL meters read (semantics 8, `sql`): their query over the events of a window, anew up to the end of each phase.
 *
 * A query takes as long as its author likes, and no transaction may wait for it (security 6). So a reading that is not known
 * yet gives up the attempt with its transaction; the query runs outside, and the next attempt finds its value. A value depends
 * on the query and the events alone, so it is right whenever it is found.
 */

import { decimal, roundHalfUp, zero } from '../calculation/money.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import { sha256 } from '../digest.ts';
import { UnavailableError, UnreadableMeterError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type MeterSql, MeterSqlError, type MeterSqlReading } from '../store/meter-sql.ts';

/** A meter with a query. */
export interface SqlMeter {
  readonly id: string;
  readonly code: string;
  readonly sql: string;
}

type Values = readonly (string | null)[];

/** The readings of one call, through all its attempts. */
export interface SqlReadings {
  /** The value of each reading; throws `SqlReadingNeeded`, after which `withSqlReadings` makes another attempt. */
  readonly valuesOf: (orgId: string, meter: SqlMeter, readings: readonly MeterSqlReading[]) => Promise<Values>;
}

/** The deadline is for each query, with all of its readings together. */
export interface SqlReadingOptions {
  readonly meterSql: MeterSql;
  readonly deadlineMilliseconds: number;
}

/** Where events keep arriving, each attempt sees other ones; after this many that had to read a meter, it is read on the spot. */
const attemptsOutside = 3;

/** Ends an attempt, and must reach `withSqlReadings`: code that catches errors lets it pass. */
export class SqlReadingNeeded extends Error {
  readonly read: () => Promise<void>;
  /** How many events wait with it. */
  readonly eventCount: number;

  constructor(read: () => Promise<void>, eventCount = 0) {
    super('a query has to run before this can be done');
    this.read = read;
    this.eventCount = eventCount;
  }
}

/** Carries out `attempt`, again after each query that it needs; every attempt has to be a transaction of its own. */
export async function withSqlReadings<T>(
  options: SqlReadingOptions,
  attempt: (readings: SqlReadings) => Promise<T>,
): Promise<T> {
  const known = new Map<string, Values>();
  const attempts = new Map<string, number>();
  for (;;) {
    try {
      return await attempt(createSqlReadings(options, { known, attempts }));
    } catch (error) {
      if (!(error instanceof SqlReadingNeeded)) throw error;
      await error.read();
    }
  }
}

/** What the attempts of a call have in common. */
interface Attempts {
  readonly known: Map<string, Values>;
  /** How many of them had to read a meter, by its id. */
  readonly attempts: Map<string, number>;
}

/** For one attempt. */
function createSqlReadings(
  { meterSql, deadlineMilliseconds }: SqlReadingOptions,
  { known, attempts }: Attempts,
): SqlReadings {
  const read = new Set<string>();

  async function run(orgId: string, meter: SqlMeter, readings: readonly MeterSqlReading[]): Promise<Values> {
    try {
      return await meterSql.run({ scope: orgId, sql: meter.sql, readings, deadlineMilliseconds });
    } catch (cause) {
      if (!(cause instanceof MeterSqlError)) throw cause;
      throw new UnreadableMeterError(`the meter ${meter.code} (${meter.id}) gave no quantity: ${cause.message}`, {
        cause,
        hint: 'correct the events that its sql fails on, or price a meter with other sql',
      });
    }
  }

  return {
    valuesOf: async (orgId, meter, readings) => {
      const key = digestOf(orgId, meter, readings);
      const values = known.get(key);
      if (values !== undefined) return values;
      const before = attempts.get(meter.id) ?? 0;
      const count = read.has(meter.id) ? before : before + 1;
      read.add(meter.id);
      attempts.set(meter.id, count);
      if (count > attemptsOutside) return await run(orgId, meter, readings);
      const eventCount = readings.reduce((sum, { events }) => sum + events.length, 0);
      throw new SqlReadingNeeded(async () => {
        known.set(key, await run(orgId, meter, readings));
      }, eventCount);
    },
  };
}

function digestOf(orgId: string, meter: SqlMeter, readings: readonly MeterSqlReading[]): string {
  const hash = sha256().update(JSON.stringify([orgId, meter.id, meter.sql]));
  for (const { keepsEvents, events } of readings) {
    hash.update(`\n${keepsEvents} ${events.length}`);
    for (const { eventName, timestampEpochMs, propertiesJson } of events) {
      hash.update(`\n${JSON.stringify(eventName)} ${timestampEpochMs} ${propertiesJson}`);
    }
  }
  return hash.digest('base64');
}

/**
 * What a meter reads, in the order of `readings`: at most 12 decimals, half-up. NULL is no usage, and so is 0 without an
 * event (our choice, as for other meters). Throws UnavailableError, which names the meter, when the query gives no number.
 */
export async function readSqlMeter(
  { orgId, sqlReadings }: { readonly orgId: string; readonly sqlReadings: SqlReadings },
  meter: SqlMeter,
  readings: readonly MeterSqlReading[],
): Promise<UsageReading[]> {
  const values = await sqlReadings.valuesOf(orgId, meter, readings);
  let events = 0;
  return readings.map((reading, index) => {
    events = (reading.keepsEvents ? events : 0) + reading.events.length;
    const value = values[index] ?? null;
    const quantity = value === null ? zero : roundHalfUp(decimal(value), limits.decimalFractionDigits);
    const isUsage = value !== null && (events > 0 || !quantity.eq(zero));
    return { groupValues: {}, eventName: '', properties: {}, quantity, count: isUsage ? Math.max(events, 1) : 0 };
  });
}

/** Whether the database is locked, full or gone, rather than a meter whose query gave no number. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof UnavailableError && !(error instanceof UnreadableMeterError);
}
