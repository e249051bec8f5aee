/**
 * Every way an operation can fail, and the one table that says what each kind is on the wire and at the shell.
 * The router, the client and the command line read the table. It alone has exit codes, except 0, and statuses, except those of
 * other things: successes, probes, webhooks, and whatever stands between a client and a service.
 */

import { limits } from './limits.ts';

export type ErrorKind =
  | 'badRequest'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'conflict'
  | 'preconditionFailed'
  | 'payloadTooLarge'
  | 'unsupportedMediaType'
  | 'invalidInput'
  | 'rateLimited'
  | 'internal'
  | 'unavailable'
  | 'usage'
  | 'network'
  | 'checkFailed'
  | 'refused'
  | 'notOffered'
  | 'interrupted';

export interface ErrorFacts {
  /** HTTP status; absent for kinds that exist only at the shell. */
  readonly status?: number;
  /** `error.code` on the wire and in `-o json` error output. */
  readonly code: string;
  readonly exitCode: number;
  /** Whether the same request may succeed later unchanged. */
  readonly retryable: boolean;
  /** What to do next, if a message has nothing more specific. */
  readonly hint?: string;
}

/** Statuses and wire codes: interface 7, semantics 2. Exit codes: `tally help exit-codes` explains them. */
export const errorFacts: Readonly<Record<ErrorKind, ErrorFacts>> = {
  badRequest: { status: 400, code: 'BAD_REQUEST', exitCode: 8, retryable: false },
  unauthorized: {
    status: 401,
    code: 'UNAUTHORIZED',
    exitCode: 3,
    retryable: false,
    hint: 'check the key of the profile with: tally profile check',
  },
  forbidden: {
    status: 403,
    code: 'FORBIDDEN',
    exitCode: 6,
    retryable: false,
    hint: 'use a key that has this scope',
  },
  notFound: { status: 404, code: 'NOT_FOUND', exitCode: 4, retryable: false },
  methodNotAllowed: { status: 405, code: 'METHOD_NOT_ALLOWED', exitCode: 12, retryable: false },
  conflict: { status: 409, code: 'CONFLICT', exitCode: 7, retryable: false },
  preconditionFailed: {
    status: 412,
    code: 'PRECONDITION_FAILED',
    exitCode: 7,
    retryable: false,
    hint: 'read it again and repeat the command',
  },
  payloadTooLarge: { status: 413, code: 'PAYLOAD_TOO_LARGE', exitCode: 8, retryable: false },
  unsupportedMediaType: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', exitCode: 8, retryable: false },
  invalidInput: { status: 422, code: 'VALIDATION_ERROR', exitCode: 8, retryable: false },
  rateLimited: {
    status: 429,
    code: 'RATE_LIMITED',
    exitCode: 5,
    retryable: true,
    hint: 'wait, and repeat the command',
  },
  internal: { status: 500, code: 'INTERNAL_ERROR', exitCode: 1, retryable: false },
  unavailable: { status: 503, code: 'UNAVAILABLE', exitCode: 9, retryable: true },
  usage: { code: 'USAGE', exitCode: 2, retryable: false },
  network: { code: 'NETWORK_ERROR', exitCode: 9, retryable: true },
  checkFailed: { code: 'CHECK_FAILED', exitCode: 10, retryable: false },
  refused: { code: 'REFUSED', exitCode: 11, retryable: false },
  notOffered: { code: 'NOT_OFFERED', exitCode: 12, retryable: false },
  interrupted: { code: 'INTERRUPTED', exitCode: 130, retryable: false },
};

/** For work that a second SIGTERM ends before it could fail: 128 plus the signal's number, as `interrupted` is for SIGINT. */
export const terminatedExitCode = 143;

export interface ErrorOptions {
  /** Overrides the kind's hint: what to do next, one short sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** Seconds after which a retry is welcome; sent as the `Retry-After` header. */
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
  /** The status that a service answered, if it may differ from the kind's. */
  readonly answeredStatus?: number | undefined;
  /** Overrides the kind's `retryable`. */
  readonly isRetryable?: boolean | undefined;
}

/** A failure that a person can act on: its kind decides status, wire code and exit code. */
export class BillingError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  readonly answeredStatus: number | undefined;
  /** Whether the same request may be sent again unchanged: false if that could do twice what is to be done once. */
  readonly isRetryable: boolean;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.kind = kind;
    this.hint = options.hint ?? errorFacts[kind].hint;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.requestId = options.requestId;
    this.answeredStatus = options.answeredStatus;
    this.isRetryable = options.isRetryable ?? errorFacts[kind].retryable;
  }
}

/** The same failure in other words, and with another hint if one is given. */
export function reworded(error: BillingError, message: string, hint: string | undefined = error.hint): BillingError {
  const { kind, retryAfterSeconds, requestId, answeredStatus, isRetryable } = error;
  const kept = { retryAfterSeconds, requestId, answeredStatus, isRetryable };
  return new BillingError(kind, message, { ...kept, hint, cause: error });
}

/** 400: malformed JSON, or an unknown or impossible query parameter. */
export class BadRequestError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('badRequest', message, options);
  }
}

/** The operation is offered, but cannot be tried without being kept. */
export class NotRehearsedError extends BillingError {
  constructor(message: string) {
    super('notOffered', message);
  }
}

/** 401: no key, or one that is invalid, revoked or expired. */
export class UnauthorizedError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('unauthorized', message, options);
  }
}

/** 403: the key lacks the scope that the message names. */
export class ForbiddenError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('forbidden', message, options);
  }
}

/** 404: nothing with that id in this organization; the same words for another tenant's id and for one that never existed. */
export class NotFoundError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('notFound', message, options);
  }
}

/** 409: the request is fine, but the current state forbids it. */
export class ConflictError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('conflict', message, options);
  }
}

export interface InputIssue {
  /** JSON path such as `contacts[0].email`; empty for the whole body. */
  readonly path: string;
  readonly message: string;
}

/** Formats a path such as `contacts[0].email`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${shortName(String(key))}`))
    .join('');
}

/** Shortens a name or text of others, which may be as long as a body. */
export function shortName(name: string): string {
  return name.length <= limits.nameCharacters ? name : `${name.slice(0, limits.nameCharacters)}…`;
}

/** A text of others as one line, without anything that a terminal would act on. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ').trim();
}

/** 422: the request alone is wrong, or names something that cannot be used. The message lists every issue with its path. */
export class InvalidInputError extends BillingError {
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[], options?: ErrorOptions) {
    super(
      'invalidInput',
      issues.map((issue) => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`)).join('; '),
      options,
    );
    this.issues = issues;
  }
}

/** 429: too many requests from one address; `retryAfterSeconds` says when to come back. */
export class RateLimitedError extends BillingError {
  constructor(message: string, options: ErrorOptions & { readonly retryAfterSeconds: number }) {
    super('rateLimited', message, options);
  }
}

/** 503: the database is locked, full, read-only or gone; nothing was changed. */
export class UnavailableError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options);
  }
}

/** 503: the query of a meter gives no number. The message names only what the organization itself made. */
export class UnreadableMeterError extends UnavailableError {}

/** Another program has upgraded the database to a schema that this one does not know: only a restart helps. */
export class OutdatedError extends UnavailableError {
  constructor(location: string, versions: { readonly found: bigint | undefined; readonly known: bigint }) {
    super(
      `the database ${location} was upgraded to schema ${versions.found} while in use; this program only knows ${versions.known}`,
      { hint: 'restart this program, in its newest version' },
    );
  }
}

/** A page of a database file is damaged. */
export class DamagedError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('internal', message, options);
  }
}

/** There was no connection, and no part of any try of the request left: nothing was done. */
export class UnsentError extends BillingError {
  constructor(message: string, options?: ErrorOptions) {
    super('network', message, options);
  }
}

/**
 * Also 503, but more than nothing may have been kept: the database did not answer a commit, or work of several transactions
 * ended midway.
 */
export class UnknownOutcomeError extends UnavailableError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, { isRetryable: false, ...options });
  }
}

/**
 * The error to throw if the database failed during work of several transactions. The given error says of its own transaction
 * that nothing was changed; `kept` says what stays of the earlier ones. With `isRetryable`, the same request does the rest.
 */
export function stoppedMidway(
  error: unknown,
  { kept, ...options }: { readonly kept: string } & Pick<ErrorOptions, 'hint' | 'isRetryable'>,
): unknown {
  if (!(error instanceof UnavailableError)) return error;
  const { hint, retryAfterSeconds } = error;
  const message = `${kept}; the next step failed: ${error.message}`;
  return new UnknownOutcomeError(message, { cause: error, hint, retryAfterSeconds, ...options });
}

/** Why work of several transactions stopped: that nothing was changed is true of the last of them alone. */
export function reasonOfStop({ message }: BillingError): string {
  return message.replace(/; nothing was changed$/, '');
}

/** What our services answer to an UnknownOutcomeError, so that their clients can tell it from a 503 that changed nothing. */
export const unknownOutcomeMessage =
  'the database did not say in time what it did; whether the change was kept is not known';

/** What our services answer for an unknown route, so that their clients can tell this 404 from an unknown id. */
export const unknownPathMessage = 'this service has no such path';

/** The refusal of an id in a path: the same for an unknown id and another tenant's, so that it reveals neither. */
export function unknownIdMessage(noun: string): string {
  return `no ${noun} has this id`;
}

/** The noun in such a refusal; undefined for any other message. */
export function nounOfUnknownId(message: string): string | undefined {
  return /^no (\w[\w ]*) has this id$/.exec(message)?.[1];
}

/** The refusal of an id in a field; it follows the path of the field. */
export function namesNoMessage(noun: string): string {
  return `names no ${noun}`;
}

/** The noun in such a refusal; undefined for any other message. */
export function nounOfNamesNo(message: string): string | undefined {
  return /^names no (\w[\w ]*)$/.exec(message)?.[1];
}

/** The refusal of an archived record in a field; it follows the path of the field. */
export function namesArchivedMessage(noun: string, name: string): string {
  return `names the ${noun} "${name}", which is archived`;
}

/** The noun in such a refusal; undefined for any other message. */
export function nounOfNamesArchived(message: string): string | undefined {
  return /^names the (\w+) ".*", which is archived$/s.exec(message)?.[1];
}

/** Whether the disk failed, so that the same path may work later. Systems make a disk read-only when it begins to fail. */
export function isFailureOfDisk(cause: unknown): boolean {
  return failuresOfDisk.has((cause as NodeJS.ErrnoException).code ?? '');
}

const failuresOfDisk: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);

/** Why the system refuses a file or a directory; the code alone where it has no words here. */
export function reasonOfFile(cause: unknown): string {
  const { code = 'failed' } = cause as NodeJS.ErrnoException;
  return reasons[code] ?? code;
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'it is a link',
  ENOENT: 'the directory does not exist',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  ENAMETOOLONG: 'the name is too long',
  EFBIG: 'the file would exceed the size limit',
  EIO: 'the disk failed',
};

/** Why no connection to a host comes about; undefined for the code of any other failure. */
export function reasonOfHost(code: string): string | undefined {
  return reasonsOfHosts[code];
}

const reasonsOfHosts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers at this address',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EAI_AGAIN: 'the host name cannot be looked up now',
  ENOTFOUND: 'no host has this name',
};

/** The kind that a status stands for; the client uses it to turn an envelope back into the same class. */
export function kindOfStatus(status: number): ErrorKind | undefined {
  for (const kind of Object.keys(errorFacts) as ErrorKind[]) {
    if (errorFacts[kind].status === status) return kind;
  }
  return undefined;
}
