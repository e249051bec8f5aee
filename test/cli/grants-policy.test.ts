/** What a grant shows on a real service, and what keeps it from going past the policy. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { made, openStage, saved, stage } from '../support/use-stage.ts';

const expiry = ['--expires-at', '2027-01-01T00:00:00Z'];

describe.each(['embedded', 'http'] as const)('on a real service, %s', (surface) => {
  let contract: string;
  beforeEach(async () => {
    await openStage(surface);
    contract = await subscribe('acme');
  });

  const createCustomer = async (name: string) => {
    const contact = 'name=Ada,email=ada@example.com,roles=primary';
    return await made('customers', 'create', '--name', name, '--contact', contact);
  };

  async function subscribe(name: string, of?: string): Promise<string> {
    const customer = of ?? (await createCustomer(name));
    const price = ['--model', 'FLAT', '--unit-amount', '1', '--price-interval', 'MONTH'];
    const pricing = await made('pricing', 'create', '--product-name', name, '--name', 'Fee', ...price);
    const plan = await made('plans', 'create', '--name', name, '--item', `pricingId=${pricing}`);
    const terms = ['--customer-id', customer, '--plan-id', plan, '--start-date', '2026-03-01'];
    return await made('contracts', 'create', ...terms);
  }

  const grant = async (...words: string[]) => await stage.tally(['credits', 'grant', contract, ...expiry, ...words]);
  const policy = (text: string) => {
    mkdirSync(join(stage.directory, 'config'), { recursive: true, mode: 0o700 });
    saved('config/policy.yaml', text);
  };

  test('a person sees the wallet before and after, and which grants burn first; the answer is alone on standard output', async () => {
    await stage.tally(['credits', 'grant', contract, '--expires-at', '2027-06-01T00:00:00Z', '--amount-cents', '1000']);
    const words = [
      'credits',
      'grant',
      contract,
      ...expiry,
      '--amount-cents',
      '2550',
      '--reason',
      'Outage',
      '-o',
      'json',
    ];
    const { stdout, stderr } = await stage.tally(words, { isTerminal: true });
    expect(JSON.parse(stdout)).toMatchObject({ data: { amountCents: 2550, description: 'Outage' } });
    expect(stderr.replaceAll(/[0-9a-f-]{36}/g, 'ID')).toBe(
      [
        'wallet before  10.00 USD',
        'wallet after   35.50 USD',
        'burns first    ID  25.50 USD  expires 2027-01-01T00:00:00Z  Outage',
        '       then    ID  10.00 USD  expires 2027-06-01T00:00:00Z  Promotional credit grant',
        '',
      ].join('\n'),
    );
  });

  test('a script gets the receipt beside its answer, unless it is quiet', async () => {
    const receipt = 'wallet before  0.00 USD\nwallet after   0.01 USD\nburns first ';
    const { exitCode, stdout, stderr } = await grant('--amount-cents', '1', '--external-id', 't1', '-o', 'name');
    expect([exitCode, stdout.split('\n').length]).toEqual([0, 2]);
    expect(stderr).toMatch(new RegExp(`^${receipt}`));
    expect(await grant('--amount-cents', '1', '-o', 'table', '--quiet')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('an entry that was there already leaves the wallet as it is', async () => {
    const words = ['--amount-cents', '1', '--external-id', 't1'];
    await grant(...words);
    expect((await grant(...words)).stderr).toContain('wallet before  0.01 USD\nwallet after   0.01 USD\n');
  });

  test('free credits that nothing values come with a warning', async () => {
    const free = ['--credit-amount', '100', '--credit-rate-cents', '0'];
    expect((await grant(...free)).stderr).toContain('free credits pay for nothing unless');
    await grant('--credit-amount', '1', '--credit-rate-cents', '10');
    expect((await grant(...free)).stderr).toMatch(/^wallet before /);
  });

  describe('the policy file', () => {
    test('caps one grant', async () => {
      policy('grants:\n  per-grant: 10.00\n');
      expect(await grant('--amount-cents', '1000')).toMatchObject({ exitCode: 0 });
      const refused = await grant('--amount-cents', '1001');
      expect(refused).toMatchObject({ exitCode: 11, stdout: '' });
      expect(refused.stderr).toContain('per-grant: 10.01 USD is more than 10.00 USD');
      expect((await grant('--credit-amount', '100.1', '--credit-rate-cents', '10')).exitCode).toBe(11);
      expect((await grant('--credit-amount', '100.04', '--credit-rate-cents', '10')).exitCode).toBe(0);
    });

    test('caps a customer and month over all of its contracts', async () => {
      policy('grants:\n  per-customer-and-month: 10.00\n');
      const other = await subscribe('globex');
      const { stdout } = await stage.tally(['contracts', 'get', contract, '--json', 'customerId']);
      const second = await subscribe('second', (JSON.parse(stdout) as { customerId: string }).customerId);
      await grant('--amount-cents', '500');
      await stage.tally(['credits', 'grant', second, ...expiry, '--amount-cents', '100']);
      expect((await grant('--amount-cents', '401')).stderr).toContain(
        'per-customer-and-month: 6.00 USD were granted to this customer in 2026-03, and 4.01 USD more exceed 10.00 USD',
      );
      expect((await grant('--amount-cents', '400')).exitCode).toBe(0);
      const there = ['credits', 'grant', other, ...expiry, '--amount-cents', '1000'];
      expect((await stage.tally(there)).exitCode).toBe(0);
      stage.clock.set('2026-04-01T00:00:00Z');
      expect((await grant('--amount-cents', '1000')).exitCode).toBe(0);
    });

    test('caps an operator and day, and counts one grant once however often it is sent', async () => {
      policy('grants:\n  per-operator-and-day: 10.00\n');
      const words = ['--amount-cents', '900', '--external-id', 't1'];
      for (let time = 0; time < 3; time += 1) expect((await grant(...words)).exitCode).toBe(0);
      expect((await grant('--amount-cents', '101')).stderr).toContain(
        'per-operator-and-day: 9.00 USD were granted by ada',
      );
      stage.clock.advance({ hours: 24 });
      expect((await grant('--amount-cents', '101')).exitCode).toBe(0);
    });

    test('counts a grant anew that was refused when it was first sent', async () => {
      policy('grants:\n  per-operator-and-day: 10.00\n');
      const words = ['--amount-cents', '900', '--external-id', 't2'];
      const past = ['credits', 'grant', contract, '--expires-at', '2020-01-01T00:00:00Z', ...words];
      expect((await stage.tally(past)).exitCode).toBe(8);
      expect((await grant('--amount-cents', '900')).exitCode).toBe(0);
      expect((await grant(...words)).stderr).toContain('per-operator-and-day: 9.00 USD were granted by ada');
    });

    test('counts what a grant is sent again for, whatever the one that was refused asked for', async () => {
      policy('grants:\n  per-operator-and-day: 10.00\n');
      const small = ['--amount-cents', '1', '--external-id', 't3'];
      const past = ['credits', 'grant', contract, '--expires-at', '2020-01-01T00:00:00Z', ...small];
      expect((await stage.tally(past)).exitCode).toBe(8);
      expect((await grant('--amount-cents', '900', '--external-id', 't3')).exitCode).toBe(0);
      expect((await grant('--amount-cents', '101')).stderr).toContain(
        'per-operator-and-day: 9.00 USD were granted by ada',
      );
    });

    test('asks for a reason and a ticket', async () => {
      policy("grants:\n  reason: required\n  ticket: 'SUP-[0-9]+'\n");
      expect((await grant('--amount-cents', '1')).stderr).toMatch(/reason: .*; ticket: /);
      expect((await grant('--amount-cents', '1', '--reason', ' ')).stderr).toMatch(/reason: .*; ticket: /);
      expect((await grant('--amount-cents', '1', '--reason', 'x')).stderr).toContain('(ticket: ');
      expect((await grant('--amount-cents', '1', '--reason', 'see SUP-1')).exitCode).toBe(0);
      expect((await grant('--amount-cents', '1', '--reason', 'x', '--external-id', 'SUP-2')).exitCode).toBe(0);
    });

    test('takes no external id that this program made for a ticket, whatever it looks like', async () => {
      policy("grants:\n  ticket: '[0-9a-z]+'\n");
      const row = saved('row.csv', `contractId,amountCents,expiresAt\n${contract},1,2027-01-01T00:00:00Z\n`);
      for (const how of [['--dry-run'], []]) {
        expect(await grant('--amount-cents', '1', ...how)).toMatchObject({ exitCode: 11, stdout: '' });
        const rows = await stage.tally(['credits', 'grant', '--from', row, '--yes', ...how]);
        expect([rows.exitCode, rows.stderr]).toEqual([11, expect.stringContaining('line 2: ticket: ')]);
      }
      expect((await grant('--amount-cents', '1', '--external-id', 'sup1')).exitCode).toBe(0);
    });

    test('caps free credits, and none that have a rate', async () => {
      policy('grants:\n  free-credits-per-grant: 10.5\n');
      const credits = (amount: string, rate: string) =>
        grant('--credit-amount', amount, '--credit-rate-cents', rate, '--quiet');
      expect((await credits('10.5', '0')).exitCode).toBe(0);
      expect((await credits('10.500001', '0')).stderr).toContain(
        'free-credits-per-grant: 10.500001 credits are more than 10.5',
      );
      expect((await credits('11', '1')).exitCode).toBe(0);
    });

    test('is gone past with a reason, which is journaled', async () => {
      policy('grants:\n  per-grant: 1.00\n');
      const big = ['--amount-cents', '500'];
      expect((await grant(...big, '--override-policy', ' ')).exitCode).toBe(2);
      expect((await grant(...big, '--override-policy', 'CFO agreed')).exitCode).toBe(0);
      const { stdout } = await stage.tally(['journal', 'list', '--operation', 'credits.grant', '-o', 'json']);
      expect(JSON.parse(stdout).data.at(-1)).toMatchObject({
        override: { reason: 'CFO agreed', rules: ['per-grant'] },
      });
    });

    test('was not gone past by a grant that it permits, whatever reason came with that', async () => {
      policy('grants:\n  per-grant: 5.00\n');
      expect((await grant('--amount-cents', '500', '--override-policy', 'CFO agreed')).exitCode).toBe(0);
      const { stdout } = await stage.tally(['journal', 'list', '--operation', 'credits.grant', '-o', 'json']);
      expect(JSON.parse(stdout).data.at(-1)).not.toHaveProperty('override');
    });

    test('holds for a request sent by method and path too', async () => {
      policy('grants:\n  per-grant: 1.00\n');
      const input = JSON.stringify({ amountCents: 500, expiresAt: '2027-01-01T00:00:00Z' });
      const path = `/v1/contracts/${contract}/credits/promotional/grant`;
      const refused = await stage.tally(['api', 'POST', path, '--input', '-'], { input });
      expect(refused.exitCode).toBe(11);
      // The flag is one of another command.
      expect(refused.stderr).toContain('credits grant --override-policy REASON overrides them');
    });

    test('holds only where it says', async () => {
      policy('environments: [production]\ngrants:\n  per-grant: 1.00\n');
      expect((await grant('--amount-cents', '500')).exitCode).toBe(0);
    });
  });
});
