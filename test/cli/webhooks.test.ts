/** The real program, from the registration of an endpoint to an event that is received. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, onTestFinished, test, vi } from 'vitest';

import { newDirectory } from '../support/temporary-files.ts';
import { startReceiver, signersOf } from '../support/webhook-receiver.ts';
import { launcher } from '../support/program.ts';
import { createShell } from './shell.ts';

const runFile = promisify(execFile);

function home(): NodeJS.ProcessEnv {
  const directory = newDirectory();
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^TALLY_|^NODE_/.test(name)));
  return { ...inherited, TALLY_CONFIG_DIR: join(directory, 'config'), TALLY_DATA_DIR: join(directory, 'data') };
}

async function tally(line: string, env: NodeJS.ProcessEnv): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await runFile(process.execPath, [launcher, ...line.split(' ')], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

async function registered(url: string, env: NodeJS.ProcessEnv): Promise<Endpoint> {
  const { stdout } = await tally(`webhooks create --url ${url} --allow-private -o json`, env);
  return (JSON.parse(stdout) as { readonly data: Endpoint }).data;
}

/** Runs until the test ends; gives what it has written so far. */
function start(line: string, env: NodeJS.ProcessEnv): { readonly stdout: string; readonly stderr: string } {
  const child = spawn(process.execPath, [launcher, ...line.split(' ')], { env });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk.toString()));
  onTestFinished(async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  });
  return written;
}

test.each(['--columns nope', '--json nope', '-o name'])(
  'deliver sends nothing that could not be told: %s',
  async (flags) => {
    const { code, stderr } = await createShell().run(`webhooks deliver ${flags}`);
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('this shell has no engine')]);
  },
);

test('what deliver sends, listen verifies and prints', async () => {
  const env = home();
  const { id, secret } = await registered('http://127.0.0.1:1/', env);
  const listening = start('webhooks listen', { ...env, TALLY_WEBHOOK_SECRET: secret });
  const url = await vi.waitUntil(() => /http:\S+/.exec(listening.stderr)?.[0], { timeout: 30_000 });
  await tally(`webhooks update ${id} --url ${url} --allow-private`, env);
  expect(await tally('webhooks trigger credit.budget.exhausted', env)).toMatchObject({ code: 0, stderr: '' });
  const delivered = await tally('webhooks deliver --allow-private-webhooks -o json', env);
  expect(JSON.parse(delivered.stdout)).toEqual({ data: { delivered: 1, retrying: 0, failed: 0 } });
  expect(listening.stdout).toMatch(/^\S+\tcredit\.budget\.exhausted\t[0-9a-f-]{36}\n$/);
}, 30_000);

test.each(['webhooks listen', 'webhooks listen --no-color'])(
  '%s ends once nobody reads what it prints, and does not take what nobody has read',
  async (line) => {
    const env = home();
    const { id, secret } = await registered('http://127.0.0.1:1/', env);
    const child = spawn(process.execPath, [launcher, ...line.split(' ')], {
      env: { ...env, TALLY_WEBHOOK_SECRET: secret },
    });
    onTestFinished(() => void child.kill('SIGTERM'));
    const exit = once(child, 'exit');
    child.stdout.destroy();
    const [said] = (await once(child.stderr, 'data')) as [Buffer];
    await tally(`webhooks update ${id} --url ${/http:\S+/.exec(said.toString())?.[0]} --allow-private`, env);
    await tally('webhooks trigger customer.created', env);
    await tally('webhooks deliver --allow-private-webhooks', env);
    expect(await exit).toEqual([0, null]);
    const { stdout } = await tally('webhooks deliveries --columns status,responseStatus,responseBody', env);
    expect(stdout).toBe('pending\t503\tnot read\n');
  },
  30_000,
);

test('deliver speaks for no organization, counts those of all, and says so', async () => {
  const env = home();
  const receiver = await startReceiver();
  await tally('orgs create --name other', env);
  for (const organization of ['default', 'other']) {
    const own = { ...env, TALLY_ORG: organization };
    await registered(receiver.url, own);
    await tally('webhooks trigger customer.created', own);
  }
  const { stdout } = await tally('webhooks deliver --allow-private-webhooks', { ...env, TALLY_ORG: 'other' });
  expect(stdout).toBe('2\t0\t0\n');
  expect((await tally('webhooks deliver --help', env)).stdout).toMatch(/of all\s+organizations of the\s+database/);
}, 30_000);

test('serve sends what other processes leave in the outbox', async () => {
  const env = home();
  const receiver = await startReceiver();
  const { secret } = await registered(receiver.url, env);
  const served = start('serve --port 0 --allow-private-webhooks', env);
  await vi.waitUntil(() => served.stdout.includes('listening'), { timeout: 30_000 });
  await tally('webhooks trigger customer.created', env);
  await vi.waitUntil(() => receiver.received.length === 1, { timeout: 30_000 });
  expect(receiver.received.map((received) => signersOf(received, [secret]))).toEqual([[true]]);
}, 30_000);

test('without being told to, neither goes to a private address, and deliver says what failed for good', async () => {
  const env = home();
  const receiver = await startReceiver(410);
  await registered(receiver.url, env);
  await tally('webhooks trigger customer.created', env);
  const refused = await tally('webhooks deliver -o json', env);
  expect(refused).toMatchObject({
    code: 0,
    stderr:
      'sent again later: 1; see why with: tally webhooks deliveries --status pending --json url,nextAttemptAt,error\n',
  });
  expect(JSON.parse(refused.stdout)).toEqual({ data: { delivered: 0, retrying: 1, failed: 0 } });
  expect(receiver.received).toEqual([]);
  const early = await tally('webhooks deliver', env);
  expect(early.stdout).toBe('0\t0\t0\n');
  expect(early.stderr).toMatch(
    /^waiting: 1, the next is due at \S+Z; see why with: tally webhooks deliveries --status pending --json \S+\n$/,
  );
  await tally('webhooks trigger customer.updated', env);
  const gone = await tally('webhooks deliver --allow-private-webhooks -o json', env);
  expect(gone.code).toBe(10);
  expect(gone.stderr).toContain('failed for good: 1');
  const { stdout } = await tally('webhooks deliveries --status failed -o json', env);
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ eventType: 'customer.updated', responseStatus: 410 }] });
}, 30_000);

test.each([
  ['invoice.created,customer.created', 'did you mean --event-types?'],
  ['books', 'write clickhouse://'],
])('kinds of event after the flag for the database of events: %s', async (given, hint) => {
  const refused = await tally(`webhooks create --url https://hooks.example.com/ --events ${given}`, home());
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`hint: ${hint}`) });
});
