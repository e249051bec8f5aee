/** One help page as data. */

import type { ExampleLine } from '../command-line/manifest.ts';

export interface HelpFlag {
  /** As in help: `-o, --output <format>`. */
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

/** `tally backup <file>`: what is typed, but for flags that may be left out. */
export function commandLineOf({ words, usage }: HelpPage): string {
  return ['tally', ...words, usage.replace(/ ?\[flags\]$/, '')].join(' ').trimEnd();
}

/** Whether a page is of a command that has verbs, and does nothing without one. */
export function isGroupPage({ usage }: HelpPage): boolean {
  return usage.startsWith('<verb>');
}
