/**
 * Operations by name, and what they add up to: `Billing`, the one interface of engine, server and client. The declarations
 * of a room are loaded when one of its operations is called, because making every schema takes longer than most calls;
 * all.ts has all of them at once.
 */

import type * as z from 'zod';

import type { AnswerFacts } from '../answer-facts.ts';
import { onceEach } from '../once.ts';
import type { CallInput, Operation, Outline, Scope } from './operation.ts';

/** A room has the same name in every layer. */
const rooms = {
  customers: async () => (await import('./customers.ts')).customerOperations,
  contracts: async () => (await import('./contracts.ts')).contractOperations,
  credits: async () => (await import('./credits.ts')).creditOperations,
  budgets: async () => (await import('./budgets.ts')).budgetOperations,
  meters: async () => (await import('./meters.ts')).meterOperations,
  usage: async () => (await import('./usage.ts')).usageOperations,
  invoices: async () => (await import('./invoices.ts')).invoiceOperations,
  catalog: async () => (await import('./catalog.ts')).catalogOperations,
  keys: async () => (await import('./keys.ts')).keyOperations,
  webhooks: async () => (await import('./webhooks.ts')).webhookOperations,
  clock: async () => (await import('./clock.ts')).clockOperations,
} as const;
export type RoomName = keyof typeof rooms;
/** What each room declares, with its literal types. */
export type RoomDeclarations = { readonly [R in RoomName]: Awaited<ReturnType<(typeof rooms)[R]>> };

type Declared = RoomDeclarations[RoomName][number];
export type OperationName = Declared['name'];
/** Every declaration by name, with its literal types. */
export type OperationTable = { readonly [O in Declared as O['name']]: O };

type GroupOf<N extends OperationName> = N extends `${infer Group}.${string}` ? Group : never;

const roomOfGroup: Readonly<Record<GroupOf<OperationName>, RoomName>> = {
  customers: 'customers',
  contracts: 'contracts',
  credits: 'credits',
  budgets: 'budgets',
  meters: 'meters',
  usage: 'usage',
  invoices: 'invoices',
  pricing: 'catalog',
  plans: 'catalog',
  products: 'catalog',
  keys: 'keys',
  orgs: 'keys',
  webhooks: 'webhooks',
  clock: 'clock',
  bill: 'clock',
  events: 'clock',
};

/** Named among prices, but declared with usage, because it rates events. */
const estimate: OperationName = 'pricing.estimate';

/** The room that declares an operation; throws TypeError for an unknown name. */
export function roomOf(name: OperationName): RoomName {
  if (name === estimate) return 'usage';
  const group = name.slice(0, name.indexOf('.'));
  if (Object.hasOwn(roomOfGroup, group)) return roomOfGroup[group as GroupOf<OperationName>];
  throw unknownOperation(name);
}

/** The declarations of a room. */
export async function loadRoom(room: RoomName): Promise<readonly Operation[]> {
  return await rooms[room]();
}

/** The same without schemas, made by `npm run generate`: schemas take longer to load and to make than most calls. */
const outlines: Readonly<Record<RoomName, () => Promise<{ readonly default: unknown }>>> = {
  customers: () => import('./outlines/customers.json', { with: { type: 'json' } }),
  contracts: () => import('./outlines/contracts.json', { with: { type: 'json' } }),
  credits: () => import('./outlines/credits.json', { with: { type: 'json' } }),
  budgets: () => import('./outlines/budgets.json', { with: { type: 'json' } }),
  meters: () => import('./outlines/meters.json', { with: { type: 'json' } }),
  usage: () => import('./outlines/usage.json', { with: { type: 'json' } }),
  invoices: () => import('./outlines/invoices.json', { with: { type: 'json' } }),
  catalog: () => import('./outlines/catalog.json', { with: { type: 'json' } }),
  keys: () => import('./outlines/keys.json', { with: { type: 'json' } }),
  webhooks: () => import('./outlines/webhooks.json', { with: { type: 'json' } }),
  clock: () => import('./outlines/clock.json', { with: { type: 'json' } }),
};

/** By the names of operations. In the bundle each outline is parsed whenever it is read, so callers read each only once. */
async function loadOutlinesByName(room: RoomName): Promise<Readonly<Record<string, Outline>>> {
  return (await outlines[room]()).default as Readonly<Record<string, Outline>>;
}

/** The outlines of a room. */
export const loadOutlines = onceEach(async (room: RoomName): Promise<readonly Outline[]> =>
  Object.values(await loadOutlinesByName(room)),
);

/** The outline of an operation; throws TypeError for an unknown name. */
export const loadOutline = onceEach(async (name: OperationName): Promise<Outline> => {
  const found = (await loadOutlinesByName(roomOf(name)))[name];
  if (found === undefined) throw unknownOperation(name);
  return found;
});

/** The declaration of an operation; throws TypeError for an unknown name. */
export const loadOperation = onceEach(async (name: OperationName): Promise<Operation> => {
  const found = (await loadRoom(roomOf(name))).find((operation) => operation.name === name);
  if (found === undefined) throw unknownOperation(name);
  return found;
}) as <N extends OperationName>(name: N) => Promise<OperationTable[N]>;

function unknownOperation(name: string): TypeError {
  return new TypeError(`no operation is called ${name}`);
}

/** The body that a handler returns and a caller gets. */
export type ResponseBody<N extends OperationName> = z.output<OperationTable[N]['response']>;

/** What a call that succeeded came to; a failure is a BillingError instead. */
export interface Answer<N extends OperationName = OperationName> extends AnswerFacts {
  readonly status: number;
  readonly body: ResponseBody<N>;
}

/** The service as its callers see it, whether in this process or behind HTTP. */
export interface Billing {
  /** Carries out one operation; rejects with a BillingError, and with anything else only for a fault of ours. */
  call<N extends OperationName>(name: N, input?: CallInput): Promise<Answer<N>>;
}

/** What the last answer of a service behind a network showed beside its content. */
export interface ConnectionFacts {
  /** From the request to the whole answer. */
  readonly latencyMilliseconds: number;
  /** How far the clock of the service is ahead of this machine's, give or take a second and the latency. */
  readonly clockAheadMilliseconds?: number;
  /** The version of the service, where it is ours. */
  readonly version?: string;
}

/** Who calls: the organization that a key belongs to, and what the key may do. */
export interface Caller {
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
  /** The key that it came with; none for the owner of the database. */
  readonly keyId?: string;
  /** The id by which the caller and the log know the request; the engine makes one where there is none. */
  readonly requestId?: string;
  /** In this process, by the owner of the database: may also administer. */
  readonly isLocal: boolean;
}

/** What a bill run came to. */
export type DueReport = Pick<ResponseBody<'bill.run'>['data'], 'finalizedCount' | 'failedCount' | 'failures'> &
  Pick<Answer, 'aheadOfClock'> & {
    /** The error that ended it midway; what it had done by then is kept. */
    readonly stoppedBy?: unknown;
  };

/** How a service is doing, for monitoring; over all organizations together. */
export interface Vitals {
  /** Transactions of this process that run or wait for their turn. */
  readonly pendingTransactions: number;
  /** Deliveries of webhooks that are due and held by nobody. */
  readonly dueDeliveries: number;
  /** Since when the longest waiting delivery has been due, RFC 3339; absent where none is due. */
  readonly oldestDueAt?: string;
}

/** The service on a database, able to serve several callers. */
export interface Engine {
  /** The service as one caller sees it. */
  as(caller: Caller): Billing;
  /** The same, keeping nothing of what it does; rejects with NotRehearsedError for what takes more than one transaction. */
  rehearsal(caller: Caller): Billing;
  /** The caller of an API key; throws UnauthorizedError with the words of semantics 1. */
  authenticate(key: string): Promise<Caller>;
  /** The local owner acting for an organization, named by id or name; `default` is made when the database has none. */
  owner(organization?: string): Promise<Caller>;
  /**
   * Does what has fallen due in every organization, as `bill.run` does; nothing while another process is doing it. Undefined
   * where time is simulated or the database is read-only. Once the signal is aborted, no further step is begun.
   */
  billDue(signal?: AbortSignal): Promise<DueReport | undefined>;
  /** Whether the database answers; throws UnavailableError. */
  ping(): Promise<void>;
  /** Whether the database can be written at once; throws UnavailableError, or whatever else forbids it. */
  checkWritable(): Promise<void>;
  /** Whether events can be asked for, where they live in a database of their own; throws UnavailableError. */
  checkEvents(): Promise<void>;
  /** Throws UnavailableError where the database does not answer. */
  vitals(): Promise<Vitals>;
  close(): Promise<void>;
}
