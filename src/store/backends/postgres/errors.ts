/** What PostgreSQL's error codes mean to a person: which database, what is wrong with it, what to do next. */

import { BillingError, UnavailableError, UnknownOutcomeError } from '../../../errors.ts';
import { type ConstraintRule, ConstraintViolation } from '../../constraint-violation.ts';
import { appendOnlyState } from './migrations/columns.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const constraintRules: Readonly<Record<string, ConstraintRule>> = {
  '23505': 'unique',
  '23503': 'reference',
  '23514': 'value',
  '23502': 'value',
  '22003': 'value',
  '22001': 'value',
  '22P02': 'value',
  // A text with the character NUL, which this database cannot store.
  '22021': 'value',
  [appendOnlyState]: 'appendOnly',
};

const conflicts = new Set(['40001', '40P01']);
const givenUp = '57014';
const crowded = '53300';
/** Shutting down, not yet up, a database that is dropped, a session that was idle for too long, or too many of them. */
const absences = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', crowded]);
const socketFailures = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EPIPE',
  'ENOENT',
  'EACCES',
]);
/** What this machine lacks for another connection. */
const scarcities = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']);
/** The library's words for failures without a code. */
const lostWords =
  /connection terminated|connection ended|timeout (?:exceeded|expired)|query read timeout|not queryable/i;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Others changed what this transaction read, or both wait for each other: the same work may succeed when repeated. */
export function isConflict(error: unknown): boolean {
  return conflicts.has(codeOf(error));
}

/** The server, or the way to it, is gone; the connection must not be used again. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (absences.has(code) || code.startsWith('08') || socketFailures.has(code) || scarcities.has(code)) return true;
  // The words of a server may have any name in them.
  if (!(error instanceof Error) || 'severity' in error) return false;
  return lostWords.test(error.message) || isTlsFailure(error);
}

/** The server has as many sessions as the server, the database or the user may have. */
export function isCrowded(error: unknown): boolean {
  return codeOf(error) === crowded;
}

/** A commit itself was refused, for what its transaction had done. */
export function isOfCommit(error: unknown): boolean {
  return isConflict(error) || error instanceof ConstraintViolation;
}

/** The server warns that a commit no longer waits for its standby. Its words may be in any language, and other warnings come too. */
export function isWithoutStandby({ routine }: { readonly routine: string | undefined }): boolean {
  return routine === 'SyncRepWaitForLSN';
}

/** When a transaction begins: a standby refuses one that may write. */
export function isOfStandby(error: unknown): boolean {
  return codeOf(error) === '0A000';
}

/** When a transaction begins: the table that says the version is not there. */
export function isWithoutTables(error: unknown): boolean {
  return codeOf(error) === '42P01';
}

/** No answer came in time, and no sign that the connection is gone. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Only the library's words say that the server asks for a password and none was given. */
function isWithoutPassword(error: Error): boolean {
  return error.message.includes('client password must be');
}

/** PgBouncer refuses a startup parameter with the code of a broken connection. */
function isRefusedByPooler(error: Error): boolean {
  return error.message.startsWith('unsupported startup parameter');
}

function isTlsFailure(error: Error): boolean {
  return isCertificateRefused(error) || /^ERR_(?:TLS|SSL)/.test(codeOf(error)) || error.message.includes('SSL');
}

function isCertificateRefused(error: Error): boolean {
  return /^(?:CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/.test(codeOf(error));
}

export function readOnlyError(location: string, cause?: unknown): UnavailableError {
  return new UnavailableError(`the database ${location} is read-only; nothing was changed`, {
    cause,
    hint: 'give the URL of the primary server, and a role that may write',
  });
}

export function goneError(location: string, cause: unknown): UnavailableError {
  return new UnavailableError(`the database ${location} has no tables of this program any more; nothing was changed`, {
    cause,
    retryAfterSeconds: 1,
    hint: 'look who replaced or emptied it, and restore it from a backup',
  });
}

export function lockedError(location: string, cause?: unknown): UnavailableError {
  return new UnavailableError(`the database ${location} is locked by another writer; nothing was changed`, {
    cause,
    retryAfterSeconds: 1,
    hint: 'repeat the command; if it stays locked, look for the session that holds it in pg_locks',
  });
}

/** The server may have committed before the connection broke; only reading can tell. */
export function unknownOutcomeError(location: string, cause: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `the connection to the database ${location} was lost during a commit; whether the change was kept is not known`,
    { cause, hint: 'read what was to be changed before you repeat the command' },
  );
}

export function contendedError(location: string, cause: unknown): UnavailableError {
  return new UnavailableError(`others kept changing the same rows of the database ${location}; nothing was changed`, {
    cause,
    retryAfterSeconds: 1,
    hint: 'repeat the command',
  });
}

/** The pool's words after a vain wait for a session; a server that does not answer gives other words. */
const allInUse = 'timeout exceeded when trying to connect';

function busyError(location: string, cause: Error): UnavailableError {
  return new UnavailableError(
    `all sessions of this process on the database ${location} are in use; nothing was changed`,
    {
      cause,
      retryAfterSeconds: 1,
      hint: 'ask for less at a time, or share the work with another process',
    },
  );
}

/** The error to show in place of the library's; anything else is returned as it is. */
export function meaningOf(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || error instanceof BillingError || error instanceof ConstraintViolation) return error;
  const code = codeOf(error);
  const rule = constraintRules[code];
  if (rule !== undefined) return new ConstraintViolation(rule, error.message, error);
  if (isWithoutPassword(error)) return refused(location, error, 'it asks for a password, and there is none');
  if (error.message === allInUse) return busyError(location, error);
  if (isRefusedByPooler(error)) return settingRefused(location, error);
  if (isLost(error)) return absenceError(location, error);
  return meanings[code]?.(location, error) ?? error;
}

function absenceError(location: string, cause: Error): UnavailableError {
  const reason = isCrowded(cause) ? 'the server takes no more connections' : reasonOf(cause);
  return new UnavailableError(`the database ${location} cannot be reached: ${reason}`, {
    cause,
    retryAfterSeconds: 1,
    hint: absenceHint(cause),
  });
}

function absenceHint(cause: Error): string {
  if (isCrowded(cause)) return 'wait until others close theirs, or allow the server or the role more connections';
  if (scarcities.has(codeOf(cause)))
    return 'ask for less at a time, or let this program have more files and connections open (ulimit -n)';
  if (isCertificateRefused(cause)) {
    return 'name the authority of its certificate with ?sslrootcert=FILE in the URL, and use a host name that is in the certificate';
  }
  if (cause.message.includes('does not support SSL'))
    return 'set TLS up on the server, or leave sslmode out of the URL, and PGSSLMODE out of the environment';
  return 'check that the server runs and that its address is right, then repeat the command';
}

/** A name with several addresses fails once for each; the first failure is told. */
function reasonOf(cause: Error): string {
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  const told = first instanceof Error ? first : cause;
  return told.message === '' ? codeOf(cause) : told.message;
}

const refused = (location: string, cause: Error, reason = cause.message): UnavailableError =>
  new UnavailableError(`the database ${location} refuses this user: ${reason}`, {
    cause,
    hint: 'check user and password in the URL, or set PGUSER and PGPASSWORD',
  });

const full = (location: string, cause: Error): UnavailableError =>
  new UnavailableError(`no space is left for the database ${location}: ${cause.message}; nothing was changed`, {
    cause,
    hint: 'free some space on the server, then repeat the command',
  });

const outOfMemory = (location: string, cause: Error): UnavailableError =>
  new UnavailableError(
    `the server of the database ${location} has no memory left for this: ${cause.message}; nothing was changed`,
    {
      cause,
      retryAfterSeconds: 1,
      hint: 'repeat the command; if that stays so, see what the log of the server asks for, such as room for more locks',
    },
  );

/** Files that it cannot read or write, or of which it may have no more open. */
const failing = (location: string, cause: Error): UnavailableError =>
  new UnavailableError(`the server of the database ${location} failed: ${cause.message}; nothing was changed`, {
    cause,
    retryAfterSeconds: 1,
    hint: 'check its disk, and how many files it may open, then repeat the command',
  });

const damaged = (location: string, cause: Error): BillingError =>
  new BillingError('internal', `the database ${location} is damaged: ${cause.message}`, {
    cause,
    hint: 'restore it from a backup: tally restore FILE --to DATABASE',
  });

const settingRefused = (location: string, cause: Error): BillingError =>
  new BillingError('usage', `the server does not take a setting of ${location}: ${cause.message}`, {
    cause,
    hint: 'check the settings after the ? in the URL; they can also be set for a role on the server: ALTER ROLE name SET …',
  });

const meanings: Readonly<Record<string, (location: string, cause: Error) => Error>> = {
  '22023': settingRefused,
  '25006': readOnlyError,
  '28000': refused,
  '28P01': refused,
  '3D000': (location, cause) =>
    new UnavailableError(`the database ${location} does not exist`, {
      cause,
      hint: 'create it first: createdb, or CREATE DATABASE; the tables are created for you',
    }),
  '42704': settingRefused,
  '42501': (location, cause) =>
    new UnavailableError(`the user of ${location} may not do this: ${cause.message}`, {
      cause,
      hint: 'open the database once as a role that owns the schema, or grant what is missing',
    }),
  '53000': failing,
  '53100': full,
  '53200': outOfMemory,
  '53400': (location, cause) =>
    new UnavailableError(`for the database ${location} a limit of this user stands in the way: ${cause.message}`, {
      cause,
      hint: 'raise that limit for the role or the database',
    }),
  '55000': (location, cause) =>
    new UnavailableError(`the database ${location} takes no work now: ${cause.message}`, {
      cause,
      retryAfterSeconds: 1,
      hint: 'ask whoever keeps the server, then repeat the command',
    }),
  '55P03': lockedError,
  [givenUp]: (location, cause) =>
    // The server has one code for both, and its words for a person's part may be in another language.
    cause.message.includes('user request')
      ? new UnavailableError(`a statement of the database ${location} was cancelled on the server`, {
          cause,
          retryAfterSeconds: 1,
          hint: 'ask whoever keeps the server, then repeat the command',
        })
      : new UnavailableError(`the database ${location} took too long: ${cause.message}`, {
          cause,
          hint: 'repeat it, or allow more time with ?statement_timeout=MILLISECONDS in the URL',
        }),
  '25P04': (location, cause) =>
    new UnavailableError(`the database ${location} ended a transaction that took too long; nothing was changed`, {
      cause,
      hint: 'repeat it, or allow more time: transaction_timeout of the server, the database or the role',
    }),
  '25P03': (location, cause) =>
    new UnavailableError(`the database ${location} ended an idle transaction; nothing was changed`, {
      cause,
    }),
  '58030': failing,
  XX001: damaged,
  XX002: damaged,
};
