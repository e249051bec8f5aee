/** The kind of resource that an id names in commands that are not operations, by the name of the argument or flag. */

import type { ReferenceKind } from '../../operations/references.ts';

export const localReferences: Readonly<Record<string, ReferenceKind>> = {
  'contract-id': 'contracts',
  'invoice-id': 'invoices',
  'customer-id': 'customers',
  customer: 'externalCustomers',
};

/** Whether the argument of a command names a profile that exists; `place` is the command by its words. */
export function takesProfile(place: string): boolean {
  return /^profile (?!add)/.test(place);
}

/** Flags whose value is the name of a profile. */
export const profileFlags: readonly string[] = ['profile', 'to-profile'];
