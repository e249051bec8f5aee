/** Checks what a scenario expects against its outcome. */

import { assert } from '../../assert.ts';
import { Big } from 'big.js';

import { BillingError } from '../../errors.ts';
import { exactNumber, isExactNumber, textOfNumber } from '../../exact-json.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import type { OperationName } from '../../operations/index.ts';
import { compareText } from '../../text-order.ts';
import { centsOf } from '../wire/amounts.ts';
import { valueAt } from '../wire/rows.ts';
import { contractIdOf, deliveriesOf, exhaustionOf, invoicesOf, ledgerOf } from './books.ts';
import { idOf, resolved } from './references.ts';
import type { Playing } from './references.ts';
import type { Scenario } from './scenario.ts';
import type { Entry, Subject } from './scenario-schema.ts';
import { inputFrom, operationOf } from './steps.ts';

type Expected = Entry<'expect'>;

export interface Outcome {
  readonly line: number;
  /** What is checked: `balance of acme`. */
  readonly what: string;
  readonly at: string;
  readonly isMet: boolean;
  /** `equals 5000`. */
  readonly expected: string;
  readonly actual: string;
}

/** Checks one expectation now. If the service refuses to answer, it is not met, and the refusal is the actual value. */
export async function examine(scenario: Scenario, index: number, playing: Playing): Promise<Outcome> {
  const { file } = scenario;
  const entry = (file.expect ?? [])[index] ?? {};
  const written = scenario.written('expect', index) as { readonly with?: object };
  const place = {
    line: scenario.lineOf(['expect', index]),
    what: wordsOf(entry),
    at: entry.at ?? file.until,
    expected: expectedWords(entry),
  };
  try {
    const compared = resolved(entry, playing.names) as Expected;
    const actual = await subjects[subjectOf(entry)]({ ...entry, with: { ...written.with } }, playing);
    return { ...place, isMet: isMet(compared, actual), actual: valueText(actual) };
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return { ...place, isMet: false, actual: `refused: ${error.message}` };
  }
}

const subjects: Readonly<Record<Subject, (entry: Expected, playing: Playing) => Promise<unknown>>> = {
  async invoice({ invoice, path }, { billing, names }) {
    const { customer, contract, period } = invoice ?? { period: '' };
    const customerId = customer === undefined ? undefined : idOf(names, 'customers', customer);
    const contractId = contract === undefined ? undefined : idOf(names, 'contracts', contract);
    const found = (await invoicesOf(billing, customerId)).filter(
      (each) =>
        each.period?.start === period &&
        each.status !== 'Cancelled' &&
        (contractId === undefined || each.contractId === contractId),
    );
    if (found.length === 0) return undefined;
    if (path === undefined)
      return exactNumber(String(found.reduce((sum, { totalCents }) => sum + centsOf(totalCents), 0n)));
    if (found.length === 1) return valueAt(found[0], path);
    throw new BillingError('conflict', `${found.length} invoices are of this period: name the contract`);
  },

  async balance({ balance = '', path = 'projected.balanceCents' }, { billing, names }) {
    const input = { params: { contractId: idOf(names, 'contracts', balance) }, query: { include: 'projected' } };
    return valueAt((await billing.call('credits.balance', input)).body.data, path);
  },

  async budget({ budget, path }, { billing, names }) {
    const { contract, label } = budget ?? { contract: '', label: '' };
    const contractId = idOf(names, 'contracts', contract);
    const { budgets } = (await billing.call('budgets.usage', { params: { contractId } })).body.data;
    const found = budgets.find((each) => each.label === label);
    if (found === undefined) {
      throw new BillingError(
        'notFound',
        `no budget is called ${label}: the budgets are ${budgets.map((each) => each.label).join(', ')}`,
      );
    }
    return path === undefined ? exhaustionOf(await deliveriesOf(billing), contractId, label) : valueAt(found, path);
  },

  async entries({ entries }, { billing, names }) {
    const { contract, type } = entries ?? { contract: '', type: undefined };
    const ledger = await ledgerOf(billing, idOf(names, 'contracts', contract));
    return ledger.filter((entry) => type === undefined || entry.type === type).length;
  },

  async events({ events }, { billing, names }) {
    const { type, contract } = events ?? { type: '', contract: undefined };
    const contractId = contract === undefined ? undefined : idOf(names, 'contracts', contract);
    return (await deliveriesOf(billing)).filter(
      (each) => each.eventType === type && (contractId === undefined || contractIdOf(each) === contractId),
    ).length;
  },

  async call({ call = '', path = '', with: fields = {} }, { billing, names }) {
    const operation = operationOf(call);
    const input = inputFrom(operation, resolved(fields, names) as Readonly<Record<string, unknown>>);
    return valueAt((await billing.call(operation.name as OperationName, input)).body, path);
  },
};

function subjectOf(entry: Expected): Subject {
  const found = (Object.keys(subjects) as Subject[]).find((name) => entry[name] !== undefined);
  assert(found !== undefined, 'the schema lets no expectation pass that has no subject');
  return found;
}

function wordsOf(entry: Expected): string {
  const { invoice, balance, budget, entries, events, call, path } = entry;
  const words: Record<Subject, string> = {
    invoice: `invoice of ${invoice?.contract ?? invoice?.customer} from ${invoice?.period}`,
    balance: `balance of ${balance}`,
    budget: `budget ${budget?.label} of ${budget?.contract}`,
    entries: `${entries?.type ?? 'all'} entries of ${entries?.contract}`,
    events: `events ${events?.type}${events?.contract === undefined ? '' : ` of ${events.contract}`}`,
    call: call ?? '',
  };
  return `${words[subjectOf(entry)]}${path === undefined ? '' : `: ${path}`}`;
}

function expectedWords({ equals, between, atLeast, atMost }: Expected): string {
  if (between !== undefined) return `between ${valueText(between[0])} and ${valueText(between[1])}`;
  if (atLeast !== undefined) return `at least ${valueText(atLeast)}`;
  if (atMost !== undefined) return `at most ${valueText(atMost)}`;
  return `equals ${valueText(equals)}`;
}

/** A value as a file would have it. */
function valueText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (isExactNumber(value)) return textOfNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isMet({ equals, between, atLeast, atMost }: Expected, actual: unknown): boolean {
  if (between !== undefined) return isInOrder(between[0], actual) && isInOrder(actual, between[1]);
  if (atLeast !== undefined) return isInOrder(atLeast, actual);
  if (atMost !== undefined) return isInOrder(actual, atMost);
  return order(actual, equals) === 0;
}

function isInOrder(one: unknown, other: unknown): boolean {
  const found = order(one, other);
  return found !== undefined && found <= 0;
}

/** Below 0, 0, or above 0; undefined for values that cannot be compared. */
function order(one: unknown, other: unknown): number | undefined {
  if (one === other) return 0;
  const [first, second] = [one, other].map(numberOf);
  if ((isExactNumber(one) || isExactNumber(other)) && first !== undefined && second !== undefined)
    return first.cmp(second);
  if (typeof one !== 'string' || typeof other !== 'string') return undefined;
  const isByDay = isDate(one) || isDate(other);
  const [left, right] = [one, other].map((text) => (isByDay ? text.slice(0, 10) : (utcTimestamp(text) ?? text)));
  return compareText(left ?? '', right ?? '');
}

/** A number, also from a text: amounts in dollars are texts on the wire. */
function numberOf(value: unknown): Big | undefined {
  const text = isExactNumber(value) ? textOfNumber(value) : typeof value === 'string' ? value : '';
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/.test(text) ? new Big(text) : undefined;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}
