/** The service behind HTTP as a `Billing`: each call becomes a request, and gives the same answer as the engine. */

import { serviceHeaders } from '../answer-facts.ts';
import { BillingError, UnsentError } from '../errors.ts';
import { limits } from '../limits.ts';
import { loadOutline, loadOutlines, roomOf } from '../operations/index.ts';
import type { Answer, Billing, ConnectionFacts, OperationName } from '../operations/index.ts';
import { changesState, pathParameters } from '../operations/operation.ts';
import type { CallInput, OperationFacts, Outline } from '../operations/operation.ts';
import { leavesOpen, notOffered, onlyEmbedded, readAnswer, statusFailure, unknownOutcome } from './response.ts';
import type { HowToCheck, Reading } from './response.ts';
import { isRepeatable, retryAfterMilliseconds, retryDelay, temporaryStatuses } from './retry.ts';
import { checkKeyForm, parseBaseUrl, parseProxyUrl, requestOf } from './target.ts';
import type { HttpRequest } from './target.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { createTransport } from './transport.ts';
import type { NoAnswer, WayOptions } from './transport.ts';

/** Reported before the pause. */
export interface Retry {
  /** The try that failed, counted from 1. */
  readonly attempt: number;
  /** How long that try took. */
  readonly triedMilliseconds: number;
  readonly delayMilliseconds: number;
  /** In a few words: `answered 503`, `nothing answers at this address`. */
  readonly reason: string;
}

export interface ClientOptions extends WayOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** For a whole call, including retries. Default: `limits.totalTimeoutMilliseconds`. */
  readonly timeoutMilliseconds?: number | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Milliseconds since 1970: making the first Temporal.Instant takes longer than sending the request. */
  readonly now: () => number;
  /** Default: waits. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
  /** From 0, inclusive, to 1, exclusive. */
  readonly random: () => number;
}

export interface Client extends Billing {
  /** URL of the proxy that carries connections, without user name and password; undefined without a proxy. */
  readonly proxy: string | undefined;
  /** Facts of the last answer; undefined before the first. */
  connection(): ConnectionFacts | undefined;
  /**
   * Hangs up without waiting for answers: calls in progress and later ones reject with kind `network`. Resolves before the
   * connections are gone, which happens once the running code is done.
   */
  close(): Promise<void>;
}

/** A client of one instance with one key. Throws for a base URL or key that must not be used (see target.ts). */
export function createClient(options: ClientOptions): Client {
  const target = parseBaseUrl(options.baseUrl);
  checkKeyForm(options.key);
  const timeGiven = options.timeoutMilliseconds ?? limits.totalTimeoutMilliseconds;
  const proxy =
    options.proxy === undefined || target.origin.startsWith('http:')
      ? undefined
      : { ...options.proxy, url: parseProxyUrl(options.proxy.url) };
  const transport = createTransport(target, { ...options, proxy });
  const authorization = { authorization: `Bearer ${options.key}` };
  const ownHeaders = { accept: 'application/json', 'user-agent': 'tallybook' };
  const way = proxy === undefined ? '' : ', the proxy of HTTPS_PROXY';
  /** Whether the instance identifies itself as ours; undefined until it has answered. */
  let isTallybook: boolean | undefined;
  let last: Exchanged | undefined;

  async function call<N extends OperationName>(name: N, input: CallInput = {}): Promise<Answer<N>> {
    const operation = await loadOutline(name);
    if (operation.route === undefined) throw onlyEmbedded(operation, target);
    const request = requestOf(target, operation, input);
    const deadline = options.now() + timeGiven;
    if (operation.documented !== true && operation.published !== true) await requireTallybook(operation, deadline);
    const signed = { ...request, headers: { ...request.headers, ...ownHeaders, ...authorization } };
    const { outcome, wasOpen } = await exchange(signed, { canRepeat: isRepeatable(operation, input), deadline });
    const howToCheck = changesState(operation)
      ? howToCheckOf(operation, input, await loadOutlines(roomOf(name)))
      : undefined;
    if (outcome.kind === 'noAnswer') throw noAnswerFailure(outcome, howToCheck);
    // A refusal of this try says nothing about an earlier one.
    const followsOpenTry = wasOpen && howToCheck !== undefined;
    if (followsOpenTry && outcome.status >= 300) {
      throw unknownOutcome(target, `answered ${outcome.status} after a try without an outcome`, howToCheck, outcome);
    }
    const answer: Answer<N> = readAnswer(outcome, readingOf(operation, outcome, howToCheck));
    return followsOpenTry ? { ...answer, followsOpenTry } : answer;
  }

  /** Sends until an outcome is final. If no try was answered, any of them may have arrived. */
  async function exchange(request: HttpRequest, call: Exchange): Promise<Exchanging> {
    let isOpen = false;
    for (let attempt = 1; ; attempt += 1) {
      await transport.ready();
      const sentAt = options.now();
      const found = await transport.send(request, { left: remaining(call.deadline), given: timeGiven });
      const wasOpen = isOpen;
      isOpen ||= found.kind === 'answer' ? leavesOpen(found) : found.mayHaveArrived;
      const outcome = found.kind === 'answer' ? found : { ...found, mayHaveArrived: isOpen };
      if (outcome.kind === 'answer') last = { answer: outcome, sentAt, receivedAt: options.now() };
      if (outcome.kind === 'answer' && outcome.headers[serviceHeaders.version] !== undefined) isTallybook = true;
      const delayMilliseconds = retryDelay({
        outcome,
        attempt,
        canRepeat: call.canRepeat,
        remainingMilliseconds: remaining(call.deadline),
        now: options.now(),
        random: options.random,
      });
      if (delayMilliseconds === undefined) return { outcome, wasOpen };
      const triedMilliseconds = options.now() - sentAt;
      options.onRetry?.({ attempt, triedMilliseconds, delayMilliseconds, reason: reasonOf(outcome) });
      await (options.sleep ?? sleep)(delayMilliseconds);
    }
  }

  /** Our own paths go only to instances that identify themselves as ours (semantics 3); the probe carries no key. */
  async function requireTallybook(operation: Outline, deadline: number): Promise<void> {
    if (isTallybook === undefined) {
      const probe: HttpRequest = { method: 'GET', path: `${target.basePath}/healthz`, headers: ownHeaders };
      const { outcome } = await exchange(probe, { canRepeat: true, deadline });
      if (outcome.kind === 'noAnswer') throw noAnswerFailure({ ...outcome, mayHaveArrived: false }, undefined);
      // A proxy may answer so in front of any service.
      const isOfProxy = isTallybook === undefined && (outcome.status >= 500 || temporaryStatuses.has(outcome.status));
      if (isOfProxy) throw statusFailure(outcome, readingOf(operation, outcome, undefined));
      isTallybook ??= false;
    }
    if (!isTallybook) throw notOffered(operation, target, 'it does not identify itself as a tallybook service');
  }

  function readingOf(operation: Outline, answer: HttpAnswer, howToCheck: HowToCheck | undefined): Reading {
    return { operation, target, howToCheck, retryAfterSeconds: retryAfterSeconds(answer) };
  }

  function noAnswerFailure(
    { reason, hint, mayHaveArrived, cause }: NoAnswer,
    howToCheck: HowToCheck | undefined,
  ): BillingError {
    if (mayHaveArrived && howToCheck !== undefined) return unknownOutcome(target, reason, howToCheck);
    const told = { hint: hint ?? `check the base URL of the profile${way} and the network`, cause };
    const words = `${target.host}: ${reason}`;
    return mayHaveArrived ? new BillingError('network', words, told) : new UnsentError(words, told);
  }

  function remaining(deadline: number): number {
    return deadline - options.now();
  }

  function retryAfterSeconds({ headers }: HttpAnswer): number | undefined {
    const milliseconds = retryAfterMilliseconds(headers['retry-after'], options.now());
    return milliseconds === undefined ? undefined : Math.ceil(milliseconds / 1000);
  }

  return {
    call,
    proxy: proxy && new URL(proxy.url).origin,
    connection: () => (last === undefined ? undefined : connectionFactsOf(last)),
    close: async () => transport.close(),
  };
}

async function sleep(milliseconds: number): Promise<void> {
  const { setTimeout } = await import('node:timers/promises');
  await setTimeout(milliseconds);
}

/** Instants are milliseconds since 1970. */
interface Exchanged {
  readonly answer: HttpAnswer;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** The Date header names a whole second that had begun: its middle is compared with the middle of the exchange. */
function connectionFactsOf({ answer: { headers }, sentAt, receivedAt }: Exchanged): ConnectionFacts {
  const [date, version] = [Date.parse(headers['date'] ?? ''), headers[serviceHeaders.version]];
  return {
    latencyMilliseconds: receivedAt - sentAt,
    ...(Number.isNaN(date) ? {} : { clockAheadMilliseconds: Math.round(date + 500 - (sentAt + receivedAt) / 2) }),
    ...(version === undefined || !/^[\w.+-]{1,40}$/.test(version) ? {} : { version }),
  };
}

interface Exchanging {
  readonly outcome: HttpAnswer | NoAnswer;
  /** A try before the last one may have been carried out. */
  readonly wasOpen: boolean;
}

interface Exchange {
  readonly canRepeat: boolean;
  readonly deadline: number;
}

function reasonOf(outcome: HttpAnswer | NoAnswer): string {
  return outcome.kind === 'answer' ? `answered ${outcome.status}` : outcome.reason;
}

function howToCheckOf(operation: OperationFacts, input: CallInput, room: readonly OperationFacts[]): HowToCheck {
  const isRetryable = isRepeatable(operation, input);
  const hint = isRetryable
    ? 'repeat the command: sending it twice does no more than sending it once'
    : checkHint(operation, input, room);
  return { hint, isRetryable };
}

/** The command that shows whether a write took effect: a reading of the same path, or else of the same group. */
function checkHint(operation: OperationFacts, input: CallInput, room: readonly OperationFacts[]): string {
  const path = operation.route?.path ?? '';
  const given = new Set(pathParameters(path));
  const readings = room.filter(
    ({ route, command }) =>
      route?.method === 'GET' &&
      (route.path === path || command.group === operation.command.group) &&
      pathParameters(route.path).every((name) => given.has(name)),
  );
  const [best] = readings.toSorted((one, other) => closeness(other, path) - closeness(one, path));
  if (best === undefined) return 'check whether it took effect before repeating the command';
  const ids = pathParameters(best.route?.path ?? '').map((name) => input.params?.[name] ?? '');
  const command = ['tally', best.command.group, best.command.verb, ...ids].join(' ');
  return `before repeating the command, check whether it took effect: ${command}`;
}

function closeness({ route }: OperationFacts, path: string): number {
  return route?.path === path ? Number.POSITIVE_INFINITY : pathParameters(route?.path ?? '').length;
}
