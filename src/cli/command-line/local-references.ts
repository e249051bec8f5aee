/** What the ids of commands that are no operation name, by the name of the argument. */

import type { ReferenceKind } from '../../operations/references.ts';

export const localReferences: Readonly<Record<string, ReferenceKind>> = {
  'contract-id': 'contracts',
  'invoice-id': 'invoices',
};
