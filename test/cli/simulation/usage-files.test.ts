import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { saved, stage, useStage } from '../../support/use-stage.ts';

useStage('embedded');

/** A request costs a dollar; usage that names no contract is billed on the first. */
const scenario = `start: 2026-03-01
until: 2026-04-01
catalog:
  products: [{ name: Inference }]
  meters: [{ code: REQUESTS, displayName: Requests, aggregationType: COUNT }]
  pricing:
    - { product: Inference, name: Requests, model: USAGE, meter: REQUESTS, priceInterval: MONTH, unitAmount: 1 }
  plans: [{ name: Standard, items: [{ product: Inference, price: Requests }] }]
customers: [{ id: acme }, { id: globex }]
contracts: [{ id: first, customer: acme, plan: Standard }, { id: second, customer: acme, plan: Standard }]
`;

let count = 0;
/** Plays it with the events of a file. */
const played = async (usage: string, ...ids: object[]) => await playedIn(scenario, usage, ...ids);

async function playedIn(text: string, usage: string, ...ids: object[]) {
  count += 1;
  const folder = join(stage.directory, String(count));
  mkdirSync(folder);
  const event = { eventName: 'request', timestamp: '2026-03-02T10:00:00Z', properties: {} };
  const lines = ids.map((own, index) => JSON.stringify({ ...event, ...own, idempotencyKey: String(index) }));
  writeFileSync(join(folder, 'requests.jsonl'), lines.join('\n'));
  writeFileSync(join(folder, 'scenario.yaml'), `${text}usage: [${usage}]\n`);
  const flags = ['--show', 'invoices', '--columns', 'contract,totalCents'];
  const { exitCode, stdout, stderr } = await stage.tally(['simulate', 'run', join(folder, 'scenario.yaml'), ...flags]);
  return { exitCode, stderr, billed: stdout.split('\n').filter((line) => line !== '' && !line.endsWith('\t0')) };
}

describe('events of a file', () => {
  test('are billed on the contract, and for the customer, that each names', async () => {
    const ids = [
      { customerId: 'acme', contractId: 'second' },
      { externalCustomerId: 'acme', contractId: null },
    ];
    expect((await played('{ file: requests.jsonl }', ...ids)).billed).toEqual(['first\t100', 'second\t100']);
  });

  test('are all billed on the contract that the entry names', async () => {
    const ids = [{ customerId: 'acme', contractId: 'first' }, { customerId: 'a-customer-of-a-service' }];
    const { billed } = await played('{ file: requests.jsonl, customer: acme, contract: second }', ...ids);
    expect(billed).toEqual(['second\t200']);
  });

  test.each([
    [{ customerId: 'acme', contractId: 'secnod' }, 'contractId: there is no contract secnod', 'second'],
    [{ customerId: 'acme', contractId: 7 }, 'contractId: there is no contract 7', undefined],
    [{ customerId: 'acne' }, 'customerId: there is no customer acne', 'acme'],
    [{ externalCustomerId: 'initech' }, 'externalCustomerId: there is no customer initech', undefined],
  ])('are refused with their line where they name what the scenario does not have: %j', async (own, words, meant) => {
    const { exitCode, stderr } = await played('{ file: requests.jsonl }', { customerId: 'acme' }, own);
    expect(exitCode).toBe(8);
    expect(stderr).toContain(`requests.jsonl:2: ${words} in the scenario\n`);
    expect(stderr).toContain(meant === undefined ? 'hint: its ids are ' : `hint: did you mean ${meant}?`);
  });

  test('are refused with their line where the service refuses them', async () => {
    const wrong = { customerId: 'globex', contractId: 'first', timestamp: '2026-03-01T10:00:00Z' };
    const { exitCode, stderr } = await played('{ file: requests.jsonl }', { customerId: 'acme' }, wrong);
    expect(exitCode).toBe(8);
    expect(stderr).toContain('requests.jsonl:2: contractId: names no contract of this customer\n');
    expect(stderr).not.toContain('events[');
  });

  test('that is cut off say that none of them was taken', async () => {
    const packed = saved('cut.jsonl.gz', gzipSync('{"eventName":"request"}').subarray(0, 30));
    const { exitCode, stderr } = await played(`{ file: ${packed}, customer: acme }`);
    expect(exitCode).toBe(8);
    expect(stderr).toContain('hint: it is cut off: get all of it; nothing of this one was imported\n');
  });

  test('of a contract that comes later are refused with the line of the scenario', async () => {
    const later = 'contracts: [{ id: first, customer: acme, plan: Standard, at: 2026-03-20 }]';
    const usage = '{ customer: acme, contract: first, eventName: request, perDay: 1 }';
    const { exitCode, stderr } = await playedIn(scenario.replace(/contracts:.*/, later), usage);
    expect(exitCode).toBe(8);
    expect(stderr).toContain('scenario.yaml:11: there is no contract first at that time\n');
  });

  test('are told of where they come too late to be played', async () => {
    const late = { customerId: 'acme', timestamp: '2026-04-01T00:00:00Z' };
    const { billed, stderr } = await played('{ file: requests.jsonl }', { customerId: 'acme' }, late);
    expect(billed).toEqual(['first\t100']);
    expect(stderr).toBe(
      'warning: 1 event is not before the end, 2026-04-01T00:00:00.000Z: not played\n1 event, 6 invoices\n',
    );
    expect((await played('{ file: requests.jsonl }', { customerId: 'acme' })).stderr).toBe('1 event, 6 invoices\n');
  });

  test('are told of where no meter reads their values, with the line of the first', async () => {
    const meter = 'meters: [{ code: REQUESTS, displayName: Requests, aggregationKey: tokens }]';
    const tokens = ['2', '1,000', 'none', '3'].map((each) => ({ customerId: 'acme', properties: { tokens: each } }));
    const { exitCode, billed, stderr } = await playedIn(
      scenario.replace(/meters:.*/, meter),
      '{ file: requests.jsonl }, { customer: acme, eventName: request, perDay: 1, properties: { tokens: many } }',
      ...tokens,
    );
    expect([exitCode, billed]).toEqual([0, ['first\t500']]);
    expect(stderr).toMatch(
      /^warning: tokens: meter REQUESTS skips 33 of 35 values; the first, in \S+scenario.yaml:11: "many" is not a number\n {2}hint: /,
    );
    const { stderr: ofFile } = await playedIn(
      scenario.replace(/meters:.*/, meter),
      '{ file: requests.jsonl }',
      ...tokens,
    );
    expect(ofFile).toMatch(/skips 2 of 4 values; the first, in \S+requests.jsonl:2: "1,000" is not a number\n/);
  });
});
