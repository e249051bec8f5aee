/** What usage costs: for a contract as its invoices calculate it, for a customer by the newest prices (interface 4.18). */

import { startOfDay, type ServicePeriod } from '../calculation/billing-period.ts';
import { newestRateOf } from '../calculation/ledger.ts';
import {
  type Big,
  creditsOfDollars,
  dollarsOfCents,
  roundedTogether,
  roundHalfUp,
  zero,
} from '../calculation/money.ts';
import { type GroupValues, priceUsage, type RatedLine, rateUsage } from '../calculation/rating.ts';
import { type MeteredUsage, meteredQuantitiesOf } from '../calculation/usage-atoms.ts';
import { cutWindow, usageWindowsOver } from '../calculation/usage-windows.ts';
import type { UsageWindow } from '../calculation/invoice-periods.ts';
import type { ContractItem } from '../calculation/rate-card.ts';
import { InvalidInputError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { OperationTable, ResponseBody } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import { currency } from '../operations/wire-values.ts';
import type { Contract } from '../store/records/contracts.ts';
import { listGrantsOfCustomer } from '../store/records/ledger.ts';
import { findMeters } from '../store/records/meters.ts';
import { billingTermsOf, serviceEndOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { knowMeters } from './known-catalog.ts';
import { endOfEvents, narrows, plainMetering } from './usage-metering-options.ts';
import { meterContract, meterCustomer } from './usage-metering.ts';
import { currentPrices, isMeterOf } from './usage-prices.ts';
import { resolveSubject } from './usage-subject.ts';
import { wireCents, wireDecimal, wireTimestamp } from './wire.ts';

type CostInput = ParsedInput<OperationTable['usage.cost']>['body'];
type BreakdownInput = ParsedInput<OperationTable['usage.breakdown']>['body'];
type Question = Omit<CostInput, 'unit'>;

/**
 * Answers `usage.cost`; throws InvalidInputError for identifiers that are unknown or contradict each other and for a
 * range that does not end after it begins, ConflictError where events that it would have to read are dropped.
 */
export async function usageCost(context: CallContext, input: CostInput): Promise<ResponseBody<'usage.cost'>> {
  const { customerId, facts, lines } = await ratedUsage(context, input);
  const dollars = roundedSumOf(lines);
  const creditRateCents = input.unit === 'credits' ? await findCreditRateCents(context, customerId) : undefined;
  if (creditRateCents === undefined) {
    return { totalAmount: wireDecimal(dollars), currency, unit: 'currency', ...facts };
  }
  const credits = wireDecimal(creditsOfDollars(dollars, creditRateCents));
  return { totalAmount: credits, creditRateCents: wireCents(creditRateCents), unit: 'credits', ...facts };
}

/** Answers `usage.breakdown`; throws as `usageCost` does, and where no priced meter has the group key. */
export async function usageBreakdown(
  context: CallContext,
  { groupKey, ...input }: BreakdownInput,
): Promise<ResponseBody<'usage.breakdown'>> {
  const { facts, meters, lines } = await ratedUsage(context, input);
  const known = [...new Set(meters.flatMap((meter) => meter.groupKeys))];
  if (!known.includes(groupKey)) {
    const there = known.length === 0 ? 'there are none' : `the group keys are ${known.join(', ')}`;
    throw new InvalidInputError([
      { path: 'groupKey', message: `is not a group key of a meter that is priced: ${there}` },
    ]);
  }
  const parts = Map.groupBy(lines, ({ groupValues }) =>
    Object.hasOwn(groupValues, groupKey) ? (groupValues[groupKey] ?? null) : null,
  );
  const rows = [...parts].map(([value, found]) => ({ value, dollars: exactSumOf(found) })).filter(isWorthShowing);
  rows.sort(dearestFirst);
  const amounts = roundedTogether(
    rows.map(({ dollars }) => dollars),
    limits.decimalFractionDigits,
  );
  return {
    data: {
      groupKey,
      totalAmount: wireDecimal(roundedSumOf(lines)),
      currency,
      ...facts,
      rows: rows.map(({ value }, index) => ({
        value,
        totalAmount: wireDecimal(amounts[index] ?? zero),
      })),
    },
  };
}

interface Part {
  readonly value: string | null;
  readonly dollars: Big;
}

/** Meters without the key make a row only where they cost anything. */
function isWorthShowing({ value, dollars }: Part): boolean {
  return value !== null || !dollars.eq(zero);
}

function dearestFirst(one: Part, other: Part): number {
  return other.dollars.cmp(one.dollars) || ((one.value ?? '\uffff') < (other.value ?? '\uffff') ? -1 : 1);
}

/** The cost of a line: whole cents for a contract, exact for a customer. */
interface CostLine {
  readonly groupValues: GroupValues;
  readonly dollars: Big;
}

async function ratedUsage(context: CallContext, input: Question) {
  const { customerId, contract } = await resolveSubject(context, input);
  const range = rangeOf(context, input, contract);
  const rated =
    contract === undefined
      ? await customerLines(context, { customerId, range, input })
      : await contractLines(context, { contract, range, input });
  const facts = {
    startDate: wireTimestamp(range.start),
    endDate: wireTimestamp(range.end),
    queriedAt: context.timestamp,
    ...(contract === undefined ? {} : { contractId: contract.id }),
  };
  return { customerId, facts, ...rated };
}

/** Exact but for digits beyond the twelfth decimal. */
function roundedSumOf(lines: readonly CostLine[]): Big {
  return roundHalfUp(exactSumOf(lines), limits.decimalFractionDigits);
}

function exactSumOf(lines: readonly CostLine[]): Big {
  return lines.reduce((sum, { dollars }) => sum.plus(dollars), zero);
}

/** The dates given, else the contract's; a contract that has not begun has used nothing yet. */
function rangeOf({ now }: CallContext, input: Question, contract: Contract | undefined): ServicePeriod {
  const given = {
    start: input.startDate === undefined ? undefined : Temporal.Instant.from(input.startDate),
    end: input.endDate === undefined ? undefined : Temporal.Instant.from(input.endDate),
  };
  const start = given.start ?? (contract === undefined ? now : startOfDay(contract.startDate));
  const end = given.end ?? (contract === undefined ? now : (serviceEndOf(contract) ?? now));
  if (Temporal.Instant.compare(start, end) < 0) return { start, end };
  if (given.end !== undefined) throw new InvalidInputError([{ path: 'endDate', message: 'must be after startDate' }]);
  if (given.start === undefined) return { start, end: start };
  throw new InvalidInputError([
    { path: 'startDate', message: `must be before ${wireTimestamp(end)}, where usage of the contract ends` },
  ]);
}

interface ContractQuery {
  readonly contract: Contract;
  readonly range: ServicePeriod;
  readonly input: Question;
}

/** Metered lines, each rounded to cents as on its invoice; for periods that the range cuts, the part inside. */
async function contractLines(context: CallContext, { contract, range, input }: ContractQuery) {
  const { tx, orgId } = context;
  const whole = usageWindowsOver(billingTermsOf(contract), range);
  const meters = await findMeters(tx, orgId, [...new Set(whole.map((window) => window.meterId))]);
  const asked = new Set(meters.filter((meter) => isMeterOf(meter, input.eventNames)).map((meter) => meter.id));
  const horizon = endOfEvents(context.now).epochMilliseconds;
  const { begun = [], ahead = [] } = Object.groupBy(
    whole.filter((window) => asked.has(window.meterId)),
    ({ start }) => (start.epochMilliseconds < horizon ? 'begun' : 'ahead'),
  );
  const windows = begun.map((window) => cutWindow(window, range));
  const filter = filterOf(input);
  const metered = await meterContract(context, contract, windows, { ...plainMetering(), filter });
  const usages = [...metered.values()];
  // A part picked by names or properties owes no flat amount of a first tier when it has no usage.
  const lines = narrows(filter)
    ? usages.flatMap(linesOfUsage)
    : [...usages.flatMap(linesOfInvoice), ...linesAhead(ahead)];
  return {
    meters: meters.filter(({ id }) => asked.has(id)),
    lines: lines.map(({ groupValues, totalCents }) => ({ groupValues, dollars: dollarsOfCents(totalCents) })),
  };
}

/** Lines of windows that hold no event yet, as drafts show them: thousands, where the range ends in 2100. */
function linesAhead(windows: readonly UsageWindow[]): RatedLine[] {
  const known = new Map<ContractItem, readonly RatedLine[]>();
  return windows.flatMap(({ item }) =>
    known.getOrInsertComputed(item, () => rateUsage(item, []).filter(({ totalCents }) => totalCents !== 0n)),
  );
}

interface CustomerQuery {
  readonly customerId: string;
  readonly range: ServicePeriod;
  readonly input: Question;
}

/** Lines by the newest prices, without rounding. */
async function customerLines(context: CallContext, { customerId, range, input }: CustomerQuery) {
  const prices = (await currentPrices(context)).filter(({ meter }) => isMeterOf(meter, input.eventNames));
  const windows = prices.map(({ meter, item }) => ({ item, meterId: meter.id, ...range }));
  const meters = prices.map(({ meter }) => meter);
  knowMeters(context, meters);
  const metered = await meterCustomer(context, customerId, windows, { ...plainMetering(), filter: filterOf(input) });
  return { meters, lines: [...metered.values()].flatMap(costsOfUsage) };
}

function filterOf({ eventNames, propertyFilters }: Question) {
  return { eventNames, properties: propertyFilters };
}

function linesOfInvoice(usage: MeteredUsage): RatedLine[] {
  return rateUsage(usage.item, meteredQuantitiesOf(usage));
}

function costsOfUsage(usage: MeteredUsage): CostLine[] {
  return meteredQuantitiesOf(usage).map((metered) => ({
    groupValues: metered.groupValues,
    dollars: priceUsage(usage.item, metered).exactAmount,
  }));
}

/** Without usage there is no line: no invoice asks for the first tier's flat amount (semantics 5). */
function linesOfUsage(usage: MeteredUsage): RatedLine[] {
  const quantities = meteredQuantitiesOf(usage);
  return quantities.length === 0 ? [] : rateUsage(usage.item, quantities);
}

/** The rate of the customer's newest grant that has one, on any contract (semantics 11). */
async function findCreditRateCents({ tx, orgId }: CallContext, customerId: string): Promise<bigint | undefined> {
  return newestRateOf(await listGrantsOfCustomer(tx, orgId, customerId));
}
