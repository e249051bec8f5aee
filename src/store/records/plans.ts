/** Plans with their items and the prices of these. */

import type { Selectable } from 'kysely';

import type { PlansTable, Transaction } from '../database.ts';
import { findPricings } from './catalog.ts';
import type { Pricing } from './catalog.ts';
import { countOf, type Page, pageOf, type Rows } from './page.ts';

/** A price of a plan. */
export interface PlanItem {
  readonly id: string;
  readonly pricing: Pricing;
  /** Decimal text; not used by a price of usage. */
  readonly defaultQuantity: string;
}

/** A plan as it is stored (interface 2.5). */
export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly currency: string;
  /** Whole days as text, `30`. */
  readonly netTerms: string;
  readonly externalId: string | null;
  readonly defaultAutoPayEnabled: boolean;
  readonly invoiceSendMethod: string;
  readonly onDepletion: string | null;
  readonly defaultCreditGrantCents: bigint | null;
  /** In the order in which they were given. */
  readonly items: readonly PlanItem[];
  readonly archivedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Also an archived plan; undefined for an id that the organization does not have. */
export async function findPlan(tx: Transaction, orgId: string, id: string): Promise<Plan | undefined> {
  const row = await tx
    .selectFrom('plans')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const [plan] = await withItems(tx, orgId, [row]);
  return plan;
}

/** How invoices of a plan are sent; undefined for an id that the organization does not have. */
export async function findInvoiceSendMethod(tx: Transaction, orgId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('plans')
    .select('invoiceSendMethod')
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.invoiceSendMethod;
}

/** A page of unarchived plans, newest first. */
export async function listPlans(tx: Transaction, orgId: string, page: Page): Promise<Rows<Plan>> {
  const query = tx.selectFrom('plans').where('orgId', '=', orgId).where('archivedAt', 'is', null);
  const rows = await pageOf(query.selectAll(), 'plans', page).execute();
  return { rows: await withItems(tx, orgId, rows), total: Number(await countOf(query)) };
}

/** Takes a plan off the lists; its contracts go on. */
export async function archivePlan(
  tx: Transaction,
  orgId: string,
  { id, archivedAt }: { readonly id: string; readonly archivedAt: string },
): Promise<void> {
  const archived = { archivedAt, updatedAt: archivedAt };
  await tx.updateTable('plans').set(archived).where('orgId', '=', orgId).where('id', '=', id).execute();
}

/** The name of an unarchived plan that has this price: the oldest one. */
export async function findPlanNameOfPricing(
  tx: Transaction,
  orgId: string,
  pricingId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('planItems')
    .innerJoin('plans', (join) =>
      join.onRef('plans.orgId', '=', 'planItems.orgId').onRef('plans.id', '=', 'planItems.planId'),
    )
    .select('plans.name')
    .where('planItems.orgId', '=', orgId)
    .where('planItems.pricingId', '=', pricingId)
    .where('plans.archivedAt', 'is', null)
    .orderBy('plans.seq')
    .executeTakeFirst();
  return row?.name;
}

/** With its items in the order given; a price that the organization lacks is a ConstraintViolation. */
export async function insertPlan(tx: Transaction, orgId: string, plan: Plan): Promise<void> {
  const { items, ...plain } = plan;
  await tx
    .insertInto('plans')
    .values({ ...plain, orgId })
    .execute();
  for (const [position, { id, pricing, defaultQuantity }] of items.entries()) {
    await tx
      .insertInto('planItems')
      .values({ orgId, id, planId: plan.id, position, pricingId: pricing.id, defaultQuantity })
      .execute();
  }
}

async function withItems(tx: Transaction, orgId: string, rows: readonly Selectable<PlansTable>[]): Promise<Plan[]> {
  if (rows.length === 0) return [];
  const planIds = rows.map((row) => row.id);
  const items = await tx
    .selectFrom('planItems')
    .select(['id', 'planId', 'pricingId', 'defaultQuantity'])
    .where('orgId', '=', orgId)
    .where('planId', 'in', planIds)
    .orderBy('planId')
    .orderBy('position')
    .execute();
  const pricings = await findPricings(tx, orgId, [...new Set(items.map((item) => item.pricingId))]);
  const pricingOf = new Map(pricings.map((pricing) => [pricing.id, pricing]));
  return rows.map(({ orgId: _orgId, seq: _seq, ...row }) => ({
    ...row,
    defaultAutoPayEnabled: row.defaultAutoPayEnabled === 1n,
    items: items
      .filter((item) => item.planId === row.id)
      .flatMap(({ id, pricingId, defaultQuantity }) => {
        const pricing = pricingOf.get(pricingId);
        return pricing === undefined ? [] : [{ id, pricing, defaultQuantity }];
      }),
  }));
}
