/** Files that the command line names. */

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { BillingError, reasonOfFile } from '../../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The text of a file, or of standard input for `-`. Throws a usage error that names the file if it cannot be read. */
export async function readTextFile(path: string, terminal: Terminal): Promise<string> {
  if (path === '-') return await terminal.readInput();
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readFile(path);
    // UTF-16 without its mark would be taken for UTF-8, with a NUL beside each letter.
    if (wideEncodingOf(bytes) !== undefined) throw new TypeError('a text in UTF-16');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(path, error, bytes);
  }
}

export const gzipMagic: readonly number[] = [0x1f, 0x8b];
export const zstdMagic: readonly number[] = [0x28, 0xb5, 0x2f, 0xfd];

const workbook = 'it is a workbook or an archive: save the sheet as CSV in UTF-8, or unpack the file';

/** What files that are no text begin with: gzip, zstd, ZIP (as newer workbooks do), and older workbooks. */
const noText: readonly (readonly [magic: readonly number[], hint: string])[] = [
  [gzipMagic, 'it is compressed: unpack it with: gunzip -c FILE > NEW-FILE'],
  [zstdMagic, 'it is compressed: unpack it with: zstd -dc FILE > NEW-FILE'],
  [[0x50, 0x4b, 0x03, 0x04], workbook],
  [[0xd0, 0xcf, 0x11, 0xe0], workbook],
];

/** The hint for a file that begins with these bytes and is no text; undefined if they say nothing. */
export function noTextHint(bytes: Uint8Array): string | undefined {
  return noText.find(([magic]) => beginsWith(bytes, magic))?.[1];
}

export function beginsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/** The hint for what is not UTF-8, such as the encodings that spreadsheets still write; by its first bytes, if known. */
export function encodingHint(bytes: Uint8Array = new Uint8Array()): string {
  const hint = noTextHint(bytes);
  if (hint !== undefined) return hint;
  return `save it as UTF-8, or convert it with: iconv -f ${wideEncodingOf(bytes) ?? 'WINDOWS-1252'} -t UTF-8 FILE > NEW-FILE`;
}

/**
 * The UTF-16 encoding of a text that begins with these bytes: with a mark, which no UTF-8 text begins with, or with two
 * characters that have NUL in the same half. Undefined for every other text.
 */
export function wideEncodingOf([first, second, third, fourth]: Uint8Array): string | undefined {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'UTF-16';
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'UTF-16LE';
  return first === 0 && third === 0 && second !== 0 && fourth !== undefined && fourth !== 0 ? 'UTF-16BE' : undefined;
}

/** What messages call a file that is read. */
export function nameOfFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The text of a file; undefined if there is none. */
export function readOptionalTextFile(path: string): string | undefined {
  try {
    // Every write looks for such a file: a blocking read takes less time than loading the asynchronous module.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return undefined;
    throw unreadable(path, error);
  }
}

/** Throws a usage error for what cannot be read as a file, before its contents are needed; returns its size. */
export function checkReadable(path: string): number {
  try {
    const facts = statSync(path);
    if (facts.isDirectory()) throw Object.assign(new Error('a directory'), { code: 'EISDIR' });
    accessSync(path, constants.R_OK);
    return facts.size;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown, bytes?: Uint8Array): BillingError {
  if (path === '') return new BillingError('usage', 'cannot read a file: its path is empty', { cause });
  const why = reason(cause as NodeJS.ErrnoException);
  const hint = why === notUtf8 ? encodingHint(bytes) : undefined;
  return new BillingError('usage', `cannot read ${path}: ${why}`, { cause, hint });
}

const notUtf8 = 'it is not UTF-8 text';
/** For files of more than 2 GiB, and texts longer than a string can be. */
const tooLarge: ReadonlySet<string> = new Set(['ERR_FS_FILE_TOO_LARGE', 'ERR_STRING_TOO_LONG']);

function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'the file does not exist';
  if (tooLarge.has(error.code ?? '')) return 'it is too large to read at once';
  return error.code === undefined || error.code.startsWith('ERR_') ? notUtf8 : reasonOfFile(error);
}
