/**
 * The billing engine once more: in memory, slow, written from the documents alone, sharing no code with the engine.
 * `callModel` takes the input of an operation with the model's own names in place of ids, and gives what the engine
 * should give: an answer with its numbers as texts, or the kind of error. Lists come whole; pages are for the test.
 */

import type { ErrorKind } from '../../src/errors.ts';
import { budgetCalls } from './model-budgets.ts';
import { billingCalls } from './model-billing.ts';
import { catalogCalls } from './model-catalog.ts';
import { creditCalls } from './model-credits.ts';
import { usageCalls } from './model-usage.ts';
import { Refusal } from './refusal.ts';
import type { ModelCall, ModelInput } from './refusal.ts';
import type { Contract, State } from './state.ts';

export type Outcome = { readonly body: unknown } | { readonly error: ErrorKind };

const calls: Readonly<Record<string, ModelCall>> = {
  ...catalogCalls,
  ...billingCalls,
  ...creditCalls,
  ...budgetCalls,
  ...usageCalls,
};

export function createState(now: number): State {
  return {
    customers: [],
    meters: [],
    products: [],
    pricings: [],
    plans: [],
    contracts: [],
    events: [],
    finalized: [],
    now,
    clock: now,
    latest: now,
  };
}

/** Calls that change nothing. */
const reads = /\.(?:get|list|cost|events|ledger|balance|creditReport|usage)$/;

/** Carries out one operation; a refusal has changed nothing. */
export function callModel(state: State, name: string, input: Partial<ModelInput>): Outcome {
  const call = calls[name];
  if (call === undefined) throw new TypeError(`the model does not know ${name}`);
  const undo = state.contracts.map((contract) => takeNote(contract));
  try {
    const body = call(state, { params: {}, query: {}, body: {}, as: '', ...input });
    if (!reads.test(name)) Object.assign(state, { latest: state.now });
    return { body };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const restore of undo) restore();
    return { error: error.kind };
  }
}

/** Gives back what expiries that fell due and new drafts have added to a contract. */
function takeNote(contract: Contract): () => void {
  const lengths = [contract.entries.length, contract.invoices.length] as const;
  const swept = new Set(contract.swept);
  return () => {
    for (const grant of contract.swept.difference(swept)) contract.swept.delete(grant);
    contract.entries.splice(lengths[0]);
    contract.invoices.splice(lengths[1]);
  };
}
