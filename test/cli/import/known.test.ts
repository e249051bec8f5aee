/** An import says how many of its events were there already, and how many took the place of others: those are no longer billed. */

import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { saved, stage } from '../../support/use-stage.ts';
import { openStageWithAcme } from './acme.ts';

const good = ['1,2026-02-02 00:00:00,5', '2,2026-02-03 00:00:00,6'];

async function importing(rows: readonly string[], ...flags: readonly string[]) {
  const file = saved('events.csv', ['id,timestamp,tokens', ...rows].join('\n'));
  const words = ['--event-name', 'request', '--customer', 'acme', '--key-column', 'id', ...flags];
  const { stdout, stderr } = await stage.tally(['import', 'events', file, '--json', 'unchanged,replaced', ...words]);
  const told = stderr.split('\n').filter((line) => line !== '' && !/times from|no meter takes|dry run/.test(line));
  const { data, dryRun } = JSON.parse(stdout) as Record<string, unknown>;
  return {
    known: data ?? dryRun ?? JSON.parse(stdout),
    told: told.filter((line) => !line.includes('tally meters list')),
  };
}

const hint =
  '  hint: the last version counts: import the newest file last; give each row a key of its own (--key-column)';

describe.each<Surface>(['embedded', 'http'])('%s', (surface) => {
  test('of a file that comes again it says how many are not new', async () => {
    await openStageWithAcme(surface);
    expect(await importing(good)).toEqual({ known: { unchanged: 0, replaced: 0 }, told: [] });
    expect(await importing([...good, '3,2026-02-04 00:00:00,7'])).toEqual({
      known: { unchanged: 2, replaced: 0 },
      told: [],
    });
  });

  test('an older file that comes after its correction is a warning', async () => {
    await openStageWithAcme(surface);
    await importing(['1,2026-02-02 00:00:00,50', '2,2026-02-03 00:00:00,6']);
    expect(await importing(good)).toEqual({
      known: { unchanged: 1, replaced: 1 },
      told: ['warning: 1 event replaced what came earlier under the same key, which is no longer billed', hint],
    });
  });

  test('so is a column as key that names several rows, in one file and over its batches', async () => {
    await openStageWithAcme(surface);
    const rows = [1, 2, 3, 4, 5].map((day) => `same,2026-02-0${day} 00:00:00,${day}`);
    expect(await importing(rows, '--batch-size', '2')).toMatchObject({
      known: { unchanged: 0, replaced: 4 },
      told: ['warning: 4 events replaced what came earlier under the same key, which is no longer billed', hint],
    });
  });
});

test('a rehearsal on a database says it before', async () => {
  await openStageWithAcme('embedded');
  await importing(good);
  expect(await importing(['1,2026-02-02 00:00:00,50'], '--dry-run')).toEqual({
    known: { unchanged: 0, replaced: 1 },
    told: [
      'warning: 1 event would replace what came earlier under the same key, which would no longer be billed',
      hint,
    ],
  });
});

test('of a service that does not tell nothing is said', async () => {
  await openStageWithAcme('http');
  expect((await importing(good, '--dry-run')).known).toEqual({ unchanged: null, replaced: null });
});

test('a table for a program has both counts, empty where the service does not tell', async () => {
  await openStageWithAcme('http');
  await importing(good);
  const file = join(stage.directory, 'events.csv');
  const words = ['import', 'events', file, '--event-name', 'request', '--customer', 'acme', '--key-column', 'id'];
  const header = '"rows","accepted","refused","unchanged","replaced"\n';
  expect((await stage.tally([...words, '-o', 'csv'])).stdout).toBe(`${header}2,2,0,2,0\n`);
  expect((await stage.tally([...words, '-o', 'csv', '--dry-run'])).stdout).toBe(`${header}2,2,0,"",""\n`);
});
