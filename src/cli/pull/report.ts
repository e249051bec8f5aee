/** The outcome of a pull, contract by contract; the findings of a check, record by record. */

import { NotFoundError } from '../../errors.ts';
import type { BillingError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import { printBody } from '../output/output.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import type { Compared, State } from './compare.ts';
import type { Wanted } from './wanted.ts';
import { tell } from '../session/tell.ts';

export interface ContractOutcome {
  readonly contractId: string;
  readonly customerId: string | undefined;
  readonly compared: readonly Compared[];
  readonly lacks: readonly string[];
  /** Pulled by the run that was interrupted. */
  readonly isEarlier?: true;
}

export interface Done {
  readonly wanted: readonly Wanted[];
  readonly outcomes: ReadonlyMap<string, ContractOutcome>;
  readonly failures: ReadonlyMap<string, BillingError>;
  readonly prices: readonly Compared[];
}

export const pullView: View = {
  rows: 'data',
  columns: [
    { header: 'CONTRACT', path: 'contractId' },
    { header: 'CUSTOMER', path: 'customerId' },
    { header: 'RESULT', path: 'result' },
    { header: 'NEW', path: 'new', format: 'number' },
    { header: 'CHANGED', path: 'changed', format: 'number' },
    { header: 'SAME', path: 'same', format: 'number' },
    { header: 'GONE', path: 'gone', format: 'number' },
    { header: 'LACKS', path: 'lacks', format: 'list' },
    { header: 'ERROR', path: 'error' },
  ],
};

export const checkView: View = {
  rows: 'data',
  columns: [
    { header: 'CONTRACT', path: 'contractId' },
    { header: 'KIND', path: 'kind' },
    { header: 'ID', path: 'id' },
    { header: 'DIFFERENCE', path: 'difference' },
    { header: 'FIELDS', path: 'fields', format: 'list' },
  ],
};

export async function report(
  { wanted, outcomes, failures, prices }: Done,
  {
    session,
    location,
    hasContracts,
  }: { readonly session: Session; readonly location: string; readonly hasContracts: boolean },
): Promise<void> {
  const data = wanted.map(({ contractId }) => rowOf(contractId, outcomes.get(contractId), failures.get(contractId)));
  await printBody({ data }, { view: pullView }, session);
  const all = [...prices, ...[...outcomes.values()].flatMap(({ compared }) => compared)];
  const count = (state: State) => all.filter((each) => each.state === state).length;
  tell(
    session,
    say`${location}: ${outcomes.size} of ${counted(wanted.length, 'contract')}; ${counted(count('new'), 'record')} new, ${count('changed')} changed, ${count('same')} same`,
  );
  const unshown = hasContracts
    ? 'events, meters, rate cards'
    : 'names, metadata and states of contracts, events, meters, rate cards';
  tell(
    session,
    say`not shown by the documented interface, so not in the mirror: ${unshown}, the terms that contracts froze`,
  );
  if (data.some(({ lacks }) => lacks.includes('plan'))) {
    tell(session, say`nor does it say which plan a contract has: give --plan, a column planId, or --published`);
  }
}

function rowOf(contractId: string, outcome: ContractOutcome | undefined, failure: BillingError | undefined) {
  const { compared = [], customerId, lacks = [] } = outcome ?? {};
  const count = (state: State) => compared.filter((each) => each.state === state).length;
  const counts = { new: count('new'), changed: count('changed'), same: count('same'), gone: count('gone') };
  return {
    contractId,
    customerId: customerId ?? null,
    result: resultOf(outcome, failure),
    ...counts,
    lacks,
    error: failure?.message ?? null,
  };
}

function resultOf(outcome: ContractOutcome | undefined, failure: BillingError | undefined): string {
  if (failure !== undefined) return 'failed';
  if (outcome === undefined) return 'pending';
  if (outcome.isEarlier === true) return 'earlier';
  const { compared } = outcome;
  if (compared.some(({ kind, state }) => kind === 'contract' && state === 'new')) return 'new';
  return compared.every(({ state }) => state === 'same') ? 'same' : 'changed';
}

const words: Readonly<Record<Exclude<State, 'same'>, string>> = {
  new: 'not in the mirror',
  changed: 'differs',
  gone: 'not at the service',
};

/** Returns how many differences there are. */
export async function reportCheck({ wanted, outcomes, failures, prices }: Done, session: Session): Promise<number> {
  const rowsOf = (contractId: string | null, compared: readonly Compared[]) =>
    compared.flatMap(({ kind, id, state, fields: paths }) =>
      state === 'same' ? [] : [{ contractId, kind, id, difference: words[state], fields: paths }],
    );
  const gone = wanted.flatMap(({ contractId }) =>
    failures.get(contractId) instanceof NotFoundError
      ? [{ contractId, kind: 'contract', id: contractId, difference: words.gone, fields: [] }]
      : [],
  );
  const found = [...outcomes.values()].flatMap(({ contractId, compared }) => rowsOf(contractId, compared));
  // A customer, plan or price of several contracts is reported once.
  const shared = new Set<string>();
  const once = [...rowsOf(null, prices), ...found].filter(({ kind, id }) => {
    const name = `${kind} ${id}`;
    return shared.has(name) ? false : shared.add(name);
  });
  const data = [...once, ...gone];
  if (session.output.format !== 'table' || data.length > 0) await printBody({ data }, { view: checkView }, session);
  tell(
    session,
    say`${outcomes.size} of ${counted(wanted.length, 'contract')} compared: ${counted(data.length, 'difference')}`,
  );
  return data.length;
}
