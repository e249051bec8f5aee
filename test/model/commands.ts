/** What a run does: calls chosen from a seed and from what the model holds, leaning towards edges. */

import type { CallInput } from '../../src/operations/operation.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { dateOf, dayMilliseconds, dayOf, dayOfInstant, midnight, timestampOf } from './calendar.ts';
import type { Random } from './random.ts';
import type { Contract, Entry, Invoice, State } from './state.ts';
import { grantsOf } from './grants.ts';

/** Lists that are walked page by page, in the order of the model. */
export const listNames = ['invoices.list', 'contracts.list', 'customers.list', 'pricing.list', 'usage.events'] as const;

/** One call at one instant, with the model's names in place of ids. */
export interface Step {
  readonly at: string;
  readonly name: OperationName;
  /** Name of what the call makes. */
  readonly as?: string;
  readonly input: CallInput;
}

type Call = Omit<Step, 'at'>;

const amounts = ['0', '0.01', '0.005', '0.015', '1', '2.5', '0.333333333333', '0.000003', '10', '99.99', '123456.78'];
const centsEdges = [0, 1, 2, 5, 99, 100, 101, 250, 1000, 5000, 100_000, 1_000_000_000_000_000];
const quantities = [
  0,
  1,
  2,
  3,
  9,
  10,
  11,
  12,
  0.1,
  0.5,
  2.25,
  100,
  101,
  1000,
  '4',
  '7.5',
  '1e2',
  'many',
  -3,
  true,
  null,
];
const anchors = [
  '2026-03-01',
  '2026-03-31',
  '2026-01-31',
  '2026-02-28',
  '2026-01-30',
  '2025-12-31',
  '2026-03-15',
  '2024-02-29',
];
const models = ['large', 'small', 'other'];

/** The calls that every run begins with: a small catalog, customers, one contract. */
export function opening(random: Random): Call[] {
  const calls: Call[] = [customer('customer0', 'ext0'), customer('customer1', 'ext1')];
  const isWeekly = random.chance(12);
  const meters = ['meter0', 'meter1', 'meter2'];
  calls.push(
    meter(random, { as: 'meter0', event: 'llm', isGrouped: true }),
    meter(random, { as: 'meter1', event: 'api', isGrouped: false }),
    meter(random, { as: 'meter2', event: random.pick(['llm', 'api', 'api llm']), isGrouped: false }),
  );
  if (random.chance(60)) calls.push(rateCard(random, 'meter0'));
  for (const [index, each] of meters.entries()) calls.push(usagePrice(random, `usage${index}`, each, isWeekly));
  calls.push(...['fixed0', 'fixed1', 'fixed2'].map((as) => fixedPrice(random, as, isWeekly)));
  calls.push(
    plan(random, 'plan0', ['usage0', 'usage1', 'fixed0']),
    plan(random, 'plan1', ['usage0', 'usage2', 'fixed1']),
  );
  calls.push(plan(random, 'plan2', ['fixed0', 'fixed2']));
  return calls;
}

function customer(as: string, externalCustomerId: string): Call {
  const contacts = [
    { name: 'Ada', email: `${as}@example.com`, roles: ['accounts_payable'] },
    { name: 'Bob', email: 'bob@example.com', roles: ['primary', 'other'] },
  ];
  return { name: 'customers.create', as, input: { body: { name: as, externalCustomerId, contacts } } };
}

function meter(random: Random, given: { as: string; event: string; isGrouped: boolean }): Call {
  const aggregationType = random.pick(['SUM', 'SUM', 'SUM', 'COUNT', 'MAX', 'MIN']);
  const propertyFilters = random.chance(20)
    ? [
        random.pick([
          { name: 'tenant', exists: true },
          { name: 'tenant', include: ['x', 'y'] },
          { name: 'tenant', exclude: ['x'] },
        ]),
      ]
    : undefined;
  return {
    name: 'meters.create',
    as: given.as,
    input: {
      body: {
        code: given.as.toUpperCase(),
        displayName: given.as,
        aggregationType,
        ...(aggregationType === 'COUNT' ? {} : { aggregationKey: 'n' }),
        eventTypeFilter: random.chance(20) ? { exclude: ['idle'] } : { include: given.event.split(' ') },
        ...(given.isGrouped ? { groupKeys: ['model'] } : {}),
        ...(propertyFilters === undefined ? {} : { propertyFilters }),
      },
    },
  };
}

function rateCard(random: Random, meterId: string): Call {
  const rates = models
    .filter(() => random.chance(60))
    .map((model) => ({ dimensions: { model }, unitAmount: random.pick(amounts) }));
  const fallbackUnitAmount = random.chance(40) ? random.pick(amounts) : null;
  return { name: 'meters.setRateCard', input: { params: { meterId }, body: { rates, fallbackUnitAmount } } };
}

/** Weeks and months do not nest: a run keeps to one of them, but for a plan now and then that is refused. */
const interval = (random: Random, isWeekly: boolean) =>
  isWeekly !== random.chance(2) ? weeks(random) : months(random);

const weeks = (random: Random) =>
  random.pick([{ priceInterval: 'WEEK' }, { priceInterval: 'WEEK', priceIntervalCount: 2 }]);

const months = (random: Random) =>
  random.pick([
    { priceInterval: 'MONTH' },
    { priceInterval: 'MONTH' },
    { priceInterval: 'MONTH' },
    { priceInterval: 'MONTH', priceIntervalCount: 3 },
    { priceInterval: 'YEAR' },
  ]);

function tiers(random: Random) {
  const bounds = random.pick([['10'], ['10', '100'], ['0.5', '10'], ['1']]);
  const given = [...bounds, ''].map((maxQty, index) => {
    const before = bounds[index - 1];
    const isNext = before !== undefined && !before.includes('.') && random.chance(30);
    const minQty = before === undefined ? '0' : isNext ? String(Number(before) + 1) : before;
    const flatAmount = random.chance(40) ? { flatAmount: random.pick(amounts) } : {};
    return { minQty, maxQty, unitAmount: random.pick(amounts), ...flatAmount };
  });
  return { tiering: random.pick(['GRADUATED', 'VOLUME']), pricingTiers: given };
}

/** Mostly so much that usage and grants are of a size. */
const usageAmount = (random: Random): string =>
  random.chance(65) ? random.pick(['0.01', '0.05', '0.1', '0.333333333333', '1']) : random.pick(amounts);

function usagePrice(random: Random, as: string, meterId: string, isWeekly = false): Call {
  const flat = random.chance(20) ? { flatAmount: random.pick(amounts) } : {};
  const price = random.chance(35) ? tiers(random) : { unitAmount: usageAmount(random), ...flat };
  const body = { productName: `product ${meterId}`, name: as, model: 'USAGE', meterId, ...price };
  return { name: 'pricing.create', as, input: { body: { ...body, ...interval(random, isWeekly) } } };
}

function fixedPrice(random: Random, as: string, isWeekly: boolean): Call {
  const body = { productName: `product ${as}`, name: as };
  if (random.chance(30)) {
    return {
      name: 'pricing.create',
      as,
      input: { body: { ...body, model: 'TIER', ...tiers(random), ...interval(random, isWeekly) } },
    };
  }
  const flat = random.chance(30) ? { flatAmount: random.pick(amounts) } : {};
  const often = random.chance(20) ? { billingMode: 'ONE_TIME' } : interval(random, isWeekly);
  return {
    name: 'pricing.create',
    as,
    input: { body: { ...body, model: 'FLAT', unitAmount: random.pick(amounts), ...flat, ...often } },
  };
}

function plan(random: Random, as: string, pricingIds: readonly string[]): Call {
  const items = pricingIds.map((pricingId) =>
    random.chance(50) ? { pricingId } : { pricingId, defaultQuantity: random.pick(['0', '1', '3', '10', '11', '2.5']) },
  );
  const metadata = random.chance(20) ? { metadata: { defaultCreditGrantCents: random.pick([0, 500, 12_345]) } } : {};
  return {
    name: 'plans.create',
    as,
    input: { body: { name: as, items, netTerms: random.pick(['0', '30', 'Net 15']), ...metadata } },
  };
}

/** How far the clock goes before a call: mostly nowhere, often to an edge, at times a long way. */
export function nextInstant(random: Random, state: State): number {
  if (random.chance(2)) return state.now - random.below(3) * dayMilliseconds - 1;
  if (random.chance(50)) return state.now + random.below(3) * 1000;
  if (random.chance(30)) return state.now + random.below(40) * 3_600_000;
  if (random.chance(50)) {
    const edges = state.contracts
      .flatMap((contract) => [
        ...contract.invoices.map((invoice) => midnight(invoice.end)),
        ...grantsOf(contract).map((grant) => grant.expiresAt ?? 0),
      ])
      .filter((edge) => edge > state.now && edge < state.now + 200 * dayMilliseconds);
    return Math.max(state.now, random.pickOr(edges, state.now) + random.pick([-1, 0, 0, 1]));
  }
  return state.now + random.below(30) * dayMilliseconds;
}

/** The next call of a run; `index` makes its names unlike all others. */
export function nextCall(random: Random, state: State, index: number): Call {
  const contract = random.pickOr<Contract | undefined>(state.contracts, undefined);
  if (contract === undefined) return createContract(random, state, index);
  const [, make] = weighted(random, [
    [2, () => createContract(random, state, index)],
    [30, () => ingest(random, state, index)],
    [8, () => ingestBatch(random, state, index)],
    [18, () => grantCredits(random, state, contract, index)],
    [6, () => ({ name: 'credits.settle', input: { params: { contractId: contract.id } } })],
    [5, () => adjustGrant(random, contract, index)],
    [4, () => reverseEntry(random, contract)],
    [11, () => finalizeInvoice(random, contract)],
    [3, () => ({ name: 'bill.run', input: { body: {} } })],
    [12, () => moveInvoice(random, contract)],
    [2, () => ({ name: 'contracts.cancel', input: { params: { contractId: contract.id }, body: {} } })],
    [
      3,
      () => ({
        name: 'contracts.update',
        input: { params: { contractId: contract.id }, body: { metadata: random.pick([null, { po: '7', n: 1.5 }]) } },
      }),
    ],
    [8, () => budgetCall(random, contract)],
    [8, () => usageCost(random, state, contract)],
    [4, () => customerCall(random, index)],
    [3, () => catalogCall(random, index)],
    [8, () => listCall(random, state)],
  ]);
  return make();
}

function weighted(random: Random, table: readonly (readonly [number, () => Call])[]): readonly [number, () => Call] {
  let left = random.below(table.reduce((sum, [weight]) => sum + weight, 0));
  const found = table.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  if (found === undefined) throw new TypeError('weights do not add up');
  return found;
}

function createContract(random: Random, state: State, index: number): Call {
  const startDate = random.pick([...anchors, dateOf(dayOfInstant(state.now))]);
  const months = random.pick([1, 2, 3, 6]);
  const end = random.pick([undefined, undefined, dateOf(dayOf(startDate) + 30 * months + random.below(20)), startDate]);
  const isOld = startDate < '2025-06-01';
  const endDate = random.chance(isOld ? 0 : 60) ? end : undefined;
  const creditSettings = {
    ...(random.chance(30) ? { creditRateCents: random.pick([1, 3, 10, 100]) } : {}),
    ...(random.chance(20) ? { expiresAt: timestampOf(state.now + 40 * dayMilliseconds) } : {}),
    ...(random.chance(25)
      ? { budgets: [{ eventPropertyKey: 'model', eventPropertyValue: 'large', ...cap(random) }] }
      : {}),
  };
  const grant = random.pick([undefined, undefined, null, 0, 300, 100_000]);
  const overrides = random.chance(15)
    ? [
        random.pick([
          { basePricingId: 'usage0', unitAmount: random.pick(amounts) },
          { meterId: 'meter0', dimensions: { model: 'large' }, unitAmount: '0.5' },
          { basePricingId: 'fixed0', quantity: '4' },
        ]),
      ]
    : undefined;
  return {
    name: 'contracts.create',
    as: `contract${index}`,
    input: {
      body: {
        customerId: random.pick(['customer0', 'customer0', 'customer1', 'nobody']),
        planId: random.pick(['plan0', 'plan0', 'plan1', 'plan1', 'plan2']),
        startDate: isOld && random.chance(80) ? '2026-03-01' : startDate,
        ...(endDate === undefined ? {} : { endDate }),
        ...(grant === undefined ? {} : { creditGrantCents: grant }),
        ...(random.chance(50) ? { creditSettings } : {}),
        ...(overrides === undefined ? {} : { overrides }),
        ...(random.chance(30) ? { netTerms: random.pick([0, 7, 45]) } : {}),
      },
    },
  };
}

const cap = (random: Random) =>
  random.pick([
    { maxCreditsCents: random.pick(centsEdges) },
    { maxCreditsCents: 250 },
    { maxCredits: random.pick([0, 1, 12.5]) },
    {},
  ]);

/** Instants of events lean towards now, bounds of periods and expiries, a millisecond before and after. */
function eventInstant(random: Random, state: State): number {
  if (random.chance(40)) return state.now - random.below(3) * 1000;
  if (random.chance(5)) return state.now + random.pick([1000, 3_600_000, 3_600_001]);
  const edges = state.contracts.flatMap((contract) => [
    ...contract.invoices.flatMap((invoice) => [midnight(invoice.start), midnight(invoice.end)]),
    ...grantsOf(contract).flatMap((grant) => grant.expiresAt ?? []),
  ]);
  const edge = random.pickOr(
    edges.filter((each) => each <= state.now),
    state.now,
  );
  return Math.min(state.now, edge + random.pick([-1, 0, 1, 86_400_000, 5 * 86_400_000]));
}

function event(random: Random, state: State, key: string) {
  const name = random.pick(['llm', 'llm', 'api', 'idle']);
  const model = name === 'llm' && random.chance(85) ? { model: random.pick(models) } : {};
  const tenant = random.chance(40) ? { tenant: random.pick(['x', 'y', 'z', 1, true]) } : {};
  const owner = random.pick([{ customerId: 'customer0' }, { externalCustomerId: 'ext0' }, { customerId: 'customer1' }]);
  const owned = state.contracts.filter((each) => each.customer.id === (owner.customerId ?? 'customer0'));
  const pinned = random.chance(15) ? random.pickOr<Contract | undefined>(owned, undefined) : undefined;
  const again = random.pickOr(state.events, undefined);
  return {
    eventName: name,
    ...owner,
    ...(pinned === undefined ? {} : { contractId: pinned.id }),
    idempotencyKey: again !== undefined && random.chance(15) ? again.key : key,
    timestamp: timestampOf(eventInstant(random, state)),
    properties: {
      ...(random.chance(92) ? { n: random.chance(50) ? 1 + random.below(30) : random.pick(quantities) } : {}),
      ...model,
      ...tenant,
    },
  };
}

function ingest(random: Random, state: State, index: number): Call {
  const body = random.chance(2)
    ? { ...event(random, state, `key${index}`), customerId: 'nobody', externalCustomerId: undefined }
    : event(random, state, `key${index}`);
  return { name: 'usage.ingest', input: { body } };
}

function ingestBatch(random: Random, state: State, index: number): Call {
  const events = Array.from({ length: 1 + random.below(6) }, (_value, at) => event(random, state, `key${index}.${at}`));
  return { name: 'usage.ingestBatch', input: { body: { events } } };
}

function expiry(random: Random, state: State, contract: Contract): number {
  const same = grantsOf(contract).flatMap((grant) => grant.expiresAt ?? []);
  const ends = contract.invoices.map((invoice) => midnight(invoice.end) + random.pick([-1, 0, 1]));
  const known = [...same, ...ends].filter((instant) => instant > state.now);
  if (random.chance(35))
    return random.pickOr(
      same.filter((instant) => instant > state.now),
      state.now + 30 * dayMilliseconds,
    );
  return random.chance(60)
    ? random.pickOr(known, state.now + dayMilliseconds)
    : state.now + random.pick([-1, 0, 1, 3_600_000, 5 * dayMilliseconds, 400 * dayMilliseconds]);
}

function grantCredits(random: Random, state: State, contract: Contract, index: number): Call {
  const money = random.pick([
    { amountCents: random.pick(centsEdges) },
    { amountCents: random.pick([50, 250, 1000]) },
    { creditRateCents: random.pick([1, 3, 7, 10]), creditAmount: random.pick([0.5, 1, 3, 33.333333, 100]) },
    { creditRateCents: 0, creditAmount: random.pick([1, 10, 2.5]) },
    { creditRateCents: random.pick([6, 1_000_000_000]), creditAmount: random.pick([0.000001, 0.000003, 7]) },
    { amountCents: 0, creditRateCents: 0, creditAmount: 5 },
    { amountCents: 5, creditRateCents: 3, creditAmount: 2 },
    { creditRateCents: 3 },
  ]);
  const isPaid = random.chance(25);
  const known = grantsOf(contract).flatMap((grant) => grant.externalId ?? []);
  const externalId = random.chance(20)
    ? random.pickOr(known, `grant-${index}`)
    : random.chance(40)
      ? `grant-${index}`
      : undefined;
  const specifiers = random.chance(25)
    ? random.pick([
        {},
        { meterIds: ['meter0'] },
        { pricingIds: ['usage1'] },
        { eventNames: ['llm'] },
        { eventNames: ['api', 'idle'] },
        { properties: { tenant: 'x' } },
        { properties: { tenant: ['y', '1'], model: 'small' } },
        { properties: { model: ['large', 'small'] } },
        { meterIds: ['meter0'], properties: { model: 'large' } },
        { meterIds: ['nothing'] },
      ])
    : undefined;
  const expiresAt = isPaid && random.chance(60) ? {} : { expiresAt: timestampOf(expiry(random, state, contract)) };
  return {
    name: isPaid ? 'credits.grantPaid' : 'credits.grant',
    as: `grant${index}`,
    input: {
      params: { contractId: contract.id },
      body: {
        ...money,
        ...expiresAt,
        ...(externalId === undefined ? {} : { externalId }),
        ...(specifiers === undefined ? {} : { specifiers }),
      },
    },
  };
}

function adjustGrant(random: Random, contract: Contract, index: number): Call {
  const grant = random.pickOr(grantsOf(contract), undefined);
  const money =
    (grant?.micros ?? 0n) > 0n && (grant?.rateCents === 0n || random.chance(30))
      ? { creditAmount: random.pick([-1, 1, 0.5, -2.5]) }
      : { amountCents: random.pick([-1, 1, -50, 50, -250, 1000]) };
  return {
    name: 'credits.adjust',
    as: `adjustment${index}`,
    input: {
      params: { contractId: contract.id },
      body: { grantEntryId: grant?.id ?? 'nothing', description: 'correction', ...money },
    },
  };
}

function reverseEntry(random: Random, contract: Contract): Call {
  // Two that look alike on the wire, of different lines, could be taken for each other.
  const told = contract.entries.filter(
    (entry) => !contract.entries.some((other) => other !== entry && looksLike(other, entry)),
  );
  const entryId = random.pickOr(told, undefined)?.id ?? 'nothing';
  return { name: 'credits.reverse', input: { params: { contractId: contract.id, entryId }, body: {} } };
}

function looksLike(one: Entry, other: Entry): boolean {
  const shown = ({ createdAt, type, cents, micros, grant, invoice }: Entry) => [
    createdAt,
    type,
    cents,
    micros,
    grant,
    invoice,
  ];
  const facts = shown(other);
  return shown(one).every((fact, index) => fact === facts[index]);
}

function finalizeInvoice(random: Random, contract: Contract): Call {
  const draft = contract.invoices.find((invoice) => invoice.status === 'Drafted');
  const first = random.chance(85) ? draft : random.pickOr(contract.invoices, undefined);
  return { name: 'invoices.finalize', input: { params: { invoiceId: first?.id ?? 'nothing' } } };
}

function moveInvoice(random: Random, contract: Contract): Call {
  const done = contract.invoices.filter((invoice) => invoice.status !== 'Drafted');
  const invoice = random.chance(90)
    ? random.pickOr<Invoice | undefined>(done, undefined)
    : random.pickOr<Invoice | undefined>(contract.invoices, undefined);
  const input: CallInput = { params: { invoiceId: invoice?.id ?? 'nothing' } };
  const date = random.chance(20) ? { date: random.pick(['2026-03-01', '2026-04-30', '2027-01-01']) } : {};
  const name = random.pick(['invoices.pay', 'invoices.pay', 'invoices.cancel', 'invoices.refund'] as const);
  if (name === 'invoices.cancel') return { name, input };
  if (name === 'invoices.refund')
    return { name, input: { ...input, body: { ...date, restoreCredits: random.chance(50) } } };
  return { name, input: { ...input, body: { status: random.pick(['initiated', 'failed', 'paid', 'paid']), ...date } } };
}

function budgetCall(random: Random, contract: Contract): Call {
  const params = { contractId: contract.id };
  const indexed = {
    ...params,
    index: String(random.below(Math.max(1, contract.budgets.length) + (random.chance(10) ? 1 : 0))),
  };
  return random.pick<() => Call>([
    () => ({ name: 'budgets.usage', input: { params } }),
    () => ({
      name: 'budgets.add',
      input: {
        params,
        body: {
          ...random.pick([
            { eventPropertyKey: 'model', eventPropertyValue: random.pick(models) },
            { eventPropertyKey: 'tenant', eventPropertyValue: random.pick(['x', '1', 'true']) },
          ]),
          ...cap(random),
          ...(random.chance(30) ? { meterId: random.pick(['meter0', 'meter1', 'nothing']) } : {}),
        },
      },
    }),
    () => ({
      name: 'budgets.update',
      input: {
        params: indexed,
        body: random.pick([
          { maxCreditsCents: random.pick(centsEdges) },
          { maxCredits: 3 },
          { label: 'cap' },
          { meterId: null },
          { maxCreditsCents: null },
        ]),
      },
    }),
    () => ({ name: 'budgets.remove', input: { params: indexed } }),
  ])();
}

function usageCost(random: Random, state: State, contract: Contract): Call {
  const invoice = random.pickOr(contract.invoices, undefined);
  const whole =
    invoice === undefined
      ? {}
      : { startDate: timestampOf(midnight(invoice.start)), endDate: timestampOf(midnight(invoice.end)) };
  const part = {
    startDate: timestampOf(state.now - random.below(60) * dayMilliseconds - 1),
    endDate: timestampOf(state.now + random.below(3) * 1000),
  };
  const range = random.pick([whole, part, {}]);
  const ofContract = { contractId: contract.id, ...range };
  const ofCustomer = {
    ...random.pick([{ customerId: contract.customer.id }, { externalCustomerId: 'ext0' }]),
    ...part,
  };
  const body = {
    ...(random.chance(60) ? ofContract : ofCustomer),
    ...(random.chance(20) ? { eventNames: random.pick([['llm'], ['api', 'idle'], ['none']]) } : {}),
    ...(random.chance(20)
      ? {
          propertyFilters: [
            random.pick([
              { key: 'model', value: 'large' },
              { key: 'tenant', value: '1' },
            ]),
          ],
        }
      : {}),
    ...(random.chance(30) ? { unit: 'credits' } : {}),
  };
  return { name: 'usage.cost', input: { body } };
}

function customerCall(random: Random, index: number): Call {
  const params = { customerId: random.pick(['customer0', 'customer1', 'nobody']) };
  return random.pick<() => Call>([
    () => customer(`customer${index}`, random.pick(['ext0', `ext${index}`])),
    () => ({
      name: 'customers.pause',
      input: { params, body: random.pick([{}, { until: '2026-04-10' }, { until: null }]) },
    }),
    () => ({ name: 'customers.resume', input: { params } }),
    () => ({
      name: 'customers.update',
      input: {
        params,
        body: random.pick([{ legalName: null }, { legalName: 'Legal' }, { tags: ['a', 'b'] }, { name: 'Renamed' }]),
      },
    }),
    () => ({ name: 'customers.get', input: { params } }),
  ])();
}

function listCall(random: Random, state: State): Call {
  const name = random.pick(listNames);
  const instants = state.contracts.map((contract) => timestampOf(contract.createdAt));
  const instant = () => random.pickOr(instants, '2026-03-01');
  const filters: Record<(typeof listNames)[number], Record<string, string>> = {
    'invoices.list': {
      customerId: random.pick(['customer0', 'customer1', 'nobody']),
      status: random.pick(['Drafted', 'In Progress', 'Paid', 'Cancelled', 'Refunded']),
      createdAfter: instant(),
      createdBefore: instant(),
    },
    'contracts.list': {
      customerId: random.pick(['customer0', 'customer1']),
      externalCustomerId: 'ext0',
      planId: random.pick(['plan0', 'plan1']),
      isActive: random.pick(['true', 'false']),
    },
    'customers.list': { externalCustomerId: random.pick(['ext0', 'nothing']) },
    'pricing.list': { model: random.pick(['FLAT', 'TIER', 'USAGE']) },
    'usage.events': {
      eventName: random.pick(['llm', 'api', 'none']),
      customerId: random.pick(['customer0', 'customer1']),
      start: random.pick(['2026-03-01', instant()]),
      end: instant(),
    },
  };
  const query = Object.fromEntries(Object.entries(filters[name]).filter(() => random.chance(35)));
  return { name, input: { query: { ...query, limit: String(1 + random.below(7)) } } };
}

function catalogCall(random: Random, index: number): Call {
  return random.pick<() => Call>([
    () => rateCard(random, 'meter0'),
    () => usagePrice(random, `usage${index}`, random.pick(['meter0', 'meter1', 'nothing'])),
    () => ({
      name: 'pricing.archive',
      input: { params: { pricingId: random.pick(['usage0', 'usage2', 'fixed0', 'nothing']) } },
    }),
    () => ({ name: 'meters.archive', input: { params: { meterId: random.pick(['meter0', 'meter2', 'nothing']) } } }),
    () => meter(random, { as: `meter${index}`, event: 'api', isGrouped: false }),
  ])();
}
