/**
 * Files that the person named for an answer: made anew, for their owner alone, and never through a link, behind which
 * somebody else's file could lie (security 4, SEC-23). Their names never come from what a service answered.
 */

import { closeSync, constants, fchmodSync, openSync, writeFileSync } from 'node:fs';

import { BillingError } from '../errors.ts';

export interface OutputFileOptions {
  /** Whether a file that is there already is replaced. */
  readonly isForced?: boolean;
  /** What to do where a file is in the way. */
  readonly hint?: string;
}

/** Throws a refusal where a file is in the way, and a usage error where none can be written. */
export function writeOutputFile(path: string, content: string | Uint8Array, options: OutputFileOptions = {}): void {
  const { isForced = false, hint = 'name a file that does not exist yet' } = options;
  const file = open(path, isForced ? constants.O_TRUNC : constants.O_EXCL, hint);
  try {
    // One that was there keeps its mode otherwise, and it names customers now.
    if (isForced) fchmodSync(file, 0o600);
    writeFileSync(file, content);
  } catch (cause) {
    throw unwritable(path, cause);
  } finally {
    closeSync(file);
  }
}

function open(path: string, whereThereIsOne: number, hint: string): number {
  try {
    return openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | whereThereIsOne | (constants.O_NOFOLLOW ?? 0),
      0o600,
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
    throw new BillingError('refused', `${path} is there already: nothing was written`, { hint, cause });
  }
}

function unwritable(path: string, cause: unknown): BillingError {
  const { code = 'failed' } = cause as NodeJS.ErrnoException;
  const reason = reasons[code] ?? code;
  return new BillingError('usage', `cannot write ${path}: ${reason}`, { cause });
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'it is a link',
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};
