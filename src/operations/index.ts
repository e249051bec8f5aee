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

const all = [
  ...customerOperations,
  ...contractOperations,
  ...creditOperations,
  ...budgetOperations,
  ...meterOperations,
  ...usageOperations,
  ...invoiceOperations,
  ...catalogOperations,
  ...keyOperations,
] as const;

type Declared = (typeof all)[number];
export type OperationName = Declared['name'];
export type OperationTable = { readonly [O in Declared as O['name']]: O };

/** Every operation by its name. */
export const operations: OperationTable = Object.fromEntries(
  all.map((operation) => [operation.name, operation]),
) as unknown as OperationTable;

/** The same, where a caller walks all of them. */
export const allOperations: readonly Operation[] = all;

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
