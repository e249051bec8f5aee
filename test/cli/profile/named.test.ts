import { expect, test } from 'vitest';

import { createShell } from '../shell.ts';

test.each(['show', 'check'])('profile %s takes one name', async (verb) => {
  const shell = createShell();
  for (const name of ['one', 'two']) await shell.run(`profile add ${name} --environment embedded`);
  const { code, stderr } = await shell.run(`profile ${verb} one --profile two`);
  expect([code, shell.calls]).toEqual([2, []]);
  expect(stderr).toContain('one and --profile two both say which one');
  expect((await shell.run('profile show one --profile one')).code).toBe(0);
});
