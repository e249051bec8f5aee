/** Products and prices, and the room's table (interface 4.7 and 4.8, semantics 3 and 5). Plans are in catalog-plans.ts. */

import { assert } from '../assert.ts';
import type { PricingTier } from '../calculation/pricing/pricing-model.ts';
import { normaliseTiers, type TierInput } from '../calculation/pricing/tiered.ts';
import { ConflictError } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import { limits } from '../limits.ts';
import type { catalogOperations } from '../operations/catalog.ts';
import type { Tiering } from '../operations/wire-values.ts';
import {
  archivePricing,
  archiveProduct,
  findPricing,
  findProduct,
  findProductByName,
  insertPricing,
  insertProduct,
  listPricings,
  listProducts,
} from '../store/records/catalog.ts';
import type { Pricing, Product } from '../store/records/catalog.ts';
import { findMeter } from '../store/records/meters.ts';
import { findPlanNameOfPricing } from '../store/records/plans.ts';
import { planHandlers } from './catalog-plans.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { existing, refuse, unusableIssues } from './refuse.ts';

export const catalogHandlers: HandlersOf<typeof catalogOperations> = {
  ...planHandlers,

  'products.create': async (context, { body }) => {
    const holder = await findProductByName(context.tx, context.orgId, body.name);
    if (holder !== undefined) {
      throw new ConflictError(`a product is called "${body.name}" already: ${holder.id}`);
    }
    return { body: { data: wireProduct(await addProduct(context, body.name, body.description)) } };
  },

  'products.list': async (context, { query }) => {
    const page = pageOf(query);
    const found = await listProducts(context.tx, context.orgId, page);
    return { body: listBody(found, page, found.rows.map(wireProduct)) };
  },

  'products.get': async (context, { params }) => {
    return { body: { data: wireProduct(await getProduct(context, params.productId)) } };
  },

  'products.archive': async (context, { params }) => {
    const product = await getProduct(context, params.productId);
    if (product.archivedAt === null) {
      const priced = await listPricings(context.tx, context.orgId, { productId: product.id, limit: 1, offset: 0 });
      const [pricing] = priced.rows;
      if (pricing !== undefined) {
        throw new ConflictError(`product "${product.name}" has the price "${pricing.name}" (${pricing.id})`, {
          hint: 'archive its prices first',
        });
      }
      await archiveProduct(context.tx, context.orgId, { id: product.id, archivedAt: context.timestamp });
    }
    return { body: { data: wireProduct(product) } };
  },

  'pricing.create': async (context, { body }) => {
    const given = body.pricingTiers ?? [];
    const { tiers, issues: tierIssues } = given.length === 0 ? noTiers : tiersOf(given, 'pricingTiers');
    const meterIssues = body.meterId === undefined ? [] : await findMeterIssues(context, body.meterId);
    const product = await findOrAddProduct(context, body);
    refuse([...unusableIssues('productId', 'product', product), ...meterIssues, ...tierIssues]);
    assert(product !== undefined, 'a product that is not there was refused');
    const usualTiering: Tiering = tiers.length > 0 ? 'GRADUATED' : 'NONE';
    const pricing: Pricing = {
      id: context.newId(),
      productId: product.id,
      productName: product.name,
      name: body.name,
      description: body.description ?? null,
      model: body.model,
      billingMode: body.billingMode,
      tiering: body.tiering ?? usualTiering,
      unitAmount: body.unitAmount ?? null,
      flatAmount: body.flatAmount ?? null,
      priceInterval: body.priceInterval ?? null,
      priceIntervalCount: body.priceInterval === undefined ? null : (body.priceIntervalCount ?? 1),
      meterId: body.meterId ?? null,
      pricingTiers: tiers,
      archivedAt: null,
      createdAt: context.timestamp,
    };
    await insertPricing(context.tx, context.orgId, pricing);
    return { body: { data: wirePricing(pricing) } };
  },

  'pricing.get': async (context, { params }) => {
    const pricing = await getPricing(context, params.pricingId);
    return { body: { data: wirePricing(pricing) } };
  },

  'pricing.list': async (context, { query }) => {
    const page = pageOf(query, limits.defaultPricingPageSize);
    const { productId, model } = query;
    const found = await listPricings(context.tx, context.orgId, { productId, model, ...page });
    return { body: listBody(found, page, found.rows.map(wirePricing)) };
  },

  'pricing.archive': async (context, { params }) => {
    const pricing = await getPricing(context, params.pricingId);
    if (pricing.archivedAt === null) {
      const planName = await findPlanNameOfPricing(context.tx, context.orgId, pricing.id);
      if (planName !== undefined) {
        throw new ConflictError(`the price "${pricing.name}" is part of plan "${planName}"`, {
          hint: 'archive that plan first',
        });
      }
      await archivePricing(context.tx, context.orgId, { id: pricing.id, archivedAt: context.timestamp });
    }
    return { body: { data: wirePricing(pricing) } };
  },
};

async function getProduct({ tx, orgId }: CallContext, id: string): Promise<Product> {
  return existing(await findProduct(tx, orgId, id), 'product', 'products list');
}

async function getPricing({ tx, orgId }: CallContext, id: string): Promise<Pricing> {
  return existing(await findPricing(tx, orgId, id), 'price', 'pricing list');
}

interface ProductChoice {
  readonly productId?: string | undefined;
  readonly productName?: string | undefined;
  readonly productDescription?: string | undefined;
}

/** The product by id, or by name, made where there is none. A later refusal takes it back. */
async function findOrAddProduct(context: CallContext, choice: ProductChoice): Promise<Product | undefined> {
  const { productId, productName } = choice;
  if (productId !== undefined) return await findProduct(context.tx, context.orgId, productId);
  if (productName === undefined) return undefined;
  const known = await findProductByName(context.tx, context.orgId, productName);
  return known ?? (await addProduct(context, productName, choice.productDescription));
}

async function addProduct(context: CallContext, name: string, description: string | undefined): Promise<Product> {
  const product: Product = {
    id: context.newId(),
    name,
    description: description ?? null,
    archivedAt: null,
    createdAt: context.timestamp,
  };
  await insertProduct(context.tx, context.orgId, product);
  return product;
}

async function findMeterIssues(context: CallContext, meterId: string): Promise<InputIssue[]> {
  const meter = await findMeter(context.tx, context.orgId, meterId);
  return unusableIssues('meterId', 'meter', meter && { ...meter, name: meter.code });
}

interface ReadTiers {
  readonly tiers: readonly PricingTier[];
  readonly issues: readonly InputIssue[];
}

const noTiers: ReadTiers = { tiers: [], issues: [] };

/** Tiers in the stored form, or the first issue with them, its path below `path`. */
export function tiersOf(given: readonly TierInput[], path: string): ReadTiers {
  const normalised = normaliseTiers(given);
  if ('tiers' in normalised) return { tiers: normalised.tiers, issues: [] };
  const { index, field, problem } = normalised;
  return { tiers: [], issues: [{ path: `${path}[${index}].${field}`, message: problem }] };
}

function wireProduct({ id, name, description, createdAt }: Product) {
  return { id, name, ...(description === null ? {} : { description }), createdAt };
}

function wirePricing(pricing: Pricing) {
  const { id, productId, productName, name, model, billingMode, tiering, createdAt } = pricing;
  const { description, unitAmount, flatAmount, priceInterval, priceIntervalCount, meterId, pricingTiers } = pricing;
  return {
    id,
    productId,
    productName,
    name,
    model,
    billingMode,
    tiering,
    createdAt,
    ...(description === null ? {} : { description }),
    ...(unitAmount === null ? {} : { unitAmount }),
    ...(flatAmount === null ? {} : { flatAmount }),
    ...(priceInterval === null ? {} : { priceInterval }),
    ...(priceIntervalCount === null ? {} : { priceIntervalCount }),
    ...(meterId === null ? {} : { meterId }),
    ...(pricingTiers.length === 0 ? {} : { pricingTiers: pricingTiers.map((tier) => ({ ...tier })) }),
  };
}
