/** Invariants. Node's own `assert` would be loaded by most commands and takes longer to load than most of them work. */

/** Throws when something does not hold that nothing from outside can break: a mistake of ours, answered as internal. */
export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${invariant}`);
}
