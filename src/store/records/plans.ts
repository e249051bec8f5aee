/** Plans with their items and the prices of those items. */

import type { Selectable } from 'kysely';

import type { PlansTable, Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { findPricings } from './catalog.ts';
import type { Pricing } from './catalog.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { countOf, type Page, pageOf, type Rows } from './page.ts';

/** A price of a plan. */
export interface PlanItem {
  readonly id: string;
  readonly pricing: Pricing;
  /** Decimal text; not used by a usage price. */
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

/** Finds archived plans too; undefined for an id that the organization does not have. */
export async function findPlan(tx: Transaction, orgId: string, id: string): Promise<Plan | undefined> {
  const [plan] = await withItems(tx, orgId, await planOfId(tx, { orgId, id }));
  return plan;
}

const planOfId = prepared(
  (tx, { orgId, id }: OfOrganization<'id'>) =>
    tx.selectFrom('plans').selectAll().where('orgId', '=', orgId).where('id', '=', id),
  { name: 'plan', of: () => [{ orgId: '', id: '' }] },
);

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
  const rows = await pageOfPlans(tx, { ...page, orgId });
  const [count] = await planCount(tx, { orgId });
  return { rows: await withItems(tx, orgId, rows), total: Number(count?.total) };
}

const standingPlans = (tx: Transaction, { orgId }: OfOrganization) =>
  tx.selectFrom('plans').where('orgId', '=', orgId).where('archivedAt', 'is', null);

const pageOfPlans = prepared(
  (tx, of: OfOrganization & Page) => pageOf(standingPlans(tx, of).selectAll(), 'plans', of),
  { name: 'page of plans', of: () => [{ orgId: '', limit: 1, offset: 0 }] },
);

const planCount = prepared((tx, of: OfOrganization) => countOf(standingPlans(tx, of)), {
  name: 'number of plans',
  of: () => [{ orgId: '' }],
});

/** Takes a plan off the lists; its contracts go on. */
export async function archivePlan(
  tx: Transaction,
  orgId: string,
  { id, archivedAt }: { readonly id: string; readonly archivedAt: string },
): Promise<void> {
  const archived = { archivedAt, updatedAt: archivedAt };
  await tx.updateTable('plans').set(archived).where('orgId', '=', orgId).where('id', '=', id).execute();
}

/** The name of the oldest unarchived plan that has this price. */
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

/** Inserts the plan and its items in their order; a price that the organization lacks is a ConstraintViolation. */
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

const itemsOfPlans = prepared(
  (tx, { orgId, planIds }: OfList<'planIds'>) =>
    tx
      .selectFrom('planItems')
      .select(['id', 'planId', 'pricingId', 'defaultQuantity'])
      .where('orgId', '=', orgId)
      .where('planId', 'in', planIds)
      .orderBy('planId')
      .orderBy('position'),
  { name: 'items of plans', of: () => ofFew('planIds') },
);

async function withItems(tx: Transaction, orgId: string, rows: readonly Selectable<PlansTable>[]): Promise<Plan[]> {
  const ids = rows.map((row) => row.id);
  const items = await askedInParts(ids, (planIds) => itemsOfPlans(tx, { orgId, planIds }));
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
