/** HTML in which every foreign text stays text: escaped, and without characters that would turn the writing direction. */

import { safe } from '../terminal/safe-text.ts';

/** Our markup, with foreign texts escaped in it. An object, so that markup and text cannot be confused. */
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

/** A text of a service, which may have left it out or answered null whatever the interface says (reliability 10). */
export type Told = string | null | undefined;

/**
 * markup`<td>${name}</td>`: texts are escaped, markup and lists of it are inserted unchanged, and what was not told is nothing.
 * Our indentation is left out.
 */
export function markup(
  ours: TemplateStringsArray,
  ...parts: readonly (Html | readonly Html[] | Told | number)[]
): Html {
  const raw = ours.map((text) => text.replaceAll(/\s*\n\s*/g, '\n'));
  return { text: String.raw({ raw }, ...parts.map(textOf)) };
}

function textOf(part: Html | readonly Html[] | Told | number): string {
  if (part === null || part === undefined) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return 'text' in part ? part.text : part.map(({ text }) => text).join('');
}

/** Safe as the content of an element and in a quoted attribute. */
function escaped(text: string): string {
  return safe(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A foreign text, isolated: right-to-left letters affect only the text itself. */
export function foreign(text: Told): Html {
  return markup`<bdi>${text}</bdi>`;
}

/** A smaller line below; nothing for an empty text. */
export function note(text: Told): Html {
  return isTold(text) ? markup`<span class="note">${foreign(text)}</span>` : markup``;
}

export function isTold(text: Told): text is string {
  return (text ?? '') !== '';
}
