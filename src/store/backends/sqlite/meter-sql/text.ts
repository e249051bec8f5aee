/** The text of an SQL meter: what is refused before anything starts, and the portable idiom in SQLite's own words. */

import { limits } from '../../../../limits.ts';
import { MeterSqlError } from '../../../meter-sql.ts';

const name = String.raw`(?:[\w$\u0080-\uffff]+|"(?:[^"]|"")*"|\`[^\`]*\`)`;
const property = String.raw`(?<column>(?:${name}\s*\.\s*){0,2}properties)\s*\[\s*'(?<key>(?:[^']|'')*)'\s*\]`;

/**
 * The pieces of a query, one after another: the idiom first, then whatever could hide it. Closing delimiters are optional, so
 * that an unclosed quote takes the rest at once and the work stays linear.
 */
const pieces = new RegExp(
  [
    property,
    String.raw`'(?:[^']|'')*(?:'|$)`,
    String.raw`"(?:[^"]|"")*(?:"|$)`,
    '`[^`]*(?:`|$)',
    String.raw`\[[^\]]*(?:\]|$)`,
    String.raw`--[^\n]*`,
    String.raw`/\*[^]*?(?:\*/|$)`,
    String.raw`[\w$\u0080-\uffff]+`,
    '[^]',
  ].join('|'),
  'gi',
);

/**
 * The query as SQLite reads it: outside of literals, names and comments, `properties['k']` becomes `(properties->>'$."k"')`
 * (semantics 8). In parentheses, because a sign before the idiom would bind more tightly than the arrow.
 */
export function sqliteTextOf(sql: string): string {
  return sql.replace(pieces, (piece: string, column: string | undefined, key: string | undefined) => {
    if (column === undefined || key === undefined) return piece;
    const path = `$.${JSON.stringify(key.replaceAll("''", "'"))}`;
    return `(${column}->>'${path.replaceAll("'", "''")}')`;
  });
}

/** Refuses texts that need no trial: too long, or with characters at which SQLite would stop or which it would change. */
export function checkText(sql: string): void {
  if (sql.length > limits.sqlCharacters)
    throw new MeterSqlError(`it is longer than ${limits.sqlCharacters} characters`);
  if (sql.includes('\0') || !sql.isWellFormed()) throw new MeterSqlError('it contains characters that are not text');
  if (sql.trim() === '') throw new MeterSqlError('it is empty');
}
