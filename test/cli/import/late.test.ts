/** Events that an import brings too late are said to be so at its end: they are accepted, and nobody is billed for them. */

import { expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { made, saved, stage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';
import { openStageWithAcme } from './acme.ts';

const rows = ['timestamp,tokens', '2026-02-02 00:00:00,1', '2026-02-03 00:00:00,2', '2026-01-31 00:00:00,3'].join('\n');

async function importing(...flags: readonly string[]) {
  const file = saved('events.csv', rows);
  return await stage.tally(['import', 'events', file, '--event-name', 'request', '--customer', 'acme', ...flags]);
}
const warningsOf = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('warning:'));
const told = 'warning: 2 events came after the period was finalized: nothing is billed for that';

const named = async (line: string) => await made(...line.split(' '));

test.each(['embedded', 'http'] as const)('%s: how many are late is said once, when they come', async (surface) => {
  await openStageWithAcme(surface);
  const meter = await named('meters create --code TOKENS --display-name Tokens --aggregation-key tokens');
  const usage = `--model USAGE --meter-id ${meter} --unit-amount 1 --price-interval MONTH`;
  const price = await named(`pricing create --product-name Inference --name Tokens ${usage}`);
  const plan = await named(`plans create --name Standard --item pricingId=${price}`);
  const customer = await named('customers list');
  await stage.tally([
    'contracts',
    'create',
    '--customer-id',
    customer,
    '--plan-id',
    plan,
    '--start-date',
    '2026-02-01',
  ]);
  expect((await stage.tally(['bill', 'run', '--jq', '.data.finalizedCount'])).stdout).toBe('1\n');
  expect(warningsOf((await importing('--dry-run')).stderr)).toEqual([]);
  const { stdout, stderr, exitCode } = await importing();
  expect([warningsOf(stderr), stdout, exitCode]).toEqual([[told], '3\t3\t0\t0\t0\n', 0]);
  expect(stderr).toContain('hint: see them with: tally usage late; to bill them, send new events');
  expect(warningsOf((await importing()).stderr)).toEqual([]);
});

test.each(['forbidden', 'notFound', 'notOffered', 'unavailable'] as const)(
  'an import goes on where that is %s',
  async (kind) => {
    await openStageWithAcme('embedded');
    const shell = createShell({
      reply: ({ name: asked }) => {
        if (asked === 'usage.late') throw new BillingError(kind, 'nothing to tell');
        return { body: { data: [], hasMore: false, total: 0 } as never };
      },
    });
    const file = saved('events.csv', rows);
    const words = ['import', 'events', file, '--event-name', 'request', '--customer', 'acme'];
    expect(await shell.run(words)).toMatchObject({ code: 0, stdout: '3\t3\t0\t\t\n' });
  },
);
