/**
 * ClickHouse in a process of its own: the engine of the chdb package behind as much of ClickHouse's HTTP interface as its
 * official client speaks. Run by itself; prints the port as soon as it listens, and ends with its standard input.
 */

import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

import { Session } from 'chdb';

import { credentials } from './clickhouse-credentials.ts';

/** Of the address, not of the engine. */
const ownParameters = new Set(['query', 'database', 'query_id', 'session_id', 'wait_end_of_query', 'role']);

/** What a server takes of one parameter or part of a form, `http_max_field_value_size`; no request can lift it. */
const longestField = 128 * 1024;

const session = new Session();
let database = '';
/** What the session was last told by `SET`, which most requests tell it again. */
const told = new Map<string, string>();
/** The engine has one session here, and `USE` and the statement behind it must stay together. */
let queue = Promise.resolve();

/** Of an address, `http_max_uri_size`. */
const longestAddress = 1024 * 1024;

const server = createServer({ maxHeaderSize: longestAddress }, (request, response) => {
  // A server answers pings whatever else it does.
  if (request.url === '/ping') {
    response.end('Ok.\n');
    return;
  }
  queue = queue.then(async () => await answer(request, response).catch((error: unknown) => refuse(response, error)));
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { searchParams } = new URL(request.url ?? '/', 'http://front');
  const sent = await bodyOf(request);
  if (!isAllowed(request)) {
    throw new Error(
      'Code: 516. DB::Exception: tally: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)',
    );
  }
  const wanted = searchParams.get('database') ?? 'default';
  if (wanted !== database) {
    await session.queryAsync(`USE \`${wanted.replaceAll('`', '')}\``);
    database = wanted;
  }
  const settings = [...searchParams].filter(([name]) => !ownParameters.has(name) && !name.startsWith('param_'));
  await forgetAllBut(settings.map(([name]) => name));
  for (const [name, value] of settings) await set(name, escapedOf(value));
  const form = await formOf(request, sent);
  if ([...searchParams, ...form].some(([, value]) => Buffer.byteLength(value) > longestField)) {
    throw new Error('Code: 1000. DB::Exception: tally: HTML Form Exception: Field value too long. (POCO_EXCEPTION)');
  }
  for (const [name, value] of [...searchParams, ...form]) {
    if (!name.startsWith('param_')) continue;
    await set(name, escapedOf(value));
  }
  const rest = isForm(request) ? '' : sent.toString('utf8');
  const query = form.find(([name]) => name === 'query')?.[1] ?? searchParams.get('query');
  const statement = [query, rest].filter(Boolean).join('\n');
  const result = await session.queryAsync(statement, { format: 'TabSeparated' });
  response.setHeader('X-ClickHouse-Summary', '{}');
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.end(result.bytes());
}

function escapedOf(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}

async function set(name: string, escaped: string): Promise<void> {
  if (told.get(name) === escaped) return;
  await session.queryAsync(`SET ${name} = '${escaped}'`);
  told.set(name, escaped);
}

/** A setting is of one request. */
async function forgetAllBut(names: readonly string[]): Promise<void> {
  for (const name of [...told.keys()].filter((each) => !each.startsWith('param_') && !names.includes(each))) {
    await session.queryAsync(`SET ${name} = DEFAULT`);
    told.delete(name);
  }
}

function isAllowed(request: IncomingMessage): boolean {
  const expected = Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64');
  return request.headers.authorization === `Basic ${expected}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

function isForm(request: IncomingMessage): boolean {
  return request.headers['content-type']?.startsWith('multipart/form-data') === true;
}

async function formOf(request: IncomingMessage, body: Buffer): Promise<[string, string][]> {
  if (!isForm(request)) return [];
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  // oxlint-disable-next-line typescript/no-deprecated -- what a test sends is small, and believed
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  return [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
}

function refuse(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const [, code = '1000'] = /Code: (\d+)/.exec(message) ?? [];
  response.statusCode = code === '516' ? 403 : 500;
  response.setHeader('X-ClickHouse-Exception-Code', code);
  response.end(message);
}

process.stdin.on('end', () => process.exit()).resume();
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
