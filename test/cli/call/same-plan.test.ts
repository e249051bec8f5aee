/** A contract that was made twice bills its fixed prices twice: whoever makes one on the same plan is told. */

import { afterEach, describe, expect, test } from 'vitest';

import type { CommandStage, Surface } from '../../support/stage.ts';
import { stageWithAcme } from '../import/acme.ts';

let stage: CommandStage;
afterEach(async () => await stage.close());

async function name(line: string): Promise<string> {
  return (await stage.tally([...line.split(' '), '-o', 'name'])).stdout.trim();
}

/** What is told when the last of these contracts is made, each given as `start` or `start end`, and the ids of all. */
async function making(spans: readonly string[], ...flags: readonly string[]) {
  const customer = await name('customers list');
  const price = await name(
    'pricing create --product-name Platform --name Fee --model FLAT --unit-amount 10 --price-interval MONTH',
  );
  const plan = await name(`plans create --name Team --item pricingId=${price}`);
  const ids: string[] = [];
  let told: readonly string[] = [];
  for (const span of spans) {
    const [start = '', end] = span.split(' ');
    const dates = ['--start-date', start, ...(end === undefined ? [] : ['--end-date', end])];
    const words = ['contracts', 'create', '--customer-id', customer, '--plan-id', plan, ...dates, ...flags];
    const { stdout, stderr } = await stage.tally([...words, '-o', 'name']);
    ids.push(stdout.trim());
    told = stderr.split('\n').filter((line) => line !== '');
  }
  return { ids, told };
}

describe.each<Surface>(['embedded', 'http'])('%s', (surface) => {
  test.each([
    ['the same days', ['2026-02-01 2027-02-01', '2026-02-01 2027-02-01'], '2026-02-01 to 2027-02-01'],
    ['one without an end', ['2026-02-01', '2030-01-01 2031-01-01'], 'since 2026-02-01'],
    ['a single day', ['2026-02-01 2027-02-01', '2027-01-31 2028-01-31'], '2026-02-01 to 2027-02-01'],
  ])('%s in common', async (_case, spans, time) => {
    stage = await stageWithAcme(surface);
    const { ids, told } = await making(spans);
    expect(told[0]).toBe(
      `warning: the customer already has another contract on this plan: ${ids[0]} (${time}); both are billed`,
    );
    expect(told[1]).toBe(
      `  hint: if it was made twice, end this one with: tally contracts cancel ${ids[1]}, and its drafts with: tally invoices cancel ID`,
    );
  });

  test.each([
    ['a first contract', ['2026-02-01']],
    ['one that begins when the other ends', ['2026-02-01 2027-02-01', '2027-02-01 2028-02-01']],
    ['one that ends when the other begins', ['2027-02-01', '2026-02-01 2027-02-01']],
  ])('nothing is said of %s', async (_case, spans) => {
    stage = await stageWithAcme(surface);
    expect((await making(spans)).told).toEqual([]);
  });
});

test('nothing is said where nothing shall be', async () => {
  stage = await stageWithAcme('embedded');
  expect((await making(['2026-02-01', '2026-02-01'], '--quiet')).told).toEqual([]);
});
