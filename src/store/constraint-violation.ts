/** A row that the schema refuses. Rooms check first and answer in their own words; this is the net below them. */

/** Which kind of rule a row breaks: see `ConstraintViolation`. */
export type ConstraintRule = 'unique' | 'reference' | 'appendOnly' | 'value';

/**
 * Thrown for every refusal of the schema, whichever the backend; its `cause` is the database's own error, where there
 * is one.
 */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
  /**
   * `unique`: another row has this key. `reference`: names a row that the organization does not have, or removes one that
   * is named. `appendOnly`: the row can never change. `value`: out of range, of the wrong type, or missing.
   */
  readonly rule: ConstraintRule;

  constructor(rule: ConstraintRule, message: string, cause: unknown) {
    super(message, { cause });
    this.rule = rule;
  }
}
