/** How many columns of a terminal a text takes, never fewer than it really does, so that no line becomes too long. */

import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

const takesNothing = /^[\p{Mn}\p{Me}]$/u;
const takesTwo =
  /^[\p{Emoji_Presentation}\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\u3000-\u303f\uff00-\uff60\uffe0-\uffe6]$/u;

/** Columns of a text; combining marks take none, East Asian characters and emoji two. */
export function textWidth(text: SafeText): number {
  return [...text].reduce((sum, character) => sum + characterWidth(character), 0);
}

/** The text in exactly `width` columns: cut with a mark if it is longer, else padded with spaces. */
export function fitted(text: SafeText, width: number, cutMark: string): SafeText {
  const own = textWidth(text);
  if (own <= width) return vouch(text + ' '.repeat(width - own));
  if (width < 1) return vouch('');
  let kept = '';
  let used = 0;
  for (const character of text) {
    const next = characterWidth(character);
    if (used + next > width - 1) break;
    kept += character;
    used += next;
  }
  return vouch(`${kept}${cutMark}${' '.repeat(width - 1 - used)}`);
}

function characterWidth(character: string): number {
  if (character <= '~') return 1;
  if (takesNothing.test(character)) return 0;
  return takesTwo.test(character) ? 2 : 1;
}
