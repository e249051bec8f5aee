/** Loads at the first call and gives the same afterwards: Node looks up an `import()` anew each time, for the price of a query. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => (loaded ??= load());
}

/** The same for each name; a name that has nothing is asked for again. */
export function onceEach<N, T>(load: (name: N) => Promise<T>): (name: N) => Promise<T> {
  const loaded = new Map<N, Promise<T>>();
  return (name) => loaded.get(name) ?? first(name);

  async function first(name: N): Promise<T> {
    const found = await load(name);
    loaded.set(name, Promise.resolve(found));
    return found;
  }
}
