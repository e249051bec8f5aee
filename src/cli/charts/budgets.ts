/** A bar for each budget, on a track that is the cap: what it consumed, and whether it is exhausted. */

import type { ResponseBody } from '../../operations/index.ts';
import { cellText, wireText } from '../wire/rows.ts';
import { asLines, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import { barLines } from './bars.ts';
import type { Bar, ChartStyle } from './bars.ts';
import { chartStyle } from './chart.ts';
import type { Chart } from './chart.ts';

type Answer = ResponseBody<'budgets.usage'>;
type Budget = Answer['data']['budgets'][number];

export const budgetChart: Chart = {
  draw: (body, { style }) => draw(body as Answer, style),
};

/** The same, as the view on a terminal. */
export function drawBudgets(body: Answer, stdout: OutputStream): SafeText {
  return draw(body, chartStyle(stdout));
}

function draw({ data }: Answer, style: ChartStyle): SafeText {
  return asLines(barLines(data.budgets.map(barOf), style));
}

function barOf(budget: Budget): Bar {
  const percent = Number(wireText(budget.percentConsumed));
  const isCapped = budget.maxCredits !== null || budget.maxCreditsCents !== null;
  const exhausted = budget.isExhausted ? say`exhausted  ` : say``;
  return {
    label: labelOf(budget),
    value: isCapped
      ? say`${exhausted}${usedText(budget)}  ${wireText(budget.percentConsumed).padStart(3)} %`
      : usedText(budget),
    ratio: isCapped ? percent / 100 : 0,
    track: isCapped ? 1 : 0,
    tone: budget.isExhausted ? 'alarm' : percent >= nearPercent ? 'warning' : 'calm',
  };
}

/** From this percentage on a budget stands out; our choice. */
const nearPercent = 80;

function labelOf({ index, label, eventPropertyKey, eventPropertyValue, meterId }: Budget): SafeText {
  const dimension = `${eventPropertyKey}=${eventPropertyValue}`;
  const meter = meterId === null ? say`` : say` of meter ${meterId}`;
  return say`${index}. ${label === dimension ? say`` : say`${label}: `}${dimension}${meter}`;
}

/** Consumption against each cap of the budget. */
function usedText(budget: Budget): SafeText {
  const money = (path: string) => cellText(budget, { header: '', path, format: 'money' });
  const caps = [
    ...(budget.maxCreditsCents === null ? [] : [say`${money('consumedCents')} of ${money('maxCreditsCents')}`]),
    ...(budget.maxCredits === null
      ? []
      : [say`${wireText(budget.consumedUnits)} of ${wireText(budget.maxCredits)} credits`]),
  ];
  return caps.length === 0 ? say`${money('consumedCents')}, no cap` : vouch(caps.join(', '));
}
