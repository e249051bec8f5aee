/** What `--chart` asks for: a picture of an answer, and what it may be drawn with. */

import { BillingError } from '../../errors.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import type { ChartStyle } from './bars.ts';

export interface Chart {
  /** What is asked for the picture where the table asks otherwise; throws a usage error for what cannot be drawn. */
  question?(asked: CallInput): CallInput;
  /** A body has been checked against its declaration, so its form may be relied on. */
  draw(body: unknown, options: { readonly asked: CallInput; readonly style: ChartStyle }): Promise<SafeText> | SafeText;
}

/** Throws a usage error where another format is asked for than a picture. */
export function checkChart(flags: GlobalFlags): void {
  const isFormatted = [flags.json, flags.jq, flags.columns].some((flag) => flag !== undefined);
  if (!isFormatted && (flags.output ?? 'table') === 'table') return;
  throw new BillingError('usage', '--chart draws a picture, and another format was asked for too', {
    hint: 'leave out one of the two',
  });
}

const widthOffTerminal = 80;

/** What a chart may draw with on a stream; off a terminal plain ASCII of a fixed width, so that it is the same everywhere. */
export function chartStyle(stdout: OutputStream, isAscii = false): ChartStyle {
  return {
    width: stdout.columns ?? widthOffTerminal,
    hasUnicode: stdout.hasUnicode && !isAscii,
    hasColor: stdout.hasColor,
  };
}
