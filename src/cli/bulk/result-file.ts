/** The file that says how each row ended. */

import { closeSync, constants, openSync, readSync } from 'node:fs';

import { BillingError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import { checkOutputFile, unwritable, writeOutputFile } from '../files/output-file.ts';
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

/** Throws a usage error where the file could not be written, or is something else than the result of an earlier run. */
export function checkResultFile(path: string): void {
  checkOutputFile(path, { isForced: true });
  const file = openExisting(path);
  if (file === undefined) return;
  try {
    const bytes = Buffer.alloc(header.length);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length === 0 || bytes.toString('utf8', 0, length) === header) return;
    throw new BillingError('usage', `${path} exists, and is no result of --from`, {
      hint: 'name a file that does not exist yet, or the result of an earlier run',
    });
  } finally {
    closeSync(file);
  }
}

export async function writeResultFile(
  path: string,
  outcomes: readonly RowOutcome[],
  terminal: Pick<Terminal, 'stdout' | 'withoutSecrets'>,
): Promise<void> {
  const data = outcomes.map(({ line, ...outcome }) => ({ row: line, ...outcome }));
  const text = await render({ data }, view, { choice: { format: 'csv' }, fields: [], stdout: terminal.stdout });
  // That it may be replaced was checked before the first row was sent.
  writeOutputFile(path, terminal.withoutSecrets(text), { isForced: true });
}

/** Never through a link. */
function openExisting(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unwritable(path, error);
  }
}
