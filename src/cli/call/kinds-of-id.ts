/** Finds what an id belongs to: the ids of all kinds have one form, and people paste them with surrounding text. */

import { NotFoundError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import { ifTold } from '../session/if-told.ts';

/** By the group of their commands, the word that refusals use, and the name of the id. */
const kinds = {
  customers: { noun: 'customer', idName: 'customerId' },
  contracts: { noun: 'contract', idName: 'contractId' },
  invoices: { noun: 'invoice', idName: 'invoiceId' },
  plans: { noun: 'plan', idName: 'planId' },
  pricing: { noun: 'price', idName: 'pricingId' },
  products: { noun: 'product', idName: 'productId' },
  meters: { noun: 'meter', idName: 'meterId' },
} as const;

export type IdKind = keyof typeof kinds;

const idKinds = Object.keys(kinds) as IdKind[];

/** The kind for which refusals use this word. */
export function kindCalled(noun: string | undefined): IdKind | undefined {
  return idKinds.find((kind) => kinds[kind].noun === noun);
}

export function nounOf(kind: IdKind): string {
  return kinds[kind].noun;
}

const pastedId = /^[^0-9a-z]*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[^0-9a-z]*$/i;

/** The id in a text that contains nothing else but punctuation, written as the service writes it. */
export function idWithin(text: string): string | undefined {
  return pastedId.exec(text)?.[1]?.toLowerCase();
}

export async function isThere(kind: IdKind, id: string, billing: Billing): Promise<boolean> {
  return (await found(kind, id, billing)) !== undefined;
}

/** What the id in a text belongs to, if that is another kind than wanted or the id is written differently; else undefined. */
export async function meantById(text: string, wanted: IdKind, billing: Billing): Promise<SafeText | undefined> {
  const id = idWithin(text);
  if (id === undefined) return undefined;
  if (id !== text && (await isThere(wanted, id, billing))) return say`the id is written ${id}`;
  const others = idKinds.filter((kind) => kind !== wanted);
  const sentences = await Promise.all(others.map(async (kind) => await sentence(kind, { id, wanted, billing })));
  return sentences.find((each) => each !== undefined);
}

interface Meant {
  readonly id: string;
  readonly wanted: IdKind;
  readonly billing: Billing;
}

async function sentence(kind: IdKind, { id, wanted, billing }: Meant): Promise<SafeText | undefined> {
  // A key that may read only the wanted kind cannot tell about another.
  const row = await ifTold(async () => await found(kind, id, billing));
  if (row === undefined) return undefined;
  const is = say`${id} is ${kind === 'invoices' ? 'an' : 'a'} ${nounOf(kind)}`;
  const noun = nounOf(wanted);
  const owner = wireText(valueAt(row, `data.${noun}Id`));
  if (owner !== '') return say`${is}, of the ${noun} ${owner}`;
  const customer = kind === 'customers' ? id : wireText(valueAt(row, 'data.customerId'));
  if (customer === '' || (wanted !== 'contracts' && wanted !== 'invoices')) {
    return say`${is}: tally ${kind} get ${id}`;
  }
  return say`${is}; see the ${wanted} with: tally ${wanted} list --customer-id ${customer}`;
}

async function found(kind: IdKind, id: string, billing: Billing): Promise<unknown> {
  try {
    return (await billing.call(`${kind}.get`, { params: { [kinds[kind].idName]: id } })).body;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
