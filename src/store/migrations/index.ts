/**
 * The schema, step by step: forward only, in order, each step one transaction that also sets the version.
 * A released step is never edited; a change of the schema is a new file and a new line here.
 */

import { billing } from './0001-billing.ts';
import { usageEvents } from './0002-events.ts';

export interface Migration {
  /** The schema version that the database has afterwards: 1, 2, 3. */
  readonly version: number;
  readonly statements: readonly string[];
}

export const migrations: readonly Migration[] = [billing, usageEvents];

/** The version that this program reads and writes. */
export const schemaVersion = 2;
