/** Explanations of invoices, and what each has to hold to. */

import { expect } from 'vitest';

import type { ResponseBody } from '../../src/operations/index.ts';
import { invoiceAt } from './billing-scenario.ts';
import type { Subscription } from './billing-scenario.ts';
import type { World } from './world.ts';

export type Explained = ResponseBody<'invoices.explain'>['data'];

export async function explain(world: World, invoiceId: string): Promise<Explained> {
  return (await world.call('invoices.explain', { params: { invoiceId } })).data;
}

/** The invoice of the first period. */
export async function explainFirst(world: World, subscription: Subscription): Promise<Explained> {
  return await explain(world, (await invoiceAt(world, subscription, 0)).id);
}

/** Lines add up, credits are what grants paid, grants pay no more than they had, and frozen figures are today's. */
export function expectSound(explained: Explained): void {
  const sum = (values: readonly unknown[]) => values.reduce<number>((total, each) => total + Number(each), 0);
  expect(sum(explained.lines.map((line) => line.totalAmountCents))).toBe(Number(explained.totalCents));
  for (const line of explained.lines) {
    expect(Number(line.exactAmount) + Number(line.roundingAmount)).toBeCloseTo(Number(line.totalAmountCents) / 100, 9);
    if (line.kind !== 'metered') continue;
    expect(sum(line.grants.map((each) => each.appliedCents))).toBe(Number(line.creditCents));
    expect(Number(line.creditCents) + Number(line.overageCents)).toBe(Number(line.totalAmountCents));
  }
  const metered = explained.lines.filter((line) => line.kind === 'metered');
  for (const each of explained.grants) {
    const own = metered.flatMap((line) => line.grants.filter((part) => part.grantId === each.grantId));
    expect(sum(own.map((part) => part.appliedCents))).toBe(Number(each.appliedCents));
    expect(Number(each.availableCredits)).toBeGreaterThanOrEqual(Number(each.appliedCredits));
    const credited = explained.lines.filter((line) => line.grantId === each.grantId);
    expect(sum(credited.map((line) => line.totalAmountCents)) + Number(each.appliedCents)).toBe(0);
  }
  expect(explained.disagreements).toEqual([]);
}
