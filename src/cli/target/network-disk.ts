/** Disks of other machines, on which SQLite does not see who else writes a file (https://sqlite.org/wal.html, reliability 4.1). */

import { statfsSync } from 'node:fs';

import type { Machine } from './private-file.ts';

/** By the numbers that Linux gives them; elsewhere the system tells by none that are known here. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x0000_6969, 'NFS'],
  [0x0000_517b, 'SMB'],
  [0xfe53_4d42, 'SMB'],
  [0xff53_4d42, 'CIFS'],
  [0x0102_1997, '9P'],
  [0x00c3_6400, 'Ceph'],
  [0x5346_414f, 'AFS'],
  [0x6b41_4653, 'AFS'],
]);

/** What the disk with a file is, where it is another machine's; undefined where it is not, or where there is no file. */
export function networkDiskOf(path: string, { platform, diskTypeOf = typeOf }: Machine): string | undefined {
  if (platform !== 'linux') return undefined;
  try {
    // A 32-bit system gives the higher ones as negative numbers.
    return networkFileSystems.get(diskTypeOf(path) >>> 0);
  } catch {
    return undefined;
  }
}

function typeOf(path: string): number {
  return statfsSync(path).type;
}
