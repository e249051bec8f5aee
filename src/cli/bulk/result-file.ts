/** The file that says how each row ended. */

import type { View } from '../../operations/operation.ts';
import { checkEarlierOutput, writeOutputFile } from '../files/output-file.ts';
import { render } from '../output/output.ts';
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
const header = '"row","status","id","error"';

/** Throws a usage error if the file could not be written, or is not the result of an earlier run. */
export function checkResultFile(path: string): void {
  checkEarlierOutput(path, { header, what: 'result of --from' });
}

export async function writeResultFile(
  path: string,
  outcomes: readonly RowOutcome[],
  terminal: Pick<Terminal, 'stdout' | 'withoutSecrets'>,
): Promise<void> {
  const data = outcomes.map(({ line, ...outcome }) => ({ row: line, ...outcome }));
  const text = await render({ data }, view, { choice: { format: 'csv' }, fields: [], stdout: terminal.stdout });
  // Whether it may be replaced was checked before the first row was sent.
  writeOutputFile(path, terminal.withoutSecrets(text), { isForced: true });
}
