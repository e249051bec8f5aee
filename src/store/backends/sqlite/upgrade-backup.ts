/** What a file was before an upgrade, kept beside it: the way back to the program that knew it (reliability 11). */

import { DatabaseSync } from 'node:sqlite';

import { beside, isThere, makeEmpty, publish } from '../../new-file.ts';
import { databaseFile } from '../../../database-url.ts';
import { pragma } from './connection.ts';
import { copyDatabase } from './copy-database.ts';

/**
 * Copies the database at `path`, which has the schema `version`, to `FILE.schema-VERSION`, or to that with a number behind it where
 * an earlier copy is; gives the path. Undefined where another process has upgraded it meanwhile. Throws UnavailableError where
 * there is no room.
 */
export async function backUpBeforeUpgrade(path: string, version: bigint): Promise<string | undefined> {
  const target = freePath(`${path}.schema-${version}`);
  return await beside(target, async (copy) => {
    makeEmpty(copy);
    await copyDatabase(path, copy, target);
    if (versionOf(copy) !== version) return undefined;
    publish(copy, target);
    return target;
  });
}

/** Neither an earlier copy nor what an old program has written beside it is replaced. */
function freePath(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? wanted : `${wanted}-${number}`;
    if (['', ...databaseFile.endsBeside].every((end) => !isThere(path + end))) return path;
  }
}

function versionOf(copy: string): bigint {
  const database = new DatabaseSync(copy, { readOnly: true, readBigInts: true });
  try {
    return pragma(database, 'user_version');
  } finally {
    database.close();
  }
}
