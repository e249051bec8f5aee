/** How a grant begins: whether the policy permits it, and the external id by which sending it again never grants twice. */

import { onceEach } from '../../once.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { everyRow } from '../every-row.ts';
import { say } from '../terminal/safe-text.ts';
import type { GrantHistory } from './grant-history.ts';
import { creditsOf, readGrant } from './grant-request.ts';
import type { GrantRequest } from './grant-request.ts';
import type { ContractLookup, JournalContext } from './journal-context.ts';
import type { JournalFacts } from './journal-line.ts';
import { refusedByPolicy, violations, violationWords } from './policy.ts';
import type { Violation } from './policy.ts';

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
  contractsOf: ContractLookup,
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
export function beginGrant(
  input: CallInput,
  { request, facts, history, contractIds, context }: Beginning,
): JournalFacts {
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

/** Asks for the contracts of each customer once, and again where that failed. */
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
