/** What events would cost, without recording them; exact, even below a cent (semantics 1). */

import { decimalText, zero } from '../calculation/money.ts';
import { type RatedLine, rateUsage } from '../calculation/rating.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import { createUsageFold, noDimensions } from '../calculation/usage-fold.ts';
import type { OperationTable, ResponseBody } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import { currency } from '../operations/wire-values.ts';
import type { Contract } from '../store/records/contracts.ts';
import { findMeters, type Meter } from '../store/records/meters.ts';
import type { CallContext } from './handler.ts';
import { currentPrices, type MeterPrice } from './usage-prices.ts';
import { readSqlMeter, type SqlMeter } from './usage-sql.ts';
import { resolveContract } from './usage-subject.ts';
import { wireDecimal } from './wire.ts';

type EstimateInput = ParsedInput<OperationTable['pricing.estimate']>['body'];

/**
 * Answers `pricing.estimate`: a line for each price and combination of group values that the events give a quantity.
 * Throws InvalidInputError for an unknown contract.
 */
export async function estimateCost(
  context: CallContext,
  { contractId, events }: EstimateInput,
): Promise<ResponseBody<'pricing.estimate'>> {
  const contract = await resolveContract(context, contractId);
  const prices = contract === undefined ? await currentPrices(context) : await contractPrices(context, contract);
  const lines: { readonly meter: Meter; readonly line: RatedLine }[] = [];
  for (const { meter, item } of prices) {
    const readings = await readingsOf(context, meter, events);
    if (readings.length > 0) lines.push(...rateUsage(item, readings).map((line) => ({ meter, line })));
  }
  const total = lines.reduce((sum, { line }) => sum.plus(line.exactAmount), zero);
  return {
    data: {
      totalAmount: wireDecimal(total),
      currency,
      lines: lines.map(({ meter, line }) => ({
        meterId: meter.id,
        meterCode: meter.code,
        pricingId: line.pricingId,
        name: line.name,
        dimensions: line.groupValues,
        quantity: wireDecimal(line.quantity),
        unitPrice: decimalText(line.unitPrice),
        totalAmount: decimalText(line.exactAmount),
      })),
    },
  };
}

async function contractPrices({ tx, orgId }: CallContext, contract: Contract): Promise<MeterPrice[]> {
  const items = contract.items.filter((item) => item.meterId !== undefined);
  const meters = await findMeters(tx, orgId, [...new Set(items.flatMap((item) => item.meterId ?? []))]);
  return items.flatMap((item) => meters.filter((meter) => meter.id === item.meterId).map((meter) => ({ meter, item })));
}

async function readingsOf(
  context: CallContext,
  meter: Meter,
  events: EstimateInput['events'],
): Promise<UsageReading[]> {
  const readings =
    meter.sql === null ? foldOf(meter, events) : await queried(context, { ...meter, sql: meter.sql }, events);
  return readings.filter((reading) => reading.count > 0);
}

function foldOf(meter: Meter, events: EstimateInput['events']): UsageReading[] {
  const fold = createUsageFold(meter, noDimensions);
  for (const { eventName, properties = {} } of events) fold.add({ eventName, properties }, 0);
  return fold.readings(0, 1);
}

/** Events to be estimated have no time; to a query they all happen now. */
async function queried(
  context: CallContext,
  meter: SqlMeter,
  events: EstimateInput['events'],
): Promise<UsageReading[]> {
  const timestampEpochMs = context.now.epochMilliseconds;
  const rows = events.map(({ eventName, properties = {} }) => ({
    eventName,
    timestampEpochMs,
    propertiesJson: JSON.stringify(properties),
  }));
  return await readSqlMeter(context, meter, [{ keepsEvents: false, events: rows }]);
}
