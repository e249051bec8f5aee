/**
 * The service with every write in the operator journal: what moves money before it is sent and after, the rest after. Grants
 * are held to the policy, and have an external id, so that sending one again never grants twice.
 */

import { resolve } from 'node:path';

import { inMemory, withoutPassword } from '../../database-url.ts';
import { BillingError, UnavailableError, UnknownOutcomeError, errorFacts } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import { loadOutline } from '../../operations/index.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import { changesState } from '../../operations/operation.ts';
import type { CallInput, OperationFacts } from '../../operations/operation.ts';
import { everyRow } from '../every-row.ts';
import { grantOperation } from './grant-history.ts';
import type { GrantHistory, Place } from './grant-history.ts';
import { creditsOf, readGrant } from './grant-request.ts';
import type { GrantRequest } from './grant-request.ts';
import type { Journal } from './journal.ts';
import type { CallState, JournalFacts } from './journal-line.ts';
import { refusedByPolicy, violations, violationWords } from './policy.ts';
import type { Policy, Violation } from './policy.ts';
import { requestHash } from '../wire/request-hash.ts';
import { valueAt } from '../wire/rows.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Target } from '../target/target.ts';

/** What moves money, or takes something away: journaled before it is sent as well, since the answer may get lost. */
const moneyMoving: ReadonlySet<string> = new Set([
  grantOperation,
  'credits.grantPaid',
  'credits.adjust',
  'credits.reverse',
  'invoices.finalize',
  'invoices.pay',
  'invoices.cancel',
  'invoices.refund',
  'contracts.cancel',
  'bill.run',
  'events.drop',
] satisfies OperationName[]);

export interface JournalContext {
  readonly journal: Journal;
  readonly place: Place;
  /** The service is in this process, whose refusals say what became of the request. */
  readonly isHere: boolean;
  readonly operator: string;
  readonly policy: Policy | undefined;
  /** Why the policy does not hold for this command. */
  readonly overrideReason: string | undefined;
  /** Ids of all contracts of the customer of a contract; looked up when not given. */
  readonly contractsOf?: ((contractId: string) => Promise<readonly string[]>) | undefined;
  readonly now: () => Temporal.Instant;
  readonly newId: () => string;
  readonly tell: (note: SafeText) => void;
  /** What is said from now on when the person interrupts the program. */
  readonly atInterrupt: (words: SafeText | undefined) => void;
}

/** Where the calls of a target go, as the journal names it: without a key, and the same from every directory. */
export function placeOf(target: Target): Place {
  const { environment, profile } = target;
  if (target.kind === 'remote') return { environment, target: target.baseUrl, profile };
  return { environment, target: databaseName(target.database), organization: target.organization, profile };
}

function databaseName(url: string): string {
  if (url === inMemory) return url;
  const match = /^([a-z]+:\/\/)(?:[^@/]*@)?(.*)$/.exec(withoutPassword(url));
  return match === null ? resolve(url) : `${match[1]}${match[2]}`;
}

export function journaledBilling(billing: Billing, context: JournalContext): Billing {
  const contractsOf = context.contractsOf ?? createContractLookup(billing);
  return {
    async call(name, input = {}) {
      const operation = await loadOutline(name);
      if (!changesState(operation) || isRehearsal(operation, input)) return await billing.call(name, input);
      const call = { name, input, facts: factsOf(name, input, context) };
      if (name === grantOperation) return await grant(call);
      if (moneyMoving.has(name)) await context.journal.record({ ...call.facts, state: 'begun' });
      else await context.journal.prepare();
      return await send(call);
    },
  };

  async function grant<N extends OperationName>({ name, input, facts }: Call<N>): Promise<Answer<N>> {
    const request = await readGrant(input);
    const contractIds = await cappedTogether(request, contractsOf, context);
    let begun = facts;
    let isRepeat = false;
    await context.journal.decide((history) => {
      begun = beginGrant(input, { request, facts, history, contractIds, context });
      isRepeat = history.find(context.place, request.contractId, begun.externalId ?? '') !== undefined;
      return begun;
    });
    const { externalId, body: _body, override: _override, ...rest } = begun;
    const body = { ...(input.body as Record<string, unknown>), externalId };
    return await send({ name, input: { ...input, body }, facts: { ...rest, externalId } }, isRepeat);
  }

  async function send<N extends OperationName>({ name, input, facts }: Call<N>, isRepeat = false): Promise<Answer<N>> {
    let answer: Answer<N>;
    try {
      context.atInterrupt(interruptedWords(name));
      answer = await billing.call(name, input);
    } catch (error) {
      const kind = error instanceof BillingError ? error.kind : 'internal';
      const state =
        context.isHere && hasChangedNothing(error) && !isRepeat ? 'refused' : stateOfFailure(kind, isRepeat);
      await conclude(facts, { state, error: errorFacts[kind].code });
      throw error;
    } finally {
      context.atInterrupt(undefined);
    }
    const responseId = valueAt(answer.body, 'data.id');
    await conclude(facts, {
      state: answer.isReplay === true ? 'repeated' : 'done',
      ...(typeof responseId === 'string' ? { responseId } : {}),
    });
    return answer;
  }

  /** What happened has happened: where the journal cannot take it any more, it is said and no more. */
  async function conclude(facts: JournalFacts, outcome: Pick<JournalFacts, 'state' | 'responseId' | 'error'>) {
    try {
      await context.journal.record({ ...facts, at: timestampOf(context.now()), ...outcome });
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      context.tell(say`the outcome (${outcome.state}) is not in the journal: ${words}`);
    }
  }
}

function interruptedWords(name: OperationName): SafeText {
  const next =
    name === grantOperation
      ? 'repeat the command: it finishes this grant, and makes no other'
      : 'look whether it took effect before repeating the command';
  return say`tally: interrupted while it was sent: the outcome is unknown\n  hint: ${next}\n`;
}

interface Call<N extends OperationName> {
  readonly name: N;
  readonly input: CallInput;
  readonly facts: JournalFacts;
}

function isRehearsal(operation: OperationFacts, { body }: CallInput): boolean {
  return operation.rehearsal !== undefined && valueAt(body, operation.rehearsal) === true;
}

function factsOf(operation: string, input: CallInput, { place, operator, now, newId }: JournalContext): JournalFacts {
  const externalId = valueAt(input.body, 'externalId');
  return {
    at: timestampOf(now()),
    call: newId(),
    state: 'begun',
    operator,
    ...place,
    operation,
    params: input.params,
    requestHash: requestHash(operation, input),
    externalId: typeof externalId === 'string' ? externalId : undefined,
  };
}

/** Throws what the policy has against a grant, as sending it would; journals nothing. */
export async function judgeGrant(input: CallInput, billing: Billing, context: JournalContext): Promise<void> {
  const { policy, overrideReason, journal } = context;
  if (policy === undefined || overrideReason !== undefined) return;
  const request = await readGrant(input);
  const contractIds = await cappedTogether(request, createContractLookup(billing), context);
  judged(request, { history: await journal.history(), contractIds, context });
}

/** The contracts whose grants of a month count against one cap; none where the policy has no such cap. */
export async function cappedTogether(
  { contractId }: GrantRequest,
  contractsOf: ReturnType<typeof createContractLookup>,
  { policy }: JournalContext,
): Promise<readonly string[]> {
  return policy?.perCustomerAndMonthCents === undefined ? [] : await contractsOf(contractId);
}

/** What the policy has against a grant; throws BillingError `refused` unless that is overridden. */
function judged(
  request: GrantRequest,
  { history, contractIds, context }: Pick<Beginning, 'history' | 'contractIds' | 'context'>,
): Violation[] {
  const { policy, overrideReason, place, operator } = context;
  if (policy === undefined) return [];
  const broken = violations(policy, request, { history, contractIds, place, operator, now: context.now() });
  if (broken.length > 0 && overrideReason === undefined) {
    throw refusedByPolicy(policy, `it (${violationWords(broken)})`);
  }
  return broken;
}

interface Beginning {
  readonly request: GrantRequest;
  readonly facts: JournalFacts;
  readonly history: GrantHistory;
  readonly contractIds: readonly string[];
  readonly context: JournalContext;
}

/** The line of a grant that is about to be sent, with its id. Throws BillingError `refused` where the policy forbids it. */
function beginGrant(input: CallInput, { request, facts, history, contractIds, context }: Beginning): JournalFacts {
  const { place, overrideReason } = context;
  const unfinished =
    request.externalId === undefined
      ? history
          .unfinished(place)
          .find(({ isGeneratedId, requestHash: hash }) => isGeneratedId && hash === facts.requestHash)
      : undefined;
  if (unfinished !== undefined) {
    context.tell(say`this finishes the grant begun at ${unfinished.at}, whose outcome was not known`);
  }
  const externalId = request.externalId ?? unfinished?.externalId ?? context.newId();
  const broken = judged({ ...request, externalId }, { history, contractIds, context });
  const { externalId: _externalId, ...body } = input.body as Record<string, unknown>;
  return {
    ...facts,
    externalId,
    ...(request.externalId === undefined ? { isGeneratedId: true } : {}),
    ...(request.amountCents === 0n ? {} : { amountCents: String(request.amountCents) }),
    ...(request.creditMicros === 0n ? {} : { creditAmount: creditsOf(request.creditMicros) }),
    ...(overrideReason === undefined || broken.length === 0
      ? {}
      : { override: { reason: overrideReason, rules: broken.map(({ rule }) => rule) } }),
    body,
  };
}

/** Kinds of failure after which it is certain that nothing was done. */
const certain: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'badRequest',
  'methodNotAllowed',
  'conflict',
  'preconditionFailed',
  'payloadTooLarge',
  'unsupportedMediaType',
  'invalidInput',
  'usage',
  'refused',
  'notOffered',
]);

/** Certain of this try alone: they say nothing of an earlier one, which may have been sent with another key. */
const certainOfFirst: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unauthorized', 'forbidden', 'notFound']);

/** A write that could not be made changed nothing, unless its commit was never answered. */
function hasChangedNothing(error: unknown): boolean {
  return error instanceof UnavailableError && !(error instanceof UnknownOutcomeError);
}

function stateOfFailure(kind: ErrorKind, isRepeat: boolean): CallState {
  return certain.has(kind) || (certainOfFirst.has(kind) && !isRepeat) ? 'refused' : 'unknown';
}

/** Gives the ids of all contracts of the customer of a contract, each customer's asked for once. */
export function createContractLookup(billing: Billing): (contractId: string) => Promise<readonly string[]> {
  const ofCustomer = new Map<string, Promise<readonly string[]>>();
  const customerOf = new Map<string, string>();
  return async (contractId) => {
    let customerId = customerOf.get(contractId);
    if (customerId === undefined) {
      customerId = (await billing.call('contracts.get', { params: { contractId } })).body.data.customerId;
    }
    const found = ofCustomer.get(customerId) ?? contractIdsOf(billing, customerId);
    ofCustomer.set(customerId, found);
    for (const id of await found) customerOf.set(id, customerId);
    return await found;
  };
}

async function contractIdsOf(billing: Billing, customerId: string): Promise<readonly string[]> {
  return (await everyRow(billing, 'contracts.list', { customerId })).map(({ id }) => id);
}
