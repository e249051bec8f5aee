/**
 * What runs in the separate process that reads SQL meters. The process receives JSON line by line, and holds nothing but a
 * table in memory with the rows from those lines (security 6).
 *
 * `serveMeterSql` is passed to that process as its own source text, so that it works from a checkout and from the bundle
 * without reading a file. So it may use nothing from outside but its two arguments.
 */

import type { SQLInputValue } from 'node:sqlite';

import type { ChildRules } from './rules.ts';

/** A request line. Only `read` is answered; a failed `open` or `rows` is reported by the next `read`. */
export type ChildRequest =
  | { readonly type: 'open'; readonly sql: string }
  | { readonly type: 'clear' }
  | { readonly type: 'rows'; readonly rows: readonly ChildRow[] }
  | { readonly type: 'read' };

/** Name, milliseconds since 1970, properties as JSON. */
export type ChildRow = readonly [eventName: string, timestampEpochMs: number, propertiesJson: string];

export type ChildAnswer = { readonly value: string | null } | { readonly error: string };

/** Answers requests on standard input until it ends. */
export function serveMeterSql(host: NodeJS.Process, rules: ChildRules): void {
  const { DatabaseSync, constants } = host.getBuiltinModule('node:sqlite');
  type Database = InstanceType<typeof DatabaseSync>;

  /**
   * A statement cannot be interrupted from this thread, and if the asking process was killed, nobody else would do so. Another
   * thread notices when a reading does not end (an odd count that stands still), and kills the process.
   */
  function watchReadings(): Int32Array {
    const { Worker } = host.getBuiltinModule('node:worker_threads');
    const count = new Int32Array(new SharedArrayBuffer(4));
    const source = `const { workerData: { count, seconds } } = require('node:worker_threads');
      let last = 0, stood = 0;
      setInterval(() => {
        const now = Atomics.load(count, 0);
        stood = now % 2 === 1 && now === last ? stood + 1 : 0;
        last = now;
        if (stood > seconds) process.kill(process.pid, 'SIGKILL');
      }, 1000);`;
    new Worker(source, { eval: true, workerData: { count, seconds: rules.orphanSeconds } }).unref();
    return count;
  }

  /** A database without tables: any table that it knows is SQLite's own. */
  const empty = new DatabaseSync(':memory:', { readBigInts: true, returnArrays: true });

  function isBuiltIn(table: string): boolean {
    try {
      empty.prepare(`SELECT 1 FROM "${table.replaceAll('"', '""')}"`);
      return true;
    } catch (error) {
      return !messageOf(error).startsWith('no such table');
    }
  }

  const allowedFunctions = new Set(rules.functions);
  const allowedColumns = new Set(rules.columns);

  function mayRead(table: string, column: string, schema: string | null): boolean {
    // If no column is used, SQLite passes a subquery's own name like a table's: `count(*)` over it is harmless.
    if (column === '') return !isBuiltIn(table);
    return table === 'events' && schema === 'main' && allowedColumns.has(column);
  }

  function authorize(action: number, first: string | null, second: string | null, schema: string | null): number {
    const [one, two] = [(first ?? '').toLowerCase(), (second ?? '').toLowerCase()];
    const isAllowed =
      action === constants.SQLITE_SELECT ||
      (action === constants.SQLITE_READ && mayRead(one, two, schema)) ||
      (action === constants.SQLITE_FUNCTION && allowedFunctions.has(two));
    return isAllowed ? constants.SQLITE_OK : constants.SQLITE_DENY;
  }

  /** SQLite's own time functions run on another database, and only with arguments that name a time. */
  function guardTimeFunctions(database: Database): void {
    const statements = new Map<string, ReturnType<Database['prepare']>>();
    for (const [name, timePlaces] of Object.entries(rules.timeFunctions)) {
      const options = { varargs: true, deterministic: true, useBigIntArguments: true };
      database.function(name, options, (...values): SQLInputValue => {
        if (!areTimes(name, values, timePlaces)) return null;
        const sql = `SELECT ${name}(${values.map(() => '?').join()})`;
        const statement = statements.getOrInsertComputed(sql, () => empty.prepare(sql));
        return (statement.get(...values) as unknown as [SQLInputValue])[0];
      });
    }
  }

  /** False if the answer is NULL anyway; throws if SQLite would read the clock or the machine's time zone. */
  function areTimes(name: string, values: readonly SQLInputValue[], timePlaces: readonly number[]): boolean {
    const lastPlace = timePlaces.at(-1) ?? 0;
    if (values.length <= lastPlace) throw new Error(`${name}() needs a time: the current time may not be read`);
    return values.every((value, place) => {
      if (value === null || typeof value === 'number' || typeof value === 'bigint') return true;
      if (typeof value !== 'string') throw new Error(`${name}() takes no blob`);
      // SQLite reads a text up to its first NUL.
      const text = (value.split('\0', 1)[0] ?? '').toLowerCase();
      if (timePlaces.includes(place)) {
        if (/now|subsec/.test(text)) throw new Error(`${name}() may not read the current time`);
        return /^[\d\s.+-]/.test(text);
      }
      if (place > lastPlace && /local|utc/.test(text)) throw new Error(`${name}() may not read the local time zone`);
      return true;
    });
  }

  interface Reader {
    readonly clear: () => void;
    readonly add: (rows: readonly ChildRow[]) => void;
    readonly read: () => string | null;
    readonly close: () => void;
  }

  function openReader(sql: string): Reader {
    const { limits } = rules;
    const database = new DatabaseSync(':memory:', { limits, readBigInts: true, returnArrays: true });
    // Sorting spills into memory, where the limit applies, and never into a file.
    database.exec(`PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
      CREATE TABLE events (event_name TEXT NOT NULL, timestamp TEXT NOT NULL, properties TEXT NOT NULL) STRICT`);
    guardTimeFunctions(database);
    return {
      clear: () => {
        database.exec('DELETE FROM events');
      },
      add: (rows) => {
        database.limits.variableNumber = 3;
        const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?)');
        database.exec('BEGIN');
        for (const [eventName, epochMs, properties] of rows) {
          insert.run(eventName, new Date(epochMs).toISOString(), properties);
        }
        database.exec('COMMIT');
      },
      read: () => {
        database.exec('PRAGMA query_only = 1');
        database.limits.variableNumber = 0;
        database.setAuthorizer(authorize);
        try {
          return readValue(database, sql);
        } finally {
          database.setAuthorizer(null);
          database.exec('PRAGMA query_only = 0');
        }
      },
      close: () => database.close(),
    };
  }

  function readValue(database: Database, sql: string): string | null {
    const statement = database.prepare(sql);
    if (statement.sourceSQL !== sql) throw new Error('it must be one statement, with nothing after it');
    const names = statement.columns().map((column) => column.name);
    if (names.length !== 1 || names[0] !== 'value') throw new Error('it must return one column, named value');
    const rows = statement.iterate() as unknown as Iterator<readonly unknown[]>;
    const first = rows.next();
    if (first.done) throw new Error('it must return one row, and returned none');
    if (!rows.next().done) {
      rows.return?.();
      throw new Error('it must return one row, and returned more');
    }
    return numberText(first.value[0]);
  }

  function numberText(value: unknown): string | null {
    if (value === null) return null;
    if (typeof value === 'string') throw new Error('value must be a number, but is text: cast or sum it');
    if (typeof value !== 'number' && typeof value !== 'bigint') throw new Error('value must be a number');
    const size = value < 0 ? -value : value;
    if (!(size <= rules.maximum)) throw new Error(`value must lie within ${rules.maximum} either side of 0`);
    return String(value);
  }

  let reader: Reader | undefined;
  let failure: string | undefined;

  function perform(request: ChildRequest): void {
    if (request.type === 'open') {
      reader?.close();
      failure = undefined;
      reader = openReader(request.sql);
    } else if (request.type === 'clear') {
      reader?.clear();
    } else if (request.type === 'rows') {
      reader?.add(request.rows);
    }
  }

  function answer(): ChildAnswer {
    if (failure !== undefined) return { error: failure };
    Atomics.add(count, 0, 1);
    try {
      return { value: reader?.read() ?? null };
    } catch (error) {
      return { error: messageOf(error) };
    } finally {
      Atomics.add(count, 0, 1);
    }
  }

  function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
  }

  /** Stays one line even for readers that end lines at U+2028 and U+2029, as Node does: JSON does not escape those. */
  function lineOf(value: ChildAnswer): string {
    return JSON.stringify(value).replaceAll(/[\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16)}`);
  }

  function receive(line: string): void {
    const request = JSON.parse(line) as ChildRequest;
    if (request.type === 'read') {
      host.stdout.write(`${lineOf(answer())}\n`);
      return;
    }
    try {
      perform(request);
    } catch (error) {
      failure ??= messageOf(error);
    }
  }

  const count = watchReadings();
  let rest = '';
  host.stdin.setEncoding('utf8');
  host.stdin.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) receive(line);
  });
}
