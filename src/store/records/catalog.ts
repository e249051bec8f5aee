/** Products and their prices. A price is written once; afterwards it can only be archived. */

import type { Selectable } from 'kysely';

import type { PricingTier } from '../../calculation/pricing/pricing-model.ts';
import type { BillingMode, PriceInterval, PricingModelName, Tiering } from '../../operations/wire-values.ts';
import type { PricingsTable, ProductsTable, Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { countOf, type Page, pageOf, type Rows } from './page.ts';

/** What prices are for. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly archivedAt: string | null;
  readonly createdAt: string;
}

/** A price as it is stored, with the name of its product (interface 2.4). */
export interface Pricing {
  readonly id: string;
  readonly productId: string;
  readonly productName: string;
  readonly name: string;
  readonly description: string | null;
  readonly model: PricingModelName;
  readonly billingMode: BillingMode;
  readonly tiering: Tiering;
  /** Decimal text, dollars per unit. */
  readonly unitAmount: string | null;
  /** Decimal text, dollars per period. */
  readonly flatAmount: string | null;
  /** Present if RECURRING, with its count. */
  readonly priceInterval: PriceInterval | null;
  readonly priceIntervalCount: number | null;
  /** Present if the model is USAGE. */
  readonly meterId: string | null;
  /** Empty if tiering is NONE. */
  readonly pricingTiers: readonly PricingTier[];
  readonly archivedAt: string | null;
  readonly createdAt: string;
}

/** Finds archived products too; undefined for an id that the organization does not have. */
export async function findProduct(tx: Transaction, orgId: string, id: string): Promise<Product | undefined> {
  const row = await tx
    .selectFrom('products')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toProduct(row);
}

/** The unarchived product with a name. */
export async function findProductByName(tx: Transaction, orgId: string, name: string): Promise<Product | undefined> {
  const row = await tx
    .selectFrom('products')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('name', '=', name)
    .where('archivedAt', 'is', null)
    .orderBy('seq')
    .executeTakeFirst();
  return row === undefined ? undefined : toProduct(row);
}

/** A page of unarchived products, newest first. */
export async function listProducts(tx: Transaction, orgId: string, page: Page): Promise<Rows<Product>> {
  const rows = await pageOfProducts(tx, { ...page, orgId });
  const [count] = await productCount(tx, { orgId });
  return { rows: rows.map(toProduct), total: Number(count?.total) };
}

const standingProducts = (tx: Transaction, { orgId }: OfOrganization) =>
  tx.selectFrom('products').where('orgId', '=', orgId).where('archivedAt', 'is', null);

const pageOfProducts = prepared(
  (tx, of: OfOrganization & Page) => pageOf(standingProducts(tx, of).selectAll(), 'products', of),
  { name: 'page of products', of: () => [{ orgId: '', limit: 1, offset: 0 }] },
);

const productCount = prepared((tx, of: OfOrganization) => countOf(standingProducts(tx, of)), {
  name: 'number of products',
  of: () => [{ orgId: '' }],
});

/** Does not refuse the name of another unarchived product. */
export async function insertProduct(tx: Transaction, orgId: string, product: Product): Promise<void> {
  await tx
    .insertInto('products')
    .values({ ...product, orgId })
    .execute();
}

/** Its prices stay as they are. */
export async function archiveProduct(
  tx: Transaction,
  orgId: string,
  { id, archivedAt }: { readonly id: string; readonly archivedAt: string },
): Promise<void> {
  await tx.updateTable('products').set({ archivedAt }).where('orgId', '=', orgId).where('id', '=', id).execute();
}

/** Finds archived prices too; undefined for an id that the organization does not have. */
export async function findPricing(tx: Transaction, orgId: string, id: string): Promise<Pricing | undefined> {
  const [pricing] = await findPricings(tx, orgId, [id]);
  return pricing;
}

/** The prices among these ids, archived ones too; ids that the organization does not have are left out. */
export async function findPricings(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<readonly Pricing[]> {
  return (await askedInParts(ids, (part) => pricingsOfIds(tx, { orgId, ids: part }))).map(toPricing);
}

const pricingsOfIds = prepared(
  (tx, { orgId, ids }: OfList<'ids'>) => withProduct(tx, orgId).where('pricings.id', 'in', ids).orderBy('pricings.seq'),
  { name: 'prices', of: () => ofFew('ids') },
);

/** All given fields must match. */
export interface PricingFilter {
  readonly productId?: string | undefined;
  readonly model?: PricingModelName | undefined;
}

/** A page of unarchived prices, newest first. */
export async function listPricings(
  tx: Transaction,
  orgId: string,
  { productId, model, limit, offset }: PricingFilter & Page,
): Promise<Rows<Pricing>> {
  const chosen = { orgId, productId, model };
  const rows = await pageOfPricings(tx, { ...chosen, limit, offset });
  const [count] = await pricingCount(tx, chosen);
  return { rows: rows.map(toPricing), total: Number(count?.total) };
}

type ChosenPricings = OfOrganization & { readonly [Name in keyof Required<PricingFilter>]: PricingFilter[Name] };

function pricingsAmong(tx: Transaction, { orgId, productId, model }: ChosenPricings) {
  let query = withProduct(tx, orgId).where('pricings.archivedAt', 'is', null);
  if (productId !== undefined) query = query.where('pricings.productId', '=', productId);
  if (model !== undefined) query = query.where('pricings.model', '=', model);
  return query;
}

const anyPricing: ChosenPricings = { orgId: '', productId: undefined, model: undefined };

const pageOfPricings = prepared(
  (tx, chosen: ChosenPricings & Page) => pageOf(pricingsAmong(tx, chosen), 'pricings', chosen),
  { name: 'page of prices', of: () => [{ ...anyPricing, limit: 1, offset: 0 }] },
);

const pricingCount = prepared((tx, chosen: ChosenPricings) => countOf(pricingsAmong(tx, chosen).clearSelect()), {
  name: 'number of prices',
  of: () => [anyPricing],
});

/** Unarchived prices of these meters, those of one meter newest first. */
export async function listPricingsOfMeters(
  tx: Transaction,
  orgId: string,
  meterIds: readonly string[],
): Promise<readonly Pricing[]> {
  const rows = await askedInParts(meterIds, (part) => pricingsOfMeters(tx, { orgId, meterIds: part }));
  return rows.map(toPricing);
}

const pricingsOfMeters = prepared(
  (tx, { orgId, meterIds }: OfList<'meterIds'>) =>
    withProduct(tx, orgId)
      .where('pricings.meterId', 'in', meterIds)
      .where('pricings.archivedAt', 'is', null)
      .orderBy('pricings.createdAt', 'desc')
      .orderBy('pricings.seq', 'desc'),
  { name: 'prices of meters', of: () => ofFew('meterIds') },
);

/** `productName` is not written: the product has it. A product that the organization lacks is a ConstraintViolation. */
export async function insertPricing(tx: Transaction, orgId: string, pricing: Pricing): Promise<void> {
  const { productName: _productName, pricingTiers, ...plain } = pricing;
  await tx
    .insertInto('pricings')
    .values({ ...plain, orgId, pricingTiers: JSON.stringify(pricingTiers) })
    .execute();
}

/** Takes a price off the lists; contracts have their own copy (semantics 6). */
export async function archivePricing(
  tx: Transaction,
  orgId: string,
  { id, archivedAt }: { readonly id: string; readonly archivedAt: string },
): Promise<void> {
  await tx.updateTable('pricings').set({ archivedAt }).where('orgId', '=', orgId).where('id', '=', id).execute();
}

function withProduct(tx: Transaction, orgId: string) {
  return tx
    .selectFrom('pricings')
    .innerJoin('products', (join) =>
      join.onRef('products.orgId', '=', 'pricings.orgId').onRef('products.id', '=', 'pricings.productId'),
    )
    .selectAll('pricings')
    .select('products.name as productName')
    .where('pricings.orgId', '=', orgId);
}

function toProduct({ orgId: _orgId, seq: _seq, ...row }: Selectable<ProductsTable>): Product {
  return row;
}

function toPricing({
  orgId: _orgId,
  seq: _seq,
  ...row
}: Selectable<PricingsTable> & { readonly productName: string }): Pricing {
  return {
    ...row,
    priceIntervalCount: row.priceIntervalCount === null ? null : Number(row.priceIntervalCount),
    pricingTiers: JSON.parse(row.pricingTiers) as PricingTier[],
  };
}
