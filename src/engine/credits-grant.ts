/** Granting credits (interface 4.15, semantics 9): modes, idempotency, and which usage a grant may pay for. */

import type { AnswerFacts } from '../answer-facts.ts';
import type { LedgerSourceType } from '../calculation/ledger.ts';
import { creditsText } from '../whole-amounts.ts';
import type { Specifiers } from '../calculation/specifiers.ts';
import { canonicalJson } from '../canonical-json.ts';
import { ConflictError, namesNoMessage } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import { grantAmountsOf } from '../operations/grant-amounts.ts';
import type { GrantAmounts } from '../operations/grant-amounts.ts';
import { type CatalogIds, catalogMembers, findCatalogIds } from '../store/records/census.ts';
import { listInvoicesOfContract } from '../store/records/invoices.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import { findGrantByExternalId } from '../store/records/ledger.ts';
import type { Wallet } from '../store/records/wallets.ts';
import { getContract } from './contract-lookup.ts';
import type { CallContext } from './handler.ts';
import { createLedgerWriter } from './ledger-writing.ts';
import { pastIssues, refuse } from './refuse.ts';
import { isBilledOut, sweepWallet } from './settlement.ts';

/** A request for a grant, however it comes. */
export interface GrantRequest {
  readonly amountCents?: bigint | undefined;
  readonly creditRateCents?: number | undefined;
  /** Decimal text. */
  readonly creditAmount?: string | undefined;
  readonly expiresAt?: string | null | undefined;
  readonly description?: string | undefined;
  readonly externalId?: string | undefined;
  readonly specifiers?: Specifiers | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** What distinguishes promotional grants, purchases, and the credits that a contract begins with. */
export interface GrantKind {
  readonly isPromotional: boolean;
  readonly sourceType: LedgerSourceType;
  readonly description: string;
}

export interface Granted extends Pick<AnswerFacts, 'isReplay' | 'mismatches'> {
  readonly entry: StoredLedgerEntry;
}

/**
 * Writes a grant, or returns the one that the same externalId made before (interface 4.15 rule 6). The wallet is the
 * ledger, so the first grant makes it. Throws InvalidInputError for amounts that contradict each other or come to more
 * than `limits.centsMaximum`, an expiry that has passed and specifiers that name nothing; ConflictError once the
 * contract's last invoice is finalized, and where the wallet would hold more than `limits.walletMaximum`.
 */
export async function grantCredits(
  context: CallContext,
  wallet: Wallet,
  { request, kind }: { readonly request: GrantRequest; readonly kind: GrantKind },
): Promise<Granted> {
  const amounts = grantAmountsOf(request);
  const fingerprint = fingerprintOf(request, kind, amounts);
  const { expiresAt, externalId, specifiers } = request;
  const earlier =
    externalId === undefined
      ? undefined
      : await findGrantByExternalId(context.tx, context.orgId, { contractId: wallet.id, externalId });
  if (earlier !== undefined) {
    return { entry: earlier, isReplay: true, mismatches: differences(earlier.fingerprint, fingerprint) };
  }
  refuse([
    ...pastIssues('expiresAt', expiresAt, context.timestamp),
    ...(specifiers === undefined ? [] : await unknownSpecifiers(context, specifiers)),
  ]);
  await refuseOver(context, wallet);
  const writer = createLedgerWriter(context, wallet, await sweepWallet(context, wallet));
  const entry = await writer.append({
    ...amounts,
    type: 'grant',
    sourceType: kind.sourceType,
    isPromotional: kind.isPromotional,
    // Promotional credits cost nothing (semantics 9, Precision).
    purchaseRateCents: kind.isPromotional ? 0n : amounts.creditRateCents,
    description: request.description ?? kind.description,
    expiresAt: typeof expiresAt === 'string' ? Temporal.Instant.from(expiresAt) : undefined,
    externalId,
    fingerprint: externalId === undefined ? undefined : fingerprint,
    specifiers,
    metadata: request.metadata,
    appliedCents: 0n,
  });
  await writer.finish();
  return { entry };
}

/** Throws ConflictError where no usage is left for credits to pay. Without an end, a contract's invoices need no reading. */
export async function refuseOver(context: CallContext, { id, hasEnd }: Wallet): Promise<void> {
  if (!hasEnd) return;
  const contract = await getContract(context, id);
  if (!isBilledOut(contract, await listInvoicesOfContract(context.tx, context.orgId, id))) return;
  throw new ConflictError(`the last invoice of contract ${id} is closed: no usage of it is billed any more`, {
    hint: 'grant credits on another contract of the customer',
  });
}

/** The request, each member as a text that is the same for the same meaning. */
function fingerprintOf(request: GrantRequest, kind: GrantKind, amounts: GrantAmounts): string {
  return JSON.stringify({
    isPromotional: String(kind.isPromotional),
    amountCents: amounts.amountCents.toString(),
    creditRateCents: amounts.creditRateCents.toString(),
    creditAmount: creditsText(amounts.creditMicros),
    expiresAt: request.expiresAt ?? '',
    description: request.description ?? kind.description,
    specifiers: canonicalJson(request.specifiers ?? {}),
    metadata: canonicalJson(request.metadata ?? {}),
  });
}

function differences(before: string | undefined, now: string): string[] {
  const earlier = JSON.parse(before ?? '{}') as Record<string, string>;
  return Object.entries(JSON.parse(now) as Record<string, string>)
    .filter(([member, text]) => earlier[member] !== text)
    .map(([member]) => member);
}

const nouns: Readonly<Record<keyof CatalogIds, string>> = {
  meterIds: 'meter',
  pricingIds: 'price',
  productIds: 'product',
};

/** Ids that the organization does not have; another tenant's are unknown like any other. */
async function unknownSpecifiers({ tx, orgId }: CallContext, specifiers: Specifiers): Promise<InputIssue[]> {
  const { meterIds = [], pricingIds = [], productIds = [] } = specifiers;
  const named = { meterIds, pricingIds, productIds };
  const known = await findCatalogIds(tx, orgId, named);
  return catalogMembers.flatMap((member) =>
    named[member].flatMap((id, index) =>
      known[member].includes(id)
        ? []
        : [{ path: `specifiers.${member}[${index}]`, message: namesNoMessage(nouns[member]) }],
    ),
  );
}
