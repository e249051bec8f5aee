/** Whatever a run of tests writes aside goes to one directory, and with it when the run is over. */

import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a directory for one test or one file of tests, which need not remove it. */
export function newDirectory(prefix = 'tally-'): string {
  return mkdtempSync(join(tmpdir(), prefix));
}

/** The file system that Linux keeps in memory. */
const memory = '/dev/shm';
/** Several times what a run writes. */
const enoughBytes = 6 * 2 ** 30;

/** Gives what ends it. Processes that are started later find the directory by their environment. */
export function setup(): () => void {
  const directory = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), 'tally-tests-'));
  // PostgreSQL runs as somebody else.
  chmodSync(directory, 0o1777);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = directory;
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

/** Books there are a third to a half quicker: no test looks at what survives a machine, all at what survives a process. */
function hasRoomInMemory(): boolean {
  if (process.env['TMPDIR'] !== undefined || process.availableMemory() < 2 * enoughBytes) return false;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > enoughBytes;
  } catch {
    return false;
  }
}
