/** What a command that is not an operation gives to the program, and gets from it. */

import type { Command } from 'commander';

import type { Place } from '../help/completions.ts';
import type { HelpPage } from '../help/page.ts';
import type { CommandSpec, LoadManifest } from '../command-line/manifest.ts';
import type { Dependencies, Session } from '../session/session.ts';

/** Runs an action with a session made from the global flags. */
export type Run = (action: (session: Session) => Promise<void>, command?: CommandSpec) => Promise<void>;

/** What is known of all commands; made only when asked for, because it loads every one of them. */
export interface AllCommands {
  /** The root, every group, every verb and every command that is not an operation, in the order of help. */
  helpPages(): Promise<readonly HelpPage[]>;
  /** Only those that are not operations. */
  localPages(): Promise<readonly HelpPage[]>;
  completionPlaces(): Promise<readonly Place[]>;
}

export interface Declaring {
  readonly runAction: Run;
  readonly loadManifest: LoadManifest;
  readonly allCommands: AllCommands;
  /** Runs another whole command line; returns its exit code. */
  readonly runLine: (argv: readonly string[], dependencies: Dependencies) => Promise<number>;
}

/** The values so far with one more, for the parser: of a flag that may be repeated. */
export function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export interface CommandModule {
  /** Gives the command its flags, arguments, verbs and action. */
  declare(command: Command, context: Declaring): void;
}
