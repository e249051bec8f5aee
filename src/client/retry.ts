/** When a request is sent again, and after how long (reliability 10). */

import { errorFacts } from '../errors.ts';
import { limits } from '../limits.ts';
import { changesState } from '../operations/operation.ts';
import type { CallInput, OperationFacts } from '../operations/operation.ts';
import type { HttpAnswer } from './http-exchange.ts';
import type { NoAnswer } from './transport.ts';

/** Whether sending the call twice does no more than sending it once. */
export function isRepeatable(operation: OperationFacts, input: CallInput): boolean {
  if (!changesState(operation) || operation.repeatable === 'always') return true;
  if (operation.repeatable === undefined) return false;
  const { whenGiven, inEach } = operation.repeatable;
  if (inEach === undefined) return isGiven(input.body, whenGiven);
  const list = memberOf(input.body, inEach);
  return Array.isArray(list) && list.every((element) => isGiven(element, whenGiven));
}

function isGiven(value: unknown, name: string): boolean {
  const member = memberOf(value, name);
  return member !== undefined && member !== null;
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[name];
}

/** Statuses after which a later try may be answered differently. */
export const temporaryStatuses: ReadonlySet<number | undefined> = new Set([
  errorFacts.rateLimited.status,
  errorFacts.unavailable.status,
  502,
  504,
]);

export interface Try {
  readonly outcome: HttpAnswer | NoAnswer;
  readonly canRepeat: boolean;
  /** Counted from 1. */
  readonly attempt: number;
  readonly remainingMilliseconds: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From 0, inclusive, to 1, exclusive. */
  readonly random: () => number;
}

/** Milliseconds until the next try; undefined if this outcome is final. */
export function retryDelay({
  outcome,
  canRepeat,
  attempt,
  remainingMilliseconds,
  now,
  random,
}: Try): number | undefined {
  if (attempt >= limits.requestAttempts) return undefined;
  const isWorthIt = outcome.kind === 'noAnswer' ? outcome.isTemporary : temporaryStatuses.has(outcome.status);
  const isSafe = canRepeat || (outcome.kind === 'noAnswer' && !outcome.mayHaveArrived);
  if (!isWorthIt || !isSafe) return undefined;
  const asked = outcome.kind === 'answer' ? retryAfterMilliseconds(outcome.headers['retry-after'], now) : undefined;
  const delay = asked ?? fullJitter(attempt, random);
  return delay < Math.min(remainingMilliseconds, limits.timerMilliseconds) ? delay : undefined;
}

function fullJitter(attempt: number, random: () => number): number {
  return Math.round(random() * limits.retryBaseMilliseconds * 2 ** (attempt - 1));
}

/** The delay that a Retry-After header asks for, in seconds or as an HTTP date; undefined for neither. `now` is since 1970. */
export function retryAfterMilliseconds(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const instant = Date.parse(header);
  // The parser takes other forms, too. The day of the week may be a wrong one.
  const isHttpDate = !Number.isNaN(instant) && new Date(instant).toUTCString().slice(3) === header.slice(3);
  return isHttpDate ? Math.max(0, instant - now) : undefined;
}
