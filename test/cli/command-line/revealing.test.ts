import { expect, test } from 'vitest';

import { createShell } from '../shell.ts';

test.each([
  '--inspect',
  '--inspect=127.0.0.1:0',
  '--inspect-brk',
  '--inspect-wait',
  '--no-warnings --inspect-port=0',
  '--debug-port=0',
  '"--inspect"',
  '--heapsnapshot-signal=SIGUSR2',
  '--heapsnapshot-near-heap-limit=3',
  '--heap-prof',
  '--heap-prof-dir=/tmp',
  '--tls-keylog=/tmp/keys',
  // Node takes these for the same.
  '--inspect_port=0',
  '--inspect_brk',
  '--heapsnapshot_signal=SIGUSR2',
  '--heap_prof',
  '--tls_keylog=/tmp/keys',
])('with NODE_OPTIONS=%s a command is refused before anything is done', async (options) => {
  const shell = createShell({ env: { NODE_OPTIONS: options } });
  const { code, stdout, stderr } = await shell.run('customers list');
  expect([code, stdout, shell.targets]).toEqual([2, '', []]);
  expect(stderr).toMatch(/^tally: Node is told to start with --[a-z_-]+, which would let others read keys/);
  expect(stderr).toContain('unset NODE_OPTIONS, or give --allow-inspect');
});

test.each(['net', 'NET', 'http,net', 'https', 'HTTPS', 'fs,https', '*', 'n*'])(
  'with NODE_DEBUG=%s a command is refused',
  async (sections) => {
    const shell = createShell({ env: { NODE_DEBUG: sections } });
    const { code, stderr } = await shell.run('customers list');
    expect([code, shell.targets]).toEqual([2, []]);
    expect(stderr).toContain('unset NODE_DEBUG, or give --allow-inspect');
  },
);

test('a flag that Node was started with is refused like one in NODE_OPTIONS', async () => {
  const shell = createShell({ dependencies: { nodeFlags: ['--no-warnings', '--inspect=0'] } });
  expect((await shell.run('customers list')).code).toBe(2);
});

test('one flag allows it', async () => {
  const env = { NODE_OPTIONS: '--heapsnapshot-signal=SIGUSR2', NODE_DEBUG: 'net' };
  const shell = createShell({ env });
  expect(await shell.run('customers --allow-inspect list')).toMatchObject({ code: 0, stderr: '' });
  expect(shell.calls).toHaveLength(1);
});

test.each([
  { NODE_OPTIONS: '--no-warnings' },
  { NODE_OPTIONS: '--max-old-space-size=500' },
  { NODE_OPTIONS: '--title=--inspected' },
  { NODE_OPTIONS: '--inspect-publish-uid=http' },
  { NODE_DEBUG: 'http,timer' },
  { NODE_DEBUG: 'network' },
  { NODE_DEBUG: '' },
])('%j shows nothing, and is not refused', async (env) => {
  expect(await createShell({ env }).run('customers list')).toMatchObject({ code: 0, stderr: '' });
});
