/** The file that says how each row ended. */

import { closeSync, constants, openSync, readSync, writeFileSync } from 'node:fs';

import { BillingError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import { render } from '../output.ts';
import type { OutputStream } from '../terminal.ts';
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
  const file = open(path, constants.O_RDONLY);
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
  stdout: OutputStream,
): Promise<void> {
  const data = outcomes.map(({ line, ...outcome }) => ({ row: line, ...outcome }));
  const text = await render({ data }, view, { choice: { format: 'csv' }, fields: [], stdout });
  const file = open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
  if (file === undefined) throw new BillingError('usage', `cannot write ${path}: there is no such directory`);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Never through a link, and readable by its owner alone: it names customers (security 4, SEC-23). */
function open(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags | (constants.O_NOFOLLOW ?? 0), 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new BillingError('usage', `cannot write ${path}: ${code === 'ELOOP' ? 'it is a link' : code}`, {
      cause: error,
    });
  }
}
