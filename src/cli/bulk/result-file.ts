/** The file that says how each row ended. */

import type { BillingError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import { checkEarlierOutput, replaceEarlierOutput } from '../files/output-file.ts';
import { columnPaths, render } from '../output/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { RowOutcome } from './apply.ts';

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ROW', path: 'row', format: 'number' },
    { header: 'STATUS', path: 'status' },
    { header: 'ID', path: 'id' },
    { header: 'ERROR', path: 'error' },
  ],
};
const header = columnPaths(view)
  .map((path) => `"${path}"`)
  .join(',');

/** Throws a usage error if the file could not be written, or is not the result of an earlier run. */
export function checkResultFile(path: string): void {
  checkEarlierOutput(path, { header, what: 'result of --from' });
}

/** Returns what keeps the file from being written. */
export async function writeResultFile(
  path: string,
  outcomes: readonly RowOutcome[],
  terminal: Pick<Terminal, 'stdout' | 'withoutSecrets'>,
): Promise<BillingError | undefined> {
  const data = outcomes.map(({ line, ...outcome }) => ({ row: line, ...outcome }));
  const text = await render({ data }, view, { choice: { format: 'csv' }, fields: [], stdout: terminal.stdout });
  return replaceEarlierOutput(path, terminal.withoutSecrets(text));
}
