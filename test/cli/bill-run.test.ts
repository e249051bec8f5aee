import { beforeEach, expect, test } from 'vitest';

import { made, openStage, stage } from '../support/use-stage.ts';

beforeEach(async () => await openStage('embedded'));

/** A contract over March, with an event of so many tokens. */
async function subscribe(name: string, meter: readonly string[], tokens: string): Promise<string> {
  const customer = await made(
    'customers',
    'create',
    '--name',
    name,
    '--contact',
    'name=A,email=a@b.example,roles=primary',
  );
  const meterId = await made('meters', 'create', '--code', name, '--display-name', name, ...meter);
  const price = ['--model', 'USAGE', '--meter-id', meterId, '--unit-amount', '0.01', '--price-interval', 'MONTH'];
  const pricing = await made('pricing', 'create', '--product-name', name, '--name', name, ...price);
  const plan = await made('plans', 'create', '--name', name, '--item', `pricingId=${pricing}`);
  const term = ['--start-date', '2026-03-01', '--end-date', '2026-04-01'];
  const contract = await made('contracts', 'create', '--customer-id', customer, '--plan-id', plan, ...term);
  const { exitCode } = await stage.tally([
    'usage',
    'ingest',
    '--event-name',
    'call',
    '--customer-id',
    customer,
    '--property',
    `tokens=${tokens}`,
  ]);
  expect(exitCode).toBe(0);
  return contract;
}

test('a bill run that could not do everything prints what it did, and ends with 10', async () => {
  const sql = `SELECT max(properties['tokens']) AS value FROM events`;
  const broken = await subscribe('BROKEN', ['--sql', sql], 'many');
  const sound = await subscribe('SOUND', ['--aggregation-key', 'tokens'], '250');
  stage.clock.set('2026-04-02T00:00:00Z');
  const { stdout, stderr, exitCode } = await stage.tally(['bill', 'run', '--columns', 'contractId,totalCents']);
  expect(stdout).toBe(`${sound}\t250\n`);
  expect(stderr).toContain(`1 could not be done; the first: ${broken}: the meter BROKEN`);
  expect(exitCode).toBe(10);
});

test('a dry run of it does all of that and keeps nothing', async () => {
  const sound = await subscribe('SOUND', ['--aggregation-key', 'tokens'], '250');
  stage.clock.set('2026-04-02T00:00:00Z');
  const dry = await stage.tally(['bill', 'run', '--dry-run', '--columns', 'contractId,totalCents']);
  expect(dry).toMatchObject({ stdout: `${sound}\t250\n`, exitCode: 0 });
  expect((await stage.tally(['invoices', 'list', '--status', 'Drafted'])).stdout).not.toBe('');
  const real = await stage.tally(['bill', 'run', '--columns', 'contractId,totalCents']);
  expect(real).toMatchObject({ stdout: dry.stdout, stderr: '', exitCode: 0 });
  expect((await stage.tally(['invoices', 'list', '--status', 'Drafted'])).stdout).toBe('');
});
