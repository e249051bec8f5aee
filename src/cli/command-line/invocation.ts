/** A command line of an operation, parsed as far as the parser goes. */

import type { Given } from './flags.ts';
import type { CommandSpec } from './manifest.ts';

/** Flags of a command that are not fields of its operation, by name. */
export type LocalValues = Readonly<Record<string, string | true>>;

export interface Invocation {
  readonly command: CommandSpec;
  readonly given: Given;
  /** `--input`: a file, or `-` for standard input. */
  readonly inputPath: string | undefined;
  /** `--all`. */
  readonly isAll: boolean;
  readonly local: LocalValues;
}
