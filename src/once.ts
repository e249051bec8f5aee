/** Loads at the first call and gives the same afterwards: Node looks up an `import()` anew each time, for the price of a query. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => (loaded ??= load());
}
