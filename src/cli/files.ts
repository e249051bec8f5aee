/** Files that the command line names. */

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { BillingError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

/** The text of a file, or of standard input for `-`. Throws a usage error naming the file that cannot be read. */
export async function readTextFile(path: string, terminal: Terminal): Promise<string> {
  if (path === '-') return await terminal.readInput();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    throw new BillingError('usage', `cannot read ${path}: ${reason(error as NodeJS.ErrnoException)}`, { cause: error });
  }
}

/** The text of a file; undefined when there is none. */
export function readOptionalTextFile(path: string): string | undefined {
  try {
    // Every write looks for one: waiting is cheaper than the module for what does not wait.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return undefined;
    throw new BillingError('usage', `cannot read ${path}: ${reason(failure)}`, { cause: error });
  }
}

function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such file';
  if (error.code === 'EISDIR') return 'it is a directory';
  if (error.code === 'EACCES') return 'permission denied';
  return error.code === undefined || error.code.startsWith('ERR_') ? 'it is not UTF-8 text' : error.code;
}
