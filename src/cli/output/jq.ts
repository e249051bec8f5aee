/** `--jq`: the answer as JSON through jq, which keeps the digits of every number that an expression does not calculate with. */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { asLines, safeJson, safeLines, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { UnprintedError } from '../terminal/unprinted.ts';

/** Throws a usage error in jq's words for an expression that it cannot read; evaluates only its constant parts. */
export async function checkJq(expression: string): Promise<void> {
  try {
    await results('', expression);
  } catch (error) {
    throw new BillingError('usage', `--jq: ${wordsOf(error)}`, {
      cause: error,
      hint: 'see: https://jqlang.org/manual',
    });
  }
}

/**
 * Each result on a line: texts as they are, everything else as compact JSON. A whole number beyond 2^53 or a long decimal
 * keeps its digits if it is passed on; jq's arithmetic is floating point. Throws UnprintedError in jq's words if the
 * expression does not fit the answer. Output of jq's `debug` and `stderr` is dropped.
 */
export async function jqLines(json: string, expression: string): Promise<SafeText> {
  refuseLong(json.length);
  try {
    const found = await results(json, expression);
    return asLines(found === undefined ? [] : found.split('\n').map(asLine));
  } catch (error) {
    throw new UnprintedError('usage', `--jq: ${wordsOf(error)}`, {
      cause: error,
      hint: 'the expression does not fit the answer: look at the answer of a reading command with -o json',
    });
  }
}

/** Throws UnprintedError for a document of so many characters if that is more than is taken. */
export function refuseLong(characters: number): void {
  if (characters <= limits.jqCharacters) return;
  throw new UnprintedError('usage', `--jq takes at most ${limits.jqCharacters} characters of JSON`, {
    hint: 'ask for less with --json FIELDS or --limit, or pipe -o json into a jq of your own',
  });
}

/** A text keeps its tabs, because `@tsv` makes columns with them: it escapes those inside a value. */
function asLine(json: string): SafeText {
  if (!json.startsWith('"')) return safeJson(json);
  const text = JSON.parse(json) as string;
  return vouch(text.split('\t').map(safeLines).join('\t'));
}

async function results(json: string, expression: string): Promise<string | undefined> {
  const { default: loading } = await import('jq-web');
  const { raw } = await loading;
  const talk: { warn: (...words: unknown[]) => void } = globalThis.console;
  const { warn } = talk;
  // Output besides the results goes to the console, with whatever stored texts are in it.
  talk.warn = () => undefined;
  try {
    // A space, because an expression such as -1 would be taken for a flag.
    return raw(json, ` ${expression}`, ['-c']);
  } finally {
    talk.warn = warn;
  }
}

/** Takes `syntax error, …` from `jq: error: syntax error, … at <top-level>, line 1: …`. */
function wordsOf(error: unknown): string {
  if (error instanceof Error && error.name === 'RuntimeError') return 'it needs more memory than jq has';
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/^Non-zero exit code: \d+\n/, '')
    .replace(/^jq: error(?: \(at [^)]*\))?: /, '')
    .replace(/(?: \(Unix shell quoting issues\?\))? at <top-level>, line 1:[\s\S]*$/, '')
    .replace(/\s*jq: \d+ compile errors?$/, '')
    .trim();
}
