/** A process of its own that has every file open that it may, and then starts the reading of an SQL meter. Prints what came of it. */

import { closeSync, openSync, writeSync } from 'node:fs';

import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import { readingOf } from '../support/meter-sql.ts';

const meterSql = createMeterSql();
/** Each in a process of its own. */
const read = async (scope: string): Promise<string> =>
  await readingOf(meterSql, { sql: 'SELECT 7 AS value', scope }).then(String, String);

const lines = [await read('before')];
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // That was the last one.
}
lines.push(await read('meanwhile'));
for (const file of taken) closeSync(file);
lines.push(await read('after'));
writeSync(1, `${lines.join('\n')}\n`);
meterSql.close();
