/** Looks at a database that may hang rather than fail: who watches a service gives up long before the database is given up. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';

/** What `work` comes to; throws UnavailableError when it takes longer. It goes on then, and its end is told to nobody. */
export async function inTime<T>(work: Promise<T>, milliseconds: number = limits.probeMilliseconds): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new UnavailableError(`the database did not answer a look within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
