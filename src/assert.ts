/** Invariants. Most commands would load Node's own `assert`, which takes longer to load than most of them to run. */

/** Throws if an invariant is broken that no input can break: a mistake of ours, answered as internal. */
export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${invariant}`);
}
