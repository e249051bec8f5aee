/** Budgets of a contract, addressed by their place in its list (interface 2.7, 4.12 to 4.14; semantics 10). */

import { isDeepStrictEqual } from 'node:util';

import type * as z from 'zod';

import { decimal, decimalText } from '../calculation/money.ts';
import { BillingError, ConflictError, type InputIssue, namesNoMessage, NotFoundError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { budgetInput, budgetOperations } from '../operations/budgets.ts';
import {
  type Budget,
  hasCreditGrant,
  insertBudgets,
  listBudgets,
  removeBudget,
  updateBudget,
} from '../store/records/budgets.ts';
import { type Contract, updateContract } from '../store/records/contracts.ts';
import { findMeters } from '../store/records/meters.ts';
import {
  type BudgetReading,
  isNewlyReached,
  markExhausted,
  readBudgets,
  refuseUncountable,
} from './budget-consumption.ts';
import { wireBudget, wireConsumption } from './budgets-wire.ts';
import { getContract } from './contract-lookup.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { refuse } from './refuse.ts';
import { sweepExpired } from './settlement.ts';
import { wireDecimal } from './wire.ts';

type BudgetInput = z.output<typeof budgetInput>;

export const budgetHandlers: HandlersOf<typeof budgetOperations> = {
  'budgets.list': async (context, { params }) => {
    const contract = await getContract(context, params.contractId);
    const budgets = await listBudgets(context.tx, context.orgId, contract.id);
    const walletMode = await walletModeOf(context, contract);
    return {
      body: { data: { budgets: budgets.map(wireBudget), contractId: contract.id, walletMode } },
      etag: versionOf(contract),
    };
  },

  'budgets.usage': async (context, { params }) => {
    const contract = await getContract(context, params.contractId);
    const readings = await readBudgets(context, contract);
    const walletMode = await walletModeOf(context, contract);
    const data = {
      budgets: readings.map(wireReading),
      contractId: contract.id,
      walletMode,
      queriedAt: context.timestamp,
    };
    if (!readings.some(isNewlyReached)) return { body: { data } };
    return { body: { data }, followUp: async (later) => await markExhausted(later, contract, readings) };
  },

  'budgets.add': async (context, { params, body, ifMatch }) => {
    const contract = await getContract(context, params.contractId);
    checkVersion(contract, ifMatch);
    const existing = await listBudgets(context.tx, context.orgId, contract.id);
    await refuseUnknownMeters(context, [{ path: 'meterId', meterId: body.meterId }]);
    const same = existing.findIndex((budget) => isSameDimension(budget, body));
    if (same >= 0) {
      throw new ConflictError(
        `this contract has a budget for ${body.eventPropertyKey}=${body.eventPropertyValue} already`,
        { hint: `change that one with: tally budgets update ${contract.id} ${same}` },
      );
    }
    if (existing.length >= limits.budgetsPerContract) {
      throw new ConflictError(`this contract has ${limits.budgetsPerContract} budgets, the most allowed`);
    }
    const budget = newBudget(context, contract.id, body);
    await refuseUncountable(context, contract, budget);
    await sweepExpired(context, contract);
    await insertBudgets(context.tx, context.orgId, { from: existing.length, budgets: [budget] });
    return { body: { data: wireBudget(budget, existing.length) }, etag: await nextVersion(context, contract) };
  },

  'budgets.update': async (context, { params, body, ifMatch }) => {
    const { contract, budget, index } = await getBudget(context, params, ifMatch);
    await refuseUnknownMeters(context, [{ path: 'meterId', meterId: body.meterId }]);
    const { label = budget.label, meterId = budget.meterId, maxCreditsCents = budget.maxCreditsCents } = body;
    const maxCredits = body.maxCredits === undefined ? budget.maxCredits : capText(body.maxCredits);
    const isOtherCap = maxCredits !== budget.maxCredits || maxCreditsCents !== budget.maxCreditsCents;
    const isExhausted = budget.isExhausted && !isOtherCap;
    const changes = { label, meterId, maxCredits, maxCreditsCents, isExhausted };
    const changed = { ...budget, ...changes };
    // What leaves the budget as it was is not written, so that the version that others have seen still holds.
    if (isDeepStrictEqual(changed, budget))
      return { body: { data: wireBudget(budget, index) }, etag: versionOf(contract) };
    if (meterId !== budget.meterId) await refuseUncountable(context, contract, changed);
    await sweepExpired(context, contract);
    await updateBudget(context.tx, context.orgId, { id: budget.id, ...changes });
    return { body: { data: wireBudget(changed, index) }, etag: await nextVersion(context, contract) };
  },

  'budgets.remove': async (context, { params, ifMatch }) => {
    const { contract, budget, index } = await getBudget(context, params, ifMatch);
    await sweepExpired(context, contract);
    await removeBudget(context.tx, context.orgId, { contractId: contract.id, position: index });
    return { body: { data: { removed: wireBudget(budget, index) } }, etag: await nextVersion(context, contract) };
  },
};

/**
 * The budgets that a new contract begins with, from its creditSettings. Throws InvalidInputError for an unknown meter and for a
 * dimension that is given twice.
 */
export async function addFirstBudgets(
  context: CallContext,
  contractId: string,
  inputs: readonly BudgetInput[],
): Promise<void> {
  const pathOf = (index: number): string => `creditSettings.budgets[${index}]`;
  await refuseUnknownMeters(
    context,
    inputs.map(({ meterId }, index) => ({ path: `${pathOf(index)}.meterId`, meterId })),
  );
  const issues = inputs.flatMap((input, index): InputIssue[] => {
    if (!inputs.slice(0, index).some((earlier) => isSameDimension(earlier, input))) return [];
    return [{ path: `${pathOf(index)}.eventPropertyValue`, message: 'has a budget already' }];
  });
  refuse(issues);
  const budgets = inputs.map((input) => newBudget(context, contractId, input));
  await insertBudgets(context.tx, context.orgId, { from: 0, budgets });
}

interface FoundBudget {
  readonly contract: Contract;
  readonly budget: Budget;
  readonly index: number;
}

/** The version is compared first: a stale index may name another budget, or none. */
async function getBudget(
  context: CallContext,
  params: { readonly contractId: string; readonly index: string },
  ifMatch: string | undefined,
): Promise<FoundBudget> {
  const contract = await getContract(context, params.contractId);
  checkVersion(contract, ifMatch);
  const budgets = await listBudgets(context.tx, context.orgId, contract.id);
  const index = /^(?:0|[1-9]\d{0,5})$/.test(params.index) ? Number(params.index) : -1;
  const budget = budgets[index];
  if (budget === undefined) {
    throw new NotFoundError('this contract has no budget at this index', {
      hint: `see them with: tally budgets list ${contract.id}`,
    });
  }
  return { contract, budget, index };
}

function checkVersion(contract: Contract, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === versionOf(contract)) return;
  throw new BillingError(
    'preconditionFailed',
    `the budgets of this contract are at version ${versionOf(contract)}, not at ${ifMatch}: somebody changed them`,
  );
}

function versionOf(contract: Contract): string {
  return String(contract.budgetsVersion);
}

async function nextVersion(context: CallContext, contract: Contract): Promise<string> {
  const budgetsVersion = contract.budgetsVersion + 1;
  await updateContract(context.tx, context.orgId, { id: contract.id, budgetsVersion, updatedAt: context.now });
  return String(budgetsVersion);
}

async function refuseUnknownMeters(
  { tx, orgId }: CallContext,
  named: readonly { readonly path: string; readonly meterId: string | null | undefined }[],
): Promise<void> {
  const ids = named.flatMap(({ meterId }) => meterId ?? []);
  const known = new Set((await findMeters(tx, orgId, [...new Set(ids)])).map((meter) => meter.id));
  const unknown = named.filter(({ meterId }) => meterId !== null && meterId !== undefined && !known.has(meterId));
  refuse(unknown.map(({ path }) => ({ path, message: namesNoMessage('meter') })));
}

function newBudget(context: CallContext, contractId: string, input: BudgetInput): Budget {
  const { eventPropertyKey, eventPropertyValue } = input;
  return {
    id: context.newId(),
    contractId,
    label: input.label ?? `${eventPropertyKey}=${eventPropertyValue}`,
    eventPropertyKey,
    eventPropertyValue,
    meterId: input.meterId ?? null,
    maxCredits: capText(input.maxCredits),
    maxCreditsCents: input.maxCreditsCents ?? null,
    isExhausted: false,
    createdAt: context.now,
  };
}

/** One text for one value, so that `5` and `5.0` are the same cap. */
function capText(credits: string | null | undefined): string | null {
  return credits === null || credits === undefined ? null : decimalText(decimal(credits));
}

type Dimension = Pick<Budget, 'eventPropertyKey' | 'eventPropertyValue'>;

function isSameDimension(a: Dimension, b: Dimension): boolean {
  return a.eventPropertyKey === b.eventPropertyKey && a.eventPropertyValue === b.eventPropertyValue;
}

/** `credits` where the contract counts in credits: it has a rate for them, or was granted some (our choice). */
async function walletModeOf({ tx, orgId }: CallContext, contract: Contract): Promise<'credits' | 'dollars'> {
  if (contract.creditSettings.creditRateCents !== undefined) return 'credits';
  return (await hasCreditGrant(tx, orgId, contract.id)) ? 'credits' : 'dollars';
}

function wireReading(reading: BudgetReading, index: number) {
  const { budget, use } = reading;
  return {
    ...wireBudget({ ...budget, isExhausted: budget.isExhausted || isNewlyReached(reading) }, index),
    ...wireConsumption(use),
    percentConsumed: wireDecimal(use.percentConsumed),
  };
}
