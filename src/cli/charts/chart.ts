/** What `--chart` asks for: a picture of an answer, and the means to draw it. */

import { BillingError } from '../../errors.ts';
import type { OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import type { ChartStyle } from './bars.ts';

export interface Chart {
  /** The request for the picture, if it differs from the table's; throws a usage error for what cannot be drawn. */
  question?(asked: CallInput): CallInput;
  /** What else the picture needs to know, read by the same ids; drawn without it where the service does not tell. */
  readonly beside?: OperationName;
  /** The body has been checked against its declaration, so its form is reliable. */
  draw(
    body: unknown,
    options: { readonly asked: CallInput; readonly style: ChartStyle; readonly beside?: unknown },
  ): Promise<SafeText> | SafeText;
}

/** Throws a usage error if another format than a picture is asked for. */
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
