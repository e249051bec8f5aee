/** Sends what is due in the outbox: signed, to checked addresses, in several attempts (semantics 13, security 7). */

import type { Agent, Dispatcher } from 'undici';

import { oneLine, reasonOfHost } from '../errors.ts';
import { gatherBytes } from '../gathered-bytes.ts';
import { limits } from '../limits.ts';
import { onceEach } from '../once.ts';
import type { DeliveryOutcome, DueDelivery, WebhookOutbox, WebhookSender } from '../operations/webhook-outbox.ts';
import { AddressRefused, checkedLookup, problemOfUrl } from './webhook-address.ts';
import type { AddressRules } from './webhook-address.ts';

export interface WebhookSenderOptions extends AddressRules {
  readonly outbox: WebhookOutbox;
  /** The real clock: receivers refuse a signature for another time than theirs. */
  readonly now: () => Temporal.Instant;
  /** Called with the error of a look into the outbox; the next look may fare better. */
  readonly onFailure: (error: unknown) => void;
  /** How long an attempt may take in all. Default: `limits.webhookTimeoutMilliseconds`. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Default: `limits.webhookPollMilliseconds`. */
  readonly pollMilliseconds?: number | undefined;
}

/** A sender for the outbox of a database; several may share one outbox. The first attempt loads undici. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const agents: Agent[] = [];
  /** Connections that may go to private addresses are never reused for public ones. */
  const agentFor = onceEach(async (allowPrivate: boolean) => {
    const agent = await createAgent({ ...options, allowPrivate });
    agents.push(agent);
    return agent;
  });
  const state = { isClosed: false };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round: Promise<unknown> = Promise.resolve();
  const pollMilliseconds = options.pollMilliseconds ?? limits.webhookPollMilliseconds;

  /** A private address is allowed only if both sender and endpoint say so. */
  async function attemptOf(delivery: DueDelivery): Promise<DeliveryOutcome> {
    const allowPrivate = options.allowPrivate && delivery.allowPrivate;
    return await attempt(delivery, await agentFor(allowPrivate), { ...options, allowPrivate });
  }

  async function deliverDue() {
    const counts = { delivered: 0, retrying: 0, failed: 0 };
    /** Attempts that have not ended. */
    const underWay = new Map<Promise<void>, DueDelivery>();
    const failures: unknown[] = [];

    async function make(delivery: DueDelivery): Promise<void> {
      try {
        const outcome = await attemptOf(delivery);
        counts[await options.outbox.record(delivery, outcome)] += 1;
      } catch (error) {
        failures.push(error);
      }
    }

    async function beginWhatIsDue(): Promise<void> {
      const room = limits.webhookConcurrency - underWay.size;
      if (room === 0 || state.isClosed || failures.length > 0) return;
      const due = await options.outbox.lease(room, underWay.values());
      for (const delivery of due) {
        const end = make(delivery).finally(() => underWay.delete(end));
        underWay.set(end, delivery);
      }
    }

    for (;;) {
      const wasIdle = underWay.size === 0;
      await beginWhatIsDue().catch((error: unknown) => failures.push(error));
      // Looks again while attempts run, so that nothing waits for a slow endpoint. Room that became free during a look did not
      // count in it, so only a look with nothing under way is the last.
      if (wasIdle && underWay.size === 0) break;
      if (underWay.size > 0) await firstOf(underWay.keys(), pollMilliseconds);
    }
    // All attempts have ended before a failure is thrown, so that none is still writing when the database is closed.
    if (failures.length > 0) throw failures[0];
    return counts;
  }

  /** Doubles after each consecutive failed look: an absent database is reported only now and then. */
  let pause = 1;

  function look(): void {
    round = deliverDue()
      .then(
        () => (pause = 1),
        (error: unknown) => {
          options.onFailure(error);
          pause = Math.min(2 * pause, limits.webhookLongestPause);
        },
      )
      .finally(() => {
        if (!state.isClosed) timer = setTimeout(look, pause * pollMilliseconds);
      });
  }

  return {
    deliverDue,
    waiting: async () => await options.outbox.waiting(),
    start: look,
    async close() {
      state.isClosed = true;
      clearTimeout(timer);
      await round;
      for (const agent of agents) await agent.destroy();
    },
  };
}

/** Waits for one of them to end, at most for the given time. */
async function firstOf(ends: Iterable<Promise<void>>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pause = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([...ends, pause]);
  clearTimeout(timer);
}

async function createAgent(rules: AddressRules): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici');
  const connectorFor = (isPlain: boolean) =>
    buildConnector({
      lookup: checkedLookup({ ...rules, isPlain }),
      timeout: limits.connectTimeoutMilliseconds,
      // Explicit, so that neither NODE_TLS_REJECT_UNAUTHORIZED nor NODE_OPTIONS can turn it off.
      rejectUnauthorized: true,
      minVersion: limits.oldestTls,
      // The agent does not hand its own on to a connector that is given to it.
      allowH2: false,
    });
  const [plain, secure] = [connectorFor(true), connectorFor(false)];
  return new Agent({
    connect: (target, callback) => (target.protocol === 'http:' ? plain : secure)(target, callback),
    maxHeaderSize: limits.responseHeaderBytes,
    allowH2: false,
  });
}

async function attempt(
  delivery: DueDelivery,
  dispatcher: Dispatcher,
  options: WebhookSenderOptions,
): Promise<DeliveryOutcome> {
  const problem = problemOfUrl(delivery.url, options);
  if (problem !== undefined) return { error: notSent(problem, delivery, options) };
  const timeoutMilliseconds = options.timeoutMilliseconds ?? limits.webhookTimeoutMilliseconds;
  let responseStatus: number | undefined;
  try {
    const { request } = await import('undici');
    const answer = await request(delivery.url, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json', 'user-agent': 'tallybook', ...(await signed(delivery, options)) },
      body: delivery.body,
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    responseStatus = answer.statusCode;
    return outcomeOf(responseStatus, await beginningOf(answer.body));
  } catch (error) {
    if (error instanceof AddressRefused) return { error: notSent(error.message, delivery, options) };
    if (responseStatus === undefined) return { error: wordsOf(error, timeoutMilliseconds) };
    return { responseStatus, error: `answered ${responseStatus}, and not all of the answer came` };
  }
}

/** The headers of Standard Webhooks, with a signature for each valid secret. */
async function signed(
  { eventId, body, secrets }: DueDelivery,
  { now }: WebhookSenderOptions,
): Promise<Record<string, string>> {
  const { Webhook } = await import('standardwebhooks');
  const at = new Date(now().epochMilliseconds);
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(' '),
  };
}

/** Only 2xx counts as delivered; redirects are not followed, because they could lead anywhere (SEC-60). */
function outcomeOf(responseStatus: number, responseBody: string): DeliveryOutcome {
  const answer = { responseStatus, responseBody };
  if (responseStatus >= 200 && responseStatus < 300) return answer;
  const isRedirect = responseStatus >= 300 && responseStatus < 400;
  return { ...answer, error: `answered ${responseStatus}${isRedirect ? ': redirects are not followed' : ''}` };
}

/** The first bytes of an answer as one line of text; nothing beyond is read (SEC-61). */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const gathered = gatherBytes();
  for await (const piece of body) {
    gathered.add(piece);
    if (gathered.length >= limits.webhookResponseBytes) break;
  }
  const bytes = gathered.whole().subarray(0, limits.webhookResponseBytes);
  // Invalid UTF-8, such as a last character that is cut, shows as a space.
  return oneLine(new TextDecoder().decode(bytes).replaceAll('\ufffd', ' '));
}

/** Where the endpoint allows private addresses, the sender alone can be what refuses one: only its owner can mend that. */
function notSent(problem: string, endpoint: DueDelivery, { allowPrivate }: WebhookSenderOptions): string {
  const isSenderAlone = endpoint.allowPrivate && !allowPrivate;
  const lacking = isSenderAlone
    ? '; the endpoint allows it, and the sender has to as well (--allow-private-webhooks)'
    : '';
  return `not sent: the address ${problem}${lacking}`;
}

const reasons: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection broke before an answer came',
  UND_ERR_SOCKET: 'the connection broke before an answer came',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${limits.connectTimeoutMilliseconds / 1000} seconds`,
};

function wordsOf(error: unknown, timeoutMilliseconds: number): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: string };
  if (name === 'TimeoutError') return `no answer within ${timeoutMilliseconds / 1000} seconds`;
  if (name === 'HTTPParserError')
    return 'what answers at this address does not speak HTTP; check the protocol and the port';
  if (typeof code !== 'string') return 'the connection failed';
  return reasonOfHost(code) ?? reasons[code] ?? `the connection failed (${code.replaceAll(/\W/g, '')})`;
}
