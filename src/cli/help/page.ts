/** One help page as data. */

import type { ExampleLine } from '../command-line/manifest.ts';

export interface HelpFlag {
  /** The form in help: `-o, --output <format>`. */
  readonly form: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
}

export interface HelpPage {
  /** `[]` for the root, `['customers', 'list']`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** What follows the words: `<customer-id> [flags]`. */
  readonly usage: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly HelpFlag[];
  readonly examples: readonly ExampleLine[];
}

/** The command line without optional flags: `tally backup <file>`. */
export function commandLineOf({ words, usage }: HelpPage): string {
  return ['tally', ...words, usage.replace(/ ?\[flags\]$/, '')].join(' ').trimEnd();
}

/** Whether a page belongs to a command with verbs, which does nothing without one. */
export function isGroupPage({ usage }: HelpPage): boolean {
  return usage.startsWith('<verb>');
}
