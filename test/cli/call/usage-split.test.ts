import { Big } from 'big.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Dependencies } from '../../../src/cli/session/session.ts';
import { BillingError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';

const march = '--start-date 2026-03-01T00:00:00Z --end-date 2026-03-05T00:00:00Z';

describe.each(['embedded', 'http'] as const)('usage cost --by, %s', (surface) => {
  useStage(surface, { start: '2026-03-04T12:00:00.000Z' });
  const ids: Record<string, string> = {};
  const tally = async (line: string) =>
    await stage.tally(
      line.split(' ').map((word) => word.replaceAll(/\$(\w+)/g, (_all, name: string) => ids[name] ?? '')),
    );
  const keep = async (name: string, line: string) => {
    ids[name] = (await tally(`${line} -o name`)).stdout.trim();
  };

  beforeAll(async () => {
    await keep('meter', 'meters create --code T --display-name T --aggregation-key tokens --group-key model');
    await keep(
      'price',
      'pricing create --product-name P --name T --model USAGE --meter-id $meter --price-interval MONTH --tiering GRADUATED --tier maxQty=100,unitAmount=0 --tier minQty=100,unitAmount=0.01',
    );
    await keep('plan', 'plans create --name Basic --item pricingId=$price');
    await keep('customer', 'customers create --name Acme --contact name=Ada,email=ada@acme.example,roles=primary');
    await keep('contract', 'contracts create --customer-id $customer --plan-id $plan --start-date 2026-03-01');
    for (const [day, tokens] of [
      ['01', 80],
      ['02', 70],
      ['04', 1000],
    ]) {
      await tally(
        `usage ingest --event-name c --customer-id $customer --timestamp 2026-03-${day}T10:00:00Z --property model=large --property tokens=${tokens}`,
      );
    }
  });

  test('a day is what the cost rises by in it, so that tiers go on', async () => {
    const { stdout, stderr } = await tally(`usage cost --contract-id $contract ${march} --by day`);
    expect(stderr).toBe('');
    expect(stdout).toBe('2026-03-01\t0\n2026-03-02\t0.5\n2026-03-03\t0\n2026-03-04\t10\n');
  });

  test.each(['', ' --by day', ' --quiet'])('a cost in credits that comes in USD is told to%s', async (more) => {
    const { exitCode, stderr } = await tally(`usage cost --contract-id $contract --unit credits${more}`);
    const words = 'no grant of this customer has a rate, so the cost is in USD and not in credits\n';
    expect([exitCode, stderr]).toEqual([0, more === ' --quiet' ? '' : words]);
    expect((await tally(`usage cost --contract-id $contract${more}`)).stderr).toBe('');
  });

  test('a month is told from another', async () => {
    const dates = '--start-date 2026-02-15T00:00:00Z --end-date 2026-04-01T00:00:00Z';
    const { stdout } = await tally(`usage cost --customer-id $customer ${dates} --by month -o json`);
    expect(JSON.parse(stdout)).toEqual({
      data: {
        by: 'month',
        totalAmount: 10.5,
        unit: 'currency',
        startDate: '2026-02-15T00:00:00.000Z',
        endDate: '2026-04-01T00:00:00.000Z',
        rows: [
          { value: '2026-02', totalAmount: 0 },
          { value: '2026-03', totalAmount: 10.5 },
        ],
      },
    });
  });

  test('a group key has a part for each value', async () => {
    expect((await tally(`usage cost --contract-id $contract ${march} --by model`)).stdout).toBe('large\t10.5\n');
  });

  test('bars are as long as the cost, with the total above', async () => {
    const { stdout } = await tally(`usage cost --contract-id $contract ${march} --by day --chart`);
    expect(stdout).toBe(
      [
        'Cost by day, 2026-03-01 to 2026-03-05: 10.50 USD',
        '2026-03-01                                                              0.00 USD',
        '2026-03-02  ###                                                         0.50 USD',
        '2026-03-03                                                              0.00 USD',
        '2026-03-04  #########################################################  10.00 USD',
        '',
      ].join('\n'),
    );
  });

  test.each([
    [
      'usage cost --contract-id $contract --by colour',
      8,
      'tally: --by colour: is not a group key of a meter that is priced: the group keys are model; --by also takes day, month\n',
    ],
    ['usage cost --contract-id $contract --by toString', 8, 'is not a group key of a meter that is priced'],
    ['usage cost --by model', 8, 'tally: customerId: one of customerId'],
    ['usage cost --contract-id $contract --by model --start-date soon', 8, 'tally: startDate: must be a date-time'],
    ['usage cost --contract-id $contract --chart', 2, '--chart works only with --by'],
    ['usage cost --contract-id $contract --by day --ascii', 2, '--ascii works only with --chart'],
    ['usage cost --contract-id $contract --by day --chart -o json', 2, 'another format was asked for too'],
    ['usage cost --contract-id $contract --by model --unit credits', 2, '--unit credits works only with --by day'],
    ['usage cost --contract-id $contract --by day --columns nmae', 2, 'there is no field "nmae"'],
    [
      'usage cost --customer-id $customer --start-date 2026-01-01T00:00:00Z --end-date 2027-01-01T00:00:00Z --by day',
      2,
      'has more than 99\n  hint: shorten it with --start-date and --end-date, or give --by month\n',
    ],
    ['usage cost --by day', 8, 'one of customerId, externalCustomerId and contractId is required'],
  ])('%s ends with %i', async (line, code, message) => {
    const { exitCode, stdout, stderr } = await tally(line);
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toContain(message);
  });
});

describe('the parts of a cost', () => {
  /** A service where the cost up to each day is what the list says. */
  function shellOf(upTo: readonly number[]) {
    return createShell({
      reply: ({ input }) => {
        const { endDate = '' } = input.body as { readonly endDate?: string };
        const day =
          Temporal.Instant.from(endDate).since(Temporal.Instant.from('2026-03-01T00:00:00Z')).total('hours') / 24;
        const totalAmount = (upTo[day - 1] ?? 0) / 1000;
        const facts = { startDate: '2026-03-01T00:00:00.000Z', endDate, queriedAt: endDate, unit: 'currency' };
        return { body: { totalAmount, ...facts } as never };
      },
    });
  }

  test('add up to the whole, whatever it does from day to day', async () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(amounts, async (upTo) => {
        const end = Temporal.PlainDate.from('2026-03-01').add({ days: upTo.length });
        const dates = `--start-date 2026-03-01T00:00:00Z --end-date ${end.toString()}T00:00:00Z`;
        const { stdout } = await shellOf(upTo).run(`usage cost --customer-id c ${dates} --by day`);
        const parts = stdout
          .trimEnd()
          .split('\n')
          .map((row) => row.split('\t')[1] ?? '');
        expect(parts).toHaveLength(upTo.length);
        expect(
          parts
            .reduce((sum, part) => sum.plus(part), new Big(0))
            .times(1000)
            .toFixed(),
        ).toBe(String(upTo.at(-1)));
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    ['day', '2026-03-15T18:00:00Z', '2026-03-17T06:00:00Z', ['03-15', '03-16', '03-17'], ['16T00', '17T00', '17T06']],
    ['month', '2026-01-31T18:00:00Z', '2026-03-02T06:00:00Z', ['01', '02', '03'], ['02-01T00', '03-01T00', '03-02T06']],
  ])('by %s end with it in UTC, and the first and the last are cut', async (by, startDate, endDate, names, ends) => {
    const facts = { totalAmount: 0, startDate, endDate, unit: 'currency' };
    const shell = createShell({ reply: () => ({ body: facts as never }) });
    const dates = `--start-date ${startDate} --end-date ${endDate}`;
    const { stdout } = await shell.run(`usage cost --customer-id c ${dates} --by ${by}`);
    expect(stdout).toBe(names.map((name) => `2026-${name}\t0\n`).join(''));
    const asked = shell.calls.slice(1).map(({ input }) => input.body as Readonly<Record<string, string>>);
    expect(asked.map((body) => body['startDate'])).toEqual(ends.map(() => startDate));
    expect(asked.map((body) => body['endDate'])).toEqual(ends.map((end) => expect.stringContaining(`-${end}:00:00`)));
  });

  test('are as many as a service takes requests in a minute, less one for the whole', async () => {
    const asking = async (days: number) => {
      const endDate = Temporal.Instant.from('2026-03-01T00:00:00Z')
        .add({ hours: 24 * days })
        .toString();
      const shell = createShell({
        reply: () => ({
          body: { totalAmount: 0, startDate: '2026-03-01T00:00:00Z', endDate, unit: 'currency' } as never,
        }),
      });
      const { code, stderr } = await shell.run('usage cost --customer-id c --by day');
      return { code, stderr, requests: shell.calls.length };
    };
    expect(await asking(99)).toEqual({ code: 0, stderr: '', requests: 100 });
    expect(await asking(100)).toMatchObject({ code: 2, requests: 1 });
    expect(await asking(0)).toMatchObject({ code: 0, requests: 1 });
  });

  test('are asked for with the body that a file has', async () => {
    const whole = { customerId: 'c', startDate: '2026-03-01T00:00:00Z', endDate: '2026-03-03T00:00:00Z' };
    const shell = shellOf([1000, 3000]);
    const { stdout } = await shell.run('usage cost --input - --by day', { input: JSON.stringify(whole) });
    expect(stdout).toBe('2026-03-01\t1\n2026-03-02\t2\n');
    expect(shell.calls.map(({ input }) => input.body)).toEqual([
      whole,
      { ...whole, startDate: '2026-03-01T00:00:00.000Z', endDate: '2026-03-02T00:00:00Z' },
      { ...whole, startDate: '2026-03-01T00:00:00.000Z' },
    ]);
  });

  test('are asked for with the patience that is given, and what was opened is closed when one fails', async () => {
    const asked: unknown[] = [];
    let closed = 0;
    const call: Billing['call'] = async () => await Promise.reject(new BillingError('unavailable', 'nobody there'));
    const openBilling: Dependencies['openBilling'] = async (_target, options) => {
      asked.push(options?.timeoutMilliseconds);
      return await Promise.resolve({
        billing: { call },
        close: async () => void (await Promise.resolve((closed += 1))),
      });
    };
    const shell = createShell({ dependencies: { openBilling } });
    expect((await shell.run('usage cost --customer-id c --by day --timeout 7')).stderr).toContain('nobody there');
    expect([asked, closed]).toEqual([[7000], 1]);
  });

  test('are not asked for where they could not be shown', async () => {
    const shell = shellOf([1000]);
    expect((await shell.run('usage cost --customer-id c --by day --columns nmae')).code).toBe(2);
    expect(shell.calls).toEqual([]);
  });

  test('without a value are named for a person, and told apart by a program', async () => {
    const rows = [
      { value: null, totalAmount: 1 },
      { value: '', totalAmount: 2 },
      { value: 'large', totalAmount: 3 },
    ];
    const dates = { startDate: '2026-03-01T00:00:00.000Z', endDate: '2026-03-02T00:00:00.000Z' };
    const shell = createShell({
      reply: () => ({ body: { data: { groupKey: 'model', totalAmount: 6, ...dates, rows } } as never }),
    });
    const told = async (format: string) =>
      (await shell.run(`usage cost --customer-id c --by model -o ${format}`)).stdout;
    expect((await told('table')).split('\n').slice(-5)).toEqual([
      'MODEL               TOTAL',
      '(not by model)   1.00 USD',
      '(without model)  2.00 USD',
      'large            3.00 USD',
      '',
    ]);
    expect(JSON.parse(await told('json'))).toEqual({
      data: { by: 'model', totalAmount: 6, unit: 'currency', ...dates, rows },
    });
  });

  test('that are refused for another reason than their key are refused in its words', async () => {
    const shell = createShell({ reply: () => Promise.reject(new BillingError('forbidden', 'not with this key')) });
    expect(await shell.run('usage cost --customer-id c --by model')).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/^tally: not with this key\n/) as string,
    });
  });

  test('are no amounts of money where they are credits', async () => {
    const facts = { startDate: '2026-03-01T00:00:00.000Z', endDate: '2026-03-02T00:00:00.000Z', unit: 'credits' };
    const shell = createShell({ reply: () => ({ body: { totalAmount: 2.5, ...facts } as never }) });
    const { stdout } = await shell.run('usage cost --customer-id c --by day --unit credits -o table');
    expect(stdout.split('\n').slice(-3)).toEqual(['DAY         TOTAL', '2026-03-01    2.5', '']);
  });
});
