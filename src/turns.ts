/** Who goes before whom. */

/** Resolves when everything has come that the event loop has for this turn. */
export async function turnOver(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Gives a function that does what it is given one after the other, in the order in which it came. */
export function createTurns(): <T>(step: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (step) => {
    const result = last.then(step);
    last = result.catch(() => undefined);
    return await result;
  };
}
