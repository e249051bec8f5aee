/**
 * SQL meters on SQLite: each query runs in a process that has nothing but the rows it was given (security 6). A process serves
 * one scope, one query after another, each on a new table; it is kept for a while for the scope's next query.
 */

import { InvalidInputError, shortName, UnavailableError } from '../../../../errors.ts';
import { limits } from '../../../../limits.ts';
import {
  type MeterSql,
  MeterSqlError,
  type MeterSqlOptions,
  type MeterSqlReading,
  type MeterSqlRun,
} from '../../../meter-sql.ts';
import type { ChildAnswer, ChildRequest } from './child.ts';
import { createPlaces } from './places.ts';
import { type MeterSqlProcess, startMeterSqlProcess } from './process.ts';
import { checkText, sqliteTextOf } from './text.ts';

const defaultIdleMilliseconds = 2_000;
const rowsInALine = 256;

/** Many expressions are NULL without events, and give a text or an error with the first one. */
const trial: readonly MeterSqlReading[] = [
  { keepsEvents: false, events: [] },
  {
    keepsEvents: false,
    events: [{ eventName: 'sample', timestampEpochMs: 1_767_225_600_000, propertiesJson: '{}' }],
  },
];

interface Idle {
  readonly scope: string;
  readonly process: MeterSqlProcess;
  readonly timer: NodeJS.Timeout;
}

export function createSqliteMeterSql(options: MeterSqlOptions): MeterSql {
  const { checkMilliseconds = limits.meterSqlMilliseconds, idleMilliseconds = defaultIdleMilliseconds } = options;
  const { residentMebibytes = limits.meterSqlResidentMebibytes } = options;
  const running = new Set<MeterSqlProcess>();
  const places = createPlaces(limits.meterSqlProcesses);
  let idle: Idle | undefined;
  let isClosed = false;

  function dropIdle(): void {
    if (idle === undefined) return;
    clearTimeout(idle.timer);
    idle.process.stop();
    idle = undefined;
  }

  function take(scope: string): MeterSqlProcess {
    if (isClosed) throw new UnavailableError('SQL meters are closed');
    if (idle?.scope !== scope || !idle.process.isRunning) return startMeterSqlProcess(options.ownWords);
    clearTimeout(idle.timer);
    const { process } = idle;
    idle = undefined;
    return process;
  }

  function giveBack(scope: string, process: MeterSqlProcess): void {
    if (!process.isRunning) return;
    dropIdle();
    idle = { scope, process, timer: setTimeout(dropIdle, idleMilliseconds) };
  }

  async function run(request: MeterSqlRun): Promise<(string | null)[]> {
    checkText(request.sql);
    await places.take(request.scope);
    try {
      return await runNow(request);
    } finally {
      places.giveBack(request.scope);
    }
  }

  async function runNow({ scope, sql, readings, deadlineMilliseconds }: MeterSqlRun): Promise<(string | null)[]> {
    const process = take(scope);
    running.add(process);
    const release = process.limit({ milliseconds: deadlineMilliseconds, residentMebibytes });
    try {
      return await read(process, sqliteTextOf(sql.trim()), readings);
    } finally {
      release();
      running.delete(process);
      giveBack(scope, process);
    }
  }

  return {
    run,
    check: async ({ scope, sql }) => {
      try {
        await run({ scope, sql, readings: trial, deadlineMilliseconds: checkMilliseconds });
      } catch (error) {
        if (!(error instanceof MeterSqlError)) throw error;
        const message = `cannot be read as a meter: ${error.message}`;
        throw new InvalidInputError([{ path: 'sql', message }], { cause: error });
      }
    },
    close: () => {
      isClosed = true;
      dropIdle();
      for (const process of running) process.stop();
    },
  };
}

async function read(
  process: MeterSqlProcess,
  sql: string,
  readings: readonly MeterSqlReading[],
): Promise<(string | null)[]> {
  const values: (string | null)[] = [];
  for (const [index, reading] of readings.entries()) {
    const opening: ChildRequest[] = index === 0 ? [{ type: 'open', sql }] : [];
    values.push(valueOf(await process.ask(requestsOf(reading, opening))));
  }
  return values;
}

function* requestsOf(
  { keepsEvents, events }: MeterSqlReading,
  opening: readonly ChildRequest[],
): Iterable<ChildRequest> {
  yield* opening;
  if (!keepsEvents) yield { type: 'clear' };
  for (let start = 0; start < events.length; start += rowsInALine) {
    const some = events.slice(start, start + rowsInALine);
    const rows = some.map((event) => [event.eventName, event.timestampEpochMs, event.propertiesJson] as const);
    yield { type: 'rows', rows };
  }
  yield { type: 'read' };
}

function valueOf(answer: ChildAnswer): string | null {
  if ('error' in answer) throw new MeterSqlError(shortName(answer.error));
  return answer.value === null ? null : plainDecimal(answer.value);
}

/** `1.5e-7` becomes `0.00000015`; values are too small for a positive exponent. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  return `${sign}0.${'0'.repeat(Number(exponent) - whole.length)}${whole}${fraction}`;
}
