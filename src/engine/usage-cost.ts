/** What usage costs: of a contract as its invoices calculate it, of a customer by the newest prices (interface 4.18). */

import { startOfDay, type ServicePeriod } from '../calculation/billing-period.ts';
import { newestRateOf } from '../calculation/ledger.ts';
import { type Big, creditsOfDollars, decimalText, dollarsOfCents, roundHalfUp, zero } from '../calculation/money.ts';
import { type RatedLine, rateUsage } from '../calculation/rating.ts';
import { type MeteredUsage, meteredQuantitiesOf } from '../calculation/usage-atoms.ts';
import { cutWindow, usageWindowsOver } from '../calculation/usage-windows.ts';
import { InvalidInputError } from '../errors.ts';
import { exactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { OperationTable, ResponseBody } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { Contract } from '../store/records/contracts.ts';
import { listGrantsOfCustomer } from '../store/records/ledger.ts';
import { findMeters } from '../store/records/meters.ts';
import { billingTermsOf, serviceEndOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { meterContract, meterCustomer, plainMetering } from './usage-metering.ts';
import { currentPrices, isMeterOf } from './usage-prices.ts';
import { resolveSubject } from './usage-subject.ts';
import { wireCents, wireTimestamp } from './wire.ts';

type CostInput = ParsedInput<OperationTable['usage.cost']>['body'];

/** Answers `usage.cost`; throws InvalidInputError for identifiers that are unknown or contradict each other. */
export async function usageCost(context: CallContext, input: CostInput): Promise<ResponseBody<'usage.cost'>> {
  const { customerId, contract } = await resolveSubject(context, input);
  const range = rangeOf(context, input, contract);
  const total =
    contract === undefined
      ? await customerCost(context, { customerId, range, input })
      : await contractCost(context, { contract, range, input });
  const rate = input.unit === 'credits' ? await creditRateOf(context, customerId) : undefined;
  const facts = {
    startDate: wireTimestamp(range.start),
    endDate: wireTimestamp(range.end),
    queriedAt: context.timestamp,
    ...(contract === undefined ? {} : { contractId: contract.id }),
  };
  if (rate === undefined) {
    return { totalAmount: exactNumber(decimalText(total)), currency: 'USD', unit: 'currency', ...facts };
  }
  const credits = exactNumber(decimalText(creditsOfDollars(total, rate)));
  return { totalAmount: credits, creditRateCents: wireCents(rate), unit: 'credits', ...facts };
}

/** The dates given, else the contract's; a contract that has not begun has used nothing yet. */
function rangeOf({ now }: CallContext, input: CostInput, contract: Contract | undefined): ServicePeriod {
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
  readonly input: CostInput;
}

/** The sum of metered lines, each rounded to cents as on its invoice; of periods that the range cuts, the part inside. */
async function contractCost(context: CallContext, { contract, range, input }: ContractQuery): Promise<Big> {
  const { tx, orgId } = context;
  const whole = usageWindowsOver(billingTermsOf(contract), range);
  const meters = await findMeters(tx, orgId, [...new Set(whole.map((window) => window.meterId))]);
  const asked = new Set(meters.filter((meter) => isMeterOf(meter, input.eventNames)).map((meter) => meter.id));
  const windows = whole.filter((window) => asked.has(window.meterId)).map((window) => cutWindow(window, range));
  const usages = await meterContract(context, contract, windows, { ...plainMetering, filter: filterOf(input) });
  // Part of the usage, picked by names or properties, owes no flat amount of a first tier when there is none of it.
  const isPart = input.eventNames !== undefined || (input.propertyFilters ?? []).length > 0;
  const lines = isPart ? usages.flatMap(linesOfUsage) : usages.flatMap(linesOfInvoice);
  return dollarsOfCents(lines.reduce((sum, line) => sum + line.totalCents, 0n));
}

interface CustomerQuery {
  readonly customerId: string;
  readonly range: ServicePeriod;
  readonly input: CostInput;
}

/** Exact but for digits beyond the twelfth decimal. */
async function customerCost(context: CallContext, { customerId, range, input }: CustomerQuery): Promise<Big> {
  const prices = (await currentPrices(context)).filter(({ meter }) => isMeterOf(meter, input.eventNames));
  const windows = prices.map(({ meter, item }) => ({ item, meterId: meter.id, ...range }));
  const usages = await meterCustomer(context, customerId, windows, { ...plainMetering, filter: filterOf(input) });
  const total = usages.flatMap(linesOfUsage).reduce((sum, line) => sum.plus(line.exactAmount), zero);
  return roundHalfUp(total, limits.decimalFractionDigits);
}

function filterOf({ eventNames, propertyFilters }: CostInput) {
  return { eventNames, properties: propertyFilters };
}

function linesOfInvoice(usage: MeteredUsage): RatedLine[] {
  return rateUsage(usage.item, meteredQuantitiesOf(usage));
}

/** Without usage there is no line: no invoice asks for the first tier's flat amount (semantics 5). */
function linesOfUsage(usage: MeteredUsage): RatedLine[] {
  const quantities = meteredQuantitiesOf(usage);
  return quantities.length === 0 ? [] : rateUsage(usage.item, quantities);
}

/** The rate of the customer's newest grant that has one, on whatever contract (semantics 11). */
async function creditRateOf({ tx, orgId }: CallContext, customerId: string): Promise<bigint | undefined> {
  return newestRateOf(await listGrantsOfCustomer(tx, orgId, customerId));
}
