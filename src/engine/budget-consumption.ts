/** What budgets have consumed: rated usage of their dimension over the contract's life, metered now (semantics 10). */

import { startOfDay } from '../calculation/billing-period.ts';
import { budgetCents, budgetUse, type BudgetUse } from '../calculation/budget.ts';
import { type UsageWindow, usageWindowsAt } from '../calculation/invoice-periods.ts';
import { standingGrants, valuationRateOf } from '../calculation/ledger.ts';
import { rateMeteredUsage } from '../calculation/usage-atoms.ts';
import { usageWindowsOver } from '../calculation/usage-windows.ts';
import { ConflictError } from '../errors.ts';
import { type Budget, listBudgets, updateBudget } from '../store/records/budgets.ts';
import type { Contract } from '../store/records/contracts.ts';
import { listFrozenUsage } from '../store/records/frozen-usage.ts';
import { listInvoicesOfContract } from '../store/records/invoices.ts';
import { listLedger } from '../store/records/ledger.ts';
import { findMeters } from '../store/records/meters.ts';
import { wireBudget, wireConsumption } from './budgets-wire.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { droppedBefore, isDropped, windowKey } from './usage-frozen.ts';
import { endOfEvents, meteringFor, type MeteredContract, type MeteringOptions } from './usage-metering-options.ts';
import { meterContract, type MeteringContext } from './usage-metering.ts';
import { emit } from './webhooks-emit.ts';

export interface BudgetReading {
  readonly budget: Budget;
  readonly use: BudgetUse;
}

/** The budgets of a contract, in their order, with what each has consumed until now. */
export async function readBudgets(
  context: CallContext,
  contract: Contract & Pick<MeteredContract, 'earlier' | 'together'>,
): Promise<BudgetReading[]> {
  const { tx, orgId } = context;
  const budgets = await listBudgets(tx, orgId, contract.id);
  if (budgets.length === 0) return [];
  const entries = await listLedger(tx, orgId, contract.id);
  const rateCents = valuationRateOf(entries, contract.creditSettings.creditRateCents);
  const consumed = await consumedCents(context, contract, {
    budgets,
    windows: await windowsSoFar(context, contract),
    metering: meteringFor(standingGrants(entries), budgets),
  });
  return budgets.map((budget) => ({ budget, use: budgetUse(budget, consumed.get(budget.id) ?? 0n, rateCents) }));
}

export interface ConsumptionQuery {
  readonly budgets: readonly Budget[];
  readonly windows: readonly UsageWindow[];
  /** Its dimensions tell apart the property keys of the budgets. */
  readonly metering: MeteringOptions;
}

/** Rated usage of each budget's dimension in these windows, in cents by budget id. */
export async function consumedCents(
  context: MeteringContext,
  contract: MeteredContract,
  { budgets, windows, metering }: ConsumptionQuery,
): Promise<ReadonlyMap<string, bigint>> {
  const asked = budgets.some((budget) => budget.meterId === null) ? undefined : budgets.map((budget) => budget.meterId);
  const relevant = windows.filter((window) => asked === undefined || asked.includes(window.meterId));
  // A budget is for the value of a property, and usage of an SQL meter has no properties.
  const usages = await meterContract(context, contract, relevant, { ...metering, leavesOutSql: true });
  const atoms = [...usages.values()].flatMap(
    (usage) => rateMeteredUsage(usage, { invoiceId: '', periodIndex: 0 }).atoms,
  );
  return new Map(budgets.map((budget) => [budget.id, budgetCents(budget, atoms)]));
}

/**
 * Throws ConflictError for a budget whose consumption cannot be known: events of the contract were dropped, and what was
 * frozen of them does not distinguish the budget's property.
 */
export async function refuseUncountable(
  context: MeteringContext,
  contract: Pick<Contract, 'id' | 'items'>,
  { eventPropertyKey, meterId }: Budget,
): Promise<void> {
  const { tx, orgId } = context;
  if (droppedBefore(context) === undefined) return;
  const items = new Map(contract.items.map((item) => [item.id, item]));
  const unknown = (await listFrozenUsage(tx, orgId, contract.id))
    .filter(
      ({ startEpochMs, combination, dimensions }) =>
        isDropped(context, startEpochMs) &&
        combination !== 'SQL' &&
        !dimensions.propertyKeys.includes(eventPropertyKey),
    )
    .flatMap(({ itemId }) => items.get(itemId)?.meterId ?? [])
    .filter((id) => meterId === null || id === meterId);
  const meters = await findMeters(tx, orgId, [...new Set(unknown)]);
  if (meters.every(({ groupKeys }) => groupKeys.includes(eventPropertyKey))) return;
  throw new ConflictError(
    `what ${eventPropertyKey} has used of this contract can no longer be known: its events of billed periods were dropped`,
    { hint: "add the budget to the customer's next contract, or use a group key of its meters" },
  );
}

/** Whether a budget has just reached its cap: its alert has to fire, once. */
export function isNewlyReached({ budget, use }: BudgetReading): boolean {
  return use.isReached && !budget.isExhausted;
}

/**
 * Marks the budgets that have reached their cap and emits a webhook for each in the same transaction, so that an arming fires
 * once (semantics 10). Budgets that another call marked or changed meanwhile are left alone.
 */
export async function markExhausted(
  context: CallContext,
  contract: Pick<Contract, 'id' | 'customerId'>,
  readings: readonly BudgetReading[],
): Promise<void> {
  const reached = readings.filter(isNewlyReached);
  if (reached.length === 0) return;
  const { tx, orgId } = context;
  const current = await listBudgets(tx, orgId, contract.id);
  for (const { budget, use } of reached) {
    const index = current.findIndex((each) => each.id === budget.id);
    const now = current[index];
    if (now === undefined || now.isExhausted || !hasSameCap(now, budget)) continue;
    await updateBudget(tx, orgId, { id: budget.id, isExhausted: true });
    await emit(context, 'credit.budget.exhausted', () => ({
      contractId: contract.id,
      customerId: contract.customerId,
      budget: wireBudget({ ...now, isExhausted: true }, index),
      ...wireConsumption(use),
    }));
  }
}

/** Whether two versions of a budget cap the same usage at the same value. */
function hasSameCap(a: Budget, b: Budget): boolean {
  return a.maxCredits === b.maxCredits && a.maxCreditsCents === b.maxCreditsCents && a.meterId === b.meterId;
}

/** Every window that can hold an event by now, except those of cancelled invoices, whose usage is no longer billed. */
async function windowsSoFar({ tx, orgId, now }: CallContext, contract: Contract): Promise<UsageWindow[]> {
  const terms = billingTermsOf(contract);
  const invoices = await listInvoicesOfContract(tx, orgId, contract.id);
  const cancelled = new Set(
    invoices
      .filter((invoice) => invoice.status === 'Cancelled')
      .flatMap((invoice) => usageWindowsAt(terms, invoice.periodIndex).map(windowKey)),
  );
  const windows = usageWindowsOver(terms, { start: startOfDay(contract.startDate), end: endOfEvents(now) });
  return windows.filter((window) => !cancelled.has(windowKey(window)));
}
