import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { mask, redact } from '../../src/cli/terminal/redact.ts';
import { BillingError, errorFacts } from '../../src/errors.ts';
import type { ErrorKind } from '../../src/errors.ts';
import type { Answer } from '../../src/operations/index.ts';
import { createShell, manifest } from './shell.ts';

const canary = `tally_live_${'0badcafe'.repeat(6)}`;
const forms = [
  canary,
  Buffer.from(canary).toString('base64'),
  encodeURIComponent(canary),
  canary.slice('tally_live_'.length),
];
const env = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: canary, TALLY_ENVIRONMENT: 'sandbox' };

function canariesIn(text: string): string[] {
  return forms.filter((form) => text.includes(form));
}

const failures: readonly [string, () => Error][] = [
  ...(Object.keys(errorFacts) as ErrorKind[]).map((kind): [string, () => Error] => [
    kind,
    () => new BillingError(kind, `refused: Bearer ${canary}`, { hint: `key ${forms[1]}` }),
  ]),
  [
    'an error of the HTTP library',
    () => new TypeError(`Headers.append: "Bearer ${canary}\\r\\nX: 1" is an invalid header value`),
  ],
  [
    'a chain of causes',
    () => new Error('outer', { cause: new Error(`inner ${canary}`, { cause: new Error(forms[2]) }) }),
  ],
];

describe('the key in use never stands in what is said about a failure', () => {
  test.each(failures)('%s', async (_name, failure) => {
    const shell = createShell({
      env,
      reply: () => {
        throw failure();
      },
    });
    for (const flags of ['', '--debug', '-o json --debug']) {
      const { stdout, stderr } = await shell.run(`customers list ${flags}`);
      expect(stdout).toBe('');
      expect(canariesIn(stderr)).toEqual([]);
    }
  });

  test('nor in a dry run of any command', async () => {
    const shell = createShell({ env });
    for (const { examples, isWrite } of manifest.commands.filter((command) => command.isWrite)) {
      if (!isWrite) continue;
      for (const { line } of examples) {
        const { stdout, stderr } = await shell.run(`${line.replace(/^tally /, '')} --dry-run --debug`);
        expect(canariesIn(stdout + stderr)).toEqual([]);
      }
    }
  });

  test('nor in any file but the one for keys', async () => {
    const shell = createShell();
    await shell.run('profile add p --environment sandbox --base-url https://a.example --no-check --key-stdin', {
      input: canary,
    });
    await shell.run('customers list --debug');
    const directory = join(shell.home, 'config');
    for (const name of readdirSync(directory).filter((each) => each !== 'credentials.json')) {
      expect(canariesIn(readFileSync(join(directory, name), 'utf8'))).toEqual([]);
    }
  });
});

test('a key that a service repeats in what it lists is in no file that is written of that', async () => {
  const entry = {
    id: 'e',
    type: 'grant',
    createdAt: '2026-03-01T00:00:00.000Z',
    amountCents: 500,
    creditAmount: 0,
    description: `from ${canary}`,
    expiresAt: null,
    invoiceId: null,
  };
  const bodies: Readonly<Record<string, object>> = {
    'products.list': { data: [{ id: 'p', name: canary }], hasMore: false },
    'credits.ledger': { data: { totalCount: 1, entries: [entry] } },
  };
  const shell = createShell({
    env,
    reply: ({ name }) => {
      if (name === 'contracts.get') throw new BillingError('notOffered', 'no');
      return name in bodies ? { body: bodies[name] as never } : {};
    },
  });
  for (const line of ['catalog export', 'credits statement c --format html', 'credits statement c --format csv']) {
    const path = join(shell.home, line.replaceAll(/\W/g, '-'));
    const { code, stderr } = await shell.run(`${line} --file ${path}`);
    expect([line, code, stderr]).toEqual([line, 0, expect.stringContaining('wrote ')]);
    expect([line, canariesIn(readFileSync(path, 'utf8'))]).toEqual([line, []]);
  }
});

test('a key from a file that ends in a line end is known without it', async () => {
  const shell = createShell({
    reply: () => {
      throw new BillingError('network', `refused: ${forms[1]}`);
    },
  });
  const file = join(shell.home, 'key.txt');
  writeFileSync(file, `${canary}\n`);
  const words = 'profile add box --environment sandbox --base-url https://billing.example.com --key-file';
  const { code, stderr } = await shell.run(`${words} ${file}`);
  expect([code, canariesIn(stderr)]).toEqual([9, []]);
});

test('a key in the environment is not said before it is known what for, whatever its form', async () => {
  const shell = createShell({ env: { TALLY_API_KEY: 'open-sesame' } });
  const { code, stderr } = await shell.run('profile use open-sesame');
  expect([code, stderr.split('\n')[0]]).toEqual([2, 'tally: there is no profile "…"']);
});

describe('a key on the command line', () => {
  test.each([
    `--api-key ${canary}`,
    `--api-key=${canary}`,
    `--apikey=${canary}`,
    `--token ${canary}`,
    `--key=${canary}`,
    `--bearer=${canary}`,
  ])('is refused without being repeated: %s', async (flag) => {
    const shell = createShell();
    const { code, stdout, stderr } = await shell.run(`customers list ${flag}`);
    expect([code, stdout, shell.calls]).toEqual([2, '', []]);
    expect(canariesIn(stderr)).toEqual([]);
    expect(stderr).toContain('--key-stdin');
  });

  test('is refused without being repeated, whatever its form', async () => {
    const { code, stderr } = await createShell().run('customers list --token=open-sesame');
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('sesame')]);
  });

  test('has no flag in any command', () => {
    const names = manifest.commands.flatMap(({ flags }) => flags.flatMap(({ flag, alias }) => [flag, alias]));
    expect(names.filter((name) => /^(?:api-?key|key|token|bearer|secret|password)$/.test(name ?? ''))).toEqual([]);
  });
});

describe('redaction', () => {
  test('takes every key out of any text around it', () => {
    const digits = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 48, maxLength: 48 });
    fc.assert(
      fc.property(fc.string(), fc.string(), digits, (before, after, hex) => {
        expect(redact(`${before}acme_live_${hex.join('')}${after}`)).not.toContain(hex.join(''));
      }),
    );
  });

  test.each(['Bearer abcdefgh', 'bearer abcdefgh', 'whsec_abcdefgh=='])('takes %s out by its form', (text) => {
    expect(redact(`x ${text} y`)).not.toContain('abcdefgh');
  });

  test('takes the beginning of a key out, however it was cut', () => {
    expect(redact('key acme_live_0badcafe0 …')).toBe('key … …');
  });

  test('leaves a text as it is where the secret is too short to be one', () => {
    expect(redact('a few letters', ['', 'e'])).toBe('a few letters');
  });

  test('takes a known secret out in its plain, base64 and URL forms', () => {
    const secret = 'open sesame/42';
    const said = [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)].join(' | ');
    expect(redact(said, [secret])).toBe('… | … | …');
  });

  test('takes a known secret out of the base64 of any text around it', () => {
    const secret = 'open sesame/42?>~';
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom('base64', 'base64url'), (before, after, alphabet) => {
        const said = redact(Buffer.from(before + secret + after).toString(alphabet), [secret]);
        const [start, end] = said.split('…');
        expect(end).toBeDefined();
        expect(Buffer.from(`${start}`, alphabet).length).toBeLessThan(Buffer.byteLength(before) + 3);
      }),
    );
  });

  test.each([
    ['postgres://ada:s3/cr?et@db.example/x', 'postgres://ada:…@db.example/x'],
    ['got 1: postgresql://ada:s3@cret@db.example/x.', 'got 1: postgresql://ada:…@db.example/x.'],
    ["'clickhouse://ada:s3/cret@db.example'", "'clickhouse://ada:…@db.example'"],
    [
      'postgres://db.example/x?user=ada&password=s3cret&sslpassword=other.',
      'postgres://db.example/x?user=ada&password=…&sslpassword=…',
    ],
  ])('takes the password of a database out, however it is written: %s', (text, said) => {
    expect(redact(text)).toBe(said);
  });

  test('takes the password out of an address', () => {
    expect(redact('postgres://ada:s3cret@db.example/x and https://[::1]:80/a@b')).toBe(
      'postgres://ada:…@db.example/x and https://[::1]:80/a@b',
    );
  });

  test('leaves ordinary text alone', () => {
    const text = 'customer 01900000-0000-7000-8000-000000000001 went live_at 2026';
    expect(redact(text)).toBe(text);
  });

  test('a mask tells keys apart by their last four digits', () => {
    expect(mask(canary)).toBe('tally_live_…cafe');
    expect(mask('anything else')).toBe('…');
  });
});

test('what tells a candidate from the others is made visible where it would act on a terminal', async () => {
  const data = [{ id: 'c1', name: 'Acme\u001b[2J' }];
  const body = { data, hasMore: false, total: 1 } as unknown as Answer['body'];
  const shell = createShell({ reply: () => ({ body }) });
  const database = join(shell.home, 'book.db');
  writeFileSync(database, '');
  const { stdout } = await shell.run(['__complete', '1', 'customers', 'get', '--database', database]);
  expect(stdout).toBe('c1\tAcme\\u{1b}[2J\n');
});

test('a completion candidate is a line without control characters; the scripts quote the rest', async () => {
  const shell = createShell();
  const evil = ['$(touch /tmp/x)', "a'b", 'a\nb', 'a\u001b[31mb', 'a\tb', 'ok'];
  mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
  const profiles = Object.fromEntries(evil.map((name) => [name, { environment: 'embedded' }]));
  writeFileSync(join(shell.home, 'config', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  expect((await shell.run('__complete profile')).stdout).toBe(
    "$(touch /tmp/x)\tembedded\na'b\tembedded\nok\tembedded\n",
  );
});
