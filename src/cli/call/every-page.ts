/** `--all`: a whole list as one document. */

import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { pagesOf } from '../every-row.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { jqBound } from '../output/output.ts';
import type { ListText } from '../output/output.ts';
import type { Row } from '../wire/rows.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { createSpool } from '../output/spool.ts';
import { tell } from '../session/tell.ts';

interface Reading {
  readonly billing: Billing;
  readonly session: Session;
}

/** The answer, as if all rows were on one page. */
export async function everyPage(command: CommandSpec, input: CallInput, reading: Reading): Promise<Answer> {
  const data: Row[] = [];
  const refuseMore = await jqBound(reading.session.output);
  const total = await eachPage(command, input, reading, (rows) => {
    refuseMore(rows);
    for (const row of rows) data.push(row);
  });
  return { status: 200, body: { data, hasMore: false, total } as unknown as Answer['body'] };
}

/** Prints the rows once all are read, holding one page at a time; returns how many. Prints nothing when it throws. */
export async function printEveryPage(
  command: CommandSpec,
  input: CallInput,
  { text, ...reading }: Reading & { readonly text: ListText },
): Promise<number> {
  const spool = createSpool();
  let count = 0;
  try {
    spool.write(text.begin);
    const total = await eachPage(command, input, reading, (rows) => {
      spool.write(text.rows(rows, count === 0));
      count += rows.length;
    });
    spool.write(text.end({ count, beside: { hasMore: false, total } }));
    for (const part of spool.parts()) reading.session.terminal.out(part);
    return count;
  } finally {
    spool.close();
  }
}

/** Returns how many rows the list has in the end; undefined if the service does not say. */
async function eachPage(
  command: CommandSpec,
  input: CallInput,
  { billing, session }: Reading,
  take: (rows: readonly Row[]) => void,
): Promise<number | undefined> {
  const totals: number[] = [];
  const read = async (query: Readonly<Record<string, string>>) =>
    (await billing.call(command.operation as OperationName, { ...input, query })).body;
  for await (const { rows, total } of pagesOf<Row>(read, input.query)) {
    if (total !== undefined && total !== totals.at(-1)) totals.push(total);
    if (rows.length > 0) take(rows);
  }
  if (totals.length > 1) tell(session, say`the list changed while it was read`);
  return totals.at(-1);
}
