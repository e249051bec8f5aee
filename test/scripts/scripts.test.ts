import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { allOperations } from '../../src/operations/all.ts';
import { usePostgres } from '../support/postgres.ts';
import { createStage } from '../support/stage.ts';
import type { Surface } from '../support/stage.ts';
import { parseScript, performScript, sameEverywhere } from './script.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.script'));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** `TALLY_RECORD_SCRIPTS=1` writes what the embedded service answers; the HTTP surface must then agree. */
const isRecording = process.env['TALLY_RECORD_SCRIPTS'] === '1';

const postgres = await usePostgres();

async function perform(name: string, surface: Surface, database?: string): Promise<string> {
  const stage = await createStage(surface, database === undefined ? {} : { database });
  try {
    return sameEverywhere(await performScript(read(name), stage), stage.directory);
  } finally {
    await stage.close();
  }
}

describe.each(names)('%s prints the same', (name) => {
  test('on an embedded database, as recorded', async () => {
    const transcript = await perform(name, 'embedded');
    if (isRecording) writeFileSync(join(folder, name), transcript);
    expect(transcript).toBe(read(name));
  });

  test('and over HTTP', async () => {
    expect(await perform(name, 'http')).toBe(read(name));
  });

  test.runIf(postgres !== undefined).each(['embedded', 'http'] as const)('and on PostgreSQL, %s', async (surface) => {
    const database = await postgres?.create();
    expect(await perform(name, surface, database)).toBe(read(name));
  });
});

test('every operation that has a route is called by a script', () => {
  const called = new Set(names.flatMap((name) => parseScript(read(name)).map(({ words }) => words.slice(0, 2).join(' '))));
  const missing = allOperations
    .filter((operation) => operation.route !== undefined)
    .map(({ command }) => `${command.group} ${command.verb}`)
    .filter((words) => !called.has(words));
  expect(missing).toEqual([]);
});
