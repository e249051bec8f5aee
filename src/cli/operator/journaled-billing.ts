/**
 * The service with every write in the operator journal: a write that moves money before it is sent and after, any other only
 * after. Grants must satisfy the policy, and get an external id, so that sending one again never grants twice. So do purchases
 * of credits; an adjustment, which has no such id, is not sent again while its outcome is unknown (reliability 1, P3).
 */

import { BillingError, UnavailableError, UnknownOutcomeError, UnsentError, errorFacts } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import { loadOutline } from '../../operations/index.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import { asksForRehearsal, changesState } from '../../operations/operation.ts';
import type { CallInput } from '../../operations/operation.ts';
import { grantOperation, purchaseOperation } from './grant-history.ts';
import type { GrantHistory } from './grant-history.ts';
import { readGrant, readPurchase } from './grant-request.ts';
import { beginGrant, beginPurchase, cappedTogether, createContractLookup } from './granting.ts';
import type { Begun } from './granting.ts';
import type { JournalContext } from './journal-context.ts';
import type { JournalFacts } from './journal-line.ts';
import { requestHash } from '../wire/request-hash.ts';
import { valueAt } from '../wire/rows.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

export function journaledBilling(billing: Billing, context: JournalContext): Billing {
  const contractsOf = context.contractsOf ?? createContractLookup(billing);
  return {
    async call(name, input = {}) {
      const operation = await loadOutline(name);
      if (!changesState(operation) || asksForRehearsal(operation.rehearsal, input))
        return await billing.call(name, input);
      const call = { name, input, facts: factsOf(name, input, context) };
      if (name === grantOperation) return await grant(call);
      if (name === purchaseOperation) return await purchase(call);
      if (name === adjustOperation) return await adjust(call);
      if (operation.movesMoney === true) await context.journal.record(call.facts);
      else await context.journal.prepare();
      return await send(call);
    },
  };

  async function grant<N extends OperationName>(call: Call<N>): Promise<Answer<N>> {
    const { input, facts } = call;
    const request = await readGrant(input);
    const contractIds = await cappedTogether(request, contractsOf, context);
    return await sendBegun(call, (history) => beginGrant(input, { request, facts, history, contractIds, context }));
  }

  async function purchase<N extends OperationName>(call: Call<N>): Promise<Answer<N>> {
    const { facts } = call;
    const value = await readPurchase(call.input);
    return await sendBegun(call, (history) => beginPurchase(value, { facts, history, context }));
  }

  async function sendBegun<N extends OperationName>(
    { name, input, facts }: Call<N>,
    begin: (history: GrantHistory) => Begun,
  ): Promise<Answer<N>> {
    let begun: Begun = { facts, isRepeat: false };
    await context.journal.decide((history) => {
      begun = begin(history);
      return begun.facts;
    });
    const { body: _body, override: _override, ...rest } = begun.facts;
    return await send({ name, input: withId(input, rest), facts: rest }, begun.isRepeat);
  }

  async function adjust<N extends OperationName>(call: Call<N>): Promise<Answer<N>> {
    await context.journal.decide((history) => {
      const open = history.unfinishedCall(call.facts);
      if (open !== undefined) throw doneAlready(open);
      return call.facts;
    });
    return await send(call);
  }

  async function send<N extends OperationName>({ name, input, facts }: Call<N>, isRepeat = false): Promise<Answer<N>> {
    let answer: Answer<N>;
    try {
      context.atInterrupt(interruptedWords(name, context));
      const given = await billing.call(name, input);
      answer = !isRepeat && isOfLostTry(given, facts) ? { ...given, isReplay: false } : given;
    } catch (error) {
      const kind = error instanceof BillingError ? error.kind : 'internal';
      // A busy service did nothing. A grant stays open even so: --resume sends it again later.
      const isBusy = kind === 'rateLimited' && name !== grantOperation;
      const isSure = (isBusy || hasChangedNothing(error, context.isHere)) && !isRepeat;
      const state = isSure || isRefusal(kind, isRepeat) ? 'refused' : 'unknown';
      await conclude(facts, { state, error: errorFacts[kind].code });
      throw error;
    } finally {
      context.atInterrupt(context.isResumable === true ? betweenRequests : undefined);
    }
    const responseId = valueAt(answer.body, 'data.id');
    const state = answer.isReplay === true ? 'repeated' : 'done';
    const end = async () => await conclude(facts, { state, ...(typeof responseId === 'string' ? { responseId } : {}) });
    // If the program is killed before the answer is shown, the person repeats the command, which must not move money again.
    const isDoubled = facts.isGeneratedId === true || name === purchaseOperation || name === adjustOperation;
    if (isDoubled && context.onceShown !== undefined) context.onceShown(end);
    else await end();
    return answer;
  }

  /** The call has happened already: if the journal cannot record the outcome, that is only reported. */
  async function conclude(facts: JournalFacts, outcome: Pick<JournalFacts, 'state' | 'responseId' | 'error'>) {
    try {
      await context.journal.record({ ...facts, at: timestampOf(context.now()), ...outcome });
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      context.tell(say`the outcome (${outcome.state}) is not in the journal: ${words}`);
    }
  }
}

const adjustOperation = 'credits.adjust';

function doneAlready({ at, params }: JournalFacts): BillingError {
  return new BillingError('refused', `the same was begun at ${at}, and its outcome is not known: nothing was sent`, {
    hint: `look whether it was done: tally credits ledger ${params?.['contractId'] ?? ''}; if not, repeat it with another --description`,
  });
}

const doesRest = 'repeat the command: what was done stays done, and it does the rest';
const finishes = 'repeat the command: it finishes this grant, and does not make another';

/** What to do next, where that is not to look first. */
const afterInterrupt: Partial<Record<OperationName, string>> = {
  [grantOperation]: finishes,
  [purchaseOperation]: finishes,
  'bill.run': doesRest,
  'clock.set': 'repeat the command: it goes on from where the clock is',
  'clock.advance': 'see how far it got with: tally clock show; go on with: tally clock advance --to INSTANT',
};

/** Of a command that makes several calls, also while it waits for the next one. */
const betweenRequests = say`tally: interrupted between two requests\n  hint: ${doesRest}`;

function interruptedWords(name: OperationName, { isResumable }: JournalContext): SafeText {
  const next =
    isResumable === true
      ? doesRest
      : (afterInterrupt[name] ?? 'check whether it took effect before repeating the command');
  return say`tally: interrupted during the request: the outcome is unknown\n  hint: ${next}`;
}

interface Call<N extends OperationName> {
  readonly name: N;
  readonly input: CallInput;
  readonly facts: JournalFacts;
}

function withId(input: CallInput, { externalId }: JournalFacts): CallInput {
  return { ...input, body: { ...(input.body as Record<string, unknown>), externalId } };
}

/**
 * Whether what was there already is of a try of this call whose answer was lost: nobody else has an id that was made for the
 * call, and the caps must count what was probably granted now.
 */
function isOfLostTry({ followsOpenTry, mismatches = [] }: Answer, { isGeneratedId }: JournalFacts): boolean {
  return isGeneratedId === true || (followsOpenTry === true && mismatches.length === 0);
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

/** Kinds of failure after which it is certain that nothing was done: the service would have known an earlier try. */
const certain: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['conflict', 'preconditionFailed', 'invalidInput']);

/**
 * Certain for this try only: an earlier one may have been sent with another key or on another way, and what stands in front of
 * a service refuses without asking it.
 */
const ofThisTry: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'badRequest',
  'unauthorized',
  'forbidden',
  'notFound',
  'methodNotAllowed',
  'payloadTooLarge',
  'unsupportedMediaType',
  'usage',
  'refused',
  'notOffered',
]);

/** A request that was not sent changed nothing, nor did a write that failed here, unless its commit went unanswered. */
function hasChangedNothing(error: unknown, isHere: boolean): boolean {
  if (error instanceof UnsentError) return true;
  return isHere && error instanceof UnavailableError && !(error instanceof UnknownOutcomeError);
}

/** Whether a failure of this kind says that nothing was done; `isRepeat` if an earlier try may have been sent. */
export function isRefusal(kind: ErrorKind, isRepeat: boolean): boolean {
  return certain.has(kind) || (ofThisTry.has(kind) && !isRepeat);
}
