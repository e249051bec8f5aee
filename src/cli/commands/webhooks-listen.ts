/** `tally webhooks listen`: a receiver on this machine that verifies each event and prints a line for it. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Webhook } from 'standardwebhooks';

import { BillingError } from '../../errors.ts';
import { reviveExactJson } from '../../exact-json.ts';
import { bytesOf } from '../../gathered-bytes.ts';
import { limits } from '../../limits.ts';
import { isLoopback } from '../../loopback.ts';
import { wholeNumber } from '../command-line/whole-number-flag.ts';
import { allowFormats } from '../output/output.ts';
import { safe, safeJson, say, vouch } from '../terminal/safe-text.ts';
import { UnprintedError } from '../terminal/unprinted.ts';
import { secretGiven } from '../session/secret-flags.ts';
import type { Session } from '../session/session.ts';
import type { CommandModule } from './command.ts';

interface ListenFlags {
  readonly port: string;
  readonly secretStdin?: true;
  readonly secretFile?: string;
  readonly forwardTo?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .usage('[flags]')
    .description(
      'Receive events on this machine: verify each one, print a line for it, and hand it on. ' +
        'The secret of the endpoint comes from TALLY_WEBHOOK_SECRET, standard input or a file; never a flag.',
    )
    .option('--port <number>', 'port to listen on; 0 takes any free one', '0')
    .option('--secret-stdin', 'read the secret from standard input')
    .option('--secret-file <file>', 'read the secret from a file')
    .option('--forward-to <url>', 'hand verified events on to a program on this machine')
    .addHelpText(
      'after',
      `
Examples:
  # Register the receiver, and keep its secret
  tally webhooks create --url http://127.0.0.1:4000/ --allow-private --jq .data.secret > secret
  # Receive
  tally webhooks listen --port 4000 --secret-file ./secret
`,
    )
    .action(async (flags: ListenFlags) => await runAction(async (session) => await listen(flags, session)));
};

/** The headers of Standard Webhooks. */
const header = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

async function listen(flags: ListenFlags, session: Session): Promise<void> {
  const { terminal, dependencies } = session;
  checkFormat(session);
  const forwardTo = checkedForward(flags.forwardTo);
  const port = wholeNumber('--port', flags.port, 65_535);
  const secret = await readSecret(flags, session);
  terminal.conceal(secret);
  const { Webhook } = await import('standardwebhooks');
  const printing = Promise.withResolvers<void>();
  const receive = receiver({ webhook: new Webhook(secret), forwardTo, session, printing });
  const server = createServer((request, response) => void receive(request, response));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new BillingError('unavailable', `cannot listen on port ${port} of 127.0.0.1`, {
      hint: 'choose another with --port',
      cause,
    });
  }
  const stopped = dependencies.untilStopped();
  terminal.err(say`tally webhooks listen: http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
  try {
    await Promise.race([stopped, printing.promise]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

interface Receiver {
  readonly webhook: Webhook;
  readonly forwardTo: URL | undefined;
  readonly session: Session;
  /** Resolves once nobody reads what is printed (`| head`), and rejects once it cannot be printed. */
  readonly printing: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>;
}

function receiver(options: Receiver) {
  const { session, printing } = options;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, text, error } = await answerTo(request, options).catch(failed);
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`, () => {
      if (error instanceof UnprintedError) printing.reject(error);
      else if (!session.terminal.hasReader()) printing.resolve();
    });
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly error?: unknown;
}

const failed = (error: unknown): Reply => ({ status: 500, text: 'failed', error });

async function answerTo(request: IncomingMessage, { webhook, forwardTo, session }: Receiver): Promise<Reply> {
  if (request.method !== 'POST') return { status: 405, text: 'post events here' };
  // The bytes as they were signed; undefined if they are more than any event has.
  const body = await bytesOf(request, limits.webhookBodyBytes);
  if (body === undefined) return { status: 413, text: 'too large' };
  const headers = signedHeaders(request.headers);
  let event: Readonly<Record<string, unknown>>;
  try {
    webhook.verify(body, headers);
    event = reviveExactJson(body.toString()) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not verified';
    session.terminal.err(say`refused: ${reason}\n`);
    return { status: 401, text: 'not verified' };
  }
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, body, headers);
  print(session, event, { id: headers[header.id], forwarded });
  if (forwarded === undefined) {
    // An event that was told to nobody is not received: its sender sends it again.
    return session.terminal.hasReader() ? { status: 200, text: 'received' } : { status: 503, text: 'not read' };
  }
  return { status: forwarded ?? 502, text: 'forwarded' };
}

function signedHeaders(headers: IncomingHttpHeaders): Record<(typeof header)[keyof typeof header], string> {
  const text = (name: string) => String(headers[name] ?? '');
  return {
    [header.id]: text(header.id),
    [header.timestamp]: text(header.timestamp),
    [header.signature]: text(header.signature),
  };
}

/**
 * The status of the program's answer; null if it did not answer. Not by `fetch`, which refuses a name and password in a URL, and
 * ports where a browser would harm others, such as 10080.
 */
async function forward(url: URL, body: Buffer, headers: Readonly<Record<string, string>>): Promise<number | null> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return await new Promise((resolve) => {
    const sending = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
      signal: AbortSignal.timeout(limits.webhookTimeoutMilliseconds),
    });
    sending.on('response', (answer) => {
      answer.destroy();
      const { statusCode = 0 } = answer;
      resolve(statusCode < 200 ? null : statusCode);
    });
    // An answer that changes the protocol, which nobody asked for, is no error.
    sending.on('error', () => undefined).on('close', () => resolve(null));
    sending.end(body);
  });
}

function checkFormat({ flags, output }: Session): void {
  allowFormats(flags, ['tsv', 'table', 'jsonl', 'json']);
  if (output.jq === undefined && output.columns === undefined && output.jsonFields === undefined) return;
  throw new BillingError('usage', 'an event is printed whole', { hint: 'give -o jsonl, and pipe it into jq' });
}

/** Prints a line per event: the event itself if JSON was asked for, else its time, type and id. */
function print(
  { terminal, output }: Session,
  event: Readonly<Record<string, unknown>>,
  { id, forwarded }: { readonly id: string; readonly forwarded: number | null | undefined },
): void {
  if (output.format === 'json' || output.format === 'jsonl') {
    terminal.out(safeJson(`${JSON.stringify({ id, ...event })}\n`));
    return;
  }
  const columns = [String(event['timestamp']), String(event['type']), id];
  if (forwarded !== undefined) columns.push(`forwarded: ${forwarded ?? 'no answer'}`);
  terminal.out(vouch(`${columns.map(safe).join('\t')}\n`));
}

function checkedForward(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && isLoopback(url.hostname) && /^https?:$/.test(url.protocol)) return url;
  throw new BillingError('usage', '--forward-to takes an address on this machine, such as http://127.0.0.1:3000/hook');
}

async function readSecret({ secretFile, secretStdin }: ListenFlags, session: Session): Promise<string> {
  const given = await secretGiven('secret', { file: secretFile, stdin: secretStdin }, session);
  const secret = (given ?? session.dependencies.env['TALLY_WEBHOOK_SECRET'] ?? '').trim();
  if (/^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) return secret;
  throw new BillingError('usage', secret === '' ? 'no secret was given' : 'this is not a webhook secret', {
    hint: 'give the whsec_… of the endpoint with TALLY_WEBHOOK_SECRET, --secret-stdin or --secret-file',
  });
}
