import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createShell } from '../shell.ts';

const input = `tally_live_${'0'.repeat(48)}\n`;
const added = 'profile add box --environment sandbox --base-url https://billing.example --key-stdin --no-check';

test('a current profile that is no name is told, and the default database is not used in its place', async () => {
  const shell = createShell();
  await shell.run(added, { input });
  const path = join(shell.home, 'config', 'config.json');
  writeFileSync(path, JSON.stringify({ currentProfile: 5 }));
  const { code, stderr } = await shell.run('customers list');
  expect([code, shell.targets]).toEqual([2, []]);
  expect(stderr).toContain(`${path} is damaged: currentProfile is not a text`);
});

test.each([
  ['config.json', { profiles: { box: null } }],
  ['config.json', { profiles: [] }],
  ['config.json', { profiles: { box: { environment: 'embedded', database: 5 } } }],
  ['credentials.json', { box: null }],
])('an entry of %s that no profile has (%j) is named, and all is left as it is', async (file, content) => {
  const shell = createShell();
  await shell.run(added, { input });
  const path = join(shell.home, 'config', file);
  writeFileSync(path, JSON.stringify(content));
  for (const line of ['customers list --profile box', 'profile remove box', added]) {
    const { code, stderr } = await shell.run(line, { input });
    expect([line, code]).toEqual([line, 2]);
    expect(stderr).toContain(`${path} is damaged: an entry is not an object of texts`);
  }
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(content);
});

test.each(['Production', 'live', ''])('a profile whose environment is %j is none to write to', async (word) => {
  const shell = createShell();
  await shell.run(added, { input });
  const path = join(shell.home, 'config', 'config.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('sandbox', word), { mode: 0o600 });
  const { code, stderr } = await shell.run('customers pause c1 --profile box --yes');
  expect([code, shell.targets]).toEqual([2, []]);
  expect(stderr).toContain(`${path} is damaged: the environment of profile "box" is none of production, sandbox,`);
});
