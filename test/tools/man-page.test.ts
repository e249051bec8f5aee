import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { helpPages } from '../../src/cli/help-pages.ts';
import { manPage } from '../../tools/man-page.ts';
import { manifest } from '../cli/shell.ts';

const file = fileURLToPath(new URL('../../man/tally.1', import.meta.url));
const hasMan = spawnSync('man', ['--version']).error === undefined;

test('the page has a section for every command', async () => {
  const pages = await helpPages(manifest);
  const page = manPage(pages, '1.0.0');
  const titles = page.split('\n').filter((line) => line.startsWith('.SS tally '));
  expect(titles).toHaveLength(pages.length - 1);
});

test('no text of ours is taken for a request', () => {
  const flag = { form: '--path <file>', description: ".SH 'quoted' \\fB and ~^`\"" };
  const page = manPage(
    [
      { ...empty, words: [] },
      { ...empty, flags: [flag] },
    ],
    '1.0.0',
  );
  expect(page).toContain('\n\\&.SH \\(aqquoted\\(aq \\efB and \\(ti\\(ha\\(ga\\(dq\n');
});

const empty = {
  words: ['a', 'b'],
  summary: '',
  description: '',
  usage: '',
  arguments: [],
  flags: [],
  examples: [],
};

test.skipIf(!hasMan)('man shows the page without a warning (skipped where there is no man)', () => {
  const { stdout, stderr, status } = spawnSync('man', ['--warnings=w', '-E', 'UTF-8', '-l', file], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('tally credits grant <contract-id> [flags]');
  expect(execFileSync('col', ['-b'], { input: stdout, encoding: 'utf8' })).toContain(
    'tally demo --into ./playground --quiet',
  );
});
