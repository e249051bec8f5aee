/** Texts in Unicode NFC, as they are compared, in time that grows with their length alone. */

import { limits } from './limits.ts';

/** Looked for at the beginning of a run alone, so that no mark is looked at twice. */
const longMarks = new RegExp(String.raw`(?<!\p{M})\p{M}{${limits.combiningMarks + 1}}`, 'u');

/**
 * Whether more than `limits.combiningMarks` combining marks follow each other, as in no language. Unicode sorts those of a run
 * when it normalizes them, in time that grows with the square of their number: half a million take minutes.
 */
export function hasLongMarks(text: string): boolean {
  return text.length > limits.combiningMarks && longMarks.test(text);
}

/** What is said of such a text. */
export const longMarksMessage = `must not have more than ${limits.combiningMarks} combining marks in a row`;

/** The text in NFC; as it stands where it has more marks in a row, which only older records may have (our choice). */
export function inNfc(text: string): string {
  return hasLongMarks(text) ? text : text.normalize('NFC');
}
