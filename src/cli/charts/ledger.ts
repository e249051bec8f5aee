/** A ledger as its balance over time: money, and below it free credits, if there are any. */

import { BillingError } from '../../errors.ts';
import { isNumberText } from '../../exact-json.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import type { ResponseBody } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { creditsText } from '../../whole-amounts.ts';
import { centsOf, currencyOf, microsOf } from '../wire/amounts.ts';
import { moneyText, wireText } from '../wire/rows.ts';
import { instantOf } from '../command-line/instant-flag.ts';
import { asLines, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { ChartStyle } from './bars.ts';
import type { Chart } from './chart.ts';
import { greatest, stepLines } from './steps.ts';
import type { StepChart } from './steps.ts';

type Block = ResponseBody<'credits.balance'>['data']['blocks'][number];
type Entry = ResponseBody<'credits.ledger'>['data']['entries'][number];

interface Movement {
  readonly atEpochMs: number;
  readonly change: bigint;
  /** An expiry that has no entry yet. */
  readonly isUnwritten?: true;
}

interface Window {
  readonly fromEpochMs: number;
  readonly toEpochMs: number;
  /** Whether the end is exclusive, because it was asked for. */
  readonly isCut: boolean;
}

export const ledgerChart: Chart = {
  question: ({ query = {}, ...asked }) => {
    const { createdAfter: _after, createdBefore: _before, ...rest } = query;
    const [left] = Object.keys(rest);
    if (left === undefined) return asked;
    throw new BillingError('usage', `--chart draws a balance, which needs every entry: leave out --${left}`, {
      hint: 'choose the part to draw with --created-after and --created-before',
    });
  },

  beside: 'credits.balance',

  async draw(body, { asked, style, beside }) {
    const { entries } = (body as ResponseBody<'credits.ledger'>).data;
    if (entries.length === 0) return say`Balance: ${moneyText(0n)}, no entries so far\n`;
    const told = (beside as ResponseBody<'credits.balance'> | undefined)?.data.blocks ?? [];
    const blocks = told.every(isReadable) ? told : [];
    const money = withExpired(entries, blocks, {
      changeOf: ({ amountCents }) => centsOf(amountCents),
      heldBy: ({ remainingCents }) => centsOf(remainingCents),
    });
    const credits = withExpired(entries, blocks, {
      changeOf: ({ amountCents, creditAmount }) => (centsOf(amountCents) === 0n ? microsOf(creditAmount) : 0n),
      heldBy: ({ originalCents, remainingCredits }) =>
        centsOf(originalCents) === 0n ? microsOf(remainingCredits) : 0n,
    });
    const lasts = [money, credits].map((movements) => movements.at(-1)?.atEpochMs ?? 0);
    const window = windowOf(asked, entries, Math.max(...lasts));
    const parts = [];
    if (money.length > 0 || credits.length === 0) {
      const currency = currencyOf(entries);
      const label = (cents: bigint) => moneyText(cents, currency);
      parts.push(await drawBalance('Balance', money, { window, style, label }));
    }
    if (credits.length > 0) {
      const label = (level: bigint) => say`${creditsText(level)} credits`;
      parts.push(await drawBalance('Free credits', credits, { window, style, label }));
    }
    return vouch(parts.join('\n'));
  },
};

/** The time that is drawn: the requested range, else from the first movement to the last. It never ends before it begins. */
function windowOf({ query = {} }: CallInput, newestFirst: readonly Entry[], lastEpochMs: number): Window {
  const from = instantOf('--created-after', query['createdAfter']);
  const to = instantOf('--created-before', query['createdBefore']);
  const firstEpochMs = epochMsOf(newestFirst.at(-1));
  const fromEpochMs = from?.epochMilliseconds ?? Math.min(firstEpochMs, to?.epochMilliseconds ?? firstEpochMs);
  const endEpochMs = to?.epochMilliseconds ?? Math.max(epochMsOf(newestFirst[0]), lastEpochMs);
  return { fromEpochMs, toEpochMs: Math.max(fromEpochMs, endEpochMs), isCut: to !== undefined };
}

function epochMsOf(entry: Entry | undefined): number {
  return entry === undefined ? 0 : Temporal.Instant.from(entry.createdAt).epochMilliseconds;
}

/** Oldest first, without entries that change nothing. */
function movementsOf(newestFirst: readonly Entry[], changeOf: (entry: Entry) => bigint): Movement[] {
  return newestFirst
    .map((entry) => ({
      atEpochMs: epochMsOf(entry),
      change: changeOf(entry),
    }))
    .filter(({ change }) => change !== 0n)
    .toReversed();
}

/** Another service may leave out any field, or fill it with what it likes: then only the ledger is drawn. */
function isReadable({ status, originalCents, remainingCents, remainingCredits, expiresAt }: Block): boolean {
  const areAmounts = [originalCents, remainingCents, remainingCredits].every((each) => isNumberText(wireText(each)));
  return areAmounts && (status !== 'expired' || expiresAt === null || utcTimestamp(wireText(expiresAt)) !== undefined);
}

interface Measure {
  readonly changeOf: (entry: Entry) => bigint;
  readonly heldBy: (block: Block) => bigint;
}

/**
 * With what grants held when they expired, for which there may be no entry yet: nobody can use it from that instant on
 * (semantics 9). Only where that explains what the wallet holds: another service may not say whose an adjustment is.
 */
function withExpired(
  newestFirst: readonly Entry[],
  blocks: readonly Block[],
  { changeOf, heldBy }: Measure,
): readonly Movement[] {
  const written = movementsOf(newestFirst, changeOf);
  const leftOf = new Map<string, bigint>();
  for (const entry of newestFirst) {
    const grantId = entry.grantEntryId ?? entry.id;
    leftOf.set(grantId, (leftOf.get(grantId) ?? 0n) + changeOf(entry));
  }
  const expired = blocks.flatMap(({ id, status, expiresAt }): Movement[] => {
    const left = leftOf.get(id) ?? 0n;
    if (status !== 'expired' || expiresAt === null) return [];
    const { epochMilliseconds: atEpochMs } = Temporal.Instant.from(expiresAt);
    return left === 0n ? [] : [{ atEpochMs, change: -left, isUnwritten: true }];
  });
  const all = [...written, ...expired].toSorted((one, other) => one.atEpochMs - other.atEpochMs);
  const held = sumOf(blocks.filter(({ status }) => status === 'active').map(heldBy));
  return sumOf(all.map(({ change }) => change)) === held ? all : written;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

async function drawBalance(
  name: string,
  movements: readonly Movement[],
  options: { readonly window: Window; readonly style: ChartStyle; readonly label: (level: bigint) => SafeText },
): Promise<string> {
  const { style, label } = options;
  const chart = { ...chartOf(movements, options.window), label };
  const closing = chart.steps.at(-1)?.level ?? chart.opening;
  const highest = greatest([chart.opening, ...chart.steps.map(({ level }) => level)]);
  const facts = [
    say`${name}: ${label(closing)}`,
    ...(await stepLines(chart, style)),
    say`opening ${label(chart.opening)}, highest ${label(highest)}, movements ${chart.steps.length}`,
    ...(chart.unwritten === 0n ? [] : [say`expired, and not yet in the ledger: ${label(chart.unwritten)}`]),
  ];
  return asLines(facts);
}

function chartOf(
  movements: readonly Movement[],
  window: Window,
): Omit<StepChart, 'label'> & { readonly unwritten: bigint } {
  const { fromEpochMs, toEpochMs, isCut } = window;
  const before = movements.filter(({ atEpochMs }) => atEpochMs < fromEpochMs);
  const within = movements.filter(
    ({ atEpochMs }) => atEpochMs >= fromEpochMs && (isCut ? atEpochMs < toEpochMs : atEpochMs <= toEpochMs),
  );
  const opening = sumOf(before.map(({ change }) => change));
  let level = opening;
  const steps = within.map(({ atEpochMs, change }) => ({ atEpochMs, level: (level += change) }));
  const unwritten = sumOf(within.filter(({ isUnwritten }) => isUnwritten).map(({ change }) => -change));
  return { opening, steps, fromEpochMs, toEpochMs, unwritten };
}
