/** Events and one reading of a query, as the tests of SQL meters want them. */

import type { MeterSql, MeterSqlEvent } from '../../src/store/meter-sql.ts';

const start = Temporal.Instant.from('2026-03-01T00:00:00Z').epochMilliseconds;
const minute = 60_000;

/** One event a minute from 1 March 2026, each with these properties. */
export function eventsOf(...properties: readonly (Record<string, unknown> | string)[]): MeterSqlEvent[] {
  return properties.map((each, index) => ({
    eventName: 'llm.request',
    timestampEpochMs: start + index * minute,
    propertiesJson: typeof each === 'string' ? each : JSON.stringify(each),
  }));
}

/** As many events as asked for, numbered from 1 by their property `n`. */
export function numberedEvents(count: number): MeterSqlEvent[] {
  return eventsOf(...Array.from({ length: count }, (_value, index) => ({ n: index + 1 })));
}

export interface Question {
  readonly sql: string;
  readonly events?: readonly MeterSqlEvent[];
  readonly deadlineMilliseconds?: number;
  readonly scope?: string;
}

/** What the query reads from the events. */
export async function readingOf(meterSql: MeterSql, question: Question): Promise<string | null | undefined> {
  const { sql, events = [], deadlineMilliseconds = 20_000, scope = 'test' } = question;
  const readings = [{ keepsEvents: false, events }];
  const [value] = await meterSql.run({ scope, sql, readings, deadlineMilliseconds });
  return value;
}

/** The value, or why there is none. */
export async function outcomeOf(meterSql: MeterSql, question: Question): Promise<string> {
  try {
    return `value ${await readingOf(meterSql, question)}`;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}
