/** What must hold between the grants of a contract and the usage that they paid (reliability 5, invariants 7 to 11). */

import { type UsageWindow, usageWindowsAt } from '../../calculation/invoice-periods.ts';
import { compareDeduction } from '../../calculation/deduction-order.ts';
import { grantIdOf, hasExpired, isFree, valuationRateOf } from '../../calculation/ledger.ts';
import { isLineOf } from '../../calculation/rating.ts';
import { centsOfCredits } from '../../whole-amounts.ts';
import type { Invoice } from '../../store/records/invoices.ts';
import type { StoredLedgerEntry } from '../../store/records/ledger.ts';
import type { ContractBooks, Problem } from './check.ts';

interface GrantSoFar {
  readonly entry: StoredLedgerEntry;
  cents: bigint;
  micros: bigint;
  hasLapsed: boolean;
}

/** Usage that an entry pays, as far as the entry tells: its line, not the events behind it. */
interface PaidUsage {
  readonly invoice: Invoice;
  readonly window: UsageWindow;
}

/**
 * No usage was paid by a grant while one before it in the order could pay. Skips grants about which an entry does not tell:
 * those that expire within the usage window, or are limited to event names or properties.
 */
export function burnOrderProblems(books: ContractBooks): Problem[] {
  const usagesOf = usageFinder(books);
  const { entries } = books.ledger;
  // Grants that are not made yet hold nothing.
  const inOrder = inDeductionOrder(entries).map(nothingSoFar);
  const grants = new Map(inOrder.map((grant) => [grant.entry.id, grant]));
  const soFar: StoredLedgerEntry[] = [];
  let rate: { readonly cents: bigint | undefined } | undefined;
  const rateCents = (): bigint | undefined =>
    (rate ??= { cents: valuationRateOf(soFar, books.contract.creditSettings.creditRateCents) }).cents;
  return entries.flatMap((entry) => {
    const payer = grants.get(entry.grantEntryId ?? '');
    const usages = entry.type === 'usage' && payer !== undefined ? usagesOf(entry) : [];
    const isFirst = (grant: GrantSoFar) => usages.every((usage) => canPay(grant, usage, rateCents));
    const first = usages.length === 0 ? undefined : inOrder.find((grant) => grant === payer || isFirst(grant));
    soFar.push(entry);
    follow(grants, entry);
    if (entry.type === 'grant' || entry.type === 'reversal') rate = undefined;
    if (first === undefined || first === payer) return [];
    const problem = `usage ${entry.id} was paid by grant ${payer?.entry.id}, but grant ${first.entry.id} goes first`;
    return [{ objectId: entry.id, problem }];
  });
}

function inDeductionOrder(entries: readonly StoredLedgerEntry[]): StoredLedgerEntry[] {
  const grants = entries.filter(({ type }) => type === 'grant');
  const places = grants.map((entry) => ({ ...entry, entry, grantId: entry.id, expiresAt: entry.expiresAt }));
  return places.sort(compareDeduction).map(({ entry }) => entry);
}

function canPay(grant: GrantSoFar, { window }: PaidUsage, rateCents: () => bigint | undefined): boolean {
  return worthOf(grant, rateCents) > 0n && paysForAllOf(grant.entry, window);
}

/** Usage was paid by a grant that may pay it: on a metered line, before the grant's expiry, within its specifiers. */
export function eligibilityProblems(books: ContractBooks): Problem[] {
  const usagesOf = usageFinder(books);
  const byId = new Map(books.ledger.entries.map((entry) => [entry.id, entry]));
  return books.ledger.entries.flatMap((entry) => {
    const grant = byId.get(entry.grantEntryId ?? '');
    if (entry.type !== 'usage' || grant === undefined) return [];
    const words = ineligibility(entry, grant, usagesOf(entry));
    return words === undefined ? [] : [{ objectId: entry.id, problem: `usage ${entry.id} ${words}` }];
  });
}

/** What has lapsed stays lapsed, and nothing lapses before its time. */
export function expiryProblems({ ledger: { entries } }: ContractBooks): Problem[] {
  const grants = new Map<string, GrantSoFar>();
  const early = entries.flatMap((entry) => {
    follow(grants, entry);
    const expiresAt = grants.get(entry.grantEntryId ?? '')?.entry.expiresAt;
    if (entry.type !== 'expiration' || expiresAt === undefined || !isBefore(entry.createdAt, expiresAt)) return [];
    return [{ objectId: entry.id, problem: `expiration ${entry.id} was written before ${expiresAt.toString()}` }];
  });
  const revived = [...grants.values()].filter(
    ({ entry, cents, micros, hasLapsed }) =>
      hasLapsed && entry.expiresAt !== undefined && (cents !== 0n || micros !== 0n),
  );
  return [
    ...early,
    ...revived.map(({ entry, cents, micros }) => ({
      objectId: entry.id,
      problem: `grant ${entry.id} has lapsed and still holds ${cents} cents, ${micros} millionths of a credit`,
    })),
  ];
}

/**
 * A contract whose grant still holds something is noted for its expiry or an earlier one, by which it is found when that comes
 * (semantics 9).
 */
export function notedExpiryProblems({ contract: { id }, ledger: { entries }, noted }: ContractBooks): Problem[] {
  const held = heldAfter(entries).filter(({ cents, micros }) => cents !== 0n || micros !== 0n);
  const expiries = held.flatMap(({ entry: { expiresAt } }) => expiresAt ?? []);
  const [earliest] = expiries.toSorted((one, other) => Temporal.Instant.compare(one, other));
  if (earliest === undefined || hasExpired(noted, earliest)) return [];
  const words = `has a grant that expires at ${earliest.toString()}, and is noted for`;
  return [{ objectId: id, problem: `contract ${id} ${words} ${noted.expiresAt?.toString() ?? 'no expiry'}` }];
}

/** A caller's external id belongs to one grant, and to nothing else. */
export function grantKeyProblems({ ledger: { entries } }: ContractBooks): Problem[] {
  const seen = new Set<string>();
  return entries.flatMap(({ id, type, externalId }) => {
    if (externalId === undefined) return [];
    if (type !== 'grant') {
      return [{ objectId: id, problem: `${type} ${id} has the external id ${externalId}, and only grants have one` }];
    }
    if (seen.has(externalId)) return [{ objectId: id, problem: `grant ${id} repeats the external id ${externalId}` }];
    seen.add(externalId);
    return [];
  });
}

/** Free credits that nothing gives a value pay for nothing (semantics 9, Consumption). */
export function unpricedCreditProblems({ ledger: { entries }, contract, now }: ContractBooks): Problem[] {
  if (valuationRateOf(entries, contract.creditSettings.creditRateCents) !== undefined) return [];
  return heldAfter(entries)
    .filter(({ entry, micros }) => isOfFreeCredits(entry) && micros > 0n && !hasExpired(entry, now))
    .map(({ entry }) => ({ objectId: entry.id, problem: `grant ${entry.id} has credits that pay for nothing` }));
}

/** What each grant holds after these entries. */
function heldAfter(entries: readonly StoredLedgerEntry[]): readonly GrantSoFar[] {
  const grants = new Map<string, GrantSoFar>();
  for (const entry of entries) follow(grants, entry);
  return [...grants.values()];
}

function follow(grants: Map<string, GrantSoFar>, entry: StoredLedgerEntry): void {
  if (entry.type === 'grant' && !grants.has(entry.id)) grants.set(entry.id, nothingSoFar(entry));
  const grant = grants.get(grantIdOf(entry));
  if (grant === undefined) return;
  grant.cents += entry.amountCents;
  grant.micros += entry.creditMicros;
  grant.hasLapsed ||= entry.type === 'expiration';
}

function nothingSoFar(entry: StoredLedgerEntry): GrantSoFar {
  return { entry, cents: 0n, micros: 0n, hasLapsed: false };
}

function isOfFreeCredits({ amountCents, creditRateCents }: StoredLedgerEntry): boolean {
  return isFree({ originalCents: amountCents, creditRateCents });
}

function worthOf({ entry, cents, micros }: GrantSoFar, rateCents: () => bigint | undefined): bigint {
  return isOfFreeCredits(entry) ? centsOfCredits(micros, rateCents() ?? 0n) : cents;
}

function paysForAllOf({ expiresAt, specifiers }: StoredLedgerEntry, window: UsageWindow): boolean {
  if (isBefore(expiresAt, window.end)) return false;
  if (specifiers?.eventNames !== undefined || specifiers?.properties !== undefined) return false;
  return namesLine(specifiers, window);
}

function namesLine(specifiers: StoredLedgerEntry['specifiers'], { item, meterId }: UsageWindow): boolean {
  const { meterIds, pricingIds, productIds } = specifiers ?? {};
  return (
    meterIds?.includes(meterId) !== false &&
    pricingIds?.includes(item.pricingId) !== false &&
    productIds?.includes(item.productId) !== false
  );
}

function ineligibility(
  entry: StoredLedgerEntry,
  grant: StoredLedgerEntry,
  usages: readonly PaidUsage[],
): string | undefined {
  if (usages.length === 0) return 'pays for no metered line of the contract';
  const words = usages.map((usage) => ineligibilityFor(entry, grant, usage));
  return words.includes(undefined) ? undefined : words[0];
}

function ineligibilityFor(
  entry: StoredLedgerEntry,
  grant: StoredLedgerEntry,
  { invoice, window }: PaidUsage,
): string | undefined {
  if (grant.expiresAt !== undefined && !isBefore(window.start, grant.expiresAt)) {
    return `was paid by grant ${grant.id}, which had expired before the usage`;
  }
  if (!namesLine(grant.specifiers, window)) return `was paid by grant ${grant.id}, which is for other usage`;
  if (isBefore(invoice.finalizedAt, grant.createdAt)) {
    return `was paid by grant ${grant.id}, which is younger than the finalized invoice`;
  }
  return isBefore(invoice.finalizedAt, entry.createdAt) ? 'was written after its invoice was finalized' : undefined;
}

/**
 * Finds the usage of an entry on its invoice, under each of the terms that the entry may have been written by; none where
 * there is no such line.
 */
function usageFinder({ invoices, terms }: ContractBooks): (entry: StoredLedgerEntry) => readonly PaidUsage[] {
  const windows = new Map<string, PaidUsage[]>();
  for (const { invoice } of invoices) {
    const own = terms.flatMap((each) => usageWindowsAt(each, invoice.periodIndex));
    windows.set(
      invoice.id,
      own.map((window) => ({ invoice, window })),
    );
  }
  return ({ invoiceId = '', lineKey = '' }) =>
    (windows.get(invoiceId) ?? []).filter(({ window: { item } }) => isLineOf(item.id, lineKey));
}

function isBefore(a: Temporal.Instant | undefined, b: Temporal.Instant): boolean {
  return a !== undefined && Temporal.Instant.compare(a, b) < 0;
}
