/** Burn-downs, grants by their kind, and what is written on open invoices. */

import { burnDown, type BurnDownInput } from '../../src/calculation/burn-down.ts';
import type { OpenDraw } from '../../src/calculation/ledger.ts';
import { grant, million } from './fixtures.ts';

export const burn = (input: Partial<BurnDownInput>) =>
  burnDown({ usage: [], grants: [], openDraws: [], budgets: [], ...input });

export const rated = (grantId: string, cents: bigint, rate: bigint, fields = {}) =>
  grant({
    grantId,
    originalCents: cents,
    originalMicros: (cents * million + rate / 2n) / rate,
    creditRateCents: rate,
    ...fields,
  });

export const free = (grantId: string, credits: bigint) =>
  grant({ grantId, originalCents: 0n, originalMicros: credits * million });

export const draw = (fields: Partial<OpenDraw> & Pick<OpenDraw, 'grantId' | 'appliedCents'>): OpenDraw => ({
  invoiceId: 'invoice',
  lineKey: 'line',
  amountCents: fields.appliedCents,
  creditMicros: 0n,
  entries: [],
  ...fields,
});
