/**
 * How a grant or a purchase of credits begins: whether the policy permits it, and the external id that keeps a repeat from
 * granting twice.
 */

import { BillingError } from '../../errors.ts';
import { onceEach } from '../../once.ts';
import { type Moment, timestampOf } from '../../operations/field-rules.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { everyRow } from '../every-row.ts';
import { say } from '../terminal/safe-text.ts';
import { requestHash } from '../wire/request-hash.ts';
import { grantOperation } from './grant-history.ts';
import type { GrantHistory, KnownGrant } from './grant-history.ts';
import { creditsText } from '../../whole-amounts.ts';
import { readGrant } from './grant-request.ts';
import type { GrantRequest, GrantValue } from './grant-request.ts';
import type { ContractLookup, JournalContext } from './journal-context.ts';
import type { JournalFacts } from './journal-line.ts';
import { refusedByPolicy, violations, violationWords } from './policy.ts';
import type { Violation } from './policy.ts';

/** Throws the policy's refusal of a grant, as sending it would; journals nothing. */
export async function judgeGrant(input: CallInput, billing: Billing, context: JournalContext): Promise<void> {
  const { policy, overrideReason, journal, place } = context;
  if (policy === undefined || overrideReason !== undefined) return;
  const request = await readGrant(input);
  const contractIds = await cappedTogether(request, createContractLookup(billing), context);
  const history = await journal.history();
  const same = sameOf(requestHash(grantOperation, input), history.unfinished(place));
  const { externalId = same?.externalId } = request;
  const isGeneratedId = request.externalId === undefined;
  judged({ ...request, externalId, isGeneratedId }, { history, contractIds, context, now: context.now() });
}

/** The unfinished grant that the same request without an external id finishes. */
function sameOf(hash: string, unfinished: readonly KnownGrant[]): KnownGrant | undefined {
  return unfinished.find(({ isGeneratedId, requestHash: itsHash }) => isGeneratedId && itsHash === hash);
}

/** The contracts whose grants in a month count against one cap; empty if the policy has no such cap. */
export async function cappedTogether(
  { contractId }: GrantRequest,
  contractsOf: ContractLookup,
  { policy }: JournalContext,
): Promise<readonly string[]> {
  return policy?.perCustomerAndMonthCents === undefined ? [] : await contractsOf(contractId);
}

/** The rules that a grant breaks; throws BillingError `refused` unless the policy is overridden. */
function judged(
  request: GrantRequest,
  {
    history,
    contractIds,
    context,
    now,
  }: Pick<Beginning, 'history' | 'contractIds' | 'context'> & { readonly now: Moment },
): Violation[] {
  const { policy, overrideReason, place, operator } = context;
  if (policy === undefined) return [];
  const broken = violations(policy, request, { history, contractIds, place, operator, now });
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

export interface Begun {
  readonly facts: JournalFacts;
  /** Whether an earlier try may have been sent. */
  readonly isRepeat: boolean;
}

/**
 * The journal line of a grant about to be sent, with its external id. Throws BillingError `refused` if the policy forbids the
 * grant, or if it is probably an earlier one whose outcome is unknown.
 */
export function beginGrant(input: CallInput, { request, facts, history, contractIds, context }: Beginning): Begun {
  const { place, overrideReason } = context;
  const unfinished = request.externalId === undefined ? history.unfinished(place) : [];
  const same = sameOf(facts.requestHash, unfinished);
  if (same !== undefined) tellFinishing(same, context);
  else refuseAlike(request, unfinished);
  const externalId = request.externalId ?? same?.externalId ?? context.newId();
  const isGeneratedId = request.externalId === undefined;
  // It counts for the day for which it is judged, even if midnight passed since the command began.
  const now = context.now();
  const broken = judged({ ...request, externalId, isGeneratedId }, { history, contractIds, context, now });
  const earlier = history.find(place, request.contractId, externalId);
  const { externalId: _externalId, ...body } = input.body as Record<string, unknown>;
  const begun: JournalFacts = {
    ...facts,
    at: timestampOf(now),
    externalId,
    ...(isGeneratedId ? { isGeneratedId: true } : {}),
    ...valueFacts(request),
    ...(overrideReason === undefined || broken.length === 0
      ? {}
      : { override: { reason: overrideReason, rules: broken.map(({ rule }) => rule) } }),
    body,
  };
  return { facts: begun, isRepeat: earlier !== undefined && earlier.state !== 'refused' };
}

function valueFacts({ amountCents, creditMicros }: GrantValue): Pick<JournalFacts, 'amountCents' | 'creditAmount'> {
  return {
    ...(amountCents === 0n ? {} : { amountCents: String(amountCents) }),
    ...(creditMicros === 0n ? {} : { creditAmount: creditsText(creditMicros) }),
  };
}

/**
 * The journal line of a purchase about to be sent, with its external id. Throws BillingError `refused` if it is probably an
 * earlier one whose outcome is unknown.
 */
export function beginPurchase(
  value: GrantValue,
  { facts: given, history, context }: Pick<Beginning, 'facts' | 'history' | 'context'>,
): Begun {
  const facts = { ...given, ...valueFacts(value) };
  const open = history.unfinishedCall(facts);
  const isRepeat = open !== undefined;
  if (facts.externalId !== undefined) return { facts, isRepeat };
  if (isRepeat) tellFinishing(open, context);
  else refuseAlikePurchase(history.unfinishedPurchase(facts));
  return { facts: { ...facts, externalId: open?.externalId ?? context.newId(), isGeneratedId: true }, isRepeat };
}

/** Refuses what would be made twice with a recalculated expiry or another description. */
function refuseAlikePurchase(alike: JournalFacts | undefined): void {
  if (alike === undefined) return;
  throw new BillingError(
    'refused',
    `a purchase of the same value for this contract was begun at ${alike.at}, and its outcome is not known: nothing was sent`,
    {
      hint: `finish it with --external-id ${alike.externalId ?? ''}, which makes it once; or give this one an id of its own`,
    },
  );
}

function tellFinishing({ at }: { readonly at: string }, { tell }: JournalContext): void {
  tell(say`this finishes the grant begun at ${at}, whose outcome was not known`);
}

/** Refuses a grant like an unfinished one, which would be made twice with a recalculated expiry or another reason. */
function refuseAlike({ contractId, amountCents }: GrantRequest, unfinished: readonly KnownGrant[]): void {
  const alike = unfinished.find((grant) => grant.contractId === contractId && grant.amountCents === amountCents);
  if (alike === undefined) return;
  throw new BillingError(
    'refused',
    `a grant of the same amount to this contract was begun at ${alike.at}, and its outcome is not known: nothing was sent`,
    { hint: 'finish it with: tally credits grant --resume; or give this one an --external-id of its own' },
  );
}

/** Asks for the contracts of each customer once, and again only after a failure. */
export function createContractLookup(billing: Billing): ContractLookup {
  const customerIds = new Map<string, string>();
  const contractIdsOf = onceEach(async (customerId: string) =>
    (await everyRow(billing, 'contracts.list', { customerId })).map(({ id }) => id),
  );
  return async (contractId) => {
    const customerId =
      customerIds.get(contractId) ??
      (await billing.call('contracts.get', { params: { contractId } })).body.data.customerId;
    const contractIds = await contractIdsOf(customerId);
    for (const id of contractIds) customerIds.set(id, customerId);
    return contractIds;
  };
}
