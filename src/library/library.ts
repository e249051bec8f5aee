/**
 * The program as a library: the service on a database, and a client of a served one. Both answer alike and fail alike.
 * It reads no settings and writes to no stream: callers pass what it needs. Only the driver of PostgreSQL takes from the
 * environment what a URL leaves out.
 */

import type { AnswerFacts } from '../answer-facts.ts';
import { createClient as connect } from '../client/client.ts';
import type { Billing as InnerBilling } from '../operations/index.ts';
import type { Operations } from './operations.ts';

export {
  BadRequestError,
  BillingError,
  ConflictError,
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError,
  UnknownOutcomeError,
} from '../errors.ts';
export type { ErrorKind, InputIssue } from '../errors.ts';
export { exactNumber, textOfNumber } from '../exact-json.ts';
export type { ExactNumber, RawNumber } from '../exact-json.ts';
export type { Operations } from './operations.ts';

/** `customers.create`, `credits.grant`: group and verb, as on the command line. */
export type OperationName = keyof Operations;
/** What an operation is given. */
export type Input<N extends OperationName> = Operations[N]['input'];
/** What an operation answers: the body that HTTP would carry. */
export type AnswerBody<N extends OperationName> = Operations[N]['answer'];

/** Most operations need an input; a list needs none. */
export type InputArguments<N extends OperationName> =
  Readonly<Record<string, never>> extends Input<N> ? [input?: Input<N>] : [input: Input<N>];

export interface Answer<N extends OperationName> extends AnswerFacts {
  /** What HTTP answers: 200, 201 or 202. */
  readonly status: number;
  readonly body: AnswerBody<N>;
}

/** The service as one caller sees it, in this process or behind HTTP. */
export interface Billing {
  /**
   * Carries out one operation. Rejects with a `BillingError`, whose class and `kind` are the same whether the service is in
   * this process or not. A write that rejects has changed nothing, with two exceptions, whose hint says how to find out what
   * was done: an `UnknownOutcomeError`, where a database server did not answer a commit, a disk failed under one, or work of
   * several transactions ended midway, and kind `network`.
   */
  call<N extends OperationName>(operation: N, ...input: InputArguments<N>): Promise<Answer<N>>;
}

export interface EngineOptions {
  /** A path, `file:…`, `:memory:`, or the URL of a database server. A file is made, and brought to this version, as needed. */
  readonly database: string;
  /** The URL of the database in which its usage events live, where that is another one. */
  readonly events?: string | undefined;
  /** Id or name of the organization to act for; when not given the oldest of the database, or a new one where it has none. */
  readonly organization?: string | undefined;
  /** The time of the service; the clock of the machine when not given. A test gives its own. */
  readonly now?: (() => Date) | undefined;
}

/** The service on an open database, as its owner. */
export interface Engine extends Billing {
  /** The service as the holder of an API key sees it, with the scopes of the key. Throws `UnauthorizedError`. */
  withKey(key: string): Promise<Billing>;
  /** The service as the owner acting for another organization of the database, by its id or name. */
  forOrganization(organization: string): Promise<Billing>;
  /** Waits for what is running, then closes the database. Calls after it are refused, with kind `unavailable`. */
  close(): Promise<void>;
}

/**
 * Opens the service on a database, in this process. Several may be open at a time, even on one database.
 * Throws `BillingError`: of kind `usage` for an impossible database URL, `conflict` where the events are not where `events`
 * says, `unavailable` for a database that cannot be opened now, `internal` for one that is damaged, of another program or of
 * a newer version.
 *
 * @example
 * const engine = await openEngine({ database: './billing.db' });
 * const { body } = await engine.call('customers.list', { query: { limit: 20 } });
 * await engine.close();
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const [{ openStore }, { createEngine }] = await Promise.all([
    import('../store/open.ts'),
    import('../engine/engine.ts'),
  ]);
  const { randomBytes, randomUUIDv7 } = process.getBuiltinModule('node:crypto');
  const { now = () => new Date() } = options;
  const engine = createEngine({
    store: await openStore(options.database, { events: options.events }),
    now: () => Temporal.Instant.fromEpochMilliseconds(now().getTime()),
    newId: () => randomUUIDv7(),
    randomBytes,
    checkWebhookUrl,
  });
  const ownerOf = async (organization?: string) => engine.as(await engine.owner(organization));
  try {
    return {
      ...billingOf(await ownerOf(options.organization)),
      withKey: async (key) => billingOf(engine.as(await engine.authenticate(key))),
      forOrganization: async (organization) => billingOf(await ownerOf(organization)),
      close: async () => await engine.close(),
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

export interface ClientOptions {
  /** `https://billing.example.com`; plain http only to this machine. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For a whole call, its retries included; 120,000 when not given. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Told of each retry before it waits. Only what is safe to repeat is repeated. */
  readonly onRetry?: ((retry: ClientRetry) => void) | undefined;
}

export interface ClientRetry {
  /** The try that failed, counted from 1. */
  readonly attempt: number;
  readonly delayMilliseconds: number;
  /** In a few words: `answered 503`. */
  readonly reason: string;
}

/** A served instance, with one key. */
export interface Client extends Billing {
  /** Hangs up without waiting for answers: calls under way and later ones reject with kind `network`. */
  close(): Promise<void>;
}

/**
 * A client of an instance that `tally serve`, or the hosted service, answers for. Nothing is sent before the first call.
 * Throws `BillingError` of kind `usage` for an address that must not be used, and of kind `unauthorized` for a text that does
 * not have the form of a key.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8080', apiKey: key });
 * await client.call('credits.grant', { params: { contractId }, body: { amountCents: 500, expiresAt } });
 * await client.close();
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, timeoutMilliseconds, onRetry } = options;
  const client = connect({
    baseUrl,
    key: apiKey,
    timeoutMilliseconds,
    onRetry,
    now: Date.now,
    random: Math.random,
  });
  return { ...billingOf(client), close: async () => await client.close() };
}

/** The types of `Operations` are generated from the declarations, so what goes in and out is known to have them. */
function billingOf(inner: InnerBilling): Billing {
  return {
    call: async <N extends OperationName>(operation: N, ...[input]: InputArguments<N>) =>
      (await inner.call(operation, onTheWire((input ?? {}) as AnyInput))) as unknown as Answer<N>,
  };
}

/** `null` comes from programs without types, and counts as absent, as it does for the engine. */
interface AnyInput {
  readonly params?: Readonly<Record<string, string | number>> | null;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | null;
  readonly body?: unknown;
  readonly ifMatch?: string;
}

/** Members of a path or a query become texts, as in a URL. */
function onTheWire({ params, query, ...input }: AnyInput) {
  return { ...input, params: textsOf(params ?? {}), query: textsOf(query ?? {}) };
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

async function checkWebhookUrl(url: string, rules: { readonly allowPrivate: boolean }) {
  return await (await import('../server/webhook-address.ts')).checkWebhookUrl(url, rules);
}
