/** Errors about things that are not there, with their names. */

import { NotFoundError } from '../../errors.ts';

/** A service says that there is no such thing, and never repeats the id; the person who typed it is told which, and `meant` says what to type. */
export async function namingWhatIsMissing<T>(
  ids: readonly string[],
  call: () => Promise<T>,
  meant: () => Promise<string | undefined> = async () => await Promise.resolve(undefined),
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof NotFoundError) || ids.length === 0) throw error;
    const { hint, requestId, cause } = error;
    throw new NotFoundError(`${error.message}: ${ids.join(' ')}`, { cause, hint: (await meant()) ?? hint, requestId });
  }
}
