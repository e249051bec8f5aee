/** How a failure is told: in words, as JSON, and by the exit code. */

import { describe, expect, test } from 'vitest';

import {
  BillingError,
  InvalidInputError,
  RateLimitedError,
  UnknownOutcomeError,
  reworded,
  errorFacts,
} from '../../src/errors.ts';
import type { ErrorKind } from '../../src/errors.ts';
import { createShell } from './shell.ts';

describe('a failure of the service', () => {
  const kinds = Object.keys(errorFacts) as ErrorKind[];

  test.each(kinds)('%s leaves standard output empty and has its own exit code', async (kind) => {
    const shell = createShell({
      reply: () => {
        throw new BillingError(kind, 'what went wrong', { hint: 'what to do next' });
      },
    });
    const outcome = await shell.run('customers list');
    expect(outcome).toMatchObject({
      code: errorFacts[kind].exitCode,
      stdout: '',
      stderr: 'tally: what went wrong\n  hint: what to do next\n',
    });
  });

  test.each(['-o json', '--json', '--json=id', '-ojson', '--output=json', '--output json', '-o jsonl'])(
    'is told as JSON too with %s',
    async (flag) => {
      const shell = createShell({
        reply: () => {
          throw new RateLimitedError('too many requests', { retryAfterSeconds: 7, requestId: 'r1' });
        },
      });
      const { code, stdout, stderr } = await shell.run(`customers list ${flag}`);
      expect([code, stdout]).toEqual([5, '']);
      expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toEqual({
        error: {
          code: 'RATE_LIMITED',
          message: 'too many requests',
          status: 429,
          retryable: true,
          hint: 'wait, and repeat the command',
          retryAfterSeconds: 7,
          requestId: 'r1',
          environment: 'embedded',
        },
      });
    },
  );

  test('a program is told not to repeat what could then be done twice', async () => {
    const retryableOf = async (error: BillingError): Promise<unknown> => {
      const shell = createShell({
        reply: () => {
          throw error;
        },
      });
      const { stderr } = await shell.run('customers list -o json');
      return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.retryable;
    };
    const lost = new BillingError('network', 'the outcome is unknown', { isRetryable: false });
    expect(await retryableOf(new BillingError('network', 'nothing answers'))).toBe(true);
    expect(await retryableOf(lost)).toBe(false);
    expect(await retryableOf(reworded(lost, 'in other words'))).toBe(false);
    expect(await retryableOf(new UnknownOutcomeError('the commit was not answered'))).toBe(false);
  });

  test('the status that was answered is told, where its kind has another or none', async () => {
    const statusOf = async (kind: ErrorKind, answeredStatus?: number): Promise<unknown> => {
      const shell = createShell({
        reply: () => {
          throw new BillingError(kind, 'what went wrong', { answeredStatus });
        },
      });
      const { stderr } = await shell.run('customers list -o json');
      return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.status;
    };
    expect(await statusOf('internal', 504)).toBe(504);
    expect(await statusOf('network', 502)).toBe(502);
    expect(await statusOf('internal')).toBe(500);
    expect(await statusOf('network')).toBeUndefined();
  });

  test.each([
    [`look at it with: tally invoices get i1`, `look at it with: tally invoices get i1 TARGET`],
    [
      'see them with: tally plans list, tally customers list',
      'see them with: tally plans list TARGET, tally customers list TARGET',
    ],
    [
      'see what differs with: tally catalog diff, or give --force',
      'see what differs with: tally catalog diff TARGET, or give --force',
    ],
    [
      String.raw`see what differs with: tally catalog diff 'it'\''s new, 2026.yaml', or give --force`,
      String.raw`see what differs with: tally catalog diff 'it'\''s new, 2026.yaml' TARGET, or give --force`,
    ],
    ['check it with: tally profile check', 'check it with: tally profile check TARGET'],
    ['make one with: tally profile add NAME', 'make one with: tally profile add NAME'],
    ['see them with: tally orgs list', String.raw`see them with: tally orgs list --database './it'\''s.db'`],
    ['restore a backup: tally restore FILE --to DATABASE', 'restore a backup: tally restore FILE --to DATABASE'],
    ['move it with: tally copy --to DATABASE', 'move it with: tally copy --to DATABASE'],
    ['with: tally customers list --json id,name, or not', 'with: tally customers list --json id,name TARGET, or not'],
    ['check it with: tally doctor --database b.db', 'check it with: tally doctor --database b.db'],
    ['see: tally credits grant --help', 'see: tally credits grant --help'],
  ])('names commands with the flags that chose the target: %s', async (words, shown) => {
    const shell = createShell({
      reply: () => {
        throw new BillingError('conflict', 'no', { hint: words });
      },
    });
    const flags = ['--database', "./it's.db", '--org', 'acme'];
    const { stderr } = await shell.run(['customers', 'list', ...flags]);
    expect(stderr).toContain(
      `  hint: ${shown.replaceAll('TARGET', String.raw`--database './it'\''s.db' --org acme`)}\n`,
    );
    expect((await shell.run('customers list')).stderr).toContain(`  hint: ${words}\n`);
  });

  test('names such a command without the password of the database', async () => {
    const reply = () => {
      throw new BillingError('conflict', 'no', { hint: 'see them with: tally plans list' });
    };
    for (const url of ['postgres://ada:hidden@db/books', 'postgres://db/books?password=hidden']) {
      const { stderr } = await createShell({ reply }).run(['customers', 'list', '--database', url]);
      expect(stderr).toContain('  hint: see them with: tally plans list --database ');
      expect(stderr).not.toContain('hidden');
    }
  });

  test('a refused field names its flag', async () => {
    const shell = createShell({
      reply: () => {
        throw new InvalidInputError([{ path: 'contacts[0].email', message: 'must be an email address' }]);
      },
    });
    const { stderr } = await shell.run('customers create --name A --contact name=B,email=c,roles=primary');
    expect(stderr).toContain('hint: see --contact <name=value,…> in: tally customers create --help');
  });

  test('a refused field of a remote service, which sends words alone, names its flag too', async () => {
    const shell = createShell({
      reply: () => {
        throw new BillingError('badRequest', 'limit: must be from 1 to 100; offset: must be a whole number');
      },
    });
    const { stderr } = await shell.run('customers list --limit 500 --offset x');
    expect(stderr).toContain('hint: see --limit <number>, --offset <number> in: tally customers list --help');
  });

  test('of an unexpected kind is one line and 1; where it happened is said with --debug alone', async () => {
    const shell = createShell({
      reply: () => {
        throw new TypeError('x is not a function', { cause: new Error('the root of it') });
      },
    });
    const plain = await shell.run('customers list');
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toContain('tally: unexpected: x is not a function\n');
    expect(plain.stderr).not.toMatch(/\n\s+at /);
    const { stderr } = await shell.run('customers list --debug');
    expect(stderr).toMatch(/\n\s+at /);
    expect(stderr).toContain('the root of it');
  });

  test('of too few file descriptors is 9, with what to raise, and where it happened with --debug alone', async () => {
    const shell = createShell({
      reply: () => {
        throw Object.assign(new Error("EMFILE: too many open files, open '/lib/x.cjs'"), { code: 'EMFILE' });
      },
    });
    const plain = await shell.run('customers list');
    expect(plain).toMatchObject({ code: 9, stdout: '' });
    expect(plain.stderr).toBe(
      'tally: too many open files in this program (EMFILE)\n' +
        '  hint: raise the limit, for example with: ulimit -n 1024; check whether it took effect before repeating the command\n',
    );
    expect((await shell.run('customers list --debug')).stderr).toContain("open '/lib/x.cjs'");
  });

  test('a message of several lines or with escapes stays one harmless line', async () => {
    const shell = createShell({
      reply: () => {
        throw new BillingError('internal', 'first\n  second \u001b[2J third');
      },
    });
    expect((await shell.run('customers list')).stderr).toBe('tally: first second \\u{1b}[2J third\n');
  });
});
