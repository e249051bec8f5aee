/** A file without rows bills nobody, and its figures of 0 go unseen in the job of a night. */

import { beforeEach, expect, test } from 'vitest';

import { saved, stage } from '../../support/use-stage.ts';
import { openStageWithAcme } from './acme.ts';

beforeEach(async () => await openStageWithAcme('embedded'));

const warning = 'warning: there is no row: nothing is imported';
const header = 'timestamp,tokens\n';

test.each([
  ['events.csv', header, '', true],
  ['events.csv', header, '--dry-run', true],
  ['events.jsonl', '\n', '', true],
  ['events.json', '[]', '', true],
  ['events.csv', header, '--quiet', false],
  ['events.csv', `${header}2026-02-01,5\n`, '', false],
  ['events.csv', `${header}2026-02-01T00:00:00Z,5\n`, '', false],
])('%s of %j is told of %s: %s', async (name, text, flag, isTold) => {
  const file = saved(name, text);
  const words = ['import', 'events', file, '--event-name', 'request', '--customer', 'acme'];
  const { stderr } = await stage.tally(flag === '' ? words : [...words, flag]);
  expect(stderr.split('\n').includes(warning)).toBe(isTold);
});

test('it is no failure: there may be nothing to bill', async () => {
  const file = saved('events.csv', header);
  const words = ['import', 'events', file, '--event-name', 'request', '--customer', 'acme'];
  expect(await stage.tally(words)).toMatchObject({ exitCode: 0, stdout: '0\t0\t0\t0\t0\n' });
});
