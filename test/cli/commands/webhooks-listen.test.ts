import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { UnprintedError } from '../../../src/cli/terminal/unprinted.ts';
import { freePort } from '../../support/free-port.ts';
import { testTerminal } from '../../support/test-terminal.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import { createShell } from '../shell.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const body = JSON.stringify({ type: 'customer.created', timestamp: '2026-03-01T00:00:00.000Z', data: { id: 'c-1' } });

interface Listening {
  readonly url: string;
  readonly written: { readonly stdout: string; readonly stderr: string };
  /** The exit code, once it has ended. */
  readonly ended: Promise<number>;
  /** Stops it; gives the exit code. */
  stop(): Promise<number>;
}

/** `tally webhooks listen` until the test ends, told its secret by the environment. */
async function listen(flags: readonly string[] = [], out?: Terminal['out']): Promise<Listening> {
  const plain = testTerminal();
  const terminal = out === undefined ? plain : { ...plain, out };
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const shell = createShell({
    env: { TALLY_WEBHOOK_SECRET: secret },
    dependencies: { terminal, untilStopped: async () => await stopped },
  });
  const running = shell.run(['webhooks', 'listen', ...flags]);
  onTestFinished(() => stop());
  const url = await vi.waitUntil(() => /http:\S+/.exec(terminal.written.stderr)?.[0], { timeout: 30_000 });
  const ended = running.then(({ code }) => code);
  return {
    url,
    written: terminal.written,
    ended,
    stop: async () => {
      stop();
      return await ended;
    },
  };
}

function signed(text: string, by: string = secret, at: Date = new Date()): Record<string, string> {
  return {
    'webhook-id': 'msg-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('msg-1', at, text),
  };
}

async function post(url: string, headers: Record<string, string>, text: string = body): Promise<number> {
  return (await fetch(url, { method: 'POST', headers, body: text })).status;
}

describe('a receiver on this machine', () => {
  test('prints a line for each verified event, and ends when it is stopped', async () => {
    const listening = await listen();
    expect(await post(listening.url, signed(body))).toBe(200);
    expect(await listening.stop()).toBe(0);
    expect(listening.written.stdout).toBe('2026-03-01T00:00:00.000Z\tcustomer.created\tmsg-1\n');
    await expect(fetch(listening.url)).rejects.toThrow('fetch failed');
  });

  test('ends with 1 once it cannot print, and does not take what nobody can see', async () => {
    const listening = await listen([], () => {
      throw new UnprintedError('internal', 'the output cannot be written: the disk is full');
    });
    expect(await post(listening.url, signed(body))).toBe(500);
    expect(await listening.ended).toBe(1);
    expect(listening.written.stderr).toContain('tally: the output cannot be written: the disk is full\n');
    await expect(fetch(listening.url)).rejects.toThrow('fetch failed');
  });

  test('prints the event itself where JSON is asked for', async () => {
    const listening = await listen(['-o', 'jsonl']);
    await post(listening.url, signed(body));
    expect(JSON.parse(listening.written.stdout)).toEqual({ id: 'msg-1', ...JSON.parse(body) });
  });

  test('prints the numbers of an event with the digits that they came with', async () => {
    const listening = await listen(['-o', 'jsonl']);
    const text = '{"type":"credit.balance_depleted","data":{"creditBalance":9007199254740993.000001}}';
    await post(listening.url, signed(text), text);
    expect(listening.written.stdout).toBe(`{"id":"msg-1",${text.slice(1)}\n`);
  });

  test('lets no event act on the terminal', async () => {
    const listening = await listen();
    const text = JSON.stringify({ type: '\u001b[2J', timestamp: '\n' });
    await post(listening.url, signed(text), text);
    expect(listening.written.stdout).toBe('\\u{a}\t\\u{1b}[2J\tmsg-1\n');
  });

  test.each([
    ['tampered with', signed(body), `${body} `, 'No matching signature found'],
    ['signed by another secret', signed(body, `whsec_${Buffer.alloc(32).toString('base64')}`), body, 'No matching'],
    ['without a signature', {}, body, 'Missing required headers'],
    ['older than five minutes', signed(body, secret, new Date(Date.now() - 301_000)), body, 'timestamp too old'],
    ['from the future', signed(body, secret, new Date(Date.now() + 400_000)), body, 'timestamp too new'],
  ])('refuses an event that is %s', async (_what, headers, text, reason) => {
    const listening = await listen();
    expect(await post(listening.url, headers, text)).toBe(401);
    expect(listening.written.stdout).toBe('');
    expect(listening.written.stderr).toContain(`refused: `);
    expect(listening.written.stderr).toContain(reason);
  });

  test('takes posts alone, and none larger than an event may be', async () => {
    const listening = await listen();
    expect((await fetch(listening.url)).status).toBe(405);
    expect(await post(listening.url, {}, 'x'.repeat(64 * 1024 + 1))).toBe(413);
  });

  test('is reached by this machine alone', async () => {
    const { port } = new URL((await listen()).url);
    await expect(fetch(`http://[::1]:${port}/`)).rejects.toThrow('fetch failed');
  });

  test('never shows its secret', async () => {
    const listening = await listen();
    await post(listening.url, signed(body));
    const repeating = JSON.stringify({ ...JSON.parse(body), type: secret });
    await post(listening.url, signed(repeating), repeating);
    await listening.stop();
    expect(JSON.stringify(listening.written)).not.toContain(secret.slice('whsec_'.length));
  });
});

describe('forwarding', () => {
  test('hands on the bytes and their signature, and answers as the program does', async () => {
    const receiver = await startReceiver(503, 204);
    const listening = await listen(['--forward-to', receiver.url]);
    const headers = signed(body);
    expect([await post(listening.url, headers), await post(listening.url, headers)]).toEqual([503, 204]);
    expect(receiver.received.map((each) => each.body)).toEqual([body, body]);
    expect(receiver.received[0]?.headers).toMatchObject(headers);
    expect(listening.written.stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/\tforwarded: 503$/),
      expect.stringMatching(/\tforwarded: 204$/),
    ]);
  });

  test('does not follow where the program points to', async () => {
    const elsewhere = await startReceiver();
    const receiver = await startReceiver((_request, response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const listening = await listen(['--forward-to', receiver.url]);
    const answer = await fetch(listening.url, {
      method: 'POST',
      headers: signed(body),
      body,
      redirect: 'manual',
    });
    expect([answer.status, receiver.received.length, elsewhere.received]).toEqual([307, 1, []]);
  });

  test('says when nothing answers, and lets the sender try again', async () => {
    const listening = await listen(['--forward-to', `http://127.0.0.1:${await freePort()}/`]);
    expect(await post(listening.url, signed(body))).toBe(502);
    expect(listening.written.stdout).toMatch(/\tforwarded: no answer\n$/);
  });

  test.each([
    'HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n',
    'HTTP/1.1 099 Low\r\n\r\n',
    'no HTTP',
  ])('takes for no answer what is none: %j', async (bytes) => {
    const receiver = await startReceiver((request) => void request.socket.end(bytes));
    const listening = await listen(['--forward-to', receiver.url]);
    expect(await post(listening.url, signed(body))).toBe(502);
  });

  // Other systems answer at 127.0.0.1 alone, where somebody may use the port.
  test.runIf(process.platform === 'linux')(
    'reaches a program at a port that browsers avoid, with the name and password that it asks for',
    async () => {
      const seen: unknown[] = [];
      const program = createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.end();
      });
      program.listen(10_080, '127.83.65.7');
      onTestFinished(() => void program.close());
      await once(program, 'listening');
      const listening = await listen(['--forward-to', 'http://tally:word@127.83.65.7:10080/']);
      expect(await post(listening.url, signed(body))).toBe(200);
      expect(seen).toEqual([`Basic ${Buffer.from('tally:word').toString('base64')}`]);
    },
  );

  test('hands on nothing that was not verified', async () => {
    const receiver = await startReceiver();
    const listening = await listen(['--forward-to', receiver.url]);
    await post(listening.url, {});
    expect(receiver.received).toEqual([]);
  });

  test.each([
    'https://hooks.example.com/',
    'http://10.0.0.1/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'file:///etc/passwd',
    'here',
  ])('goes nowhere else: %s', async (url) => {
    const shell = createShell({ env: { TALLY_WEBHOOK_SECRET: secret } });
    const outcome = await shell.run(['webhooks', 'listen', '--forward-to', url]);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('--forward-to takes an address on this machine');
  });
});

describe('the secret', () => {
  test('may come from a file or from standard input', async () => {
    const shell = createShell();
    const file = join(shell.home, 'secret');
    writeFileSync(file, `${secret}\n`);
    expect(await shell.run(['webhooks', 'listen', '--secret-file', file])).toMatchObject({ code: 0 });
    expect(await shell.run('webhooks listen --secret-stdin', { input: `${secret}\n` })).toMatchObject({ code: 0 });
  });

  test('is told in one place: two are refused', async () => {
    const { code, stderr } = await createShell().run('webhooks listen --secret-file other --secret-stdin');
    expect(code).toBe(2);
    expect(stderr).toContain('--secret-file and --secret-stdin both say where the secret is');
  });

  test.each([
    ['', 'no secret was given'],
    ['hunter2hunter2hunter2', 'this is not a webhook secret'],
  ])('is needed, in its form: %j', async (given, message) => {
    const outcome = await createShell({ env: { TALLY_WEBHOOK_SECRET: given } }).run('webhooks listen');
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain(message);
    expect(outcome.stderr).not.toContain('hunter2');
  });

  test('is no flag', async () => {
    const outcome = await createShell().run(['webhooks', 'listen', '--secret', secret]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).not.toContain(secret);
  });
});
