/** How a backup of a server's database begins, which tells it from any other file. */

import { closeSync, openSync, readSync } from 'node:fs';

/** The first line of the file, as JSON. */
export interface DumpHeader {
  /** The version of the dump format. */
  readonly tallybookDump: 1;
  readonly schemaVersion: number;
}

const longestHeader = 256;

/** The header of the file at `path`; undefined if the file is not a dump. */
export function headerOf(path: string): DumpHeader | undefined {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(longestHeader);
    const [line = ''] = bytes.toString('utf8', 0, readSync(file, bytes)).split('\n');
    const header = line.startsWith('{"tallybookDump":') ? (JSON.parse(line) as DumpHeader) : undefined;
    return header?.tallybookDump === 1 ? header : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
