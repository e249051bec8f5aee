/** Turns an HTTP answer back into what the engine would have given: an Answer, or a BillingError of the same class. */

import { factsOf, serviceHeaders } from '../answer-facts.ts';
import {
  BadRequestError,
  BillingError,
  ConflictError,
  errorFacts,
  ForbiddenError,
  InvalidInputError,
  kindOfStatus,
  NotFoundError,
  oneLine,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError,
  unknownOutcomeMessage,
  unknownPathMessage,
} from '../errors.ts';
import type { ErrorKind, ErrorOptions, InputIssue } from '../errors.ts';
import { parseExactJson } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { Answer } from '../operations/index.ts';
import { pathParameters } from '../operations/operation.ts';
import type { OperationFacts, Outline } from '../operations/operation.ts';
import { answered, withPlainCounts } from './answer-shape.ts';
import { temporaryStatuses } from './retry.ts';
import type { HttpAnswer } from './http-exchange.ts';
import type { Target } from './target.ts';

/** What to do about a write of which nobody can say whether it took effect. */
export interface HowToCheck {
  readonly hint: string;
  /** Whether sending it twice does no more than sending it once. */
  readonly isRetryable: boolean;
}

export interface Reading {
  readonly operation: Outline;
  readonly target: Target;
  /** For a write whose answer does not tell its outcome; absent for readings. */
  readonly howToCheck: HowToCheck | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** The answer of a success; throws the failure for anything else. */
export function readAnswer(answer: HttpAnswer, reading: Reading): Answer {
  const { status, headers } = answer;
  const { operation } = reading;
  if (status >= 300 && status < 400) throw redirectFailure(answer, reading);
  if (status < 200 || status >= 400) throw statusFailure(answer, reading);
  const { json, problem, hasDecimals } = jsonOf(answer);
  const found = answered(operation, json);
  const body = hasDecimals === true ? withPlainCounts(found, operation.response) : found;
  if (body === undefined) throw invalidResponse(answer, problem ?? wantOf(operation), reading);
  return { status, body: body as Answer['body'], ...factsOf(headers) };
}

interface Json {
  readonly json?: unknown;
  /** Why there is none. */
  readonly problem?: string;
  /** Whether whole numbers may be written like `5.0`. */
  readonly hasDecimals?: boolean;
}

/** The JSON value of a body, or why there is none. */
function jsonOf({ headers, bytes }: HttpAnswer): Json {
  const type = headers['content-type'];
  if (type !== undefined && !isJson(type))
    return { problem: `it is ${type.slice(0, limits.responseExcerptCharacters)}` };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    return { problem: `it is compressed, as ${encoding.slice(0, limits.responseExcerptCharacters)}` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (text.startsWith('\uFEFF')) return { problem: 'a byte order mark comes before it' };
    const json = parseExactJson(text, { depth: limits.responseJsonDepth, keys: limits.responseJsonKeys });
    return { json, hasDecimals: /\.0+\s*[,}]/.test(text) };
  } catch (error) {
    if (error instanceof TypeError) return { problem: 'it is not UTF-8' };
    // The parser quotes the malformed text, which is shown here already.
    const isOurs = error instanceof BillingError && !(error.cause instanceof SyntaxError);
    return { problem: isOurs ? error.message : 'it is not JSON' };
  }
}

/** Tests the usual type first, because making the expression takes longer. */
function isJson(type: string): boolean {
  return type.startsWith('application/json;') || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
}

function wantOf({ command }: OperationFacts): string {
  return `it lacks fields of an answer to "${command.group} ${command.verb}"`;
}

function redirectFailure(answer: HttpAnswer, { target }: Reading): BillingError {
  const location = answer.headers['location'];
  const to = location === undefined ? undefined : URL.parse(location, target.origin)?.host;
  const words = `${target.host} answered ${answer.status} and points to ${to ?? 'nowhere'}; redirects are not followed`;
  return new BillingError('network', words, {
    ...answeredBy(answer),
    isRetryable: false,
    hint: 'give the profile the base URL of the service itself',
  });
}

/** The failure that a status beyond 2xx and 3xx means. */
export function statusFailure(answer: HttpAnswer, reading: Reading): BillingError {
  const { status } = answer;
  const { operation, target, howToCheck } = reading;
  const { json, problem } = jsonOf(answer);
  const message = envelopeMessage(json);
  if (isUnknownRoute(operation, status, message)) return notOffered(operation, target, message ?? `answered ${status}`);
  const kind = kindOfStatus(status) ?? (status >= 500 ? 'internal' : 'badRequest');
  if (howToCheck !== undefined && leavesOpen(answer)) {
    return unknownOutcome(target, `answered ${status}`, howToCheck, answer);
  }
  const isClear = message !== undefined || kind === 'unauthorized' || kind === 'rateLimited' || status >= 500;
  if (!isClear) return invalidResponse(answer, problem, reading);
  return errorOf(kind, message ?? `${target.host} answered ${status}`, optionsOf(kind, answer, reading));
}

/** Whether an answer leaves the outcome of a write open: a gateway's, or a 503 that does not say that nothing was done. */
export function leavesOpen(answer: HttpAnswer): boolean {
  const { status } = answer;
  if (status === 502 || status === 504) return true;
  if (status !== errorFacts.unavailable.status) return false;
  const message = envelopeMessage(jsonOf(answer).json);
  return message === undefined || message === unknownOutcomeMessage;
}

/** What whoever runs the service needs in order to find the request. */
function answeredBy({ status, headers }: HttpAnswer): Pick<ErrorOptions, 'requestId' | 'answeredStatus'> {
  return { requestId: /^[!-~]{1,100}$/.exec(headers[serviceHeaders.requestId] ?? '')?.[0], answeredStatus: status };
}

function optionsOf(
  kind: ErrorKind,
  answer: HttpAnswer,
  { target, retryAfterSeconds, howToCheck }: Reading,
): ErrorOptions {
  const facts = answeredBy(answer);
  const { requestId } = facts;
  // An instant that has passed is no time to wait.
  const wait = `wait ${Math.max(1, retryAfterSeconds ?? 1)} s, and repeat the command`;
  const ownHints: Partial<Record<ErrorKind, string>> = {
    unauthorized: `${target.host} refused the key; check it with: tally profile check`,
    rateLimited: wait,
  };
  const later = retryAfterSeconds === undefined ? 'try again later' : wait;
  const told = requestId === undefined ? '' : ` of request ${requestId}`;
  const otherwise: Partial<Record<ErrorKind, string>> = {
    unavailable: later,
    internal: `${howToCheck?.hint ?? later}; if it fails again, tell whoever runs the service${told}`,
  };
  const hint = ownHints[kind] ?? hintOf(answer.headers[serviceHeaders.hint]) ?? otherwise[kind];
  // Also for a gateway's answer, whose kind is that of a bug.
  const isRetryable = temporaryStatuses.has(answer.status) ? true : undefined;
  return { ...facts, hint, retryAfterSeconds, isRetryable };
}

/** Our services send their hints too, so that a person reads the same on both sides. */
function hintOf(header: string | undefined): string | undefined {
  try {
    return header === undefined ? undefined : decodeURIComponent(header);
  } catch {
    return undefined;
  }
}

/** A 405, our own words for an unknown path, or a 404 for a path that names nothing that could be missing (semantics 3). */
function isUnknownRoute(operation: OperationFacts, status: number, message: string | undefined): boolean {
  if (status === errorFacts.methodNotAllowed.status) return true;
  if (status !== errorFacts.notFound.status) return false;
  return message === unknownPathMessage || pathParameters(operation.route?.path ?? '').length === 0;
}

/** `why` ends the sentence; kind `notOffered`, exit code 12 (semantics 3). */
export function notOffered(
  operation: OperationFacts,
  target: Target,
  why: string,
  hint = 'check the base URL of the profile, or use an embedded database',
): BillingError {
  const { group, verb } = operation.command;
  return new BillingError('notOffered', `${target.host} does not offer "${group} ${verb}": ${why}`, { hint });
}

/** For administration, which no service offers: the base URL is right, and another database would hold another book. */
export function onlyEmbedded(operation: OperationFacts, target: Target): BillingError {
  const hint = 'give it where the service runs, on its own database: --database';
  return notOffered(operation, target, 'only an embedded database does', hint);
}

/** A write of which nobody can say whether it took effect, although something may have answered. */
export function unknownOutcome(
  target: Target,
  reason: string,
  howToCheck: HowToCheck,
  answer?: HttpAnswer,
): BillingError {
  return new BillingError('network', `the outcome is unknown: ${target.host}: ${reason}`, {
    ...(answer === undefined ? {} : answeredBy(answer)),
    ...howToCheck,
  });
}

function invalidResponse(
  answer: HttpAnswer,
  problem: string | undefined,
  { target, howToCheck }: Reading,
): BillingError {
  const { status, bytes } = answer;
  const shown = bytes.length === 0 ? 'it is empty' : `it begins ${JSON.stringify(excerpt(bytes))}`;
  const why = problem === undefined || bytes.length === 0 ? '' : `, and ${problem}`;
  const words = `${target.host} answered ${status} with what is not a valid response: ${shown}${why}`;
  return new BillingError('network', words, {
    ...answeredBy(answer),
    ...(howToCheck ?? { hint: 'check that the base URL of the profile is that of the service' }),
  });
}

function excerpt(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, limits.responseExcerptCharacters * 4));
  return [...oneLine(text)].slice(0, limits.responseExcerptCharacters).join('');
}

function envelopeMessage(json: unknown): string | undefined {
  const message = (json as { error?: { message?: unknown } | null } | null | undefined)?.error?.message;
  return typeof message === 'string' ? message.slice(0, limits.responseMessageCharacters) : undefined;
}

type Maker = (message: string, options: ErrorOptions) => BillingError;

const makers: Readonly<Partial<Record<ErrorKind, Maker>>> = {
  badRequest: (message, options) => new BadRequestError(message, options),
  unauthorized: (message, options) => new UnauthorizedError(message, options),
  forbidden: (message, options) => new ForbiddenError(message, options),
  notFound: (message, options) => new NotFoundError(message, options),
  conflict: (message, options) => new ConflictError(message, options),
  invalidInput: (message, options) => new InvalidInputError(issuesOf(message), options),
  rateLimited: (message, options) =>
    new RateLimitedError(message, { ...options, retryAfterSeconds: options.retryAfterSeconds ?? 1 }),
  unavailable: (message, options) => new UnavailableError(message, options),
};

/** The issues that a message lists; put together, they give the same message. */
function issuesOf(message: string): InputIssue[] {
  return message.split('; ').map((part) => {
    // The names of metadata and properties may have spaces; a sentence has its first one after a word.
    const [, path, words] = /^(\w+(?:[.[].*?)?): (.*)$/s.exec(part) ?? [];
    return path === undefined || words === undefined ? { path: '', message: part } : { path, message: words };
  });
}

function errorOf(kind: ErrorKind, message: string, options: ErrorOptions): BillingError {
  return makers[kind]?.(message, options) ?? new BillingError(kind, message, options);
}
