/**
 * Loads at the first call and gives the same afterwards: Node looks up an `import()` anew each time, for the price of a query.
 * What failed is loaded anew by the next call, since a process that had no file descriptor left for it may have one by then.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    if (loaded === undefined) {
      loaded = load();
      loaded.catch(() => (loaded = undefined));
    }
    return loaded;
  };
}

/** The same for each name, or for the `most` that were loaded last. */
export function onceEach<N, T>(
  load: (name: N) => Promise<T>,
  most = Number.POSITIVE_INFINITY,
): (name: N) => Promise<T> {
  const loaded = new Map<N, Promise<T>>();
  return (name) => {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const first = load(name);
    loaded.set(name, first);
    keepNewest(loaded, most);
    first.catch(() => loaded.delete(name));
    return first;
  };
}

/** Forgets what was set first, until there are no more than `most`. */
export function keepNewest<K>(kept: Map<K, unknown>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/**
 * Gives what was found of a key before, or finds it now. All is forgotten where there would be more than `most`, or more than
 * `mostCharacters` of keys that are texts.
 */
export function keepLatest<V>(
  most: number,
  mostCharacters = Number.POSITIVE_INFINITY,
): (key: string | number, find: () => V) => V {
  const kept = new Map<string | number, V>();
  let characters = 0;
  return (key, find) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const found = find();
    const length = typeof key === 'string' ? key.length : 0;
    if (kept.size === most || characters + length > mostCharacters) {
      kept.clear();
      characters = 0;
    }
    kept.set(key, found);
    characters += length;
    return found;
  };
}
