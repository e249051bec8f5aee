/** What keeps a grant from being made twice, and from being a slip. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { journalPath } from '../../src/cli/operator/journal.ts';
import { readLine } from '../../src/cli/operator/journal-line.ts';
import { BillingError, UnavailableError, UnknownOutcomeError, UnsentError } from '../../src/errors.ts';
import type { ErrorKind } from '../../src/errors.ts';
import type { Answer } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { createShell } from './shell.ts';
import type { Shell } from './shell.ts';

const line = 'credits grant k1 --amount-cents 500 --expires-at 2099-01-01T00:00:00Z';

/** A service that makes every grant once for each external id, and may lose its answers. */
function forgetfulService() {
  const made = new Map<string, number>();
  const failures: ErrorKind[] = [];
  const shell = createShell({
    reply: ({ name, input }) => {
      if (name !== 'credits.grant') return {};
      const failure = failures.shift();
      const { externalId, ...asked } = input.body as { readonly externalId: string };
      const isReplay = made.has(externalId);
      if (failure !== 'rateLimited') made.set(externalId, (made.get(externalId) ?? 0) + (isReplay ? 0 : 1));
      if (failure !== undefined) throw new BillingError(failure, 'no answer');
      return { isReplay, mismatches: [], body: { data: { id: 'e1', ...asked } } as unknown as Answer['body'] };
    },
  });
  return { shell, failures, made };
}

/** What moves money again when it is sent again. */
const doubling = [
  line,
  'credits grant-paid k1 --amount-cents 500',
  'credits adjust k1 --grant-entry-id g1 --amount-cents -500 --reason Slip',
];

function grantsOf({ calls }: Shell): readonly CallInput[] {
  return calls.filter(({ name }) => name === 'credits.grant').map(({ input }) => input);
}

test.each(doubling)(
  'is unfinished until its answer is shown: killed before that, the same command does not move money twice: %s',
  async (command) => {
    const states: (string | undefined)[] = [];
    const noteState = () => {
      const lines = readFileSync(journalPath(join(shell.home, 'data')), 'utf8')
        .trimEnd()
        .split('\n');
      states.push(readLine(lines.at(-1) ?? '')?.state);
    };
    const shell = createShell({
      reply: () => ({ body: { data: { id: 'e1', shown: { toJSON: noteState } } } as unknown as Answer['body'] }),
    });
    await shell.run(`${command} -o json`);
    noteState();
    expect([states[0], states.at(-1)]).toEqual(['begun', 'done']);
  },
);

test('the receipt of a service that does not show the wallet tells what the entry says of it, and when', async () => {
  const amounts = { amountCents: 500, creditAmount: 5, balanceAfterCents: 2000, creditBalanceAfter: 20 };
  const entry = { id: 'e1', currency: 'USD', createdAt: '2026-03-20T00:00:00.000Z', ...amounts };
  const shell = createShell({
    reply: ({ name }) => {
      if (name === 'credits.balance') throw new BillingError('notOffered', 'no such route');
      return { body: { data: entry } as unknown as Answer['body'] };
    },
  });
  const { code, stderr } = await shell.run(`${line} -o name`);
  const wallet = 'wallet before  15.00 USD, 15 credits\nwallet after   20.00 USD, 20 credits\n';
  expect([code, stderr]).toEqual([0, `${wallet}as of          2026-03-20T00:00:00Z\n`]);
});

describe('a grant without an external id', () => {
  test('gets one of its own each time that it is made', async () => {
    const { shell, made } = forgetfulService();
    for (let time = 0; time < 3; time += 1) expect((await shell.run(line)).code).toBe(0);
    expect(made.size).toBe(3);
  });

  test.each<ErrorKind>(['network', 'internal', 'unavailable', 'interrupted'])(
    'whose answer is lost (%s) is finished by the same command, and made once',
    async (kind) => {
      const { shell, failures, made } = forgetfulService();
      failures.push(kind, kind);
      expect((await shell.run(line)).stdout).toBe('');
      await shell.run(line);
      const { code, stderr } = await shell.run(line);
      expect([code, made.size]).toEqual([0, 1]);
      expect(stderr).toContain('this finishes the grant begun at');
      expect(stderr).toContain('this entry already exists');
      await shell.run(line);
      expect(made.size).toBe(2);
    },
  );

  test.each<ErrorKind>(['network', 'interrupted'])(
    'is finished by the same command also where --resume has lost the answer, too: %s',
    async (kind) => {
      const { shell, failures, made } = forgetfulService();
      failures.push('network', kind);
      await shell.run(line);
      expect((await shell.run('credits grant --resume')).code).not.toBe(0);
      const { code, stderr } = await shell.run(line);
      expect([code, made.size]).toEqual([0, 1]);
      expect(stderr).toContain('this finishes the grant begun at');
    },
  );

  test('that is another request is another grant', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network');
    await shell.run(line);
    await shell.run(line.replace('500', '501'));
    await shell.run(line.replace('k1', 'k2'));
    expect(made.size).toBe(3);
  });

  test('of the same amount, in other words, waits until it is known whether the one before was made', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network');
    await shell.run(line);
    for (const other of [line.replace('00Z', '00.000Z'), `${line} --reason Sorry`]) {
      const { code, stderr } = await shell.run(other);
      expect([code, made.size]).toEqual([11, 1]);
      expect(stderr).toContain('finish it with: tally credits grant --resume; or give this one an --external-id');
    }
    await shell.run(`${line} --external-id ticket-1`);
    expect(made.size).toBe(2);
    await shell.run('credits grant --resume');
    expect((await shell.run(`${line} --reason Sorry`)).code).toBe(0);
    expect(made.size).toBe(3);
  });

  test('waits until it is known whether the same one with an external id was made', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network');
    await shell.run(`${line} --external-id ticket-1`);
    expect([(await shell.run(line)).code, made.size]).toEqual([11, 1]);
    await shell.run('credits grant --resume');
    expect([(await shell.run(line)).code, made.size]).toEqual([0, 2]);
  });

  test('that was refused is not taken up again', async () => {
    const { shell, failures } = forgetfulService();
    failures.push('conflict');
    await shell.run(line);
    await shell.run(line);
    const ids = grantsOf(shell).map(({ body }) => (body as { externalId: string }).externalId);
    expect(new Set(ids).size).toBe(2);
  });

  const locked = new UnavailableError('locked; nothing was changed');
  const unsent = new UnsentError('a.example: nothing answers at this address');
  const lost = new BillingError('network', 'the outcome is unknown');
  const unknown = new UnknownOutcomeError('whether it was kept is not known');

  test.each<[string, string, readonly Error[], string]>([
    ['a database that was locked', 'a.db', [locked], ''],
    ['a database whose disk failed under the commit', 'a.db', [unknown], 'pending'],
    ['a database that was locked when it was sent again', 'a.db', [unknown, locked], 'pending'],
    ['a service that says so', 'https://a.example', [locked], 'pending'],
    ['a service that it never left for', 'https://a.example', [unsent], ''],
    ['a service that it left for before', 'https://a.example', [lost, unsent], 'pending'],
  ])('that %s could not take (%s) is left to finish only where nobody knows', async (_who, where, errors, left) => {
    const env = { TALLY_BASE_URL: where, TALLY_API_KEY: `tally_live_${'0'.repeat(48)}`, TALLY_ENVIRONMENT: 'sandbox' };
    const failures = [...errors];
    const shell = createShell({
      env: where.startsWith('https:') ? env : { TALLY_DATABASE: where },
      reply: () => {
        throw failures.shift() ?? new Error('there was one request too many');
      },
    });
    for (const _try of errors) expect((await shell.run(line)).code).toBe(9);
    const dry = await shell.run('credits grant --resume --dry-run --columns status');
    expect(dry.stdout.trim()).toBe(left);
    expect(dry.stderr).toMatch(/^dry run on (?:embedded|sandbox): nothing was sent$/m);
  });

  test.each<[string, Error]>([
    ['it never left', unsent],
    ['the key was refused', new BillingError('unauthorized', 'no')],
    ['there was no such contract', new BillingError('notFound', 'no')],
  ])('with an id of its own is not left to finish where %s, however often it was sent', async (_why, error) => {
    const shell = createShell({
      reply: () => {
        throw error;
      },
    });
    for (let time = 0; time < 3; time += 1) await shell.run(`${line} --external-id ticket-1`);
    expect((await shell.run('credits grant --resume --dry-run')).stderr).toContain('no grant is unfinished');
  });

  test('is not taken up in another place', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network');
    await shell.run(`${line} --database a.db`);
    await shell.run(`${line} --database b.db`);
    await shell.run(`${line} --database a.db --org other`);
    expect(made.size).toBe(3);
    expect((await shell.run('credits grant --resume --database ./a.db --json status')).stdout).toContain('repeated');
  });

  test.each(['--external-id sub_live_4f3c2a1b9d', '--specifiers properties.tenant=sub_live_4f3c2a1b9d'])(
    'that the journal could not keep as it is, since it would be sent otherwise by --resume, is not begun: %s',
    async (flag) => {
      const { shell, failures, made } = forgetfulService();
      failures.push('network');
      const { code, stderr } = await shell.run(`${line} ${flag}`);
      await shell.run('credits grant --resume');
      expect([code, made.size]).toEqual([2, 0]);
      expect(stderr).toContain('has the form of a key');
    },
  );

  test('is found again whatever its database is called', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network');
    for (let time = 0; time < 2; time += 1) await shell.run(`${line} --database books_live_20261101.db`);
    expect(made.size).toBe(1);
  });

  test('that the service would refuse is not even begun', async () => {
    const { shell } = forgetfulService();
    expect(await shell.run(line.replace('500', '5.5'))).toMatchObject({ code: 8, stdout: '' });
    expect(shell.calls).toEqual([]);
    expect((await shell.run('journal list')).stdout).toBe('');
  });
});

describe('--resume', () => {
  test('sends every unfinished grant with the id that it had, and then there is none', async () => {
    const { shell, failures, made } = forgetfulService();
    failures.push('network', 'rateLimited');
    await shell.run(`${line} --reason 'Sorry' --metadata a=1.10`);
    await shell.run(`${line} --external-id ticket-1`);
    await shell.run(`${line} --external-id ticket-2`);
    const sent = grantsOf(shell);
    const { code, stdout } = await shell.run('credits grant --resume --columns contractId,externalId,status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^k1\t[-0-9a-f]{36}\trepeated\nk1\tticket-1\tdone\n$/);
    expect(JSON.stringify(grantsOf(shell).slice(3))).toBe(JSON.stringify(sent.slice(0, 2)));
    expect(made.size).toBe(3);
    expect(await shell.run('credits grant --resume')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no grant is unfinished\n',
    });
  });

  test('says where else there are unfinished ones, where there is none here', async () => {
    const { shell, failures } = forgetfulService();
    failures.push('network');
    await shell.run(`${line} --external-id ticket-1 --database other.db`);
    const { stderr } = await shell.run('credits grant --resume');
    expect(stderr).toMatch(/^no grant is unfinished here, but some are on \S*other\.db\n$/);
  });

  test.each<[ErrorKind, boolean]>([
    ['network', true],
    ['notFound', true],
    ['unauthorized', true],
    ['invalidInput', false],
  ])('that fails again with %s leaves it unfinished: %s', async (kind, isLeft) => {
    const { shell, failures } = forgetfulService();
    failures.push('network', kind);
    await shell.run(line);
    const { code, stdout } = await shell.run('credits grant --resume --columns status,error');
    expect([code, stdout]).toEqual([10, 'failed\tno answer\n']);
    expect((await shell.run('credits grant --resume --dry-run')).stdout === '').toBe(!isLeft);
  });

  test('--dry-run shows what would be sent', async () => {
    const { shell, failures } = forgetfulService();
    failures.push('network');
    await shell.run(line);
    const { stdout } = await shell.run('credits grant --resume --dry-run --columns contractId,amountCents,status');
    expect([stdout, shell.calls.length]).toEqual(['k1\t500\tpending\n', 1]);
  });

  test.each(['--columns nope', '--json nope'])('sends nothing that could not be shown: %s', async (flags) => {
    const { shell, failures } = forgetfulService();
    failures.push('network');
    await shell.run(line);
    expect(await shell.run(`credits grant --resume ${flags}`)).toMatchObject({ code: 2, stdout: '' });
    expect(grantsOf(shell)).toHaveLength(1);
  });

  test('of one whose id another grant has by now is not done', async () => {
    let isAway = true;
    const shell = createShell({
      reply: () => {
        if (isAway) throw new BillingError('network', 'no answer');
        const body = { data: { id: 'e1' } } as unknown as Answer['body'];
        return { isReplay: true, mismatches: ['amountCents'], body };
      },
    });
    await shell.run(`${line} --external-id ticket-1`);
    isAway = false;
    const { code, stdout } = await shell.run('credits grant --resume --columns status,id,error');
    expect([code, stdout]).toEqual([10, 'failed\te1\tdiffers in amountCents\n']);
  });

  test.each(['k1 --resume', '--resume --amount-cents 500', '--resume --input grant.json'])(
    'takes no contract and no fields: %s',
    async (words) => {
      const { shell, failures } = forgetfulService();
      failures.push('network');
      await shell.run(line);
      const { code, stderr } = await shell.run(`credits grant ${words}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--resume takes no contract and no fields')]);
      expect(grantsOf(shell)).toHaveLength(1);
    },
  );
});

describe('a slip', () => {
  test('of nothing granted needs --allow-zero', async () => {
    const { shell } = forgetfulService();
    const zero = line.replace('500', '0');
    expect(await shell.run(zero)).toMatchObject({ code: 11, stdout: '' });
    expect(shell.calls).toEqual([]);
    expect((await shell.run(`${zero} --allow-zero`)).code).toBe(0);
    // Credits that have no value are no slip.
    expect((await shell.run(`${zero} --credit-rate-cents 0 --credit-amount 5`)).code).toBe(0);
  });

  test('of nothing bought needs --allow-zero, too', async () => {
    const shell = createShell();
    const zero = 'credits grant-paid c1 --amount-cents 0';
    expect(await shell.run(zero)).toMatchObject({ code: 11, stdout: '' });
    expect(shell.calls).toEqual([]);
    expect((await shell.run(`${zero} --allow-zero`)).code).toBe(0);
  });

  test('of a grant that never expires is no command line', async () => {
    expect((await createShell().run('credits grant k1 --amount-cents 5')).stderr).toContain('missing --expires-at');
  });

  test('of a reason given twice is refused', async () => {
    expect((await createShell().run(`${line} --reason a --description b`)).stderr).toContain(
      '--description (the same as --reason) was given twice',
    );
  });
});

test('--reason is kept as the description', async () => {
  const { shell } = forgetfulService();
  await shell.run(`${line} --reason 'Apology for the outage'`);
  expect(shell.calls[0]?.input.body).toMatchObject({ description: 'Apology for the outage' });
});
