/** Rows per second that `tally import events` stores durably, beside bare inserts of the same rows with the same durability. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import type { InstalledPackage } from './installed-package.ts';
import { inTurns } from './measure.ts';
import type { Result } from './report.ts';

const eventCount = 100_000;
const batchSize = 10_000;
const lowestRowsPerSecond = 25_000;

export async function measureImport(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const file = join(installed.folder, 'events.csv');
  writeFileSync(file, eventsCsv());
  const { bare, imported } = await inTurns(
    {
      bare: () => bareRowsPerSecond(installed, file),
      imported: () => importedRowsPerSecond(installed, file),
    },
    { turns: rounds + 1, warming: 1 },
  );
  return [
    { name: `bare durable inserts of ${eventCount} CSV rows`, measured: bare, unit: 'rows/s' },
    {
      name: `tally import events, ${eventCount} rows`,
      measured: imported,
      unit: 'rows/s',
      ratio: imported / bare,
      ratioTo: 'bare inserts',
      lowest: lowestRowsPerSecond,
    },
  ];
}

/** One month of requests to a language-model service, a pure function of the row number. */
function eventsCsv(): string {
  const rows = Array.from({ length: eventCount }, (_, i) => {
    const time = new Date(Date.UTC(2026, 0, 1) + i * 13_000).toISOString();
    return `${time},${(i * 7919) % 4000},${(i * 104_729) % 900},${['small', 'medium', 'large'][i % 3]}`;
  });
  return `timestamp,context,generated,model\n${rows.join('\n')}\n`;
}

function importedRowsPerSecond(installed: InstalledPackage, file: string): number {
  const database = freshFile(installed);
  const target = ['--database', database];
  const contact = 'name=Bench,email=bench@example.com,roles=primary';
  installed.run(
    ...target,
    'customers',
    'create',
    '--name',
    'Bench',
    '--external-customer-id',
    'bench',
    '--contact',
    contact,
  );
  const words = ['import', 'events', file, '--customer', 'bench', '--event-name', 'request', '-o', 'json'];
  const { milliseconds, stdout } = installed.run(...target, ...words);
  const { accepted } = JSON.parse(stdout).data;
  if (accepted !== eventCount) throw new Error(`the import accepted ${accepted} of ${eventCount} rows`);
  return (eventCount / milliseconds) * 1000;
}

/** The least that any import must do: split the lines, check a unique key, commit each batch to disk. */
function bareRowsPerSecond(installed: InstalledPackage, file: string): number {
  const database = new DatabaseSync(freshFile(installed));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE events (org TEXT, key TEXT, time INTEGER, properties TEXT, UNIQUE (org, key)) STRICT;
    CREATE INDEX byTime ON events (org, time);
  `);
  const start = performance.now();
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?)');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
  for (let first = 0; first < lines.length; first += batchSize) {
    database.exec('BEGIN IMMEDIATE');
    for (const [i, line] of lines.slice(first, first + batchSize).entries()) {
      const [time = '', context, generated, model] = line.split(',');
      insert.run('org', `row-${first + i}`, Date.parse(time), JSON.stringify({ context, generated, model }));
    }
    database.exec('COMMIT');
  }
  const milliseconds = performance.now() - start;
  database.close();
  return (eventCount / milliseconds) * 1000;
}

function freshFile({ folder }: InstalledPackage): string {
  const place = join(folder, 'import');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  return join(place, 'bench.db');
}
