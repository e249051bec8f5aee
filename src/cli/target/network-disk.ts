/** Disks of other machines: SQLite cannot see there who else writes a file (https://sqlite.org/wal.html, reliability 4.1). */

import { statfsSync } from 'node:fs';

import type { Machine } from './private-file.ts';

/** By Linux's numbers; no other system's are known here. */
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

/** The kind of network disk that a file is on; undefined if its disk is local or there is no such file. */
export function networkDiskOf(path: string, { platform, diskTypeOf = typeOf }: Machine): string | undefined {
  if (platform !== 'linux') return undefined;
  try {
    // A 32-bit system returns the higher numbers as negative.
    return networkFileSystems.get(diskTypeOf(path) >>> 0);
  } catch {
    return undefined;
  }
}

function typeOf(path: string): number {
  return statfsSync(path).type;
}
