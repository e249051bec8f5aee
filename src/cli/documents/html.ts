/** HTML in which every foreign text is text: escaped, and without the characters that would turn the writing direction. */

import { safe } from '../terminal/safe-text.ts';

/** Markup of ours, with foreign texts escaped in it. Not a text, so that it cannot be taken for one or the other way round. */
export interface Html {
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** markup`<td>${name}</td>`: texts are escaped; markup and lists of it stand as they are. Our own indentation is left out. */
export function markup(
  ours: TemplateStringsArray,
  ...parts: readonly (Html | readonly Html[] | string | number)[]
): Html {
  const raw = ours.map((text) => text.replaceAll(/\s*\n\s*/g, '\n'));
  return { text: String.raw({ raw }, ...parts.map(textOf)) };
}

function textOf(part: Html | readonly Html[] | string | number): string {
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return 'text' in part ? part.text : part.map(({ text }) => text).join('');
}

/** Safe as the content of an element and of a quoted attribute. */
function escaped(text: string): string {
  return safe(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Text of others, isolated: letters that run from right to left stay within it. */
export function foreign(text: string): Html {
  return markup`<bdi>${text}</bdi>`;
}

/** A smaller line below; nothing for an empty text. */
export function note(text: string): Html {
  return text === '' ? markup`` : markup`<span class="note">${foreign(text)}</span>`;
}
