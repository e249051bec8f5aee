/** Replays a history on a service in memory under other conditions: another catalog, start or grant. */

import { assert } from '../../assert.ts';
import { ConflictError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { midnightOf, timestampOf } from '../../operations/field-rules.ts';
import { compareText } from '../../text-order.ts';
import { centsOf } from '../wire/amounts.ts';
import { rateCardBody } from '../catalog/bodies.ts';
import { itemKey, planKey, priceKey } from '../catalog/definitions.ts';
import type { PlanDefinition } from '../catalog/definitions.ts';
import { readCatalog } from '../catalog/live.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { Dependencies } from '../session/session.ts';
import { overridesOf } from './agreed-prices.ts';
import type { Invoice } from './books.ts';
import { ledgerOf, oldestFirst } from './books.ts';
import { ratesOf } from './frozen-rates.ts';
import type { HistoricContract, HistoricEvent, History } from './history.ts';
import { movements } from './movements.ts';
import { createPassing } from './passing.ts';
import type { PassingOptions } from './passing.ts';
import { note, orNoted, repeated } from './scene.ts';
import type { Conditions, Deed, Scene } from './scene.ts';
import { idByCode, idByPrice } from './source-ids.ts';
import { applyTo, madeUpContacts, openThrowAway } from './throw-away.ts';

export interface ReplayOptions {
  readonly dependencies: Dependencies;
  /** Where the clock starts and stops. */
  readonly start: string;
  readonly until: string;
  readonly onProgress: PassingOptions['onProgress'];
}

/** An invoice with the customer's id at the source. */
export interface ReplayedInvoice {
  readonly customerId: string;
  readonly invoice: Invoice;
}

export interface Replayed {
  readonly invoices: readonly ReplayedInvoice[];
  /** What could not be repeated. */
  readonly notes: readonly { readonly customerId: string; readonly note: string }[];
  /** Ids of customers with a contract that could not be created. */
  readonly incomplete: ReadonlySet<string>;
  /** New grants that no contract got. */
  readonly ungivenGrantCount: number;
}

/** The same history and conditions give the same invoices. */
export async function replay(history: History, conditions: Conditions, options: ReplayOptions): Promise<Replayed> {
  const opened = await openThrowAway(options.dependencies, options.start, { isListening: false });
  try {
    const { billing } = opened;
    await applyTo(billing, history.catalog.file);
    const before = await readCatalog(billing);
    if (conditions.catalog !== undefined) await applyTo(billing, conditions.catalog);
    const live = conditions.catalog === undefined ? before : await readCatalog(billing);
    const oldPlanIds = new Set(before.plans.map(({ id }) => id));
    const scene: Scene = {
      history,
      conditions,
      billing,
      live,
      oldPlanIds,
      customers: new Map(),
      contracts: new Map(),
      entries: new Map(),
      notes: [],
      incomplete: new Set(),
      given: new Set(),
    };
    await makeCustomers(scene);
    for (const each of history.contracts) await makeContract(scene, each);
    await passTime(scene, options);
    const { notes, incomplete, given } = scene;
    const ungivenGrantCount = conditions.grants.filter((grant) => !given.has(grant)).length;
    return { invoices: await invoicesOf(scene), notes, incomplete, ungivenGrantCount };
  } finally {
    await opened.close();
  }
}

async function makeCustomers({ history, billing, customers }: Scene): Promise<void> {
  for (const { id, name } of history.customers) {
    const { body } = await billing.call('customers.create', {
      body: { name, externalCustomerId: id, contacts: madeUpContacts },
    });
    customers.set(id, body.data.id);
  }
}

async function makeContract(scene: Scene, historic: HistoricContract): Promise<void> {
  const { history, conditions, billing, live } = scene;
  const { contract, ownGrantId } = historic;
  const startDate = conditions.startDate ?? contract.startDate;
  const lastDate = contract.terms.effectiveEndDate ?? contract.endDate;
  if (lastDate !== undefined && lastDate <= startDate) {
    const words = `contract ${contract.id} ends on ${lastDate}: left out`;
    if (conditions.startDate !== undefined) note(scene, contract.customerId, words);
    return;
  }
  const endDate = cancellationIn(scene, historic) === undefined ? lastDate : contract.endDate;
  const plan = planFor(scene, contract.planId);
  const prices = live.pricing.filter(({ id }) => plan.pricingIds.includes(id));
  const rates = ratesOf(historic, history.catalog, { live, prices, other: conditions.catalog });
  const overrides = [
    ...overridesOf(historic, history.catalog, (price) => idByPrice(prices, price)),
    ...rates.flatMap(({ meterId, overrides: own }) => own.map((rate) => ({ meterId, ...rate }))),
  ];
  const body = {
    planId: plan.id,
    customerId: scene.customers.get(contract.customerId),
    startDate,
    ...(endDate === undefined ? {} : { endDate }),
    ...(overrides.length === 0 ? {} : { overrides }),
    ...grantOf(scene, historic),
    creditSettings: creditSettingsOf(scene, historic),
  };
  const made = await repeated(scene, contract.customerId, `contract ${contract.id}`, async () => {
    for (const { meterId, card } of rates) {
      await billing.call('meters.setRateCard', { params: { meterId }, body: rateCardBody(card) });
    }
    return await billing.call('contracts.create', { body });
  });
  for (const { note: guess } of rates) if (guess !== undefined) note(scene, contract.customerId, guess);
  if (made === undefined) {
    scene.incomplete.add(contract.customerId);
    return;
  }
  scene.contracts.set(contract.id, made.body.data.id);
  const [ownGrant] = ownGrantId === undefined ? [] : await ledgerOf(billing, made.body.data.id);
  if (ownGrant !== undefined) scene.entries.set(ownGrantId ?? '', ownGrant.id);
}

function creditSettingsOf({ history, live }: Scene, { contract, budgets }: HistoricContract): object {
  const { onDepletion, creditRateCents, expiresAt } = contract.terms.creditSettings;
  return {
    ...(onDepletion === undefined ? {} : { onDepletion }),
    ...(creditRateCents === undefined ? {} : { creditRateCents }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    budgets: budgets.map(({ label, eventPropertyKey, eventPropertyValue, meterId, maxCredits, maxCreditsCents }) => ({
      label,
      eventPropertyKey,
      eventPropertyValue,
      meterId: meterId === null ? null : idByCode(live, history.catalog.meters.get(meterId)),
      maxCredits,
      maxCreditsCents,
    })),
  };
}

/** The contract's plan. If it is archived, the plan with its name, provided that the other catalog says anything about that. */
function planFor(scene: Scene, planId: string): LiveCatalog['plans'][number] {
  const { history, live } = scene;
  const historic = history.catalog.plans.get(planId);
  assert(historic !== undefined, `the plan ${planId} of a contract was read`);
  const { plan, original, isArchived } = historic;
  const named = isArchived ? planWith(live, original) : undefined;
  const found = named !== undefined && isSpokenOf(named, scene) ? named : planWith(live, plan);
  if (found !== undefined) return found;
  throw new ConflictError(`the other catalog has no plan ${plan.name}, which contracts are on`);
}

/** Whether the other catalog has the plan or one of its prices, or led to the plan's replacement. */
function isSpokenOf({ id, definition }: LiveCatalog['plans'][number], { conditions, oldPlanIds }: Scene): boolean {
  if (conditions.catalog === undefined) return false;
  const { plans, pricing } = conditions.catalog.catalog;
  const prices = new Set(pricing.map(priceKey));
  return (
    !oldPlanIds.has(id) ||
    plans.some((plan) => planKey(plan) === planKey(definition) || plan.name === definition.name) ||
    definition.items.some((item) => prices.has(itemKey(item)))
  );
}

function planWith({ plans }: LiveCatalog, wanted: PlanDefinition): LiveCatalog['plans'][number] | undefined {
  return (
    plans.find(({ definition }) => planKey(definition) === planKey(wanted)) ??
    plans.find(({ definition }) => definition.name === wanted.name)
  );
}

/** The contract's initial grant; under another catalog left to the plan if it was the plan's. */
function grantOf({ history, conditions }: Scene, { contract }: HistoricContract): object {
  const { creditGrantCents } = contract.terms;
  const usual = history.catalog.plans.get(contract.planId)?.plan.metadata.defaultCreditGrantCents;
  const isUsual = usual !== undefined && creditGrantCents !== null && centsOf(creditGrantCents) === BigInt(usual);
  return isUsual && conditions.catalog !== undefined ? {} : { creditGrantCents };
}

async function passTime(scene: Scene, { start, until, onProgress }: ReplayOptions): Promise<void> {
  const { history, billing, customers, contracts } = scene;
  // Usage may be recorded ahead of the clock, and drafts have it.
  const last = timestampOf(Temporal.Instant.from(until).add({ seconds: limits.eventFutureSeconds }));
  // As at a service, usage that names a contract which does not serve is billed on none.
  const isBilled = ({ timestamp, contractId }: HistoricEvent) =>
    timestamp <= last && (contractId === null || contracts.has(contractId));
  const events = history.events.values().filter(isBilled);
  const passing = createPassing(billing, {
    events: events.map(({ timestamp, eventName, customerId, contractId, idempotencyKey, properties }) => ({
      at: timestamp,
      toBody: () => ({
        timestamp,
        eventName,
        customerId: customers.get(customerId),
        ...(contractId === null ? {} : { contractId: contracts.get(contractId) }),
        idempotencyKey,
        properties,
      }),
    })),
    resolution: 'P1D',
    start,
    onProgress,
  });
  const deeds = [...extraGrants(scene, start), ...movements(scene), ...cancellations(scene)].filter(
    ({ at }) => at <= until,
  );
  for (const { at, act } of deeds.toSorted((one, other) => compareText(one.at, other.at))) {
    await passing.until(at);
    await act();
  }
  await passing.until(until);
  await passing.ahead();
}

function extraGrants(scene: Scene, start: string): Deed[] {
  const { history, conditions, billing, contracts, given } = scene;
  const owned = Map.groupBy(
    history.contracts.map(({ contract }) => contract),
    ({ customerId }) => customerId,
  );
  return conditions.grants.flatMap((grant) =>
    history.customers
      .filter(({ id }) => grant.customerId === undefined || grant.customerId === id)
      .flatMap(({ id }): Deed[] => {
        const contract = contractFor(owned.get(id) ?? [], grant.at);
        if (contract === undefined) return [];
        const begin = midnightOf(conditions.startDate ?? contract.startDate);
        const at = grant.at ?? (begin < start ? start : begin);
        const body = { amountCents: Number(grant.amountCents), expiresAt: grant.expiresAt };
        const contractId = contracts.get(contract.id) ?? '';
        return [
          {
            at,
            act: async () =>
              await orNoted(scene, id, 'the new grant cannot be given', async () => {
                await billing.call('credits.grant', { params: { contractId }, body });
                given.add(grant);
              }),
          },
        ];
      }),
  );
}

/** The first contract of a customer that has begun by then and not ended; if there is none, the first of all. */
function contractFor(
  own: readonly HistoricContract['contract'][],
  at: string | undefined,
): HistoricContract['contract'] | undefined {
  const date = at?.slice(0, 10) ?? '';
  const isCurrent = ({ startDate, endDate, terms }: HistoricContract['contract']) => {
    const end = terms.effectiveEndDate ?? endDate;
    return startDate <= date && (end === undefined || end > date);
  };
  return own.find(isCurrent) ?? own[0];
}

/** When a contract is to be cancelled. One that begins on another day has other periods, and ends on the date on which it did. */
function cancellationIn({ conditions }: Scene, { cancelledAt }: HistoricContract): string | undefined {
  return conditions.startDate === undefined ? cancelledAt : undefined;
}

/** Not known beforehand: a fee of a longer period is billed whole before a contract is cancelled, and in part after it. */
function cancellations(scene: Scene): Deed[] {
  const { history, billing, contracts } = scene;
  return history.contracts.flatMap((historic): Deed[] => {
    const { contract } = historic;
    const [at, contractId] = [cancellationIn(scene, historic), contracts.get(contract.id)];
    if (at === undefined || contractId === undefined) return [];
    const cancel = async () => await billing.call('contracts.cancel', { params: { contractId }, body: {} });
    const words = `the cancellation of contract ${contract.id}`;
    return [{ at, act: async () => await repeated(scene, contract.customerId, words, cancel) }];
  });
}

async function invoicesOf({ billing, customers }: Scene): Promise<ReplayedInvoice[]> {
  const sourceIds = new Map([...customers].map(([source, id]) => [id, source]));
  const invoices = await oldestFirst(billing, 'invoices.list', { include: 'period' });
  return invoices.map((invoice) => ({ customerId: sourceIds.get(invoice.customerId) ?? '', invoice }));
}
