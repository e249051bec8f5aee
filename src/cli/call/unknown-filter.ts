/** Why a list is empty: its filter names something that does not exist, or leaves no time. */

import type { Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { referenced } from '../../operations/references.ts';
import type { ReferenceKind } from '../../operations/references.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { choiceOf, customersCalled, withOwnId } from './customers-meant.ts';
import { isThere, meantById, nounOf } from './kinds-of-id.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { ifTold } from '../session/if-told.ts';

type Find = (id: string, billing: Billing) => Promise<SafeText | undefined>;

/** By the kind that a filter names: a sentence if it does not exist. */
const findByKind: Partial<Record<ReferenceKind, Find>> = {
  async customers(id, billing) {
    if (await isThere('customers', id, billing)) return undefined;
    const meant = await meantById(id, 'customers', billing);
    if (meant !== undefined) return say`no customer has the id ${id}; ${meant}`;
    const own = await withOwnId(id, billing);
    if (own !== undefined) {
      return say`no customer has the id ${id}; ${id} is your own id of ${own.name}: --customer-id ${own.id}`;
    }
    const [called, ...others] = await customersCalled(id, billing);
    if (called === undefined) return say`no customer has the id ${id}`;
    const better = others.length > 0 ? choiceOf([called, ...others]) : say`that of ${called.name} is ${called.id}`;
    return say`no customer has the id ${id}; ${better}`;
  },
  async externalCustomers(id, billing) {
    return (await withOwnId(id, billing)) === undefined ? say`no customer has your own id ${id}` : undefined;
  },
  plans: async (id, billing) => await unlessThere('plans', id, billing),
  products: async (id, billing) => await unlessThere('products', id, billing),
  async endpoints(id, billing) {
    const { data } = (await billing.call('webhooks.list')).body;
    return data.some((endpoint) => endpoint.id === id) ? undefined : say`no endpoint has the id ${id}`;
  },
};

/** A sentence for each filter of a list that names something that does not exist; none if that cannot be found out. */
export async function unknownFilters(command: CommandSpec, input: CallInput, billing: Billing): Promise<SafeText[]> {
  const found = command.flags.map(async ({ in: place, name, reference }) => {
    const id = place === 'query' ? input.query?.[name] : undefined;
    if (reference === undefined || typeof id !== 'string') return undefined;
    // A list of customers by external id has said it already.
    if (referenced[reference].operation === command.operation) return undefined;
    return await findByKind[reference]?.(id, billing);
  });
  // The list was printed, so a key that may read nothing else is no failure.
  const told = await ifTold(async () => await Promise.all(found));
  return (told ?? []).filter((sentence) => sentence !== undefined);
}

/** The filters by which lists begin and end in time. */
const spans = [
  ['start', 'end'],
  ['createdAfter', 'createdBefore'],
] as const;

/** A sentence for each span of a list's filters that ends before it has begun, or just then. */
export async function emptySpans({ flags }: CommandSpec, { query = {} }: CallInput): Promise<SafeText[]> {
  const given = spans.filter((names) => names.every((name) => query[name] !== undefined));
  if (given.length === 0) return [];
  // Not before: the rule makes forms that other lists have no use for.
  const { startOf } = await import('../../operations/field-rules.ts');
  return given.flatMap((names) => {
    const [begin, end] = names.map((name) => startOf(String(query[name])));
    if (begin === undefined || end === undefined || begin < end) return [];
    const between = names.map((name) => `--${flags.find((flag) => flag.name === name)?.flag}`).join(' and ');
    return [say`nothing can be between ${between}: the second, which is excluded, must be later`];
  });
}

async function unlessThere(kind: 'plans' | 'products', id: string, billing: Billing): Promise<SafeText | undefined> {
  if (await isThere(kind, id, billing)) return undefined;
  const meant = await meantById(id, kind, billing);
  const better = meant === undefined ? say`` : say`; ${meant}`;
  return say`no ${nounOf(kind)} has the id ${id}${better}`;
}
