/** What commands say when they do nothing: in which words, and what to give instead. */

import { describe, expect, test } from 'vitest';

import { createShell } from './shell.ts';

const key = `tally_live_${'b'.repeat(48)}`;
const production = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: key };
const sandbox = { ...production, TALLY_ENVIRONMENT: 'sandbox' };

test.each<[string, string, string | undefined, string?]>([
  ['usage cost --contract-id k1 --chart', '--chart works only with --by', 'such as: --by day --chart'],
  ['api GET /v1/customers --json id', 'an answer is printed whole', 'give --jq EXPRESSION'],
  ['api GET', 'missing <method> or <path>', 'see: tally api --help'],
  [
    'api GET /v1/customers?limit=1 --dry-run',
    '--dry-run is for commands that change something; this one only reads',
    undefined,
  ],
  ['api GET /v1/customers --input -', 'a GET has no body', 'put its parameters in the path, after a ?'],
  [
    'api GET https://billing.example.com/v1/customers',
    '"https://billing.example.com/v1/customers" is not a path',
    'give it alone, such as /v1/customers?limit=5',
  ],
  ['api GET /v2/customers', 'there is no GET /v2/customers', 'see every path in: tally api --openapi'],
  ['budgets check k1 --at 0', '--at takes a percentage such as 80, not 0', undefined],
  [
    'copy --to there.db --from-events clickhouse://127.0.0.1/events',
    '--from-events works only with --from',
    'for the database in use, give --events',
  ],
  ['credits statement k1 --from 2026-03-02 --to 2026-03-01', '--to must be after --from', 'the end is excluded'],
  ['import events - --event-name call --batch-size 0', '--batch-size takes 1 to 10000, not 0', undefined],
  ["import events - --event-name call --source ''", '--source needs a name', undefined],
  ['catalog export --json id', 'a catalog is printed whole', 'give -o json, or --jq EXPRESSION'],
  ['catalog schema --json id', 'a schema is printed whole', 'give --jq EXPRESSION'],
  ['profile use', 'missing <name> of the profile', undefined],
  ['serve --tls-cert cert.pem', '--tls-cert and --tls-key go together', undefined],
  [
    'serve --database :memory:',
    'nobody could make a key for :memory:, which only this process has',
    'name a file with --database; it is made if it does not exist',
  ],
  [
    'webhooks listen',
    'no secret was given',
    'give the whsec_… of the endpoint with TALLY_WEBHOOK_SECRET, --secret-stdin or --secret-file',
  ],
  ['webhooks listen --json id', 'an event is printed whole', 'give -o jsonl, and pipe it into jq'],
  ['pull --to mirror.db --dry-run', '--dry-run is for requests that change a service', 'give --check'],
  [
    'pull --to mirror.db --contract k1',
    'pull reads a remote service, but this is a database',
    'name a service with --profile, and the mirror with --to',
  ],
  ['pull --to mirror.db --plan p1', '--plan works only with --contract or --from', undefined],
  ['customers list -o csv --jq .', '--jq works on JSON, not on csv', 'leave out -o, or give -o json'],
  ['customers list -o csv --json id', '--json and -o csv ask for two formats', 'give one of them'],
  ['customers list -o yaml --columns id', '--columns cannot be used with yaml', 'use --json FIELDS'],
  ['customers list --raw', '--raw is for -o csv alone', 'leave it out, or give -o csv'],
  ['completion bash -o json', '-o json cannot be used with this command', 'it prints plain text only'],
  [
    'profile add x --environment sandbox --base-url https://a.example',
    'the key cannot be asked for: there is no terminal, or --no-input or CI is set',
    'give --key-stdin or --key-file',
  ],
  [
    'profile add x --environment embedded --base-url https://a.example',
    'a database has no address and no key',
    'give either --database or --base-url',
  ],
  ['simulate compare --from 2026-03-02 --to 2026-03-02', '--to must be after --from', 'the end is excluded'],
  ['simulate compare --from 2026-04-01 --to 2026-03-01', '--to must be after --from', 'the end is excluded'],
  ['simulate compare --chart', 'nothing would be different', 'give --catalog, --start-date or --grant'],
  [
    'credits grant k1 --from - --yes',
    'k1 and the column "contractId" both say what the rows are for',
    'leave out one of them',
    'contractId,amountCents\nk1,100\n',
  ],
  [
    'credits grant --from - --amount-cents 5 --yes',
    'line 2: the column "amountCents" and --amount-cents both give the value',
    'leave out one of them: a flag is for a field that has no column',
    'contractId,amountCents\nk1,100\n',
  ],
  [
    'pull --to mirror.db --from -',
    'standard input: there is no column contractId',
    'a file has one id per line and nothing else, or a header with contractId, and customerId and planId where known',
    'name,plan\nAcme,p1\n',
  ],
  ['pull --to mirror.db --from -', 'standard input: line 2 has no contract id', undefined, 'contractId,planId\n,p1\n'],
  ['pull --to mirror.db --contract=', '--contract: the id is empty', undefined],
])('%s', async (line, message, hint, input = '') => {
  const { stdout, stderr } = await createShell().run(line, { input });
  const told = stderr.split('\n').slice(0, hint === undefined ? 1 : 2);
  expect(told).toEqual([`tally: ${message}`, ...(hint === undefined ? [] : [`  hint: ${hint}`])]);
  expect(stdout).toBe('');
});

const isRehearsal = (body: unknown) => (body as { readonly rehearse?: boolean } | undefined)?.rehearse === true;

test('of rows that make a customer twice, none is sent', async () => {
  const shell = createShell({ env: sandbox });
  const input = 'name,contact\nAcme,"name=Ada,email=ada@acme.example,roles=primary"\n';
  const { stderr } = await shell.run('customers create --from - --yes', { input });
  expect(stderr).toBe(
    'line 2: externalCustomerId: is required, so that no customer is created twice\ntally: 1 row cannot be sent: nothing was sent\n',
  );
  expect(shell.calls).toEqual([]);
});

describe('whoever says no', () => {
  const rows = 'externalCustomerId,name,contact\nacme,Acme,"name=Ada,email=ada@acme.example,roles=primary"\n';

  test.each([
    ['customers create --name Acme --contact name=Ada,email=a@b.example,roles=primary', production, '', 'sent'],
    ['customers create --from -', sandbox, rows, 'sent'],
    ['catalog apply -', sandbox, 'products:\n  - name: Seats\n', 'changed'],
    ['events drop --before 2026-03-01', {}, '', 'done'],
  ])('%s: nothing was done', async (line, env, input, what) => {
    const shell = createShell({ env });
    const { code, asked, stderr } = await shell.run(line, { isTerminal: true, answers: ['no'], input });
    expect(asked).toHaveLength(1);
    expect([code, stderr]).toEqual([
      11,
      expect.stringMatching(new RegExp(`^tally: not confirmed: nothing was ${what}$`, 'm')),
    ]);
    const changing = shell.calls.filter(({ name, input: { body } }) => !name.endsWith('.list') && !isRehearsal(body));
    expect(changing).toEqual([]);
  });

  test('leaves a production profile as it is', async () => {
    const shell = createShell();
    const line = 'profile add box --no-check --base-url https://box.example --key-stdin --environment';
    await shell.run(`${line} production`, { input: key });
    const { stderr, asked } = await shell.run(`${line} sandbox`, {
      isTerminal: true,
      isInputTerminal: true,
      answers: ['no'],
      input: key,
    });
    expect(asked).toEqual([
      'profile box is production, https://box.example; as sandbox, writes to it would no longer ask. Replace it?',
    ]);
    expect(stderr).toContain('tally: not confirmed: nothing was changed\n');
    expect((await shell.run('profile list')).stdout).toContain('production');
  });

  test('or no key, stores none', async () => {
    const shell = createShell();
    const line = 'profile add box --environment sandbox --base-url https://box.example';
    const { stderr } = await shell.run(line, { isTerminal: true, answers: [''] });
    expect(stderr).toContain('tally: no key was entered: nothing was stored\n');
    expect((await shell.run('profile list')).stdout).toBe('');
  });
});
