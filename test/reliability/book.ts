/**
 * The book that the tests of this folder injure: three customers over three months, one writing call a step. Clock, ids and
 * secrets follow from the step alone, so that the book is the same to the byte however often its writing is broken off.
 */

import { finalize, grant, invoiceAt, settle } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createCustomer, createMeter, createPlan, createPrice, send } from '../support/usage-scenario.ts';
import type { SentEvent } from '../support/usage-scenario.ts';
import { createClock, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

/** A book that is open, and what its steps need of it. */
export interface Book {
  readonly world: World;
  /** Carries out one step; gives the answer. */
  readonly perform: (index: number) => Promise<unknown>;
}

export interface Step {
  readonly name: string;
  /** The instant of the step. */
  readonly at: string;
  /** Whether the same step may come again behind itself, and then changes nothing. */
  readonly isRepeatable: boolean;
  readonly call: (world: World) => Promise<unknown>;
}

type Name = (typeof names)[number];
/** An instant so long after the beginning of a round. */
type At = (after: string) => string;

const names = ['acme', 'globex', 'initech'] as const;
const rounds = [0, 1, 2];

/** The 31st: periods begin on 28 February and on both sides of the clock changes of spring. */
export const springStart = '2026-01-31';
/** The second period begins on 30 December 2011, a day that Samoa did not have. */
export const samoanStart = '2011-11-30';

export function stepsOf(start: string = springStart): readonly Step[] {
  return [
    listen(start),
    ...names.flatMap((name) => beginning(name, start)),
    ...rounds.flatMap((round) => roundOf(round, start)),
  ];
}

/** Opens the book in `file`, which may be new. */
export async function openBook(file: string, steps: readonly Step[] = stepsOf()): Promise<Book> {
  const clock = createClock(steps[0]?.at);
  const ids = idsByStep();
  const world = await createWorld({ database: file, clock, newId: ids.next });
  return {
    world,
    perform: async (index) => {
      const step = steps[index];
      if (step === undefined) throw new Error(`the book has no step ${index}`);
      clock.set(step.at);
      ids.begin(index + 1);
      return await step.call(world);
    },
  };
}

function idsByStep(): { readonly begin: (step: number) => void; readonly next: () => string } {
  let prefix = '';
  let count = 0;
  const begin = (step: number): void => {
    prefix = `01900000-0000-7000-8${step.toString(16).padStart(3, '0')}`;
    count = 0;
  };
  begin(0);
  return {
    begin,
    next: () => {
      count += 1;
      return `${prefix}-${count.toString(16).padStart(12, '0')}`;
    },
  };
}

const prices: Readonly<Record<Name, Record<string, unknown>>> = {
  acme: { unitAmount: '0.015' },
  globex: {
    pricingTiers: [{ maxQty: '100', unitAmount: '0.02', flatAmount: '1.50' }, { unitAmount: '0.0175' }],
  },
  initech: { unitAmount: '0.01', priceInterval: 'WEEK' },
};

const settings: Readonly<Record<Name, Record<string, unknown>>> = {
  acme: {
    budgets: [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 40 }],
    alertThresholdsCents: [500],
  },
  globex: {},
  initech: { creditRateCents: 2 },
};

const grants: Readonly<Record<Name, Record<string, unknown>>> = {
  acme: { amountCents: 700 },
  globex: { creditAmount: 33.333333, creditRateCents: 3 },
  initech: { amountCents: 0, creditAmount: 40, creditRateCents: 0 },
};

function listen(start: string): Step {
  return {
    name: 'listens to webhooks',
    at: instant(start, 0, 'PT0S'),
    isRepeatable: false,
    call: async (world) => await world.call('webhooks.create', { body: { url: 'https://hooks.example.com/' } }),
  };
}

/** Everything up to the contract; each step makes one thing of what the step before made. */
function beginning(name: Name, start: string): Step[] {
  const one = (what: string, call: Step['call']): Step => ({
    name: `${what} ${name}`,
    at: instant(start, 0, 'PT1H'),
    isRepeatable: false,
    call,
  });
  return [
    one('makes the customer', async (world) => await createCustomer(world, name)),
    one('makes the meter of', async (world) => await createMeter(world, `TOKENS_${name.toUpperCase()}`)),
    one('makes the price of', async (world) => {
      const { data } = await world.call('meters.list');
      return await createPrice(world, data[0]?.id ?? '', prices[name]);
    }),
    one('makes the plan of', async (world) => {
      const { data } = await world.call('pricing.list');
      return await createPlan(world, [data[0]?.id ?? '']);
    }),
    one('signs the contract of', async (world) => {
      const { data } = await world.call('plans.list');
      const [planId, customerId] = [data[0]?.id, await customerIdOf(world, name)];
      const body = { planId, customerId, startDate: start, creditSettings: settings[name] };
      return await world.call('contracts.create', { body });
    }),
  ];
}

function roundOf(round: number, start: string): Step[] {
  const at: At = (after) => instant(start, round, after);
  const atEnd: At = (after) => instant(start, round + 1, after);
  const each = (at: string, what: string, act: (world: World, name: Name) => Promise<unknown>): Step[] =>
    names.map((name) => ({
      name: `round ${round}: ${what} ${name}`,
      at,
      isRepeatable: true,
      call: async (world) => await act(world, name),
    }));
  return [
    ...each(at('P1DT2H30M'), 'grants to', async (world, name) => {
      const body = { ...grants[name], externalId: `${name}-${round}`, expiresAt: at('P10D') };
      return await grant(world, await subscriptionOf(world, name), body);
    }),
    ...each(at('P8D'), 'records events of', async (world, name) => await record(world, name, { round, at })),
    ...each(at('P9D'), 'corrects an event of', async (world, name) => {
      const owner = await subscriptionOf(world, name);
      await send(world, eventOf(owner, { key: `${name}-${round}-0`, tokens: 2, at: at('P2D') }));
    }),
    ...each(at('P9DT1H'), 'settles', settleOne),
    ...each(at('P10DT1H'), 'lapses the grant of', settleOne),
    {
      name: `round ${round}: arms the budget of acme anew`,
      at: at('P11D'),
      isRepeatable: false,
      call: async (world) => {
        const { contractId } = await subscriptionOf(world, 'acme');
        const body = { maxCreditsCents: 50 + round };
        return await world.call('budgets.update', { params: { contractId, index: '0' }, body });
      },
    },
    ...each(atEnd('PT1H'), 'finalizes the next invoice of', async (world, name) => {
      const owner = await subscriptionOf(world, name);
      return await finalize(world, (await invoiceAt(world, owner, round)).id);
    }),
    ...signingAndCancelling(round, atEnd),
  ];
}

async function settleOne(world: World, name: Name): Promise<unknown> {
  return await settle(world, await subscriptionOf(world, name));
}

/** A contract that begins in one round and is cancelled in it. */
function signingAndCancelling(round: number, at: At): Step[] {
  return [
    {
      name: `round ${round}: signs another contract of acme`,
      at: at('PT2H'),
      isRepeatable: false,
      call: async (world) => {
        const { data } = await world.call('plans.list', { query: { limit: '100' } });
        const [planId, customerId] = [data.at(-1)?.id, await customerIdOf(world, 'acme')];
        const startDate = at('P0D').slice(0, 10);
        return await world.call('contracts.create', {
          body: { planId, customerId, startDate, creditGrantCents: 1000, metadata: { round } },
        });
      },
    },
    {
      name: `round ${round}: cancels it`,
      at: at('PT3H'),
      isRepeatable: false,
      call: async (world) => {
        const { data } = await world.call('contracts.list', { query: { externalCustomerId: 'acme' } });
        return await world.call('contracts.cancel', { params: { contractId: data[0]?.id ?? '' }, body: {} });
      },
    },
  ];
}

/** Midnight of the first day of a round, and so much later. */
function instant(start: string, round: number, after: string): string {
  const day = Temporal.PlainDate.from(start).add({ months: round });
  return day.toZonedDateTime('UTC').add(after).toInstant().toString({ fractionalSecondDigits: 3 });
}

async function record(
  world: World,
  name: Name,
  { round, at }: { readonly round: number; readonly at: At },
): Promise<void> {
  const owner = await subscriptionOf(world, name);
  const events = Array.from({ length: 10 }, (_value, index) =>
    eventOf(owner, {
      key: `${name}-${round}-${index}`,
      tokens: `${7 * index + round}.${index}`,
      at: at(`PT${index * 17 + 1}H`),
      model: index % 3 === 0 ? 'large' : 'small',
    }),
  );
  await send(world, ...events);
}

function eventOf(
  { customerId, contractId }: Pick<Subscription, 'customerId' | 'contractId'>,
  { key, tokens, at, model = 'large' }: { key: string; tokens: number | string; at: string; model?: string },
): SentEvent {
  return { customerId, contractId, idempotencyKey: key, timestamp: at, properties: { tokens, model } };
}

/** Found as a program would that knows no more than the name. */
async function subscriptionOf(world: World, name: Name): Promise<Subscription> {
  const query = { externalCustomerId: name, limit: '100' };
  const contract = (await world.call('contracts.list', { query })).data.at(-1);
  if (contract === undefined) throw new Error(`${name} has no contract yet`);
  return { customerId: await customerIdOf(world, name), contractId: contract.id, meterId: '', pricingId: '' };
}

async function customerIdOf(world: World, name: Name): Promise<string> {
  const { data } = await world.call('customers.list', { query: { externalCustomerId: name } });
  if (data[0] === undefined) throw new Error(`${name} is no customer yet`);
  return data[0].id;
}

/** What people and programs read of the book, all of it. */
export async function readBook(world: World): Promise<unknown[]> {
  const answers: unknown[] = [
    await world.call('customers.list', { query: { limit: '100' } }),
    await world.call('invoices.list', { query: { limit: '100', include: 'lineItems' } }),
  ];
  for (const name of names) {
    const { contractId } = await subscriptionOf(world, name);
    answers.push(
      await world.call('contracts.get', { params: { contractId } }),
      await world.call('credits.ledger', { params: { contractId } }),
      await world.call('credits.balance', { params: { contractId } }),
      await world.call('budgets.usage', { params: { contractId } }),
      await world.call('usage.cost', { body: { contractId } }),
    );
  }
  return answers;
}
