/** Events that come too late are said to be so: they are accepted, and nobody is billed for them. */

import { expect, test } from 'vitest';

import { named, saved, stage } from '../../support/use-stage.ts';
import { openStageWithAcme, subscribeAcme } from './acme.ts';

const rows = ['timestamp,tokens', '2026-02-02 00:00:00,1', '2026-02-03 00:00:00,2', '2026-01-31 00:00:00,3'].join('\n');

async function importing(...flags: readonly string[]) {
  const file = saved('events.csv', rows);
  return await stage.tally(['import', 'events', file, '--event-name', 'request', '--customer', 'acme', ...flags]);
}
const warningsOf = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('warning:'));
const told = 'warning: 2 events came after the period was finalized: nothing is billed for that';

test.each(['embedded', 'http'] as const)('%s: how many are late is said once, when they come', async (surface) => {
  await openStageWithAcme(surface);
  await subscribeAcme('2026-02-01');
  expect((await stage.tally(['bill', 'run', '--jq', '.data.finalizedCount'])).stdout).toBe('1\n');
  const expected = 'warning: 2 events would come after the period was finalized: nothing would be billed for that';
  const rehearsed = await importing('--dry-run');
  const sent = ['usage', 'ingest', '--event-name', 'request', '--external-customer-id', 'acme'];
  const late = await stage.tally([...sent, '--timestamp', '2026-02-02T00:00:00Z', '--dry-run']);
  const expectedOfOne = 'warning: 1 event would come after the period was finalized: nothing would be billed for that';
  // A service elsewhere is not asked.
  expect([warningsOf(late.stderr), late.exitCode]).toEqual([surface === 'embedded' ? [expectedOfOne] : [], 0]);
  expect([warningsOf(rehearsed.stderr), rehearsed.exitCode]).toEqual([surface === 'embedded' ? [expected] : [], 0]);
  const { stdout, stderr, exitCode } = await importing();
  expect([warningsOf(stderr), stdout, exitCode]).toEqual([[told], '3\t3\t0\t0\t0\n', 0]);
  expect(stderr).toContain('hint: see them with: tally usage late; to bill them, send new events');
  for (const again of [await importing(), await importing('--dry-run')]) expect(warningsOf(again.stderr)).toEqual([]);
});

test('a dry run says of an event that the contract that it names does not cover its time', async () => {
  await openStageWithAcme('embedded');
  const price = await named(
    'pricing create --product-name Seats --name Seats --model FLAT --unit-amount 1 --price-interval MONTH',
  );
  const plan = await named(`plans create --name Standard --item pricingId=${price}`);
  const customer = await named('customers list');
  const contract = await named(`contracts create --customer-id ${customer} --plan-id ${plan} --start-date 2026-02-01`);
  const event = `usage ingest --event-name request --customer-id ${customer} --contract-id ${contract} --timestamp 2026-01-31T00:00:00Z`;
  const { stderr, exitCode } = await stage.tally([...event.split(' '), '--dry-run']);
  const expected = 'warning: 1 event names a contract that does not cover its time: nobody is billed';
  expect([warningsOf(stderr), exitCode]).toEqual([[expected], 0]);
});
