/** `import events --dry-run` says of each row what the import would: of its mapping, and of the service as it stands. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import type { Billing } from '../../../src/operations/index.ts';
import type { Surface } from '../../support/stage.ts';
import { saved, stage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';
import { openStageWithAcme } from './acme.ts';

async function importing(rows: readonly string[], ...flags: readonly string[]) {
  const file = saved('events.csv', ['timestamp,account,id,note', ...rows].join('\n'));
  const words = ['--event-name', 'request', '--customer-column', 'account', '--key-column', 'id', '-o', 'json'];
  const { stdout, exitCode } = await stage.tally(['import', 'events', file, ...words, ...flags]);
  const { dryRun, data = dryRun } = JSON.parse(stdout) as Record<string, object>;
  return { data, exitCode };
}

const good = '2026-02-01 00:00:00,acme,1,';
const wrong = [
  `2026-02-01 00:00:00,acme,2,${'x'.repeat(5_000)}`,
  '1999-02-01 00:00:00,acme,3,',
  `2026-02-01 00:00:00,acme,${'4'.repeat(256)},`,
];

test('a file of which no row is taken says so, and whom it does not know', async () => {
  await openStageWithAcme('embedded');
  const file = saved('events.csv', 'timestamp,account\n2026-02-01 00:00:00,nobody\n');
  const words = ['import', 'events', file, '--event-name', 'request', '--customer-column', 'account'];
  const { stderr, exitCode } = await stage.tally(words);
  expect(exitCode).toBe(10);
  expect(stderr).toContain('line 2: externalCustomerId: names no customer: nobody\n');
  expect(stderr).toContain('tally: every row was refused: nothing was imported\n');
  expect((await stage.tally([...words, '--dry-run'])).stderr).toContain('nothing would be imported\n');
});

describe.each<Surface>(['embedded', 'http'])('%s', (surface) => {
  test('a rehearsal refuses the rows whose events are wrong by themselves, as the import does, and keeps nothing', async () => {
    await openStageWithAcme(surface);
    const rehearsed = await importing([good, ...wrong], '--dry-run');
    expect(rehearsed).toMatchObject({ data: { rows: 4, accepted: 1, refused: 3 }, exitCode: 10 });
    expect((await stage.tally(['usage', 'events'])).stdout).toBe('');
    // How many are known already is told by the service alone.
    const known = { unchanged: 0, replaced: 0 };
    expect(await importing([good, ...wrong])).toEqual({ ...rehearsed, data: { ...rehearsed.data, ...known } });
  });
});

test('what a rehearsal opened is closed, also where the file stops it', async () => {
  await openStageWithAcme('embedded');
  let closed = 0;
  const call: Billing['call'] = async () => await Promise.resolve({ status: 200, body: { data: [] } } as never);
  const close = async () => void (await Promise.resolve((closed += 1)));
  const shell = createShell({
    dependencies: { openBilling: async () => await Promise.resolve({ billing: { call }, close }) },
  });
  const line = 'import events - --event-name e --customer acme --dry-run';
  expect((await shell.run(line, { input: 'timestamp\n2026-02-01 00:00:00\n' })).code).toBe(0);
  expect((await shell.run(line, { input: '' })).code).toBe(8);
  expect(closed).toBe(2);
});

test.each([
  { flags: '', end: 'repeat the import to go on' },
  { flags: '--dry-run', end: 'what follows was not checked' },
])('an interrupted import %j says what of the file is left', async ({ flags, end }) => {
  const input = 'timestamp\n2026-02-01 00:00:00\n2026-02-02 00:00:00\n';
  const line = `import events - --event-name e --customer acme --batch-size 1 ${flags}`;
  const { stderr, code } = await createShell().run(line, { input });
  expect({ code, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
    code: 130,
    last: `tally: stopped after line 2; ${end}`,
  });
});

describe('in this process', () => {
  test('also what the service does not know, or forbids as it stands', async () => {
    await openStageWithAcme('embedded');
    const rows = [good, '2026-02-01 00:00:00,nobody,2,', '2026-02-01 00:00:00,acme,3,', '2099-01-01 00:00:00,acme,4,'];
    const rehearsed = await importing(rows, '--dry-run');
    expect(rehearsed).toMatchObject({ data: { rows: 4, accepted: 2, refused: 2 }, exitCode: 10 });
    expect((await stage.tally(['usage', 'events'])).stdout).toBe('');
    expect(await importing(rows)).toEqual(rehearsed);
  });

  test('also which rows replace or repeat those of an earlier batch, known to the service or not', async () => {
    await openStageWithAcme('embedded');
    const rowOf = (words: string) => `2026-02-01 00:00:00,${words}`;
    await importing([rowOf('acme,known,first')]);
    const keyed = 'new,a known,other known,first new,a new,b new,b single,c single,d known,first new,a';
    const rows = [...keyed.split(' ').map((words) => rowOf(`acme,${words}`)), rowOf('nobody,new,b')];
    for (const size of ['1', '2', '3', '100']) {
      const rehearsed = await importing(rows, '--dry-run', '--batch-size', size);
      expect(rehearsed.data).toMatchObject({ accepted: 10, refused: 1, unchanged: 3, replaced: 5 });
    }
    expect((await importing(rows, '--batch-size', '2')).data).toMatchObject({ unchanged: 3, replaced: 5 });
  });

  test('a row at the same instant, written otherwise, repeats that of an earlier batch', async () => {
    await openStageWithAcme('embedded');
    const times = ['2026-02-01T10:00:00Z', '2026-02-01T11:00:00+01:00', '2026-02-01T10:00:00.000Z'];
    const rows = times.map((time) => `${time},acme,same,`);
    for (const flags of [['--dry-run'], []]) {
      const { data } = await importing(rows, '--batch-size', '1', ...flags);
      expect(data).toMatchObject({ unchanged: 2, replaced: 0 });
    }
  });

  test.each([
    ['a path', ''],
    ['a URL', 'file:'],
  ])('of a database that does not exist, given as %s, none is made', async (_case, scheme) => {
    await openStageWithAcme('embedded');
    const path = join(stage.directory, 'new.db');
    const target = ['--database', `${scheme}${path}`];
    expect(await importing([good], '--dry-run', ...target)).toMatchObject({ data: { accepted: 0, refused: 1 } });
    const contact = ['--contact', 'name=Ada,email=ada@acme.example,roles=primary'];
    const words = ['customers', 'create', '--name', 'Acme', ...contact, '--dry-run', ...target];
    expect(await stage.tally(words)).toMatchObject({ exitCode: 0 });
    expect(existsSync(path)).toBe(false);
    expect(await stage.tally(words.filter((word) => word !== '--dry-run'))).toMatchObject({ exitCode: 0 });
    expect(existsSync(path)).toBe(true);
  });
});
