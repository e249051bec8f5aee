/** A whole service in memory for tests: frozen clock, counted ids, counted secrets. */

import { isIP } from 'node:net';

import { createEngine } from '../../src/engine/engine.ts';
import type { Answer, Billing, Engine, OperationName } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { checkWebhookUrl } from '../../src/server/webhook-address.ts';
import type { ResolveHost } from '../../src/server/webhook-address.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';

export interface Clock {
  readonly now: () => Temporal.Instant;
  readonly set: (timestamp: string) => void;
  readonly advance: (duration: Temporal.DurationLike) => void;
}

export interface World {
  readonly store: Store;
  readonly engine: Engine;
  /** The owner of the default organization. */
  readonly billing: Billing;
  readonly clock: Clock;
  /** Calls as the owner and gives the body alone. */
  readonly call: <N extends OperationName>(name: N, input?: CallInput) => Promise<Answer<N>['body']>;
  /** Gives the owner of a new organization. */
  readonly addOrganization: (name: string) => Promise<Billing>;
  readonly close: () => Promise<void>;
}

export const worldStart = '2026-03-01T00:00:00.000Z';

export function createClock(start: string = worldStart): Clock {
  let now = Temporal.Instant.from(start);
  return {
    now: () => now,
    set: (timestamp) => {
      now = Temporal.Instant.from(timestamp);
    },
    advance: (duration) => {
      now = now.toZonedDateTimeISO('UTC').add(duration).toInstant();
    },
  };
}

/** Ids that are UUIDs of version 7 by form, counted from 1. */
export function countedIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `01900000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
  };
}

/** Bytes that differ from call to call and are the same in every run. */
export function countedBytes(): (count: number) => Uint8Array {
  let calls = 0;
  return (count) => {
    calls += 1;
    return Uint8Array.from({ length: count }, (_value, index) => (calls * 31 + index * 7) % 256);
  };
}

/** What names lead to; any other name has a public address. */
export type Hosts = Readonly<Record<string, readonly string[]>>;

export function resolverOf(hosts: Hosts = {}): ResolveHost {
  return async (hostname) => {
    const addresses = hosts[hostname] ?? ['93.184.215.14'];
    if (addresses.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
    return await Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));
  };
}

/** Where worlds are kept that say nothing of it: a URL, and what takes it back. */
export type Ground = () => Promise<{ readonly database: string; readonly giveBack: () => void }>;

let ground: Ground | undefined;

/** From now on worlds are in databases of `next` and not in memory, until it is undefined; files of tests share a process. */
export function moveWorlds(next: Ground | undefined): void {
  ground = next;
}

/**
 * A new world; `database` names a file where memory is not enough, `events` where its events live instead. Its clock begins at
 * `start`, unless it is the caller's own.
 */
export async function createWorld(
  options: {
    readonly start?: string;
    readonly clock?: Clock;
    readonly newId?: () => string;
    readonly database?: string;
    readonly events?: string;
    readonly graceHours?: number;
    readonly hosts?: Hosts;
  } = {},
): Promise<World> {
  const clock = options.clock ?? createClock(options.start);
  const place = options.database === undefined && options.events === undefined ? await ground?.() : undefined;
  const store = await openStore(options.database ?? place?.database ?? ':memory:', { events: options.events });
  const engine = createEngine({
    store,
    now: clock.now,
    newId: options.newId ?? countedIds(),
    randomBytes: countedBytes(),
    finalizationGraceHours: options.graceHours ?? 0,
    checkWebhookUrl: async (url, rules) => await checkWebhookUrl(url, { ...rules, resolve: resolverOf(options.hosts) }),
  });
  const billing = engine.as(await engine.owner());
  return {
    store,
    engine,
    billing,
    clock,
    call: async (name, input) => (await billing.call(name, input)).body,
    async addOrganization(name) {
      await billing.call('orgs.create', { body: { name } });
      return engine.as(await engine.owner(name));
    },
    close: async () => {
      await engine.close();
      place?.giveBack();
    },
  };
}

/** A run over what is due that is told to stop during its first write. */
export async function billUntilStopped({ store, clock }: World) {
  const stopping = new AbortController();
  const engine = createEngine({
    store: {
      ...store,
      write: async (work, options) => {
        const done = await store.write(work, options);
        stopping.abort();
        return done;
      },
    },
    now: clock.now,
    newId: () => '',
    randomBytes: countedBytes(),
    finalizationGraceHours: 0,
  });
  return await engine.billDue(stopping.signal);
}
