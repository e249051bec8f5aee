/** Items, grants and entries with the fields that a test does not care about filled in. */

import type { ContractItem } from '../../src/calculation/rate-card.ts';
import type { GrantState, LedgerEntry } from '../../src/calculation/ledger.ts';
import type { UsageAtom } from '../../src/calculation/usage-atoms.ts';

export const at = (text: string) => Temporal.Instant.from(text.length === 10 ? `${text}T00:00:00Z` : text);
export const date = (text: string) => Temporal.PlainDate.from(text);
export const million = 1_000_000n;

export function usageItem(fields: Partial<ContractItem> = {}): ContractItem {
  return {
    id: 'item',
    pricingId: 'pricing',
    productId: 'product',
    productName: 'Inference',
    pricingName: 'Tokens',
    model: 'USAGE',
    billingMode: 'RECURRING',
    tiering: 'NONE',
    unitAmount: '0.01',
    tiers: [],
    interval: { unit: 'MONTH', count: 1 },
    meterId: 'meter',
    quantity: '1',
    dimensionRates: [],
    ...fields,
  };
}

export function flatItem(fields: Partial<ContractItem> = {}): ContractItem {
  const { meterId: _, ...item } = usageItem();
  return { ...item, id: 'seat', pricingId: 'seats', pricingName: 'Seats', model: 'FLAT', unitAmount: '10', ...fields };
}

export function entry(fields: Partial<LedgerEntry> & Pick<LedgerEntry, 'id' | 'type'>): LedgerEntry {
  return {
    seq: Number(fields.id.replace(/\D/g, '')) || 1,
    contractId: 'contract',
    amountCents: 0n,
    creditMicros: 0n,
    creditRateCents: 0n,
    purchaseRateCents: 0n,
    currency: 'USD',
    description: '',
    sourceType: fields.type === 'grant' ? 'promotional' : 'invoice',
    isPromotional: fields.type === 'grant',
    appliedCents: 0n,
    balanceAfterCents: 0n,
    creditBalanceAfterMicros: 0n,
    createdAt: at('2026-01-01'),
    ...fields,
  };
}

/** An untouched grant of `cents`, with credits at `rate` cents each unless the rate is 0. */
export function grant(fields: Partial<GrantState> & { readonly grantId: string }): GrantState {
  const originalCents = fields.originalCents ?? 1000n;
  const originalMicros = fields.originalMicros ?? 0n;
  return {
    createdAt: at('2026-01-01'),
    expiresAt: undefined,
    isPromotional: true,
    creditRateCents: 0n,
    purchaseRateCents: 0n,
    currency: 'USD',
    description: 'Promotional credit grant',
    specifiers: undefined,
    originalCents,
    originalMicros,
    remainingCents: originalCents,
    remainingMicros: originalMicros,
    adjustedCents: 0n,
    adjustedMicros: 0n,
    availableCents: originalCents,
    availableMicros: originalMicros,
    status: 'active',
    isReversed: false,
    isClosed: false,
    ...fields,
  };
}

export function atom(cents: bigint, fields: Partial<UsageAtom> = {}): UsageAtom {
  return {
    invoiceId: 'invoice',
    periodIndex: 0,
    lineKey: 'line',
    meterId: 'meter',
    pricingId: 'pricing',
    productId: 'product',
    eventName: 'call',
    properties: {},
    cents,
    phaseEnd: at('2026-02-01'),
    ...fields,
  };
}
