/** What a file was before an upgrade, kept beside it: the way back to the program that knew it (reliability 11). */

import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { beside, makeEmpty, publish, unwritable } from '../../new-file.ts';
import { pragma } from './connection.ts';
import { copyDatabase } from './copy-database.ts';

/**
 * Copies the database at `path`, which has the schema `version`, to `FILE.schema-VERSION`, in the place of an earlier copy; gives
 * that path. Undefined where another process has upgraded it meanwhile. Throws UnavailableError where there is no room.
 */
export async function backUpBeforeUpgrade(path: string, version: bigint): Promise<string | undefined> {
  const target = `${path}.schema-${version}`;
  return await beside(target, async (copy) => {
    makeEmpty(copy);
    await copyDatabase(path, copy, target);
    if (versionOf(copy) !== version) return undefined;
    try {
      rmSync(target, { force: true });
    } catch (error) {
      throw unwritable(target, error);
    }
    publish(copy, target);
    return target;
  });
}

function versionOf(copy: string): bigint {
  const database = new DatabaseSync(copy, { readOnly: true, readBigInts: true });
  try {
    return pragma(database, 'user_version');
  } finally {
    database.close();
  }
}
