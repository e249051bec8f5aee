/** Events that name a contract of another time are billed on no contract at all; whoever sends them is told. */

import { describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { made, saved, stage } from '../../support/use-stage.ts';
import { openStageWithAcme } from './acme.ts';

const hint = '  hint: send them again, under the same keys, with the contract of that time or with none';

async function contractOfMarch(): Promise<string> {
  const price = ['--product-name', 'Seats', '--name', 'Seats', '--model', 'FLAT', '--unit-amount', '1'];
  const pricingId = await made('pricing', 'create', ...price, '--price-interval', 'MONTH');
  const planId = await made('plans', 'create', '--name', 'Seats', '--item', `pricingId=${pricingId}`);
  const customerId = await made('customers', 'list');
  const terms = ['--start-date', '2026-03-01', '--end-date', '2026-04-01'];
  return await made('contracts', 'create', '--plan-id', planId, '--customer-id', customerId, ...terms);
}

async function toldOf(words: readonly string[]): Promise<readonly string[]> {
  const { stderr } = await stage.tally(words);
  return stderr.split('\n').filter((line) => /contract/.test(line));
}

describe.each<Surface>(['embedded', 'http'])('%s', (surface) => {
  test('an import for a contract says how many of its rows are of another time', async () => {
    await openStageWithAcme(surface);
    const contractId = await contractOfMarch();
    const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'];
    const file = saved('events.csv', ['timestamp,tokens', ...days.map((day) => `${day} 12:00:00,5`)].join('\n'));
    const words = ['import', 'events', file, '--event-name', 'request', '--customer', 'acme', '--batch-size', '1'];
    expect(await toldOf(words)).toEqual([]);
    expect(await toldOf([...words, '--contract-id', contractId])).toEqual([
      'warning: 2 events name a contract that does not cover their time: nobody is billed',
      hint,
    ]);
  });

  test('so does one event', async () => {
    await openStageWithAcme(surface);
    const words = ['--contract-id', await contractOfMarch(), '--timestamp', '2026-02-28T12:00:00Z'];
    const event = ['--event-name', 'request', '--external-customer-id', 'acme', ...words];
    expect(await toldOf(['usage', 'ingest', ...event])).toEqual([
      'warning: 1 event names a contract that does not cover its time: nobody is billed',
      '  hint: send it again, under the same key, with the contract of that time or with none',
    ]);
  });
});
