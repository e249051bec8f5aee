/** Values that a process holds in memory, by what they weigh. */

export interface Held<K, V> {
  readonly get: (key: K) => V | undefined;
  /** Takes the place of what was held under the key. */
  readonly add: (key: K, value: V, weight: number) => void;
  readonly delete: (key: K) => void;
  readonly clear: () => void;
}

/** Once the values weigh more than `most` together, those that came first go. One that weighs more alone is not held. */
export function createHeld<K, V>(most: number): Held<K, V> {
  const held = new Map<K, { readonly value: V; readonly weight: number }>();
  let sum = 0;

  function remove(key: K): void {
    sum -= held.get(key)?.weight ?? 0;
    held.delete(key);
  }

  return {
    get: (key) => held.get(key)?.value,
    add(key, value, weight) {
      remove(key);
      if (weight > most) return;
      held.set(key, { value, weight });
      sum += weight;
      for (const oldest of held.keys()) {
        if (sum <= most) break;
        remove(oldest);
      }
    },
    delete: remove,
    clear() {
      held.clear();
      sum = 0;
    },
  };
}
