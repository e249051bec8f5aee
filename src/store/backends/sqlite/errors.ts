/** What SQLite's result codes mean to a person: which file, what is wrong with it, what to do next. */

import { BillingError, DamagedError, UnavailableError, UnknownOutcomeError } from '../../../errors.ts';
import { type ConstraintRule, ConstraintViolation } from '../../constraint-violation.ts';
import type { NameFault } from './names.ts';

/** Primary result codes, https://sqlite.org/rescode.html; an extended code has its primary code in the low byte. */
const code = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  constraint: 19,
  notADatabase: 26,
} as const;

const constraintRules: Readonly<Record<number, ConstraintRule>> = {
  787: 'reference',
  1555: 'unique',
  2067: 'unique',
  2579: 'unique',
};

/** A trigger holds the rule, and its words begin with the rule. */
const raised = 1811;

function extendedCodeOf(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? (error.errcode as number) : undefined;
}

function primaryCodeOf(error: unknown): number | undefined {
  const extended = extendedCodeOf(error);
  return extended === undefined ? undefined : extended & 0xff;
}

function ruleOf(error: Error): ConstraintRule {
  const extended = extendedCodeOf(error) ?? 0;
  if (extended === raised) return error.message.startsWith('reference: ') ? 'reference' : 'appendOnly';
  return constraintRules[extended] ?? 'value';
}

/** Another connection holds the lock; the same statement may succeed later. */
export function isBusy(error: unknown): boolean {
  const primary = primaryCodeOf(error);
  return primary === code.busy || primary === code.locked;
}

/** A page of the file is not what it should be. */
export function isCorrupt(error: unknown): boolean {
  return primaryCodeOf(error) === code.corrupt;
}

/** There is no space for what was to be written. */
export function isFullDisk(error: unknown): boolean {
  return primaryCodeOf(error) === code.full;
}

/** After a failed read, write or sync the handle must not be trusted any more. */
export function isInputOutputFailure(error: unknown): boolean {
  return primaryCodeOf(error) === code.inputOutput && extendedCodeOf(error) !== noTemporaryDirectory;
}

/** SQLITE_IOERR_GETTEMPPATH: the file itself is sound. */
const noTemporaryDirectory = 6410;

/**
 * Whether a commit that failed with this error may have been kept. Before the log is synced, the commit is already in it in full,
 * and whoever reads the log first, for instance after a kill, takes it for a commit. After a failed write it is not there.
 */
export function mayBeCommitted(error: unknown): boolean {
  return isInputOutputFailure(error) && extendedCodeOf(error) !== failedWrite;
}

/** SQLITE_IOERR_WRITE */
const failedWrite = 778;

/** The file, or the directory for its log, cannot be written to or opened in this way. */
export function isNotWritable(error: unknown): boolean {
  const primary = primaryCodeOf(error);
  return primary === code.readOnly || primary === code.cannotOpen;
}

/** A write was cut off in the middle, and a connection that only reads cannot undo it. SQLITE_READONLY_ROLLBACK */
export function isHalfWritten(error: unknown): boolean {
  return extendedCodeOf(error) === 776;
}

/** Faults because of which a write would reach no file of this name, or could be lost to a writer who uses another name. */
export const nameFaults: Readonly<Record<NameFault, (path: string) => UnavailableError>> = {
  lost: (path) =>
    new UnavailableError(`the database ${path} was moved or replaced while it was in use; nothing was changed`, {
      hint: 'stop the program that uses it; put the file back beside its log (-wal), or move the log after it; then start it again',
    }),
  logLost: (path) =>
    new UnavailableError(
      `the log of the database ${path} (-wal, -shm) was removed or replaced while it was in use; nothing was changed`,
      { hint: 'restart the program that uses it, and never touch the files beside a database' },
    ),
  several: (path) =>
    new UnavailableError(
      `the database ${path} has a second name (a hard link), and writing through both would lose data; nothing was changed`,
      { hint: 'find it with: find DIRECTORY -samefile FILE; remove it, or put a backup in its place' },
    ),
};

export function readOnlyError(path: string, cause?: unknown): UnavailableError {
  return new UnavailableError(`the database ${path} is read-only; nothing was changed`, {
    cause,
    hint: 'make the file, its directory and what lies beside the file (-wal, -shm) writable, or work on a copy',
  });
}

export function halfWrittenError(path: string, cause: unknown): UnavailableError {
  return new UnavailableError(
    `a write to the database ${path} was cut off in the middle, and this user may not undo what there is of it`,
    {
      cause,
      hint: 'repeat the command as a user who may write to the file, its directory and what lies beside the file (-journal)',
    },
  );
}

function temporaryFileError(path: string, cause: unknown): UnavailableError {
  return new UnavailableError(
    `the database ${path} needs a temporary file, and there is no directory to make it in; nothing was changed`,
    { cause, hint: 'set TMPDIR to a directory that can be written, then repeat the command' },
  );
}

export function changedError(path: string): UnavailableError {
  return new UnavailableError(`the database ${path} changed while it was read`, {
    retryAfterSeconds: 1,
    hint: 'repeat the command',
  });
}

export function unknownCommitError(path: string, cause: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `the disk failed during a commit to the database ${path}; whether the change was kept is not known`,
    { cause, hint: 'check the disk, and read what was to be changed before you repeat the command' },
  );
}

export function lockedError(path: string, waitedMilliseconds: number, cause?: unknown): UnavailableError {
  return new UnavailableError(
    `the database ${path} is locked by another process (waited ${waitedMilliseconds} ms); nothing was changed`,
    {
      cause,
      retryAfterSeconds: 1,
      hint: 'repeat the command; if it stays locked, stop the process that holds the file',
    },
  );
}

const backup = 'restore it from a backup: tally restore FILE --to DATABASE';

export function foreignFileError(path: string, cause?: unknown): BillingError {
  return new BillingError('internal', `${path} is not a tallybook database; it was left as it is`, {
    cause,
    hint: `give the path of another file, or ${backup}`,
  });
}

export function mirrorFileError(path: string): BillingError {
  return new BillingError('notOffered', `${path} mirrors another service, and keeps no books of its own`, {
    hint: 'read it, or refresh it with: tally pull --to FILE; try things out on a sandbox',
  });
}

export function cutFileError(path: string): BillingError {
  return new BillingError('internal', `the database ${path} is damaged: it is empty; it was left as it is`, {
    hint: `remove it if it never was a database, or ${backup}`,
  });
}

export function strayLogError(path: string): UnavailableError {
  return new UnavailableError(`the database ${path} is missing, and its log (-wal) is there; nothing was made`, {
    hint: 'put the file back beside its log, which has what was written last; for a new database move the log away',
  });
}

const meanings: Readonly<Record<number, (path: string, cause: Error) => Error>> = {
  [code.busy]: (path, cause) => lockedError(path, 0, cause),
  [code.locked]: (path, cause) => lockedError(path, 0, cause),
  [code.readOnly]: (path, cause) => readOnlyError(path, cause),
  [code.inputOutput]: (path, cause) =>
    new UnavailableError(`the disk failed while using the database ${path}: ${cause.message}; nothing was changed`, {
      cause,
      hint: 'check the disk and its free space, then repeat the command',
    }),
  [code.corrupt]: (path, cause) =>
    new DamagedError(`the database ${path} is damaged: ${cause.message}`, { cause, hint: backup }),
  [code.full]: (path, cause) =>
    new UnavailableError(`no space is left for the database ${path}; nothing was changed`, {
      cause,
      hint: 'free some space on its disk, then repeat the command',
    }),
  [code.cannotOpen]: (path, cause) =>
    new UnavailableError(`the database ${path} cannot be opened: ${cause.message}`, {
      cause,
      hint: 'check the path, that this user may read the file and what lies beside it (-wal, -shm), and that its directory exists and is writable',
    }),
  // SQLite has tried for ten seconds by then.
  [code.protocol]: (path, cause) =>
    new UnavailableError(`the database ${path} cannot be locked: ${cause.message}; nothing was changed`, {
      cause,
      retryAfterSeconds: 1,
      hint: 'repeat the command; if it goes on, check that the disk supports locks, and which processes use the file',
    }),
  [code.notADatabase]: (path, cause) => foreignFileError(path, cause),
};

/** The error to show in place of SQLite's; anything else is returned as it is. */
export function meaningOf(error: unknown, path: string): unknown {
  const primary = primaryCodeOf(error);
  if (primary === undefined || !(error instanceof Error)) return error;
  if (primary === code.constraint) {
    return new ConstraintViolation(ruleOf(error), error.message, error);
  }
  if (extendedCodeOf(error) === noTemporaryDirectory) return temporaryFileError(path, error);
  return meanings[primary]?.(path, error) ?? error;
}
