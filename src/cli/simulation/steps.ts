/** What a scenario does, entry by entry, as calls of operations at instants. */

import { BillingError, InvalidInputError, reworded } from '../../errors.ts';
import { allOperations } from '../../operations/all.ts';
import type { Answer, OperationName } from '../../operations/index.ts';
import type { CallInput, Operation } from '../../operations/operation.ts';
import { compareText } from '../../text-order.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import { idOf, resolved } from './references.ts';
import type { Names, Playing } from './references.ts';
import { contractName } from './scenario.ts';
import type { Path, Scenario } from './scenario.ts';
import type { Section } from './scenario-schema.ts';
import { madeUpContacts } from './throw-away.ts';

export interface Step {
  readonly at: string;
  /** Path of its fields in the file. */
  readonly path: Path;
  /** The words of the command. */
  readonly words: string;
  /** The command with its fields, as they are written, for the timeline; without it the step shows in its effects alone. */
  readonly detail?: string;
  readonly inputOf: (names: Names) => CallInput;
  /** Stores what later steps may name. */
  readonly keep?: (answer: Answer, names: Names) => void;
}

type Fields = Readonly<Record<string, unknown>>;

/** All steps in order of time; at one instant in the order in which they are done. */
export function stepsOf(scenario: Scenario): Step[] {
  const steps = [
    ...customers(scenario),
    ...contracts(scenario),
    ...budgets(scenario),
    ...grants(scenario),
    ...others(scenario),
  ];
  return steps.toSorted((one, other) => compareText(one.at, other.at));
}

/** The operation of a command. Throws TypeError for a command that the schema refuses. */
export function operationOf(words: string): Operation {
  const found = allOperations.find(({ command }) => `${command.group} ${command.verb}` === words);
  if (found === undefined) throw new TypeError(`no operation has the command ${words}`);
  return found;
}

/** Splits one set of fields into ids, query and body, by the declaration of the operation. */
export function inputFrom({ params, query }: Operation, fields: Fields): CallInput {
  const parts: Record<'params' | 'query' | 'body', Record<string, unknown>> = { params: {}, query: {}, body: {} };
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(params.shape, name)) parts.params[name] = wireText(value);
    else if (Object.hasOwn(query.shape, name)) parts.query[name] = wireText(value);
    else parts.body[name] = value;
  }
  return parts as CallInput;
}

/** Does a step; a refusal names its line in the file. */
export async function take(step: Step, scenario: Scenario, { billing, names }: Playing) {
  await placed(scenario, step.path, step.words, async () => {
    const answer = await billing.call(operationOf(step.words).name as OperationName, step.inputOf(names));
    step.keep?.(answer, names);
  });
}

/** Does the work of an entry; a refusal names the entry's line. */
export async function placed<T>(scenario: Scenario, path: Path, words: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    if (error instanceof InvalidInputError) {
      throw new InvalidInputError(
        error.issues.map((issue) => ({
          path: `${scenario.fileName}:${scenario.lineOf([...path, ...pathOf(issue.path)])}`,
          message: `${words}: ${issue.path === '' ? '' : `${issue.path}: `}${issue.message}`,
        })),
        { cause: error },
      );
    }
    throw reworded(error, `${scenario.fileName}:${scenario.lineOf(path)}: ${words}: ${error.message}`);
  }
}

/** Splits `overrides[0].unitAmount` into its names. */
function pathOf(text: string): PropertyKey[] {
  return text.split(/[.[\]]+/).filter((name) => name !== '');
}

/** An entry without our own members. */
function fieldsOf(scenario: Scenario, section: Section, index: number, ours: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(scenario.written(section, index)).filter(([name]) => !ours.includes(name)));
}

function detailOf(words: string, fields: Fields, hidden: readonly string[] = []): string {
  const shown = Object.entries(fields).filter(([name]) => !hidden.includes(name));
  return [words, ...shown.map(([name, value]) => `${name}=${wireText(value)}`)].join(' ');
}

function customers(scenario: Scenario): Step[] {
  const { file } = scenario;
  return (file.customers ?? []).map(({ id }, index) => ({
    at: file.start,
    path: ['customers', index],
    words: 'customers create',
    inputOf: (names) => ({
      body: {
        name: id,
        externalCustomerId: id,
        contacts: madeUpContacts,
        ...(resolved(fieldsOf(scenario, 'customers', index, ['id']), names) as Fields),
      },
    }),
    keep: (answer, names) => void names.customers.set(id, valueAt(answer.body, 'data.id')),
  }));
}

function contracts(scenario: Scenario): Step[] {
  const { file } = scenario;
  return (file.contracts ?? []).map((entry, index) => ({
    at: entry.at ?? file.start,
    path: ['contracts', index],
    words: 'contracts create',
    inputOf: (names) => ({
      body: {
        startDate: file.start.slice(0, 10),
        ...(resolved(fieldsOf(scenario, 'contracts', index, ['id', 'customer', 'plan', 'at']), names) as Fields),
        planId: idOf(names, 'plans', entry.plan),
        customerId: idOf(names, 'customers', entry.customer),
      },
    }),
    keep: (answer, names) => void names.contracts.set(contractName(entry), valueAt(answer.body, 'data.id')),
  }));
}

function grants(scenario: Scenario): Step[] {
  const { file } = scenario;
  return (file.grants ?? []).map(({ at, contract, isPaid }, index) => ({
    at: at ?? file.start,
    path: ['grants', index],
    words: isPaid === true ? 'credits grant-paid' : 'credits grant',
    inputOf: (names) => ({
      params: { contractId: idOf(names, 'contracts', contract) },
      body: resolved(fieldsOf(scenario, 'grants', index, ['at', 'contract', 'isPaid']), names),
    }),
  }));
}

function budgets(scenario: Scenario): Step[] {
  const { file } = scenario;
  return (file.budgets ?? []).map(({ at, contract }, index) => ({
    at: at ?? file.start,
    path: ['budgets', index],
    words: 'budgets add',
    detail: detailOf('budgets add', scenario.written('budgets', index), ['at']),
    inputOf: (names) => ({
      params: { contractId: idOf(names, 'contracts', contract) },
      body: resolved(fieldsOf(scenario, 'budgets', index, ['at', 'contract']), names),
    }),
  }));
}

function others({ file, written }: Scenario): Step[] {
  return (file.steps ?? []).map(({ at, do: words, as }, index) => {
    const operation = operationOf(words);
    const { with: fields = {} } = written('steps', index) as { readonly with?: Fields };
    return {
      at,
      path: ['steps', index, 'with'],
      words,
      detail: detailOf(words, fields),
      inputOf: (names) => inputFrom(operation, resolved(fields, names) as Fields),
      keep: (answer, names) => {
        if (as !== undefined) names.steps.set(as, answer.body);
      },
    };
  });
}
