/** Waiting for a turn. */

/** Resolves when the event loop has delivered everything of this turn. */
export async function turnOver(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Gives a function that runs the steps passed to it one after another, in order of arrival. */
export function createTurns(): <T>(step: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (step) => {
    const result = last.then(step);
    last = result.catch(() => undefined);
    return await result;
  };
}
