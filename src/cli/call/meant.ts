/** What was meant by a text that is not a valid id: the name, number or code of something that exists. */

import { nounOfNamesArchived, nounOfNamesNo, nounOfUnknownId } from '../../errors.ts';
import type { InputIssue } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { referenced } from '../../operations/references.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import { choiceOf, customersCalled, caseless, searched, withOwnId } from './customers-meant.ts';
import { idWithin, kindCalled, meantById } from './kinds-of-id.ts';
import type { IdKind } from './kinds-of-id.ts';
import { ifTold } from '../session/if-told.ts';

/** What to type in place of an unknown id in the path; undefined if that cannot be told. */
export async function meantInPath(message: string, [id = '']: readonly string[], billing: Billing) {
  const kind = kindCalled(nounOfUnknownId(message));
  return kind === undefined ? undefined : await ifTold(async () => await meaning(kind, id, billing));
}

/** The same for fields, or where to look; undefined if anything else is wrong with the request. */
export async function meantInFields(issues: readonly InputIssue[], { query, body }: CallInput, billing: Billing) {
  const unknown = issues.map(({ path, message }) => {
    const text = wireText(valueAt({ ...query, ...(body as object | undefined) }, path.replaceAll(/\[(\d+)\]/g, '.$1')));
    const archived = nounOfNamesArchived(message);
    // Nothing else is meant by one's own id or by that of an archived record, and a list has what may be named instead.
    const isPlain = archived !== undefined || path.endsWith('externalCustomerId');
    return { kind: kindCalled(archived ?? nounOfNamesNo(message)), text, isPlain };
  });
  const hints: string[] = [];
  const lists: string[] = [];
  for (const { kind, text, isPlain } of unknown) {
    if (kind === undefined) return undefined;
    const meant = isPlain ? undefined : await ifTold(async () => await meaning(kind, text, billing));
    if (meant === undefined) lists.push(`tally ${referenced[kind].operation.replace('.', ' ')}`);
    else hints.push(meant);
  }
  if (lists.length > 0) hints.push(`see them with: ${[...new Set(lists)].join(', ')}`);
  return hints.join('; ');
}

async function meaning(kind: IdKind, typed: string, billing: Billing): Promise<string | undefined> {
  const text = typed.trim();
  if (text === '') return undefined;
  const byId = await meantById(typed, kind, billing);
  if (byId !== undefined) return byId;
  if (kind === 'customers' || kind === 'contracts') {
    const own = await withOwnId(text, billing);
    if (own !== undefined && kind === 'customers') return say`${text} is your own id of ${own.name}: ${own.id}`;
    if (own !== undefined) {
      return say`${text} is your own id of a customer; ${listOfContracts(own.id)}`;
    }
  }
  // Nothing has an id as its name.
  if (idWithin(text) !== undefined) return undefined;
  const one = await oneCalled(kind, text, billing);
  if (one !== undefined) return say`the id of ${one.called} is ${one.id}`;
  if (kind !== 'customers' && kind !== 'contracts') return undefined;
  const [called, ...others] = await customersCalled(text, billing);
  if (called === undefined) return undefined;
  if (others.length > 0) {
    const choice = choiceOf([called, ...others]);
    return kind === 'customers' ? choice : say`${choice}; ${listOfContracts('ID')}`;
  }
  if (kind === 'customers') return say`the id of ${called.name} is ${called.id}`;
  return say`${called.name} is a customer; ${listOfContracts(called.id)}`;
}

function listOfContracts(customerId: string): SafeText {
  return say`see the contracts with: tally contracts list --customer-id ${customerId}`;
}

/** The only one with this name, ignoring case. */
async function oneCalled(kind: IdKind, text: string, billing: Billing) {
  const { operation, label } = referenced[kind];
  const namesOf = (row: unknown) => label.map((path) => wireText(valueAt(row, path)));
  const called = (row: unknown) => namesOf(row).find((name) => caseless(name) === caseless(text));
  const found = await searched(operation, billing, (row) => called(row) !== undefined);
  const exact = found.filter((row) => namesOf(row).includes(text));
  const [only, ...others] = exact.length > 0 ? exact : found;
  if (only === undefined || others.length > 0) return undefined;
  return { id: wireText(valueAt(only, 'id')), called: called(only) ?? text };
}
