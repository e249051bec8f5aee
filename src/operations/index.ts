/** The table of all operations, and what it adds up to: `Billing`, the one interface of engine, server and client. */

import type * as z from 'zod';

import { budgetOperations } from './budgets.ts';
import { catalogOperations } from './catalog.ts';
import { contractOperations } from './contracts.ts';
import { creditOperations } from './credits.ts';
import { customerOperations } from './customers.ts';
import { invoiceOperations } from './invoices.ts';
import { keyOperations } from './keys.ts';
import { meterOperations } from './meters.ts';
import type { CallInput, Operation, Scope } from './operation.ts';
import { usageOperations } from './usage.ts';
import { webhookOperations } from './webhooks.ts';

/** Declarations by room; a room has the same name in every layer. */
export const rooms = {
  customers: customerOperations,
  contracts: contractOperations,
  credits: creditOperations,
  budgets: budgetOperations,
  meters: meterOperations,
  usage: usageOperations,
  invoices: invoiceOperations,
  catalog: catalogOperations,
  keys: keyOperations,
  webhooks: webhookOperations,
} as const;
export type RoomName = keyof typeof rooms;

type Declared = (typeof rooms)[RoomName][number];
export type OperationName = Declared['name'];
export type OperationTable = { readonly [O in Declared as O['name']]: O };

/** Every operation, where a caller walks all of them. */
export const allOperations: readonly Operation[] = Object.values(rooms).flat();

/** Every operation by its name. */
export const operations: OperationTable = Object.fromEntries(
  allOperations.map((operation) => [operation.name, operation]),
) as unknown as OperationTable;

/** The room that declares an operation. */
export function roomOf(name: OperationName): RoomName {
  const found = (Object.keys(rooms) as RoomName[]).find((room) =>
    rooms[room].some((operation) => operation.name === name),
  );
  if (found === undefined) throw new TypeError(`no operation is called ${name}`);
  return found;
}

/** The body that a handler returns and a caller gets. */
export type ResponseBody<N extends OperationName> = z.output<OperationTable[N]['response']>;

export interface Answer<N extends OperationName = OperationName> {
  readonly status: number;
  readonly body: ResponseBody<N>;
  /** Version of what was read or written, where the operation is versioned. */
  readonly etag?: string;
  /** An earlier request with the same externalId made this entry; nothing was created now. */
  readonly isReplay?: boolean;
  /** Members in which a replayed request differs from the first one (semantics 9). */
  readonly mismatches?: readonly string[];
}

/** The service as its callers see it, whether in this process or behind HTTP. */
export interface Billing {
  /** Carries out one operation; rejects with a BillingError. */
  call<N extends OperationName>(name: N, input?: CallInput): Promise<Answer<N>>;
}

/** Who calls: the organization that a key belongs to, and what the key may do. */
export interface Caller {
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
  /** In this process, by the owner of the database: may also administer. */
  readonly isLocal: boolean;
}

/** The service on a database, able to serve several callers. */
export interface Engine {
  /** The service as one caller sees it. */
  as(caller: Caller): Billing;
  /** The caller of an API key; throws UnauthorizedError with the words of semantics 1. */
  authenticate(key: string): Promise<Caller>;
  /** The local owner acting for an organization, named by id or name; `default` is made when the database has none. */
  owner(organization?: string): Promise<Caller>;
  /** Whether the database answers; throws UnavailableError. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
