/** Makes the content of books for measuring. */

import type { Billing, OperationName } from '../src/operations/index.ts';
import type { CallInput } from '../src/operations/operation.ts';

/** Creates something and gives its id. */
export type Create = (name: OperationName, input: CallInput) => Promise<string>;

export function creator(billing: Billing): Create {
  return async (name, input) => {
    const { body } = await billing.call(name, input);
    return (body as { readonly data: { readonly id: string } }).data.id;
  };
}
