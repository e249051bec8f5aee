/** A row that the schema refuses. Rooms check first and answer in their own words; the schema is the net below them. */

/** Which kind of rule a row breaks: see `ConstraintViolation`. */
export type ConstraintRule = 'unique' | 'reference' | 'appendOnly' | 'value';

/**
 * Thrown whenever the schema of any backend refuses a row. Its `cause` is the database's own error, if there is one.
 */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
  /**
   * `unique`: another row has this key. `reference`: the row names one that the organization does not have, or a named row is
   * removed. `appendOnly`: the row can never change. `value`: out of range, of the wrong type, or missing.
   */
  readonly rule: ConstraintRule;

  constructor(rule: ConstraintRule, message: string, cause: unknown) {
    super(message, { cause });
    this.rule = rule;
  }
}
