/** Plans made of prices (interface 2.5 and 4.9, semantics 5 and 6). */

import { nestingGrid } from '../calculation/billing-period.ts';
import { InvalidInputError } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import type { catalogOperations } from '../operations/catalog.ts';
import { findPricings } from '../store/records/catalog.ts';
import type { Pricing } from '../store/records/catalog.ts';
import { archivePlan, findPlan, insertPlan, listPlans } from '../store/records/plans.ts';
import type { Plan, PlanItem } from '../store/records/plans.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { amountProblem, intervalOf, priceSourceOf } from './price-source.ts';
import { existing, refuse, unusableIssues } from './refuse.ts';
import { wireCents } from './wire.ts';

type PlanHandlers = Pick<
  HandlersOf<typeof catalogOperations>,
  'plans.create' | 'plans.get' | 'plans.list' | 'plans.archive'
>;

export const planHandlers: PlanHandlers = {
  'plans.create': async (context, { body }) => {
    const { metadata } = body;
    const plan: Plan = {
      id: context.newId(),
      name: body.name,
      description: body.description ?? null,
      currency: body.currency,
      netTerms: body.netTerms,
      externalId: body.externalId ?? null,
      defaultAutoPayEnabled: metadata?.defaultAutoPayEnabled ?? false,
      invoiceSendMethod: metadata?.invoiceSendMethod ?? 'auto',
      onDepletion: metadata?.defaultCreditSettings?.onDepletion ?? null,
      defaultCreditGrantCents: metadata?.defaultCreditGrantCents ?? null,
      items: await itemsOf(context, body.items),
      archivedAt: null,
      createdAt: context.timestamp,
      updatedAt: context.timestamp,
    };
    await insertPlan(context.tx, context.orgId, plan);
    return { body: { data: wirePlan(plan) } };
  },

  'plans.get': async (context, { params }) => {
    return { body: { data: wirePlan(await getPlan(context, params.planId)) } };
  },

  'plans.archive': async (context, { params }) => {
    const plan = await getPlan(context, params.planId);
    if (plan.archivedAt === null) {
      await archivePlan(context.tx, context.orgId, { id: plan.id, archivedAt: context.timestamp });
    }
    return { body: { data: wirePlan(await getPlan(context, plan.id)) } };
  },

  'plans.list': async (context, { query }) => {
    const page = pageOf(query);
    const found = await listPlans(context.tx, context.orgId, page);
    return { body: listBody(found, page, found.rows.map(wirePlan)) };
  },
};

async function getPlan({ tx, orgId }: CallContext, id: string): Promise<Plan> {
  return existing(await findPlan(tx, orgId, id), 'plan', 'plans list');
}

interface GivenItem {
  readonly pricingId: string;
  readonly defaultQuantity: string;
}

async function itemsOf(context: CallContext, given: readonly GivenItem[]): Promise<PlanItem[]> {
  const pricings = await findPricings(
    context.tx,
    context.orgId,
    given.map((item) => item.pricingId),
  );
  const pricingOf = new Map(pricings.map((pricing) => [pricing.id, pricing]));
  const issues = given.flatMap(({ pricingId }, index): InputIssue[] => {
    const [path, pricing] = [`items[${index}].pricingId`, pricingOf.get(pricingId)];
    const unusable = unusableIssues(path, 'price', pricing);
    const isRepeated = given.findIndex((item) => item.pricingId === pricingId) < index;
    if (unusable.length > 0 || !isRepeated) return unusable;
    // It would bill the same usage twice, and no override could tell the two apart.
    return [{ path, message: `names the price "${pricing?.name}" a second time` }];
  });
  refuse(issues);
  checkIntervals(pricings);
  const items = given.flatMap(({ pricingId, defaultQuantity }) => {
    const pricing = pricingOf.get(pricingId);
    return pricing === undefined ? [] : [{ id: context.newId(), pricing, defaultQuantity }];
  });
  refuse(
    items.flatMap(({ id, pricing, defaultQuantity: quantity }, index): InputIssue[] => {
      const message = amountProblem(priceSourceOf(pricing, undefined, { id, quantity }), quantity);
      return message === undefined ? [] : [{ path: `items[${index}].defaultQuantity`, message }];
    }),
  );
  return items;
}

/** Invoices follow the shortest interval, so every other must start where it does (semantics 6). */
function checkIntervals(pricings: readonly Pricing[]): void {
  const intervals = pricings.flatMap((pricing) => intervalOf(pricing) ?? []);
  if (intervals.length === 0 || nestingGrid(intervals) !== undefined) return;
  const given = [...new Set(intervals.map(({ unit, count }) => `${count} ${unit}`))].join(', ');
  const message = `the intervals of the prices do not nest (${given}): each must be a whole multiple of the shortest`;
  throw new InvalidInputError([{ path: 'items', message }], {
    hint: 'put prices whose intervals do not nest into plans of their own',
  });
}

function wirePlan(plan: Plan) {
  const { id, name, description, currency, netTerms, externalId, createdAt, updatedAt } = plan;
  const { defaultAutoPayEnabled, invoiceSendMethod, onDepletion, defaultCreditGrantCents } = plan;
  return {
    id,
    name,
    ...(description === null ? {} : { description }),
    currency,
    netTerms,
    ...(externalId === null ? {} : { externalId }),
    metadata: {
      defaultAutoPayEnabled,
      invoiceSendMethod,
      ...(onDepletion === null ? {} : { defaultCreditSettings: { onDepletion } }),
      ...(defaultCreditGrantCents === null ? {} : { defaultCreditGrantCents: wireCents(defaultCreditGrantCents) }),
    },
    items: plan.items.map(wireItem),
    createdAt,
    updatedAt,
  };
}

function wireItem({ id, pricing, defaultQuantity }: PlanItem) {
  const { productId, productName, billingMode } = pricing;
  return {
    id,
    pricingId: pricing.id,
    productId,
    productName,
    pricingName: pricing.name,
    pricingModel: pricing.model,
    billingMode,
    defaultQuantity,
    isMetered: pricing.model === 'USAGE',
  };
}
