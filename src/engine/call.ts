/** The path of every call: scope, parse, transaction, handler, check of the answer. */

import { BillingError, ConflictError, ForbiddenError, NotFoundError } from '../errors.ts';
import { limits } from '../limits.ts';
import { loadOperation, roomOf } from '../operations/index.ts';
import type { Answer, Caller, OperationName, RoomDeclarations, RoomName } from '../operations/index.ts';
import { changesState } from '../operations/operation.ts';
import type { CallInput, Operation } from '../operations/operation.ts';
import { type ParsedInput, parseInput } from '../operations/parse.ts';
import { ConstraintViolation } from '../store/constraint-violation.ts';
import type { Transaction } from '../store/database.ts';
import { findOrganization, updateOrganization } from '../store/records/organizations.ts';
import type { EngineParts } from './engine.ts';
import type { CallContext, Handler, HandlersOf, Result } from './handler.ts';
import { type SqlReadings, withSqlReadings } from './usage-sql.ts';
import { wireTimestamp } from './wire.ts';

/** Loaded when first called, so that a command pays for the rooms that it enters. */
const handlers: { readonly [R in RoomName]: () => Promise<HandlersOf<RoomDeclarations[R]>> } = {
  customers: async () => (await import('./customers.ts')).customerHandlers,
  contracts: async () => (await import('./contracts.ts')).contractHandlers,
  credits: async () => (await import('./credits.ts')).creditHandlers,
  budgets: async () => (await import('./budgets.ts')).budgetHandlers,
  meters: async () => (await import('./meters.ts')).meterHandlers,
  usage: async () => (await import('./usage.ts')).usageHandlers,
  invoices: async () => (await import('./invoices.ts')).invoiceHandlers,
  catalog: async () => (await import('./catalog.ts')).catalogHandlers,
  keys: async () => (await import('./keys.ts')).keyHandlers,
  webhooks: async () => (await import('./webhooks.ts')).webhookHandlers,
};

type Preparation = (dependencies: EngineParts, input: ParsedInput<Operation>) => Promise<void>;

/** What is looked at outside of the database, which a transaction must not wait for. */
const preparations: Partial<Record<OperationName, () => Promise<Preparation>>> = {
  'meters.create': async () => (await import('./meters.ts')).checkMeterSql,
  'webhooks.create': async () => (await import('./webhooks.ts')).checkEndpointAddress,
  'webhooks.update': async () => (await import('./webhooks.ts')).checkEndpointAddress,
};

/**
 * Carries out one operation for a caller. Rejects with a BillingError; a write that rejects has changed nothing.
 * A refusal comes in this order: scope, then form of the input, then what it names, then rules (semantics 2).
 */
export async function callOperation<N extends OperationName>(
  dependencies: EngineParts,
  caller: Caller,
  name: N,
  input: CallInput,
): Promise<Answer<N>> {
  const operation: Operation = await loadOperation(name);
  checkScope(caller, operation);
  const parsed = parseInput(operation, input);
  const room = (await handlers[roomOf(name)]()) as unknown as Record<OperationName, Handler<Operation>>;
  const prepare = await preparations[name]?.();
  await prepare?.(dependencies, parsed);
  const access = changesState(operation) ? 'write' : 'read';
  const result = await translated(
    async () =>
      await inTransaction(dependencies, { caller, access }, async (context) => {
        const found = await room[name](context, parsed);
        if (access === 'write') await keepTime(context);
        return found;
      }),
  );
  await followUp(dependencies, caller, result);
  return toAnswer(operation, result);
}

/**
 * Does `work` in a transaction, and once more for each SQL meter that it has to read: only what the last run returns counts,
 * and only its writes are kept.
 */
async function inTransaction<T>(
  dependencies: EngineParts,
  { caller, access }: { readonly caller: Caller; readonly access: 'read' | 'write' },
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const { store, meterSql } = dependencies;
  const deadlineMilliseconds = access === 'write' ? limits.meterSqlBillRunMilliseconds : limits.meterSqlMilliseconds;
  return await withSqlReadings(
    { meterSql, deadlineMilliseconds },
    async (sqlReadings) =>
      await store[access](async (tx) => await work(await createContext(dependencies, caller, { tx, sqlReadings }))),
  );
}

function checkScope(caller: Caller, operation: Operation): void {
  if (operation.route === undefined && !caller.isLocal) {
    throw new ForbiddenError(`${operation.name} is offered only to the owner of the database`);
  }
  if (caller.scopes.includes('*') || caller.scopes.includes(operation.scope)) return;
  throw new ForbiddenError(`API key does not have the required permission: ${operation.scope}`);
}

async function createContext(
  dependencies: EngineParts,
  caller: Caller,
  { tx, sqlReadings }: { readonly tx: Transaction; readonly sqlReadings: SqlReadings },
): Promise<CallContext> {
  const organization = await findOrganization(tx, caller.organizationId);
  if (organization === undefined) throw new NotFoundError('this organization does not exist');
  const last = Temporal.Instant.from(organization.lastCreatedAt);
  const clock = dependencies.now();
  const now = Temporal.Instant.compare(clock, last) < 0 ? last : clock;
  return {
    tx,
    events: dependencies.store.events,
    sqlReadings,
    caller,
    organization,
    orgId: organization.id,
    now,
    timestamp: wireTimestamp(now),
    newId: dependencies.newId,
    randomBytes: dependencies.randomBytes,
    finalizationGraceHours: dependencies.finalizationGraceHours,
  };
}

async function keepTime(context: CallContext): Promise<void> {
  if (context.timestamp <= context.organization.lastCreatedAt) return;
  await updateOrganization(context.tx, context.orgId, { lastCreatedAt: context.timestamp });
}

/** Rooms check first and answer in their own words; what the schema alone refuses is a race that another call won. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConstraintViolation && error.rule === 'unique') {
      throw new ConflictError('something with this identity exists already; read it and repeat', { cause: error });
    }
    throw error;
  }
}

async function followUp(dependencies: EngineParts, caller: Caller, result: Result<Operation>): Promise<void> {
  const { followUp: record } = result;
  if (record === undefined || dependencies.store.isReadOnly) return;
  try {
    await inTransaction(dependencies, { caller, access: 'write' }, record);
  } catch (error) {
    if (error instanceof BillingError && error.kind === 'unavailable') return;
    throw error;
  }
}

function toAnswer(operation: Operation, result: Result<Operation>): Answer {
  const body = operation.response.safeParse(result.body);
  if (!body.success) {
    throw new BillingError('internal', `the answer of ${operation.name} breaks its declaration`, { cause: body.error });
  }
  const { status, body: _body, followUp: _followUp, ...facts } = result;
  return { status: status ?? operation.status, body: body.data as Answer['body'], ...facts };
}
