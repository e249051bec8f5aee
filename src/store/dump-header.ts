/** What a backup of a server's database begins with, so that it is known from any other file. */

import { closeSync, openSync, readSync } from 'node:fs';

/** The first line of the file, as JSON. */
export interface DumpHeader {
  /** The version of this form. */
  readonly tallybookDump: 1;
  readonly schemaVersion: number;
}

const longestHeader = 256;

/** What stands at the beginning of the file at `path`; undefined where that is no dump. */
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
