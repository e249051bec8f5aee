/**
 * The short integers by which rows of events name their owner and their event name: `seq` of customers and contracts, `id` of
 * names.
 */

import { ConstraintViolation } from '../../../constraint-violation.ts';
import type { NewEvent } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { plainRows } from './rows.ts';

/** Undefined for an id that the organization does not have. */
export function findCustomerSeq(connection: SqliteConnection, orgId: string, id: string): number | undefined {
  const row = connection.prepare('SELECT "seq" FROM "customers" WHERE "orgId" = ? AND "id" = ?').get(orgId, id);
  return row === undefined ? undefined : Number(row['seq']);
}

/** Undefined for an id that the organization does not have. */
export function findContractSeq(connection: SqliteConnection, orgId: string, id: string): number | undefined {
  const row = connection.prepare('SELECT "seq" FROM "contracts" WHERE "orgId" = ? AND "id" = ?').get(orgId, id);
  return row === undefined ? undefined : Number(row['seq']);
}

/** The names of events by id, each read once. */
export function nameReader(connection: SqliteConnection): (nameId: number) => string {
  const names = new Map<number, string>();
  const read = (nameId: number): string =>
    String(connection.prepare('SELECT "name" FROM "eventNames" WHERE "id" = ?').get(nameId)?.['name']);
  return (nameId) => names.getOrInsertComputed(nameId, read);
}

/** The ids of contracts by seq, each read once; null for 0, which stands for no contract. */
export function contractIdReader(connection: SqliteConnection): (contractSeq: number) => string | null {
  const ids = new Map<number, string>();
  const read = (seq: number): string =>
    String(connection.prepare('SELECT "id" FROM "contracts" WHERE "seq" = ?').get(seq)?.['id']);
  return (contractSeq) => (contractSeq === 0 ? null : ids.getOrInsertComputed(contractSeq, read));
}

/** The owner and name of an event, as its row has them. */
export interface EventSeqs {
  readonly customerSeq: number;
  readonly contractSeq: number | null;
  readonly nameId: number;
}

/**
 * Gives the short integers for the rows of these events, each looked up once; makes ids for new names. The returned function
 * throws ConstraintViolation for a customer or contract that the organization lacks. Belongs in a transaction for writing.
 */
export function eventSeqs(
  connection: SqliteConnection,
  orgId: string,
  events: readonly NewEvent[],
): (event: NewEvent) => EventSeqs {
  const customers = findCustomerSeqs(connection, orgId, new Set(events.map((event) => event.customerId)));
  const contracts = new Map<string, number>();
  const names = new Map<string, number>();
  const contractSeqOf = (id: string): number => required(findContractSeq(connection, orgId, id), 'contract');
  const nameIdOf = (name: string): number => {
    connection.prepare('INSERT INTO "eventNames" ("name") VALUES (?) ON CONFLICT DO NOTHING').run(name);
    return Number(connection.prepare('SELECT "id" FROM "eventNames" WHERE "name" = ?').get(name)?.['id']);
  };
  return ({ customerId, contractId, eventName }) => ({
    customerSeq: required(customers.get(customerId), 'customer'),
    contractSeq: contractId === null ? null : contracts.getOrInsertComputed(contractId, contractSeqOf),
    nameId: names.getOrInsertComputed(eventName, nameIdOf),
  });
}

/** The seqs of the customers among these that the organization has, by id. */
function findCustomerSeqs(
  connection: SqliteConnection,
  orgId: string,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const rows = plainRows(
    connection,
    'SELECT "id", "seq" FROM "customers" WHERE "orgId" = ? AND "id" IN (SELECT "value" FROM json_each(?))',
  ).all(orgId, JSON.stringify([...ids]));
  return new Map(rows as unknown as readonly (readonly [string, number])[]);
}

function required(seq: number | undefined, what: string): number {
  if (seq !== undefined) return seq;
  throw new ConstraintViolation('reference', `an event names a ${what} that its organization does not have`, undefined);
}
