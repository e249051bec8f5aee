/** Meters and their rate cards (interface 2.9 and 4.17; semantics 1, 5 and 14). */

import type { PropertyFilter } from '../calculation/metering.ts';
import { combinationKey, type DimensionRate } from '../calculation/rate-card.ts';
import { ConflictError } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Caller, OperationTable } from '../operations/index.ts';
import type { meterOperations } from '../operations/meters.ts';
import type { Operation } from '../operations/operation.ts';
import type { ParsedInput } from '../operations/parse.ts';
import { listPricingsOfMeters } from '../store/records/catalog.ts';
import {
  archiveMeter,
  findMeter,
  findMeterByCode,
  findRateCard,
  insertMeter,
  listMeters,
  saveRateCard,
} from '../store/records/meters.ts';
import type { Meter, StoredRateCard } from '../store/records/meters.ts';
import type { EngineParts } from './dependencies.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { existing, refuse } from './refuse.ts';

export const meterHandlers: HandlersOf<typeof meterOperations> = {
  'meters.create': async (context, { body }) => {
    const holder = await findMeterByCode(context.tx, context.orgId, body.code);
    if (holder !== undefined) {
      throw new ConflictError(`the code ${body.code} belongs to meter ${holder.id} already`, {
        hint: 'choose another code, or archive that meter',
      });
    }
    const meter: Meter = {
      id: context.newId(),
      code: body.code,
      displayName: body.displayName,
      description: body.description ?? null,
      aggregationType: body.aggregationType,
      ...rulesOf(body),
      status: 'active',
      archivedAt: null,
      createdAt: context.timestamp,
      updatedAt: context.timestamp,
    };
    await insertMeter(context.tx, context.orgId, meter);
    return { body: { data: wireMeter(meter) } };
  },

  'meters.get': async (context, { params }) => {
    const meter = await getMeter(context, params.meterId);
    return { body: { data: wireListedMeter(meter) } };
  },

  'meters.list': async (context, { query }) => {
    const page = pageOf(query, limits.defaultMeterPageSize);
    const wanted = query.status ?? 'active';
    const status = wanted === 'all' ? undefined : wanted;
    const found = await listMeters(context.tx, context.orgId, { status, ...page });
    return { body: listBody(found, page, found.rows.map(wireListedMeter)) };
  },

  'meters.archive': async (context, { params }) => {
    const meter = await getMeter(context, params.meterId);
    if (meter.archivedAt !== null) return { body: { data: wireListedMeter(meter) } };
    const [pricing] = await listPricingsOfMeters(context.tx, context.orgId, [meter.id]);
    if (pricing !== undefined) {
      throw new ConflictError(`meter ${meter.code} is priced by "${pricing.name}" (${pricing.id})`, {
        hint: 'archive that price first',
      });
    }
    const archivedAt = context.timestamp;
    await archiveMeter(context.tx, context.orgId, { id: meter.id, archivedAt });
    return { body: { data: wireListedMeter({ ...meter, status: 'inactive', archivedAt, updatedAt: archivedAt }) } };
  },

  'meters.rateCard': async (context, { params }) => {
    const { id: meterId } = await getMeter(context, params.meterId);
    const rateCard = await findRateCard(context.tx, context.orgId, meterId);
    if (rateCard === undefined) {
      return { body: { data: { meterId, rates: [], fallbackUnitAmount: null, updatedAt: null } } };
    }
    return { body: { data: wireRateCard(rateCard) } };
  },

  'meters.setRateCard': async (context, { params, body }) => {
    const meter = await getMeter(context, params.meterId);
    refuse([...dimensionIssues(meter, body.rates), ...repetitionIssues(body.rates)]);
    const rateCard: StoredRateCard = {
      meterId: meter.id,
      rates: body.rates,
      fallbackUnitAmount: body.fallbackUnitAmount ?? null,
      updatedAt: context.timestamp,
    };
    await saveRateCard(context.tx, context.orgId, rateCard);
    return { body: { data: wireRateCard(rateCard) } };
  },

  'meters.test': async (context, { params, body }) => {
    const meter = await getMeter(context, params.meterId);
    const { testMeter } = await import('./explain-meter.ts');
    return { body: await testMeter(context, meter, body) };
  },
};

type CreateInput = ParsedInput<OperationTable['meters.create']>;

/** Tries out a query before the transaction, which must not wait for it; throws InvalidInputError where it cannot be a meter. */
export async function checkMeterSql(
  { meterSql }: EngineParts,
  input: ParsedInput<Operation>,
  { organizationId }: Caller,
): Promise<void> {
  const body: unknown = input.body;
  const { sql } = body as CreateInput['body'];
  if (sql !== undefined) await meterSql.check({ scope: organizationId, sql });
}

/** What a meter counts. A query overrides the other rules: none of them is kept beside it (interface 4.17). */
function rulesOf(
  body: CreateInput['body'],
): Pick<Meter, 'eventTypeFilter' | 'propertyFilters' | 'aggregationKey' | 'groupKeys' | 'sql'> {
  if (body.sql !== undefined) {
    const eventTypeFilter = { include: [], exclude: [] };
    return { eventTypeFilter, propertyFilters: [], aggregationKey: null, groupKeys: [], sql: body.sql };
  }
  const { include = [], exclude = [] } = body.eventTypeFilter ?? {};
  return {
    eventTypeFilter: { include, exclude },
    propertyFilters: body.propertyFilters ?? [],
    aggregationKey: body.aggregationKey ?? null,
    groupKeys: body.groupKeys ?? [],
    sql: null,
  };
}

async function getMeter({ tx, orgId }: CallContext, id: string): Promise<Meter> {
  return existing(await findMeter(tx, orgId, id), 'meter', 'meters list --status all');
}

/** A rate for a property that the meter does not group by would never match; one for no property would always match. */
function dimensionIssues(meter: Meter, rates: readonly DimensionRate[]): InputIssue[] {
  const keys = meter.groupKeys.length === 0 ? 'it has none' : `it has ${meter.groupKeys.join(', ')}`;
  return rates.flatMap((rate, index): InputIssue[] => {
    const path = `rates[${index}].dimensions`;
    const names = Object.keys(rate.dimensions);
    if (names.length === 0) return [{ path, message: 'must name a group key; fallbackUnitAmount prices all the rest' }];
    return names
      .filter((name) => !meter.groupKeys.includes(name))
      .map((name) => ({ path: `${path}.${name}`, message: `is not a group key of meter ${meter.code}; ${keys}` }));
  });
}

/** The second of two rates for one combination would never be used. */
function repetitionIssues(rates: readonly DimensionRate[]): InputIssue[] {
  const first = new Map<string, number>();
  return rates.flatMap(({ dimensions }, index) => {
    const combination = combinationKey(dimensions);
    const earlier = first.get(combination);
    if (earlier !== undefined) {
      return [{ path: `rates[${index}].dimensions`, message: `repeats the combination of rates[${earlier}]` }];
    }
    first.set(combination, index);
    return [];
  });
}

function wireMeter(meter: Meter) {
  const { id, code, displayName, description, aggregationType, aggregationKey, sql, createdAt, updatedAt } = meter;
  return {
    id,
    code,
    displayName,
    ...(description === null ? {} : { description }),
    aggregationType,
    eventTypeFilter: { include: [...meter.eventTypeFilter.include], exclude: [...meter.eventTypeFilter.exclude] },
    propertyFilters: meter.propertyFilters.map(wireFilter),
    ...(aggregationKey === null ? {} : { aggregationKey }),
    groupKeys: [...meter.groupKeys],
    ...(sql === null ? {} : { sql }),
    createdAt,
    updatedAt,
  };
}

/** A meter with its status, which the interface leaves out of the answer to creation (semantics 1). */
function wireListedMeter(meter: Meter) {
  return { ...wireMeter(meter), status: meter.status };
}

function wireFilter({ name, exists, include, exclude }: PropertyFilter) {
  return {
    name,
    ...(exists === undefined ? {} : { exists }),
    ...(include === undefined ? {} : { include: [...include] }),
    ...(exclude === undefined ? {} : { exclude: [...exclude] }),
  };
}

function wireRateCard({ meterId, rates, fallbackUnitAmount, updatedAt }: StoredRateCard) {
  return {
    meterId,
    rates: rates.map(({ dimensions, unitAmount }) => ({ dimensions: { ...dimensions }, unitAmount })),
    fallbackUnitAmount,
    updatedAt,
  };
}
