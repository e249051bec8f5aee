/** Two bars for each customer: what it was billed before, and what it would be after. */

import { textOfNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { asLines, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { ComparedCustomer } from './comparison.ts';
import { money } from '../views/blocks.ts';
import { barLines } from '../charts/bars.ts';
import type { Bar, ChartStyle } from '../charts/bars.ts';

/** All bars on the scale of the largest amount. */
export function drawComparison(customers: readonly ComparedCustomer[], style: ChartStyle): SafeText {
  const largest = customers.reduce(
    (most, { beforeCents, afterCents }) => Math.max(most, lengthOf(beforeCents), lengthOf(afterCents)),
    1,
  );
  const bars = customers.flatMap((each): Bar[] => [
    {
      label: say`${each.customer} before`,
      value: money(each.beforeCents),
      ratio: lengthOf(each.beforeCents) / largest,
    },
    {
      label: say`${each.customer} after`,
      value: say`${changeText(each)}${money(each.afterCents)}`,
      ratio: lengthOf(each.afterCents) / largest,
      tone: lengthOf(each.differenceCents) > 0 ? 'warning' : 'calm',
    },
  ]);
  return asLines(barLines(bars, style));
}

/** Only for drawing, where the last digit cannot be seen. */
function lengthOf(cents: ExactNumber): number {
  return Number(textOfNumber(cents));
}

function changeText({ differenceCents, differencePercent }: ComparedCustomer): string {
  if (lengthOf(differenceCents) === 0) return '';
  const sign = lengthOf(differenceCents) > 0 ? '+' : '';
  return `${sign}${money(differenceCents)}${differencePercent === null ? '' : ` (${sign}${textOfNumber(differencePercent)} %)`}  `;
}
