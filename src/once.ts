/**
 * Loads at the first call and gives the same result afterwards: Node resolves an `import()` again each time, at the price of a
 * query. After a failure the next call loads again, because a process without free file descriptors may have one by then.
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

/** The same for each name, or for the last `most` names that were loaded. */
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

/** Forgets what was set first, until at most `most` are left. */
export function keepNewest<K>(kept: Map<K, unknown>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/**
 * Gives what was found for a key before, or finds it now. Everything is forgotten when there would be more than `most` keys, or
 * more than `mostCharacters` in keys that are texts.
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
