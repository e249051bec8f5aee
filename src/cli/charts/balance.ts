/** A wallet as a bar for each grant, in burn order: the remainder, on a track of the original amount. */

import type { ResponseBody } from '../../operations/index.ts';
import { centsOf, microsOf } from '../wire/amounts.ts';
import { moneyText, wireText } from '../wire/rows.ts';
import { asLines, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { barLines } from './bars.ts';
import type { Bar } from './bars.ts';
import type { Chart } from './chart.ts';

type Balance = ResponseBody<'credits.balance'>['data'];
type Block = Balance['blocks'][number];

export const balanceChart: Chart = {
  draw(body, { style }) {
    const { balance, blocks, projected } = (body as ResponseBody<'credits.balance'>).data;
    const active = blocks.filter(({ status }) => status === 'active');
    const spent = blocks.length - active.length;
    const walletOf = (held: Parameters<typeof wallet>[0]) => wallet(held, balance.currency);
    const lines = [
      say`Balance: ${walletOf(balance)}${projected === undefined ? '' : say`, projected ${walletOf(projected)}`}`,
      ...(active.length === 0 ? [] : [say`Burn order, with expiry:`]),
      ...barLines(barsOf(active), style),
      ...(spent === 0 ? [] : [say`${spent} depleted or expired`]),
    ];
    return asLines(lines);
  },
};

function wallet(
  { balanceCents, creditBalance }: Pick<Balance['balance'], 'balanceCents' | 'creditBalance'>,
  currency: string,
): SafeText {
  const credits = microsOf(creditBalance) === 0n ? say`` : say` and ${wireText(creditBalance)} credits`;
  return say`${moneyText(centsOf(balanceCents), currency)}${credits}`;
}

/** Money and free credits have separate scales: the largest grant of each kind fills the room. */
function barsOf(blocks: readonly Block[]): Bar[] {
  const largest = { money: 0n, credits: 0n };
  for (const { isFree, original } of blocks.map(sizeOf)) {
    const kind = isFree ? 'credits' : 'money';
    if (original > largest[kind]) largest[kind] = original;
  }
  return blocks.map((block, index) => {
    const { isFree, remaining, original } = sizeOf(block);
    const whole = isFree ? largest.credits : largest.money;
    return {
      label: labelOf(block, index + 1),
      value: isFree ? creditValue(block) : moneyValue(block),
      ratio: partOf(remaining, whole),
      track: partOf(original, whole),
      ...(block.daysUntilExpiry !== null && block.daysUntilExpiry < soonDays ? { tone: 'warning' as const } : {}),
    };
  });
}

/** Grants that lapse within this many days stand out; our choice. */
const soonDays = 14;

function sizeOf(block: Block): { readonly isFree: boolean; readonly remaining: bigint; readonly original: bigint } {
  const original = centsOf(block.originalCents);
  if (original !== 0n) return { isFree: false, remaining: centsOf(block.remainingCents), original };
  return { isFree: true, remaining: microsOf(block.remainingCredits), original: microsOf(block.originalCredits) };
}

function partOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number(part) / Number(whole);
}

function labelOf({ isPromotional, expiresAt, description }: Block, rank: number): SafeText {
  const expiry = expiresAt === null ? say`no expiry` : say`${expiresAt.slice(0, 10)}`;
  return say`${rank}. ${expiry} ${isPromotional ? 'promotional' : 'paid'}: ${description}`;
}

function moneyValue({ remainingCents, originalCents, currency }: Block): SafeText {
  return say`${moneyText(centsOf(remainingCents), currency)} of ${moneyText(centsOf(originalCents), currency)}`;
}

function creditValue({ remainingCredits, originalCredits }: Block): SafeText {
  return say`${wireText(remainingCredits)} of ${wireText(originalCredits)} credits`;
}
