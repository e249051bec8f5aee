import { describe, expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';
import type { Reply } from '../shell.ts';

const body = (value: unknown): Partial<Answer> => ({ body: value as Answer['body'] });

describe('--all', () => {
  const pages = (rows: readonly unknown[], total = rows.length) =>
    createShell({
      reply: ({ input }) => {
        const [offset, limit] = [Number(input.query?.['offset'] ?? 0), Number(input.query?.['limit'] ?? 10)];
        const data = rows.slice(offset, offset + limit);
        return body({ data, hasMore: offset + data.length < rows.length, total });
      },
    });
  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `c${index}` }));

  test.each([0, 1, 99, 100, 101, 250])('prints %i rows as one document', async (count) => {
    const { stdout, stderr } = await pages(rows(count)).run('customers list --all -o json');
    expect(JSON.parse(stdout)).toEqual({ data: rows(count), hasMore: false, total: count });
    expect(stderr).toBe('');
  });

  test('takes a page of a service that heeds no limit, however long it is', async () => {
    const data = rows(130_000);
    const shell = createShell({ reply: () => body({ data, hasMore: false, total: data.length }) });
    expect((await shell.run(['customers', 'list', '--all', '--jq', '.data|length'])).stdout).toBe('130000\n');
  });

  /** Two of its five pages are more than `--jq` takes. */
  const long = rows(500).map((row) => ({ ...row, name: 'x'.repeat(limits.jqCharacters / 200) }));

  test.each(['--jq length', '--json name --jq length'])(
    'asks by %s for no page beyond what jq takes',
    async (choice) => {
      const shell = pages(long);
      const { code, stdout, stderr } = await shell.run(`customers list --all ${choice}`);
      expect([code, stdout, shell.calls.length]).toEqual([2, '', 2]);
      expect(stderr).toContain(`--jq takes at most ${limits.jqCharacters} characters of JSON`);
    },
  );

  test('counts against what jq takes only the fields that it is given', async () => {
    expect((await pages(long).run('customers list --all --json id --jq length')).stdout).toBe('500\n');
  });

  const choices = [
    '-o json',
    '--json name,id',
    '-o jsonl',
    '--json id -o jsonl',
    '-o csv',
    '-o tsv',
    '-o name',
    '-o yaml',
    '--jq .data',
  ];
  const named = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `c${index}`,
      name: `"Ünï",\n\u001b ${index}`,
      contacts: [{ a: [] }],
      note: 'a\n\n',
    }));

  test.each(choices.flatMap((choice) => [0, 1, 100, 250].map((count) => [choice, count] as const)))(
    'prints by %s what one page of %i rows would be',
    async (choice, count) => {
      const data = named(count);
      const whole = createShell({ reply: () => body({ data, hasMore: false, total: count }) });
      const { stdout } = await pages(data).run(`customers list --all ${choice}`);
      expect(stdout).toBe((await whole.run(`customers list ${choice}`)).stdout);
    },
  );

  test.each(choices)('prints nothing by %s where a later page fails', async (choice) => {
    const shell = createShell({
      reply({ input }) {
        if (input.query?.['offset'] !== '0') throw new BillingError('unavailable', 'gone');
        return body({ data: rows(100), hasMore: true, total: 200 });
      },
    });
    const { code, stdout, stderr } = await shell.run(`customers list --all ${choice}`);
    expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
    expect(stderr).toContain('gone');
  });

  test.each(['-o json', '-o jsonl', '-o yaml'])(
    'says by %s of rows without ids and lists without totals what came',
    async (choice) => {
      const data = Array.from({ length: 100 }, (_, index) => ({ name: `n${index}` }));
      const reply = (isPaged: boolean) =>
        createShell({
          reply: ({ input }) => {
            const offset = isPaged ? Number(input.query?.['offset']) : 0;
            return body({ data: isPaged ? data.slice(offset, offset + 40) : data, hasMore: isPaged && offset < 60 });
          },
        });
      const { stdout } = await reply(true).run(`customers list --all ${choice}`);
      expect(stdout).toBe((await reply(false).run(`customers list ${choice}`)).stdout);
    },
  );

  test('keeps a row that moved between pages once, and says that the list changed', async () => {
    let total = 150;
    const shell = createShell({
      reply: ({ input }) => {
        const offset = Number(input.query?.['offset']);
        total += offset > 0 ? 1 : 0;
        const data = rows(200).slice(offset === 0 ? 0 : 99, offset === 0 ? 100 : 150);
        return body({ data, hasMore: offset === 0, total });
      },
    });
    const { stdout, stderr } = await shell.run('customers list --all -o name');
    expect(stdout.trimEnd().split('\n')).toEqual(rows(150).map(({ id }) => id));
    expect(stderr).toBe('the list changed while it was read\n');
  });

  test.each([250, undefined])(
    'ends where a service that knows no offset gives the same page again (total %j)',
    async (total) => {
      const shell = createShell({ reply: () => body({ data: rows(100), hasMore: true, total }) });
      const { code, stdout, stderr } = await shell.run('customers list --all');
      expect({ code, stdout, calls: shell.calls.length }).toEqual({ code: 9, stdout: '', calls: 2 });
      expect(stderr).toContain('the list does not end');
      expect(stderr).toContain('only the first page of a list can be read');
      // Other commands read whole lists, too, and have no such flag.
      const exported = await shell.run('catalog export');
      expect([exported.code, exported.stderr]).toEqual([9, expect.not.stringContaining('--all')]);
    },
  );

  test.each([0, 100])(
    'is refused where the list breaks off after row %i although more are said to follow',
    async (count) => {
      const reply: Reply = ({ input }) =>
        body({ data: rows(count).slice(Number(input.query?.['offset'])), hasMore: true, total: 300 });
      const { code, stdout, stderr } = await createShell({ reply }).run('customers list --all');
      expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
      expect(stderr).toContain(`the list breaks off after row ${count}`);
    },
  );

  test('ends where the total is reached, although a service goes on to say that more follow', async () => {
    const reply: Reply = ({ input }) =>
      body({ data: rows(2).slice(Number(input.query?.['offset'])), hasMore: true, total: 2 });
    const { code, stdout, stderr } = await createShell({ reply }).run('customers list --all -o name');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'c0\nc1\n', stderr: '' });
  });

  test('goes by the total of a service that does not say whether more follow', async () => {
    const reply: Reply = ({ input }) => {
      const [offset, limit] = [Number(input.query?.['offset'] ?? 0), Number(input.query?.['limit'] ?? 10)];
      return body({ data: rows(250).slice(offset, offset + limit), total: 250 });
    };
    const all = await createShell({ reply }).run('customers list --all -o name');
    expect([all.code, all.stdout.split('\n').length - 1, all.stderr]).toEqual([0, 250, '']);
    const cut = '10 of 250: there are more; --all prints all of them\n';
    expect((await createShell({ reply }).run('customers list --offset 230')).stderr).toBe(cut);
    expect((await createShell({ reply }).run('customers list --offset 240')).stderr).toBe('');
  });

  test('goes on behind a page that moved by as many rows as were added', async () => {
    const shell = createShell({
      reply: ({ input }) => {
        const added = Number(input.query?.['offset']) > 0 ? 100 : 0;
        const offset = Number(input.query?.['offset']) - added;
        return body({ data: rows(150).slice(offset, offset + 100), hasMore: offset < 100, total: 150 + added });
      },
    });
    const { stdout } = await shell.run('customers list --all -o name');
    expect(stdout.trimEnd().split('\n')).toEqual(rows(150).map(({ id }) => id));
  });

  test('without it a list that was cut is said to be, on standard error', async () => {
    const shell = pages(rows(25));
    expect((await shell.run('customers list')).stderr).toBe('10 of 25: there are more; --all prints all of them\n');
    expect((await shell.run('customers list --quiet')).stderr).toBe('');
  });
});
