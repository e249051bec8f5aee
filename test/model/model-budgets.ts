/** Budgets of the model (interface 4.12 to 4.14, semantics 10). */

import type { ExactNumber } from '../../src/exact-json.ts';
import { compare, divide, halfUp, scaledText, whole } from './fraction.ts';
import { contractOf, microsOf } from './model-credits.ts';
import { named, refuseIf, Refusal } from './refusal.ts';
import type { ModelCall, ModelInput } from './refusal.ts';
import type { Budget, Contract, State } from './state.ts';
import { grantsOf } from './grants.ts';
import { sweep } from './settlement.ts';
import { capOf, capsOf, consumption, valuationRate } from './wallet.ts';
import { budgetWire } from './wire.ts';

export function budgetOf(body: {
  label?: string;
  eventPropertyKey: string;
  eventPropertyValue: string;
  meterId?: string | null;
  maxCredits?: ExactNumber | null;
  maxCreditsCents?: number | null;
}): Budget {
  return {
    label: body.label ?? `${body.eventPropertyKey}=${body.eventPropertyValue}`,
    key: body.eventPropertyKey,
    value: body.eventPropertyValue,
    meterId: body.meterId ?? null,
    maxMicros: body.maxCredits === undefined || body.maxCredits === null ? null : microsOf(body.maxCredits),
    maxCents: body.maxCreditsCents === undefined || body.maxCreditsCents === null ? null : BigInt(body.maxCreditsCents),
    isExhausted: false,
  };
}

function budgetNamed(contract: Contract, input: ModelInput): { budget: Budget; index: number } {
  const index = Number(input.params['index']);
  const budget = contract.budgets[index];
  if (budget === undefined) throw new Refusal('notFound');
  return { budget, index };
}

/** Sets what usage has exhausted; a cap stays exhausted until it changes. A reading that finds it out has an instant, too. */
export function markExhausted(state: State, contract: Contract, budget: Budget): void {
  const cap = capOf(contract, budget);
  if (budget.isExhausted || cap === undefined) return;
  if (compare(whole(consumption(state, contract, budget)), cap) < 0) return;
  budget.isExhausted = true;
  state.latest = state.now;
}

function walletMode(contract: Contract): string {
  return contract.creditRateCents !== undefined || grantsOf(contract).some((each) => each.micros > 0n)
    ? 'credits'
    : 'dollars';
}

function budgetUsage(state: State, contract: Contract): unknown {
  const rate = valuationRate(contract);
  const budgets = contract.budgets.map((budget, index) => {
    const cents = consumption(state, contract, budget);
    markExhausted(state, contract, budget);
    const percents = capsOf(contract, budget).map((cap) =>
      cap.n === 0n ? 10_000n : halfUp(divide(whole(cents * 100n), cap), 2),
    );
    const percent = scaledText(
      percents.reduce((most, each) => (each > most ? each : most), 0n),
      2,
    );
    const units = rate === undefined ? '0' : scaledText(halfUp(divide(whole(cents), whole(rate)), 6), 6);
    return {
      ...budgetWire(budget, index),
      consumedUnits: units,
      consumedCents: String(cents),
      percentConsumed: percent,
    };
  });
  return { budgets, contractId: contract.id, walletMode: walletMode(contract) };
}

export const budgetCalls: Readonly<Record<string, ModelCall>> = {
  'budgets.list': (state, input) => {
    const contract = contractOf(state, input);
    const budgets = contract.budgets.map(budgetWire);
    return { data: { budgets, contractId: contract.id, walletMode: walletMode(contract) } };
  },
  'budgets.usage': (state, input) => ({ data: budgetUsage(state, contractOf(state, input)) }),
  'budgets.add': (state, input) => {
    const contract = contractOf(state, input);
    const budget = budgetOf(input.body);
    if (budget.meterId !== null) named(state.meters, budget.meterId, 'invalidInput');
    refuseIf(
      contract.budgets.some((each) => each.key === budget.key && each.value === budget.value),
      'conflict',
    );
    sweep(state, contract);
    contract.budgets.push(budget);
    return { data: budgetWire(budget, contract.budgets.length - 1) };
  },
  'budgets.update': (state, input) => {
    const contract = contractOf(state, input);
    const { budget, index } = budgetNamed(contract, input);
    const { body } = input;
    if (typeof body.meterId === 'string') named(state.meters, body.meterId, 'invalidInput');
    const next = budgetOf({ eventPropertyKey: budget.key, eventPropertyValue: budget.value, ...body });
    const isUnchanged =
      (body.label === undefined || next.label === budget.label) &&
      (body.meterId === undefined || next.meterId === budget.meterId) &&
      (body.maxCredits === undefined || next.maxMicros === budget.maxMicros) &&
      (body.maxCreditsCents === undefined || next.maxCents === budget.maxCents);
    if (!isUnchanged) sweep(state, contract);
    if (body.label !== undefined) budget.label = body.label;
    if (body.meterId !== undefined) budget.meterId = body.meterId;
    if (body.maxCredits !== undefined && budget.maxMicros !== next.maxMicros) {
      Object.assign(budget, { maxMicros: next.maxMicros, isExhausted: false });
    }
    if (body.maxCreditsCents !== undefined && budget.maxCents !== next.maxCents) {
      Object.assign(budget, { maxCents: next.maxCents, isExhausted: false });
    }
    return { data: budgetWire(budget, index) };
  },
  'budgets.remove': (state, input) => {
    const contract = contractOf(state, input);
    const { budget, index } = budgetNamed(contract, input);
    sweep(state, contract);
    contract.budgets.splice(index, 1);
    return { data: { removed: budgetWire(budget, index) } };
  },
};
