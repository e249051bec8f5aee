/** Adds to errors about missing things which one is missing, and what was probably meant. */

import { InvalidInputError, NotFoundError, nounOfUnknownId } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';

export interface Asked {
  /** Ids of the path, as they were typed. */
  readonly ids: readonly string[];
  /** The rest of the request, which may name things as well. */
  readonly input?: CallInput;
  /** The service that is asked what was meant. */
  readonly billing: Billing;
}

/** A service never repeats an id that it does not know: the person who typed it learns which one, and what to type instead. */
export async function namingWhatIsMissing<T>({ ids, input, billing }: Asked, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof NotFoundError && ids.length > 0) {
      const { message, hint, requestId, cause } = error;
      const meant = await (await import('./meant.ts')).meantInPath(message, ids, billing);
      const id = missing(message, ids);
      const named = message.includes(`"${id}"`) ? message : `${message}: ${id}`;
      throw new NotFoundError(named, { cause, hint: meant ?? hint, requestId });
    }
    if (error instanceof InvalidInputError && error.hint === undefined && input !== undefined) {
      const { issues, requestId, cause } = error;
      const hint = await (await import('./meant.ts')).meantInFields(issues, input, billing);
      if (hint !== undefined) throw new InvalidInputError(issues, { cause, hint, requestId });
    }
    throw error;
  }
}

/** The one of several ids that the refusal is about. */
function missing(message: string, ids: readonly string[]): string {
  const noun = nounOfUnknownId(message);
  if (noun === 'contract') return ids[0] ?? '';
  return noun?.startsWith('ledger entry') === true ? (ids.at(-1) ?? '') : ids.join(' ');
}
