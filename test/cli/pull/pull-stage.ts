/** The stage of the running test behind a proxy, with contracts of two customers, and commands that pull them into a mirror and read it. */

import { join } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import type { Dependencies } from '../../../src/cli/session/session.ts';
import { startFlakyProxy } from '../../support/flaky-proxy.ts';
import type { FlakyProxy } from '../../support/flaky-proxy.ts';
import type { CommandResult } from '../../support/stage.ts';
import { made, openStage, stage } from '../../support/use-stage.ts';

export interface PullStage {
  readonly proxy: FlakyProxy;
  /** Path of the mirror, where there is no file yet. */
  readonly mirror: string;
  /** Id of the customer of the first two contracts. */
  readonly acme: string;
  readonly plan: string;
  readonly contracts: readonly string[];
  /** Pulls into the mirror. */
  readonly pull: (words: readonly string[], instead?: Partial<Dependencies>) => Promise<CommandResult>;
  readonly pullAll: (...words: string[]) => Promise<CommandResult>;
  /** The same command on the mirror, as on a machine that knows no service. */
  readonly offline: (...words: string[]) => Promise<CommandResult>;
  readonly tick: () => void;
  /** Whether the proxy refuses requests now and then. */
  readonly beUnkind: (isUnkind: boolean) => void;
  /** Has the proxy tell of each request before it passes it on. */
  readonly watch: (onRequest: () => void) => void;
}

export async function openPullStage(): Promise<PullStage> {
  const behaviour = { isUnkind: false, onRequest: () => {} };
  const proxies: FlakyProxy[] = [];
  await openStage('http', {
    start: '2026-03-05T00:00:00Z',
    proxy: async (url) => {
      const started = await startFlakyProxy(url, () => {
        behaviour.onRequest();
        return behaviour.isUnkind;
      });
      proxies.push(started);
      return started.url;
    },
  });
  const [proxy] = proxies;
  if (proxy === undefined) throw new Error('the stage has started no proxy');
  onTestFinished(async () => await proxy.close());
  const mirror = join(stage.directory, 'mirror.db');
  const held = await fill();
  const pull: PullStage['pull'] = async (words, instead = {}) =>
    await stage.tally(['pull', '--to', mirror, ...words], {}, instead);
  return {
    proxy,
    mirror,
    ...held,
    pull,
    pullAll: async (...words) => await pull(['--contract', ...held.contracts, ...words]),
    offline: async (...words) => await stage.tally(words, {}, { env: { TALLY_DATABASE: mirror } }),
    tick: () => stage.clock.advance({ seconds: 1 }),
    beUnkind: (isUnkind) => {
      behaviour.isUnkind = isUnkind;
    },
    watch: (onRequest) => {
      behaviour.onRequest = onRequest;
    },
  };
}

/** What became of each contract of a pull, from its answer as JSON. */
export function results(stdout: string): string[] {
  return (JSON.parse(stdout) as { readonly data: readonly { readonly result: string }[] }).data.map(
    ({ result }) => result,
  );
}

/** Two customers, three contracts: with grants of both kinds, usage, a budget, and an invoice that is finalized. */
async function fill() {
  const tick = () => stage.clock.advance({ seconds: 1 });
  const [meter, contact] = [
    await made('meters', 'create', '--code', 'TOKENS', '--display-name', 'Tokens', '--aggregation-key', 'tokens'),
    'name=Ada,email=ada@acme.example,roles=accounts_payable',
  ];
  const price = ['pricing', 'create', '--product-name', 'Inference', '--price-interval', 'MONTH'];
  const usage = await made(
    ...price,
    '--name',
    'Tokens',
    '--model',
    'USAGE',
    '--meter-id',
    meter,
    '--unit-amount',
    '0.03',
  );
  tick();
  const fee = await made(...price, '--name', 'Fee', '--model', 'FLAT', '--unit-amount', '10');
  tick();
  const gone = await made(...price, '--name', 'Old fee', '--model', 'FLAT', '--unit-amount', '20');
  const plan = await made(
    'plans',
    'create',
    '--name',
    'Plan',
    '--item',
    `pricingId=${usage}`,
    '--item',
    `pricingId=${fee}`,
  );
  await made('pricing', 'archive', gone);
  const customer = async (name: string) => {
    tick();
    const id = name.toLowerCase();
    return await made('customers', 'create', '--name', name, '--external-customer-id', id, '--contact', contact);
  };
  const acme = await customer('Acme');
  const globex = await customer('Globex');
  const contract = async (customerId: string, ...words: string[]) => {
    tick();
    const terms = ['--plan-id', plan, '--start-date', '2026-01-01', ...words];
    return await made('contracts', 'create', '--customer-id', customerId, ...terms);
  };
  const contracts = [
    await contract(acme),
    await contract(acme, '--end-date', '2026-06-01', '--credit-grant-cents', '5000'),
    await contract(globex),
  ];
  const [first = ''] = contracts;
  await made('credits', 'grant', first, '--amount-cents', '700', '--expires-at', '2027-01-01T00:00:00Z');
  tick();
  const rated = ['--credit-rate-cents', '7', '--credit-amount', '2.5', '--expires-at', '2026-12-01T00:00:00Z'];
  await made('credits', 'grant', first, ...rated);
  const budget = [
    'budgets',
    'add',
    first,
    '--event-property-key',
    'model',
    '--event-property-value',
    'l',
    '--max-credits-cents',
    '90',
  ];
  expect((await stage.tally(budget)).exitCode).toBe(0);
  const event = ['usage', 'ingest', '--event-name', 'llm', '--external-customer-id', 'acme', '--contract-id', first];
  for (const [at, tokens] of [
    ['2026-01-10', '50'],
    ['2026-02-10', '400'],
  ] as const) {
    const told = await stage.tally([
      ...event,
      '--timestamp',
      `${at}T00:00:00Z`,
      '--property',
      `tokens=${tokens}`,
      '--property',
      'model=l',
    ]);
    expect(told.exitCode).toBe(0);
  }
  expect((await stage.tally(['bill', 'run', '--yes'])).exitCode).toBe(0);
  const sent = await stage.tally(['invoices', 'list', '--status', 'in-progress', '--limit', '1', '-o', 'name']);
  await made('invoices', 'pay', sent.stdout.trim());
  return { acme, plan, contracts };
}
