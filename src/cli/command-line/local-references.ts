/** The kind of resource that an id names in commands that are not operations, by the name of the argument. */

import type { ReferenceKind } from '../../operations/references.ts';

export const localReferences: Readonly<Record<string, ReferenceKind>> = {
  'contract-id': 'contracts',
  'invoice-id': 'invoices',
};
