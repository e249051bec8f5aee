/** Whatever a run of tests writes aside goes to one directory, and with it when the run is over. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives what ends it. Processes that are started later find the directory by their environment. */
export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'tally-tests-'));
  // PostgreSQL runs as somebody else.
  chmodSync(directory, 0o1777);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = directory;
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}
