/**
 * Bad input of each kind at the real program: the status over HTTP, the exit code of the command, and nothing lost.
 * Other places go deeper: bodies, queries and sizes byte by byte (server/failures, security/http-bytes), damaged and foreign
 * files (store/sqlite-file), keys and scopes (server/authenticate), answers of a remote (client/transport,
 * client/foreign-services), the words of each refusal (engine/*, scripts/*), the command line (cli/program, cli/flags).
 */

import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runProgram, serveProgram } from './support/program.ts';
import type { Serving } from './support/program.ts';
import { newDirectory } from './support/temporary-files.ts';
import { rowsOf, writeTwoTenants } from './support/two-tenants.ts';
import type { TwoTenants } from './support/two-tenants.ts';

let home: string;
let file: string;
let serving: Serving;
let before: string;
/** What stands for `$name` in the table. */
let names: TwoTenants;

beforeAll(async () => {
  home = newDirectory();
  file = join(home, 'billing.db');
  names = await writeTwoTenants(file);
  serving = await serveProgram(['--database', file], { home });
  before = rowsOf(file);
});
afterAll(async () => await serving.stop());

function filled(template: string): string {
  return template.replaceAll(/\$(\w+)/g, (_all, name: string) => names[name as keyof TwoTenants]);
}

interface BadRequest {
  readonly kind: string;
  /** `METHOD /path`. */
  readonly request: string;
  readonly body?: string;
  readonly key?: string;
  readonly status: number;
  readonly command: string;
  /** What the command reads; the body of the request when not given. */
  readonly input?: string;
  /** Through the served instance, with the key of the request. */
  readonly isRemote?: true;
  readonly exitCode: number;
  /** In the answer and in what the command says. */
  readonly words: string;
}

const contacts = '[{"name":"Ada","email":"ada@acme.example","roles":["primary"]}]';
const createCustomer = { request: 'POST /v1/customers', command: 'customers create --input -' };
const createContract = { request: 'POST /v1/contracts', command: 'contracts create --input -' };
const createMeter = { request: 'POST /v1/meters', command: 'meters create --input -' };
const sendEvent = { request: 'POST /v1/events', command: 'usage ingest --input -' };
const grant = {
  request: 'POST /v1/contracts/$contract/credits/promotional/grant',
  command: 'credits grant $contract --input - --yes',
};

const badRequests: readonly BadRequest[] = [
  {
    ...createCustomer,
    kind: 'malformed JSON',
    body: `{"name":"Initech","contacts":${contacts}`,
    status: 400,
    exitCode: 8,
    words: 'JSON',
  },
  {
    ...createCustomer,
    kind: 'a name given twice',
    body: `{"name":"Initech","name":"Initrode","contacts":${contacts}}`,
    status: 400,
    exitCode: 8,
    words: 'name',
  },
  {
    ...createCustomer,
    kind: 'an unknown field',
    body: `{"name":"Initech","contacts":${contacts},"nmae":"Initech"}`,
    status: 422,
    exitCode: 8,
    words: 'nmae: unknown field',
  },
  {
    ...createCustomer,
    kind: 'a wrong type',
    body: `{"name":5,"contacts":${contacts}}`,
    status: 422,
    exitCode: 8,
    words: 'name: must be text',
  },
  {
    ...createCustomer,
    kind: 'a missing field',
    body: '{"name":"Initech"}',
    status: 422,
    exitCode: 8,
    words: 'contacts: is required',
  },
  {
    ...createContract,
    kind: 'an impossible date',
    body: '{"customerId":"$customer","planId":"$plan","startDate":"2026-02-30"}',
    status: 422,
    exitCode: 8,
    words: 'startDate',
  },
  {
    ...sendEvent,
    kind: 'an impossible instant',
    body: '{"eventName":"call","customerId":"$customer","timestamp":"2026-03-02T24:00:61Z"}',
    status: 422,
    exitCode: 8,
    words: 'timestamp',
  },
  {
    ...grant,
    kind: 'a number that is too large',
    body: '{"amountCents":1e30,"expiresAt":"2099-01-01T00:00:00Z"}',
    status: 422,
    exitCode: 8,
    words: 'amountCents',
  },
  {
    ...grant,
    kind: 'a number that no computer holds',
    body: '{"amountCents":1e999999999,"expiresAt":"2099-01-01T00:00:00Z"}',
    status: 422,
    exitCode: 8,
    words: 'amountCents',
  },
  {
    ...grant,
    kind: 'a part of a cent',
    body: '{"amountCents":0.5,"expiresAt":"2099-01-01T00:00:00Z"}',
    status: 422,
    exitCode: 8,
    words: 'amountCents',
  },
  {
    kind: 'a limit out of range',
    request: 'GET /v1/customers?limit=101',
    status: 400,
    command: 'customers list --limit 101',
    exitCode: 8,
    words: 'limit',
  },
  {
    kind: 'an unknown id',
    request: 'GET /v1/customers/$nobody',
    status: 404,
    command: 'customers get $nobody',
    exitCode: 4,
    words: 'no customer has this id',
  },
  {
    kind: "another tenant's id",
    request: 'PATCH /v1/customers/$theirs',
    body: '{"name":"Ours"}',
    status: 404,
    command: 'customers update $theirs --input -',
    exitCode: 4,
    words: 'no customer has this id',
  },
  {
    ...createContract,
    kind: 'an unknown id in a body',
    body: '{"customerId":"$nobody","planId":"$plan","startDate":"2026-02-28"}',
    status: 422,
    exitCode: 8,
    words: 'customerId: names no customer',
  },
  {
    ...createContract,
    kind: "another tenant's id in a body",
    body: '{"customerId":"$theirs","planId":"$plan","startDate":"2026-02-28"}',
    status: 422,
    exitCode: 8,
    words: 'customerId: names no customer',
  },
  {
    ...createMeter,
    kind: 'a duplicate code',
    body: '{"code":"TOKENS_ACME","displayName":"Tokens","aggregationKey":"tokens"}',
    status: 409,
    exitCode: 7,
    words: 'TOKENS_ACME',
  },
  {
    ...createCustomer,
    kind: 'a duplicate external id',
    body: `{"name":"Acme","externalCustomerId":"acme","contacts":${contacts}}`,
    status: 409,
    exitCode: 7,
    words: 'acme',
  },
  {
    kind: 'what the state forbids',
    request: 'POST /v1/invoices/$draft/refund',
    body: '{}',
    status: 409,
    command: 'invoices refund $draft --yes',
    exitCode: 7,
    words: 'Drafted',
  },
  {
    ...createCustomer,
    kind: 'a key that nobody has',
    body: `{"name":"Initech","contacts":${contacts}}`,
    key: `tally_live_${'0'.repeat(48)}`,
    isRemote: true,
    status: 401,
    exitCode: 3,
    words: 'Invalid API key',
  },
  {
    ...createCustomer,
    kind: 'a key that may not',
    body: `{"name":"Initech","contacts":${contacts}}`,
    key: '$readingKey',
    isRemote: true,
    status: 403,
    exitCode: 6,
    words: 'customers:write',
  },
];

describe('a request is refused, and nothing is lost', () => {
  test.concurrent.each(badRequests)('$kind: $status over HTTP', async ({ request, body, key, status, words }) => {
    const [method = '', path = ''] = filled(request).split(' ');
    const answer = await fetch(`${serving.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${filled(key ?? '$key')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: filled(body) }),
    });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(words);
    expect(rowsOf(file)).toBe(before);
  });

  test.concurrent.each(badRequests)('$kind: exit code $exitCode', async (row) => {
    const remote = { TALLY_BASE_URL: serving.url, TALLY_API_KEY: filled(row.key ?? ''), TALLY_ENVIRONMENT: 'sandbox' };
    const outcome = await runProgram(filled(row.command).split(' '), {
      home,
      environment: row.isRemote === true ? remote : { TALLY_DATABASE: file },
      input: filled(row.input ?? row.body ?? ''),
    });
    expect(outcome).toMatchObject({ code: row.exitCode, stdout: '' });
    expect(outcome.stderr).toContain(row.words);
    expect(outcome.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(rowsOf(file)).toBe(before);
  });

  test("another tenant's id is answered like one that nobody has", async () => {
    const words = async (id: string): Promise<string> => {
      const { stderr } = await runProgram(['customers', 'get', id], { home, environment: { TALLY_DATABASE: file } });
      return stderr.replaceAll(id, '<id>');
    };
    expect(await words(names.theirs)).toBe(await words(names.nobody));
  });
});
