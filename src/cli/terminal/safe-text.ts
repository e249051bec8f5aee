/**
 * Text that may reach a terminal. Whatever others stored or sent goes through `safe` first, so that a name cannot move the
 * cursor, change colours or the title, or turn the writing direction (security 4, SEC-20).
 */

import { counted as countedText } from '../../counted.ts';

declare const isSafe: unique symbol;
/** A text without control, escape and direction characters other than our own line ends and styles. */
export type SafeText = string & { readonly [isSafe]: true };

// Not U+200C and U+200D, which are harmless: Persian, Indic languages and emoji are written wrongly without them.
const unsafeCharacters =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text with each unsafe character in visible form: `\u{1b}`. A line stays one line. */
export function safe(text: string): SafeText {
  return text.replaceAll(unsafeCharacters, visible) as SafeText;
}

/** The same for a text of several lines, which keeps its line ends. */
export function safeLines(text: string): SafeText {
  return text.split('\n').map(safe).join('\n') as SafeText;
}

/** Each text on a line of its own, with a line end. */
export function asLines(texts: readonly SafeText[]): SafeText {
  return texts.map((text) => `${text}\n`).join('') as SafeText;
}

/** A sentence of ours with foreign parts: say`No customer ${name}`. */
export function say(ours: TemplateStringsArray, ...foreign: readonly (string | number)[]): SafeText {
  return String.raw({ raw: ours }, ...foreign.map((part) => safe(String(part)))) as SafeText;
}

/** `1 event`, `2 events`. */
export function counted(count: number, noun: string): SafeText {
  return say`${countedText(count, noun)}`;
}

/**
 * Vouches for a text that its format has already made harmless: JSON with its escapes, a table of safe cells. Whoever checks
 * this promise must look at every call.
 */
export function vouch(text: string): SafeText {
  return text as SafeText;
}

/** JSON text with every character escaped on which a terminal would act; it stands for the same value. */
export function safeJson(json: string): SafeText {
  return json.replaceAll(unsafeCharacters, (character) =>
    character === '\n' ? character : escaped(character),
  ) as SafeText;
}

/** YAML text with such characters escaped; it stands for the same values where they are in double quotes. */
export function safeYaml(yaml: string): SafeText {
  return yaml.replaceAll(unsafeCharacters, (character) => {
    if (character === '\n') return character;
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : unit(code);
  }) as SafeText;
}

/** Whether `safe` would change something besides line ends. */
export function hasUnsafe(text: string): boolean {
  return text.replaceAll('\n', '').search(unsafeCharacters) !== -1;
}

function visible(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => unit(character.charCodeAt(index))).join('');
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
