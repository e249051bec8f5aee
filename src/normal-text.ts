/** Texts in Unicode NFC, as they are compared, in time that grows only with their length. */

import { limits } from './limits.ts';

/** Made at the first long text: V8 gathers the class of marks then, at a fiftieth of a short command. */
let longMarks: RegExp | undefined;

/**
 * Whether more than `limits.combiningMarks` combining marks follow each other, which happens in no language. Normalization sorts
 * the marks of a run in time that grows with the square of their number: half a million take minutes.
 */
export function hasLongMarks(text: string): boolean {
  if (text.length <= limits.combiningMarks) return false;
  // Matches at the beginning of a run alone, so that no mark is examined twice.
  longMarks ??= new RegExp(String.raw`(?<!\p{M})\p{M}{${limits.combiningMarks + 1}}`, 'u');
  return longMarks.test(text);
}

/** The message for such a text. */
export const longMarksMessage = `must not have more than ${limits.combiningMarks} combining marks in a row`;

/** The text in NFC, or unchanged if it has more marks in a row, which only older records may have (our choice). */
export function inNfc(text: string): string {
  return hasLongMarks(text) ? text : text.normalize('NFC');
}
