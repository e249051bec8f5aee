/** The path of every call: scope, parse, transaction, handler, check of the answer. */

import { BillingError, ConflictError, ForbiddenError, NotRehearsedError } from '../errors.ts';
import { limits } from '../limits.ts';
import { once } from '../once.ts';
import { loadOperation, loadOutline, roomOf } from '../operations/index.ts';
import type { Answer, Caller, OperationName, RoomDeclarations, RoomName } from '../operations/index.ts';
import type { CallInput, Operation, Outline } from '../operations/operation.ts';
import { changesState, replayStatus, requireScope } from '../operations/operation.ts';
import { type ParsedInput, check, parseCall } from '../operations/parse.ts';
import { readPlainly, refused } from '../operations/plain.ts';
import { ConstraintViolation } from '../store/constraint-violation.ts';
import type { EngineParts } from './dependencies.ts';
import type { CallContext, Handler, HandlersOf, Result, Undertaking } from './handler.ts';
import { inRehearsal, inTransaction, keepTime } from './transaction.ts';

/** Loaded when first called, so that a command pays only for the rooms that it enters. */
const handlers: { readonly [R in Exclude<RoomName, 'clock'>]: () => Promise<HandlersOf<RoomDeclarations[R]>> } = {
  customers: once(async () => (await import('./customers.ts')).customerHandlers),
  contracts: once(async () => (await import('./contracts.ts')).contractHandlers),
  credits: once(async () => (await import('./credits.ts')).creditHandlers),
  budgets: once(async () => (await import('./budgets.ts')).budgetHandlers),
  meters: once(async () => (await import('./meters.ts')).meterHandlers),
  usage: once(async () => (await import('./usage.ts')).usageHandlers),
  invoices: once(async () => (await import('./invoices.ts')).invoiceHandlers),
  catalog: once(async () => (await import('./catalog.ts')).catalogHandlers),
  keys: once(async () => (await import('./keys.ts')).keyHandlers),
  webhooks: once(async () => (await import('./webhooks.ts')).webhookHandlers),
};

type Preparation = (dependencies: EngineParts, input: ParsedInput<Operation>, caller: Caller) => Promise<void>;

/** Checks that look outside the database; a transaction must not wait for them. */
const preparations: Partial<Record<OperationName, () => Promise<Preparation>>> = {
  'meters.create': async () => (await import('./meters.ts')).checkMeterSql,
  'webhooks.create': async () => (await import('./webhooks.ts')).checkEndpointAddress,
  'webhooks.update': async () => (await import('./webhooks.ts')).checkEndpointAddress,
};

/**
 * Carries out one operation for a caller. Rejects with a BillingError, or with whatever a fault of ours threw. A write that
 * rejects has changed nothing, unless it rejects with an UnknownOutcomeError; an undertaking keeps the transactions that it
 * has done. Refusals come in this order: scope, form of the input, what the input names, rules (semantics 2).
 */
export async function callOperation<N extends OperationName>(
  dependencies: EngineParts,
  caller: Caller,
  name: N,
  input: CallInput,
): Promise<Answer<N>> {
  const { outline, result } = await perform(dependencies, caller, { name, input, carryOut: inTransaction });
  if (result.followUp !== undefined) await record(dependencies, caller, result.followUp);
  return await toAnswer(name, outline, result);
}

/**
 * What `callOperation` would answer now, without keeping anything: the same refusals, and ids that belong to nothing. Rejects
 * with NotRehearsedError for an operation that takes more than one transaction, unless it is refused beforehand.
 */
export async function rehearseOperation<N extends OperationName>(
  dependencies: EngineParts,
  caller: Caller,
  name: N,
  input: CallInput,
): Promise<Answer<N>> {
  const { outline, result } = await perform(dependencies, caller, { name, input, carryOut: inRehearsal });
  return await toAnswer(name, outline, result);
}

interface Asked {
  readonly name: OperationName;
  readonly input: CallInput;
  readonly carryOut: typeof inTransaction;
}

async function perform(
  dependencies: EngineParts,
  caller: Caller,
  { name, input, carryOut }: Asked,
): Promise<{ readonly outline: Outline; readonly result: Result<Operation> }> {
  const outline = await loadOutline(name);
  checkScope(caller, outline);
  const parsed: ParsedInput<Operation> = await parseCall(name, input);
  const roomName = roomOf(name);
  // These operations take as many transactions as there are instants with work.
  if (roomName === 'clock') {
    const { clockUndertakings, refuseToMove } = await import('./clock.ts');
    if (carryOut === inRehearsal) {
      await refuseToMove(dependencies, name, parsed);
      throw new NotRehearsedError(`${name} cannot be rehearsed`);
    }
    const undertakings = clockUndertakings as unknown as Record<OperationName, Undertaking<Operation>>;
    return { outline, result: await undertakings[name](dependencies, caller, parsed) };
  }
  const room = (await handlers[roomName]()) as unknown as Record<OperationName, Handler<Operation>>;
  const prepare = await preparations[name]?.();
  if (prepare !== undefined) await prepare(dependencies, parsed, caller);
  const access = changesState(outline) ? 'write' : 'read';
  try {
    const result = await carryOut(dependencies, { caller, access }, async (context) => {
      const found = await room[name](context, parsed);
      if (access === 'read') return found;
      await keepTime(context);
      return context.aheadOfClock === undefined ? found : { ...found, aheadOfClock: context.aheadOfClock };
    });
    return { outline, result };
  } catch (error) {
    throw translated(error);
  }
}

function checkScope(caller: Caller, { name, route, scope }: Outline): void {
  if (route === undefined && !caller.isLocal) {
    throw new ForbiddenError(`${name} is offered only to the owner of the database`);
  }
  requireScope(caller.scopes, scope);
}

/** Rooms check first and refuse in their own words. Where only the schema refuses, another call has won a race. */
function translated(error: unknown): unknown {
  const isRace = error instanceof ConstraintViolation && error.rule === 'unique';
  if (!isRace) return error;
  return new ConflictError('something with this identity already exists: read it, then repeat the request', {
    cause: error,
  });
}

async function record(
  dependencies: EngineParts,
  caller: Caller,
  followUp: (context: CallContext) => Promise<void>,
): Promise<void> {
  if (dependencies.store.isReadOnly) return;
  try {
    await inTransaction(dependencies, { caller, access: 'write' }, async (context) => {
      await followUp(context);
      await keepTime(context);
    });
  } catch (error) {
    if (error instanceof BillingError && error.kind === 'unavailable') return;
    throw error;
  }
}

/** How many answers each operation has given in this process. */
const answers = new Map<OperationName, number>();

async function toAnswer<N extends OperationName>(
  name: N,
  outline: Outline,
  result: Result<Operation>,
): Promise<Answer<N>> {
  const { body, followUp: _followUp, ...facts } = result;
  const status = facts.isReplay === true ? replayStatus : outline.status;
  const count = (answers.get(name) ?? 0) + 1;
  answers.set(name, count);
  const plain = count > limits.plainAnswers ? refused : readPlainly(outline.response, body);
  return { status, body: (plain === refused ? await judged(name, body) : plain) as Answer<N>['body'], ...facts };
}

async function judged(name: OperationName, answer: unknown): Promise<unknown> {
  const body = check((await loadOperation(name)).response as Operation['response'], answer);
  if (body.success) return body.data;
  throw new BillingError('internal', `the answer of ${name} breaks its declaration`, { cause: body.error });
}
