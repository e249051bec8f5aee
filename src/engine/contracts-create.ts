/** Making a contract: what it names is checked, prices are frozen, credits granted and periods drafted (semantics 6). */

import type * as z from 'zod';

import { assert } from '../assert.ts';
import { isBefore, startOfDay } from '../calculation/billing-period.ts';
import { buildContractItems, findOverrideProblems } from '../calculation/rate-card.ts';
import type { ContractItem, PlanItemSource, PriceOverride } from '../calculation/rate-card.ts';
import { namesNoMessage } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import { limits } from '../limits.ts';
import { isMoreThanZero } from '../operations/field-rules.ts';
import { depletionActions } from '../operations/wire-values.ts';
import type { contractOperations } from '../operations/contracts.ts';
import { insertContract } from '../store/records/contracts.ts';
import type { Contract, CreditSettings } from '../store/records/contracts.ts';
import { findCustomer } from '../store/records/customers.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { findMeters, findRateCard } from '../store/records/meters.ts';
import type { Meter } from '../store/records/meters.ts';
import { findPlan } from '../store/records/plans.ts';
import type { Plan } from '../store/records/plans.ts';
import { addFirstBudgets } from './budgets.ts';
import { tiersOf } from './catalog.ts';
import { getWallet } from './contract-lookup.ts';
import { grantCredits } from './credits-grant.ts';
import type { GrantKind } from './credits-grant.ts';
import { makeDrafts } from './draft-periods.ts';
import type { CallContext } from './handler.ts';
import { amountProblem, priceSourceOf } from './price-source.ts';
import { pastIssues, refuse, unusableIssues } from './refuse.ts';
import { refuseDropped } from './usage-frozen.ts';

type ContractInput = z.output<(typeof contractOperations)[0]['body']>;
type OverrideInput = NonNullable<ContractInput['overrides']>[number];

/** The credits that a contract begins with are paid: its first invoice bills them (semantics 6). */
const prepaid: GrantKind = { isPromotional: false, sourceType: 'contract', description: 'Prepaid credits' };

/** What a plan offers, with the meters that its prices read. */
interface Offer {
  readonly sources: readonly PlanItemSource[];
  readonly meters: readonly Meter[];
}

export interface NewContract {
  readonly contract: Contract;
  readonly drafts: readonly Invoice[];
}

/**
 * Makes a contract with its frozen prices, its first budgets, its drafts and the grant that it begins with (semantics
 * 6), and emits no webhook yet. Throws InvalidInputError with the issues, and ConflictError where its usage would
 * begin among dropped events.
 */
export async function createContract(context: CallContext, input: ContractInput): Promise<NewContract> {
  const { tx, orgId } = context;
  const startDate = Temporal.PlainDate.from(input.startDate);
  const endDate = input.endDate === undefined ? undefined : Temporal.PlainDate.from(input.endDate);
  const plan = await findPlan(tx, orgId, input.planId);
  const customer = await findCustomer(tx, orgId, input.customerId);
  const offer = plan === undefined ? { sources: [], meters: [] } : await offerOf(context, plan);
  const overrides = normaliseOverrides(offer, plan === undefined ? [] : (input.overrides ?? []));
  const creditGrantCents = grantOf(input, plan);
  refuse([
    ...unusableIssues('planId', 'plan', plan),
    ...(customer === undefined ? [{ path: 'customerId', message: namesNoMessage('customer') }] : []),
    ...(endDate !== undefined && !isBefore(startDate, endDate)
      ? [{ path: 'endDate', message: 'must be after startDate' }]
      : []),
    ...(creditGrantCents === undefined
      ? []
      : pastIssues('creditSettings.expiresAt', input.creditSettings?.expiresAt, context.timestamp)),
    ...overrides.issues,
  ]);
  assert(plan !== undefined && customer !== undefined, 'a plan or customer that is not there was refused');
  const items = buildContractItems(offer.sources, overrides.overrides);
  refuse([...amountIssues(items, input.overrides ?? []), ...unpricedIssues(items), ...sizeIssues(items)]);
  if (offer.meters.length > 0) refuseDropped(context, startOfDay(startDate), 'usage cannot be billed');
  const contract: Contract = {
    id: context.newId(),
    customerId: customer.id,
    planId: plan.id,
    name: `${customer.name} - ${plan.name}`,
    startDate,
    endDate,
    netTermsDays: input.netTerms ?? Number(plan.netTerms),
    metadata: input.metadata ?? {},
    creditSettings: creditSettingsOf(input, plan),
    items,
    creditGrantCents,
    cancelledAt: undefined,
    effectiveEndDate: undefined,
    budgetsVersion: 0,
    createdAt: context.now,
    updatedAt: context.now,
  };
  await insertContract(tx, orgId, contract);
  await addFirstBudgets(context, contract.id, input.creditSettings?.budgets ?? []);
  const drafts = await makeDrafts(context, contract);
  if (creditGrantCents !== undefined) {
    const request = { amountCents: creditGrantCents, expiresAt: input.creditSettings?.expiresAt };
    await grantCredits(context, await getWallet(context, contract.id), { request, kind: prepaid });
  }
  return { contract, drafts };
}

/** The grant that was asked for, else the plan's; undefined for none (interface 4.10). */
function grantOf({ creditGrantCents }: ContractInput, plan: Plan | undefined): bigint | undefined {
  const cents = creditGrantCents === undefined ? plan?.defaultCreditGrantCents : creditGrantCents;
  return cents === null || cents === 0n ? undefined : cents;
}

/** The contract's settings, with the plan's where the contract has none. */
function creditSettingsOf({ creditSettings = {} }: ContractInput, plan: Plan): CreditSettings {
  const { creditRateCents, expiresAt, alertThresholdsCents } = creditSettings;
  return {
    onDepletion: creditSettings.onDepletion ?? depletionActions.find((action) => action === plan.onDepletion),
    creditRateCents: creditRateCents === undefined ? undefined : BigInt(creditRateCents),
    expiresAt: expiresAt === undefined ? undefined : Temporal.Instant.from(expiresAt),
    alertThresholdsCents,
  };
}

async function offerOf({ tx, orgId }: CallContext, plan: Plan): Promise<Offer> {
  const meterIds = new Set(plan.items.flatMap(({ pricing }) => pricing.meterId ?? []));
  const sources: PlanItemSource[] = [];
  for (const { id, pricing, defaultQuantity } of plan.items) {
    const card = pricing.meterId === null ? undefined : await findRateCard(tx, orgId, pricing.meterId);
    sources.push(priceSourceOf(pricing, card, { id, quantity: defaultQuantity }));
  }
  return { sources, meters: await findMeters(tx, orgId, [...meterIds]) };
}

interface Overrides {
  readonly overrides: readonly PriceOverride[];
  readonly issues: readonly InputIssue[];
}

function normaliseOverrides(offer: Offer, inputs: readonly OverrideInput[]): Overrides {
  const issues: InputIssue[] = [];
  const overrides = inputs.map((input, index): PriceOverride => {
    const path = `overrides[${index}]`;
    if ('meterId' in input) {
      issues.push(...dimensionIssues(offer, input, path));
      return input;
    }
    const { pricingTiers, ...price } = input;
    issues.push(...targetIssues(offer, input, path));
    if (pricingTiers === undefined) return price;
    const { tiers, issues: tierIssues } = tiersOf(pricingTiers, `${path}.pricingTiers`);
    issues.push(...tierIssues);
    return { ...price, pricingTiers: tiers };
  });
  const problems = findOverrideProblems(offer.sources, overrides);
  return {
    overrides,
    issues: [
      ...problems.map(({ index, field, problem }) => ({ path: `overrides[${index}].${field}`, message: problem })),
      ...issues,
    ],
  };
}

/** An amount too large for any invoice is refused when it is agreed on. A plan of an earlier program may still hold one. */
function amountIssues(items: readonly ContractItem[], overrides: readonly OverrideInput[]): InputIssue[] {
  return items.flatMap((item) => {
    const message = amountProblem(item, item.quantity);
    if (message === undefined) return [];
    const index = overrides.findIndex((each) => 'basePricingId' in each && each.basePricingId === item.pricingId);
    return [{ path: index < 0 ? 'planId' : `overrides[${index}]`, message }];
  });
}

/** Without these issues usage that no rate names would be given away unnoticed. */
function unpricedIssues(items: readonly ContractItem[]): InputIssue[] {
  const isUnpriced = ({ model, tiering, unitAmount, fallbackUnitAmount, dimensionRates }: ContractItem): boolean =>
    model === 'USAGE' &&
    tiering === 'NONE' &&
    unitAmount === undefined &&
    fallbackUnitAmount === undefined &&
    // An override of a meter may name no dimension: its rate is for all usage.
    dimensionRates.every(({ dimensions }) => Object.keys(dimensions).length > 0);
  return items.filter(isUnpriced).map(({ pricingName }) => ({
    path: 'planId',
    message: `the price "${pricingName}" has no unit amount, and the rate card of its meter no fallback`,
  }));
}

/** Counts only until it is too much: every price of a meter holds its rate card, and a plan may have a hundred of those. */
function sizeIssues(items: readonly ContractItem[]): InputIssue[] {
  let bytes = 0;
  const isTooLarge = items.some(
    (item) => (bytes += Buffer.byteLength(JSON.stringify(item))) > limits.contractPricesBytes,
  );
  if (!isTooLarge) return [];
  const most = `must come to at most ${limits.contractPricesBytes} bytes of JSON with their rate cards and overrides`;
  return [{ path: 'planId', message: `the prices of a contract ${most}: use fewer prices, or shorter rate cards` }];
}

/** Group keys are what a meter tells apart: a rate for any other key would never be used. */
function dimensionIssues(
  { meters }: Offer,
  { meterId, dimensions }: Extract<OverrideInput, { meterId: string }>,
  path: string,
): InputIssue[] {
  const meter = meters.find((each) => each.id === meterId);
  if (meter === undefined) return [];
  const unknown = Object.keys(dimensions).filter((key) => !meter.groupKeys.includes(key));
  return unknown.map((key) => ({ path: `${path}.dimensions.${key}`, message: `is not a group key of ${meter.code}` }));
}

/** An override that its price cannot use would silently do nothing. */
function targetIssues(
  { sources }: Offer,
  input: Extract<OverrideInput, { basePricingId: string }>,
  path: string,
): InputIssue[] {
  const { basePricingId, ...members } = input;
  const item = sources.find((source) => source.pricingId === basePricingId);
  if (item === undefined) return [];
  const { model, tiering } = item;
  const isEmpty = Object.values(members).every((member) => member === undefined);
  const isTiered = tiering !== 'NONE';
  const hasFlatAmount = model === 'TIER' && isMoreThanZero(input.flatAmount);
  const hasQuantity = model === 'USAGE' && input.quantity !== undefined;
  const rules: readonly (readonly [isBroken: boolean, member: string, message: string])[] = [
    [isEmpty, '', 'overrides nothing: give unitAmount, flatAmount, pricingTiers or quantity'],
    [isTiered && input.unitAmount !== undefined, '.unitAmount', 'this price has tiers: override pricingTiers'],
    [!isTiered && input.pricingTiers !== undefined, '.pricingTiers', 'this price has no tiers: override unitAmount'],
    [hasFlatAmount, '.flatAmount', 'this price has its flat amounts in its tiers: override pricingTiers'],
    [hasQuantity, '.quantity', 'a price by usage takes its quantity from its meter'],
  ];
  return rules.flatMap(([isBroken, member, message]) => (isBroken ? [{ path: `${path}${member}`, message }] : []));
}
