/** Looks at a database that may hang rather than fail: whoever watches a service gives up long before the database does. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';

/** The result of `work`; throws UnavailableError if it takes longer. The work then goes on, and its result is ignored. */
export async function inTime<T>(work: Promise<T>, milliseconds: number = limits.probeMilliseconds): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new UnavailableError(`the database did not answer within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
