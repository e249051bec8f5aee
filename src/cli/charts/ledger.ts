/** A ledger as its balance over time: money, and below it free credits, if there are any. */

import { BillingError } from '../../errors.ts';
import type { ResponseBody } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { creditsText } from '../../whole-amounts.ts';
import { centsOf, currencyOf, microsOf } from '../wire/amounts.ts';
import { moneyText } from '../wire/rows.ts';
import { instantOf } from '../command-line/instant-flag.ts';
import { asLines, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { ChartStyle } from './bars.ts';
import type { Chart } from './chart.ts';
import { greatest, stepLines } from './steps.ts';
import type { StepChart } from './steps.ts';

type Entry = ResponseBody<'credits.ledger'>['data']['entries'][number];

interface Movement {
  readonly atEpochMs: number;
  readonly change: bigint;
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

  async draw(body, { asked, style }) {
    const { entries } = (body as ResponseBody<'credits.ledger'>).data;
    if (entries.length === 0) return say`Balance: ${moneyText(0n)}, no entries so far\n`;
    const window = windowOf(asked, entries);
    const money = movementsOf(entries, ({ amountCents }) => centsOf(amountCents));
    const credits = movementsOf(entries, (entry) =>
      centsOf(entry.amountCents) === 0n ? microsOf(entry.creditAmount) : 0n,
    );
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

/** The time that is drawn: the requested range, else from the first entry to the last. It never ends before it begins. */
function windowOf({ query = {} }: CallInput, newestFirst: readonly Entry[]): Window {
  const from = instantOf('--created-after', query['createdAfter']);
  const to = instantOf('--created-before', query['createdBefore']);
  const firstEpochMs = epochMsOf(newestFirst.at(-1));
  const fromEpochMs = from?.epochMilliseconds ?? Math.min(firstEpochMs, to?.epochMilliseconds ?? firstEpochMs);
  const endEpochMs = to?.epochMilliseconds ?? epochMsOf(newestFirst[0]);
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
  ];
  return asLines(facts);
}

function chartOf(movements: readonly Movement[], window: Window): Omit<StepChart, 'label'> {
  const { fromEpochMs, toEpochMs, isCut } = window;
  const before = movements.filter(({ atEpochMs }) => atEpochMs < fromEpochMs);
  const within = movements.filter(
    ({ atEpochMs }) => atEpochMs >= fromEpochMs && (isCut ? atEpochMs < toEpochMs : atEpochMs <= toEpochMs),
  );
  const opening = before.reduce((sum, { change }) => sum + change, 0n);
  let level = opening;
  const steps = within.map(({ atEpochMs, change }) => ({ atEpochMs, level: (level += change) }));
  return { opening, steps, fromEpochMs, toEpochMs };
}
