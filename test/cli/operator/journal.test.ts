import { appendFileSync, chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { createJournalFile } from '../../../src/cli/operator/journal-file.ts';
import { createJournal } from '../../../src/cli/operator/journal.ts';
import { lineOf } from '../../../src/cli/operator/journal-line.ts';
import type { JournalFacts } from '../../../src/cli/operator/journal-line.ts';
import { BillingError, errorFacts } from '../../../src/errors.ts';
import type { ErrorKind } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';
import type { Reply, Shell } from '../shell.ts';
import { watchDisk } from '../../support/disk-calls.ts';

const answerOf = (data: object): Partial<Answer> => ({ body: { data } as unknown as Answer['body'] });
const pathOf = (shell: Shell) => join(shell.home, 'data', 'journal', 'journal.jsonl');
const linesOf = (shell: Shell) =>
  readFileSync(pathOf(shell), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const create = 'customers create --name Acme --contact name=Ada,email=ada@acme.example,roles=primary';
const pay = 'invoices cancel i1';

describe('every write is a line', () => {
  test('with who, when, where, what, and the id of the answer, but not what was sent', async () => {
    const shell = createShell({ reply: () => answerOf({ id: 'c1' }) });
    await shell.run(create);
    const [line, ...rest] = linesOf(shell);
    expect(rest).toEqual([]);
    expect(line).toMatchObject({
      state: 'done',
      operator: 'ada',
      environment: 'embedded',
      target: join(shell.home, 'data', 'tallybook.db'),
      operation: 'customers.create',
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      responseId: 'c1',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Temporal.Instant.from(String(line?.['at']))).toBeDefined();
    expect(JSON.stringify(line)).not.toContain('acme.example');
  });

  test('what moves money is there before it is sent', async () => {
    const seen: unknown[] = [];
    const shell: Shell = createShell({
      reply: () => {
        seen.push(...linesOf(shell).map(({ state }) => state));
        return answerOf({ id: 'i1' });
      },
    });
    await shell.run(pay);
    expect(seen).toEqual(['begun']);
    const [begun, done] = linesOf(shell);
    expect(begun?.['call']).toBe(done?.['call']);
    expect(done).toMatchObject({ state: 'done', params: { invoiceId: 'i1' } });
  });

  test.runIf(process.platform === 'linux')('what moves money is on the disk before it is sent', async () => {
    const disk = watchDisk();
    let synced: readonly string[] = [];
    const shell: Shell = createShell({
      reply: () => {
        synced = [...disk];
        return answerOf({ id: 'i1' });
      },
    });
    await shell.run(pay);
    expect(synced).toEqual([`sync ${pathOf(shell)}`]);
    expect(disk).toHaveLength(2);
  });

  test('that an earlier request had done it already is told apart from having done it', async () => {
    const shell = createShell({ reply: () => ({ ...answerOf({ id: 'g1' }), isReplay: true }) });
    await shell.run('credits grant k1 --amount-cents 1 --expires-at 2099-01-01T00:00:00Z --external-id x');
    expect(linesOf(shell).map(({ state }) => state)).toEqual(['begun', 'repeated']);
  });

  test.each([
    ['postgres://ada:se/c@ret@db.example/books?sslpassword=secret', 'postgres://db.example/books?sslpassword=***'],
    ['postgres://ada@db.example/books', 'postgres://db.example/books'],
  ])('names the database %s without who comes and by which password', async (database, named) => {
    const shell = createShell({ env: { TALLY_DATABASE: database }, reply: () => answerOf({ id: 'c1' }) });
    await shell.run(create);
    expect(linesOf(shell)[0]?.['target']).toBe(named);
  });

  test('reading is none, and neither is a dry run', async () => {
    const shell = createShell();
    await shell.run('customers list');
    await shell.run(`${create} --dry-run`);
    expect(() => linesOf(shell)).toThrow('ENOENT');
  });

  test('a request sent by method and path is one too', async () => {
    const shell = createShell();
    await shell.run('api POST /v1/customers/c1/resume');
    expect(linesOf(shell)).toMatchObject([
      { operation: 'customers.resume', state: 'done', params: { customerId: 'c1' } },
    ]);
  });

  test('what was done is printed even where its outcome cannot be written any more', async () => {
    const shell: Shell = createShell({
      reply: () => {
        chmodSync(pathOf(shell), 0o644);
        return answerOf({ id: 'i1' });
      },
    });
    const { code, stdout, stderr } = await shell.run(`${pay} -o name`);
    expect([code, stdout]).toEqual([0, 'i1\n']);
    expect(stderr).toContain('the outcome (done) is not in the journal');
  });

  const unsure: readonly ErrorKind[] = ['network', 'internal', 'unavailable', 'checkFailed', 'interrupted'];
  test.each(Object.keys(errorFacts) as ErrorKind[])(
    'a failure of kind %s says whether anything can have been done',
    async (kind) => {
      const shell = createShell({
        reply: () => {
          throw new BillingError(kind, 'no');
        },
      });
      await shell.run(pay);
      expect(linesOf(shell).at(-1)).toMatchObject({
        state: unsure.includes(kind) ? 'unknown' : 'refused',
        error: errorFacts[kind].code,
      });
    },
  );
});

describe('the file', () => {
  test.runIf(process.platform !== 'win32')('is the user’s alone', async () => {
    const shell = createShell();
    await shell.run(create);
    expect(statSync(pathOf(shell)).mode & 0o777).toBe(0o600);
    expect(statSync(join(pathOf(shell), '..')).mode & 0o777).toBe(0o700);
  });

  test.runIf(process.platform !== 'win32')('is not written through a link, nor where others can read it', async () => {
    const open = (path: string) => {
      writeFileSync(path, '');
      chmodSync(path, 0o644);
    };
    for (const spoil of [(path: string) => symlinkSync('/dev/null', path), open]) {
      const shell = createShell();
      mkdirSync(join(pathOf(shell), '..'), { recursive: true, mode: 0o700 });
      spoil(pathOf(shell));
      for (const line of [create, pay]) expect(await shell.run(line)).toMatchObject({ code: 2, stdout: '' });
      expect(shell.calls).toEqual([]);
    }
  });

  test('never holds a key, however it comes in', async () => {
    const canary = `tally_live_${'0badcafe'.repeat(6)}`;
    const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: canary, TALLY_ENVIRONMENT: 'sandbox' };
    const shell = createShell({ env });
    await shell.run(
      `credits grant k1 --amount-cents 1 --expires-at 2099-01-01T00:00:00Z --reason 'Bearer ${canary}"' --metadata k=${canary}`,
    );
    expect(readFileSync(pathOf(shell), 'utf8')).toContain('"begun"');
    await shell.run(`credits grant k1 --amount-cents 1 --expires-at 2099-01-01T00:00:00Z --external-id ${canary}`);
    await shell.run(`customers pause ${canary}`);
    const text = readFileSync(pathOf(shell), 'utf8');
    for (const form of [canary, canary.slice(11), Buffer.from(canary).toString('base64')])
      expect(text).not.toContain(form);
    expect(await shell.run('journal verify -o json')).toMatchObject({ code: 0 });
  });

  test('is appended to by many at once without a line lost or a link broken', async () => {
    const shell = createShell();
    const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
    const journals = [1, 2, 3].map(() => createJournal(pathOf(shell), machine));
    const facts = { at: '2026-03-01T00:00:00Z', state: 'done', operator: 'ada' } as const;
    const place = { environment: 'sandbox', target: 't', operation: 'o', requestHash: '' };
    await Promise.all(
      journals.flatMap((journal, index) =>
        Array.from({ length: 40 }, (_, count) => journal.record({ ...facts, ...place, call: `${index}-${count}` })),
      ),
    );
    expect(new Set(linesOf(shell).map(({ call }) => call)).size).toBe(120);
    expect((await shell.run('journal verify --json lines')).stdout).toBe('{\n  "lines": 120\n}\n');
  });

  test.each([
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the disk is read-only'],
  ])('that cannot be written is named, with the reason in words: %s', async (code, reason) => {
    const shell = createShell();
    const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
    const file = createJournalFile(pathOf(shell), machine);
    const failing = () => {
      throw Object.assign(new Error(`${code}: it failed, write`), { code, syscall: 'write' });
    };
    await expect(file.hold(failing)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${pathOf(shell)}: ${reason}`,
    });
    await file.hold(() => undefined);
  });

  test('goes on behind a line that is longer than what is read of its end at once', async () => {
    const shell = createShell();
    await shell.run(create);
    const metadata = Array.from({ length: 10 }, (_, index) => `--metadata k${index}=${'é'.repeat(400)}`).join(' ');
    await shell.run(`credits grant k1 --amount-cents 1 --expires-at 2099-01-01T00:00:00Z ${metadata}`);
    await shell.run(create);
    expect((await shell.run('journal verify --json findings')).stdout).toBe('{\n  "findings": []\n}\n');
    expect(Math.max(...linesOf(shell).map((each) => JSON.stringify(each).length))).toBeGreaterThan(4096);
  });

  test('goes on behind a line that a crash cut off', async () => {
    const shell = createShell();
    await shell.run(create);
    appendFileSync(pathOf(shell), '{"at":"2026');
    await shell.run(create);
    const { code, stdout } = await shell.run('journal verify -o json');
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({
      data: { lines: 3, findings: [{ line: 2, problem: 'is not a whole line: it was cut off' }] },
    });
  });
});

describe('tally journal', () => {
  const reply: Reply = ({ name }) => {
    if (name === 'invoices.cancel') throw new BillingError('network', 'gone');
    return answerOf({ id: 'c1' });
  };

  test('list shows the newest first, in every format', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    await shell.run('customers resume c1');
    const { stdout } = await shell.run('journal list --columns operation,state');
    expect(stdout).toBe('customers.resume\tdone\ncustomers.create\tdone\n');
    for (const format of ['json', 'jsonl', 'csv', 'yaml', 'table']) {
      expect((await shell.run(`journal list -o ${format}`)).stdout).toContain('customers.resume');
    }
    expect(await shell.run('journal list --limit 1 --json operation')).toMatchObject({
      stdout: '[\n  {\n    "operation": "customers.resume"\n  }\n]\n',
      stderr: '1 of 2: --limit shows more\n',
    });
    expect((await shell.run('journal list --operation customers.create --columns responseId')).stdout).toBe('c1\n');
    const byWords = ['journal', 'list', '--operation', 'customers create', '--columns', 'responseId'];
    expect((await shell.run(byWords)).stdout).toBe('c1\n');
    expect((await shell.run('journal list --until 2020-01-01')).stdout).toBe('');
    expect(await shell.run('journal list --until 2020-01-01 -o table')).toMatchObject({
      stdout: '',
      stderr: 'there are none\n',
    });
  });

  test('list --unfinished shows the calls whose outcome nobody knows', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    await shell.run(pay);
    expect((await shell.run('journal list --unfinished --columns operation,state,error')).stdout).toBe(
      'invoices.cancel\tunknown\tNETWORK_ERROR\n',
    );
  });

  test('list --unfinished knows what was finished outside its window, and by whom', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    const [by, after] = [{ operator: 'eve' }, { at: '2026-03-02T00:00:00.000Z' }];
    const facts: JournalFacts = {
      at: '2026-03-01T00:00:00.000Z',
      call: 'a',
      state: 'begun',
      operator: 'ada',
      environment: 'embedded',
      target: '/books.db',
      operation: 'credits.grant',
      params: { contractId: 'c1' },
      requestHash: '0'.repeat(64),
      externalId: 'march',
    };
    const calls: JournalFacts[] = [
      facts,
      { ...facts, call: 'b', externalId: 'april' },
      { ...facts, call: 'c', state: 'unknown', externalId: 'may' },
      { ...facts, call: 'd', state: 'done', ...by, ...after },
      { ...facts, call: 'b', state: 'unknown', externalId: 'april', ...after },
      // Sent again, what is there stays there.
      { ...facts, call: 'e', state: 'unknown', ...after },
    ];
    writeFileSync(pathOf(shell), calls.map((call) => `${lineOf(call, undefined, (text) => text)}\n`).join(''));
    const list = 'journal list --unfinished --columns externalId,state';
    expect((await shell.run(list)).stdout).toBe('april\tunknown\nmay\tunknown\n');
    expect((await shell.run(`${list} --until 2026-03-02`)).stdout).toBe('may\tunknown\n');
    expect((await shell.run(`${list} --operator ada`)).stdout).toBe('april\tunknown\nmay\tunknown\n');
  });

  test('list and export give what went by one profile, or to one environment', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    const facts: JournalFacts = {
      at: '2026-03-01T00:00:00.000Z',
      call: 'a',
      state: 'done',
      operator: 'ada',
      environment: 'production',
      profile: 'eu',
      target: 'https://eu.example',
      operation: 'customers.create',
      requestHash: '0'.repeat(64),
    };
    const calls: JournalFacts[] = [
      facts,
      { ...facts, call: 'b', profile: 'us' },
      { ...facts, call: 'c', environment: 'sandbox', profile: 'trial' },
      { ...facts, call: 'd', environment: 'embedded', profile: undefined },
    ];
    writeFileSync(pathOf(shell), calls.map((call) => `${lineOf(call, undefined, (text) => text)}\n`).join(''));
    for (const [flags, found] of [
      ['', 'd c b a'],
      ['--profile us', 'b'],
      ['--environment production', 'b a'],
      ['--environment production --profile trial', ''],
      ['--profile elsewhere', ''],
    ] as const) {
      const { stdout } = await shell.run(`journal list --columns call ${flags}`);
      expect([flags, stdout.trim().split('\n').join(' ')]).toEqual([flags, found]);
      const exported = (await shell.run(`journal export ${flags}`)).stdout;
      const exportedCalls = [...exported.matchAll(/"call":"(\w)"/g)].map(([, call]) => call);
      expect(exportedCalls.toReversed().join(' ')).toBe(found);
    }
    expect((await shell.run('journal list --environment prod')).code).toBe(2);
  });

  test('export gives the lines to the byte', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    await shell.run(create);
    expect((await shell.run('journal export')).stdout).toBe(readFileSync(pathOf(shell), 'utf8'));
    expect((await shell.run('journal export --operator eve')).stdout).toBe('');
    const [header = '', first = '', ...others] = (await shell.run('journal export -o csv')).stdout.split('\n');
    expect(others).toHaveLength(2);
    const [line = ''] = readFileSync(pathOf(shell), 'utf8').split('\n');
    for (const [name, value] of Object.entries(JSON.parse(line) as Record<string, unknown>)) {
      expect(header).toContain(`"${name}"`);
      if (typeof value === 'string') expect(first).toContain(value);
    }
    expect((await shell.run('journal export --columns state')).stdout).toBe('done\ndone\n');
  });

  test.each(['journal list', 'journal export -o csv', 'journal export --operator ada'])(
    '%s says that it leaves out a line that was changed',
    async (line) => {
      const shell = createShell({ reply });
      await shell.run(create);
      await shell.run(create);
      writeFileSync(pathOf(shell), readFileSync(pathOf(shell), 'utf8').replace('"state":"done"', '"state":"begun"'));
      expect((await shell.run(line)).stderr).toBe(
        'damaged and not shown: 1 line; see them with: tally journal verify\n',
      );
    },
  );

  test('verify ends with 10 once a line was changed, and with a hash that is gone', async () => {
    const shell = createShell({ reply });
    await shell.run(create);
    await shell.run(create);
    const head = String(linesOf(shell).at(-1)?.['hash']);
    expect(await shell.run(`journal verify --contains ${head}`)).toMatchObject({ code: 0, stderr: '' });
    const [first = ''] = readFileSync(pathOf(shell), 'utf8').split('\n');
    writeFileSync(pathOf(shell), `${first}\n`);
    expect(await shell.run('journal verify')).toMatchObject({ code: 0 });
    expect((await shell.run(`journal verify --contains ${head}`)).stderr).toContain('the journal was cut or replaced');
    writeFileSync(pathOf(shell), `${first.replace('ada', 'eve')}\n`);
    expect(await shell.run('journal verify')).toMatchObject({
      code: 10,
      stderr: expect.stringContaining('not as written: 1 line; line 1 was changed after it was written'),
    });
  });

  test('of nothing is empty and whole', async () => {
    const shell = createShell();
    expect((await shell.run('journal list -o json')).stdout).toBe('{\n  "data": []\n}\n');
    expect((await shell.run('journal export')).stdout).toBe('');
    expect(await shell.run('journal verify')).toMatchObject({ code: 0 });
  });

  test.each([
    ['journal list --limit no', '--limit takes a whole number from 1 to 999999999'],
    ['journal list --since yesterday', '--since takes a date'],
    ['journal list --since 2026-03-02 --until 2026-03-01', '--until must be after --since'],
    ['journal export --since 2026-03-02 --until 2026-03-02', '--until must be after --since'],
    ['journal list --columns nothing', 'there is no field "nothing"'],
    ['journal list --operation credits.grnat', 'did you mean credits.grant?'],
    ['journal export --operation grants', 'no operation is called grants'],
  ])('%s is refused', async (line, words) => {
    expect(await createShell().run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});
