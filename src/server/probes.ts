/** Routes about the service itself: whether it lives, whether it is ready, what it counts, and its description. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { BillingError } from '../errors.ts';
import { limits } from '../limits.ts';
import { allOperations } from '../operations/all.ts';
import type { Caller, Engine } from '../operations/index.ts';
import { requireScope } from '../operations/operation.ts';
import { sendJson } from './answer.ts';
import { inTime } from './in-time.ts';
import type { Metrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';

export interface Probes {
  readonly engine: Pick<Engine, 'ping' | 'checkWritable' | 'checkEvents'>;
  readonly version: string;
  readonly metrics: Metrics | undefined;
  /** Whether only this machine's processes reach the service. */
  readonly isForThisMachine: boolean;
  readonly isLeaving: () => boolean;
  /** How long a look at the database may take. Default: `limits.probeMilliseconds`. */
  readonly probeMilliseconds?: number | undefined;
  /** The sender of a request; throws UnauthorizedError. */
  readonly authenticate: (request: FastifyRequest) => Promise<Caller>;
  /** Has the error told where the end of the request is. */
  readonly noteFailure: (request: FastifyRequest, error: unknown) => void;
}

/** What keeps the service from being ready: in words that give nothing away, and as it was thrown. */
interface Obstacle {
  readonly reason: string;
  readonly error?: unknown;
}

const unlimited = { config: { counted: 'nothing' } } as const;

/** Adds the routes; all except the counters are open to everyone who can reach the service. */
export function addProbes(app: FastifyInstance, probes: Probes): void {
  const { engine, version, metrics } = probes;
  app.get('/healthz', unlimited, async (_request, reply) => {
    await inTime(engine.ping(), probes.probeMilliseconds);
    return sendJson(reply, 200, { status: 'ok', version });
  });
  const obstacle = together(async () => await obstacleOf(probes));
  app.get('/readyz', unlimited, async (request, reply) => {
    const found = probes.isLeaving() ? { reason: 'the service is closing' } : await obstacle();
    if (found?.error !== undefined) probes.noteFailure(request, found.error);
    return sendReadiness(reply, found?.reason);
  });
  if (metrics !== undefined) {
    app.get('/metrics', unlimited, async (request, reply) => {
      await admit(request, probes);
      const { contentType, body } = await metrics.text();
      return await reply.code(200).header('content-type', contentType).send(body);
    });
  }
  let document: unknown;
  app.get('/openapi.json', async (_request, reply) => {
    document ??= openApiDocument(allOperations, { version });
    return sendJson(reply, 200, document);
  });
}

/** Ready means that books can be read and written now, and events too; a 503 says why not, without giving anything away. */
function sendReadiness(reply: FastifyReply, reason: string | undefined): FastifyReply {
  if (reason === undefined) return sendJson(reply, 200, { status: 'ready' });
  return sendJson(reply, 503, { status: 'notReady', reason });
}

/**
 * Runs `look` at most once every `limits.readinessPauseMilliseconds`, for all who have asked by then. Asking needs no key, and
 * each look takes the writer's lock and a sync of the disk from those who write.
 */
function together<T>(look: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let pause: Promise<unknown> = Promise.resolve();
  async function begin(): Promise<T> {
    await pause;
    // Whoever asks from now on must not get the result of an earlier look.
    next = undefined;
    pause = sleep(limits.readinessPauseMilliseconds, undefined, { ref: false });
    return await look();
  }
  return async () => await (next ??= begin());
}

async function obstacleOf({ engine, probeMilliseconds }: Probes): Promise<Obstacle | undefined> {
  const [books, events] = await Promise.allSettled([
    inTime(engine.checkWritable(), probeMilliseconds),
    inTime(engine.checkEvents(), probeMilliseconds),
  ]);
  if (books.status === 'rejected') {
    const error: unknown = books.reason;
    return { reason: isKnown(error) ? 'the database cannot be written now' : 'the database failed', error };
  }
  if (events.status === 'fulfilled') return undefined;
  const error: unknown = events.reason;
  return { reason: isKnown(error) ? 'the database of events does not answer' : 'the database of events failed', error };
}

function isKnown(error: unknown): boolean {
  return error instanceof BillingError && error.kind !== 'internal';
}

/** The counters are open to this machine's processes; others need a key that may do everything. */
async function admit(request: FastifyRequest, { isForThisMachine, authenticate }: Probes): Promise<void> {
  if (isForThisMachine) return;
  requireScope((await authenticate(request)).scopes, '*');
}
