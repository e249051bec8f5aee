/** Keeps a copy of a file beside it before an upgrade: the way back to the program that knew it (reliability 11). */

import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { isThere } from '../../file-facts.ts';
import { beside, makeEmpty, publish } from '../../new-file.ts';
import { databaseFile } from '../../../database-url.ts';
import { ConflictError, UnavailableError, reasonOfStop } from '../../../errors.ts';
import { type SqliteConnection, pragma } from './connection.ts';
import { copyDatabase } from './copy-database.ts';
import { mayBeCommitted, meaningOf } from './errors.ts';

/**
 * Copies the database at `path`, which has the schema `version`, to `FILE.schema-VERSION`, with a number appended if there is an
 * earlier copy; gives the path. Undefined if another process has upgraded the database meanwhile. Throws UnavailableError if
 * there is no space.
 */
export async function backUpBeforeUpgrade(path: string, version: bigint): Promise<string | undefined> {
  const wanted = `${path}.schema-${version}`;
  const target = freePath(wanted);
  return await beside(target, async (copy) => {
    makeEmpty(copy);
    await copyDatabase(path, copy, target);
    return versionOf(copy) === version ? publishAs(copy, wanted) : undefined;
  });
}

/** Another process that upgrades the same database may take a name just before this one does. */
function publishAs(copy: string, wanted: string): string {
  const target = freePath(wanted);
  try {
    publish(copy, target);
    return target;
  } catch (error) {
    if (error instanceof ConflictError) return publishAs(copy, wanted);
    throw error;
  }
}

/** Replaces neither an earlier copy nor the files that an old program has written beside it. */
function freePath(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? wanted : `${wanted}-${number}`;
    if (['', ...databaseFile.endsBeside].every((end) => !isThere(path + end))) return path;
  }
}

/**
 * The error of an upgrade that failed after `copy` was made of the database at `version`. If the database is still at that
 * version, the copy is removed: a server that is started again and again would fill the disk with copies. Otherwise the copy stays,
 * and an UnavailableError names it, since the old program cannot open the database any more. So it does after a commit that
 * may have been kept: this connection sees nothing of it, and the next one may.
 */
export function upgradeFailure(
  connection: Pick<SqliteConnection, 'path' | 'prepare'>,
  error: unknown,
  { copy, version }: { readonly copy: string; readonly version: bigint },
): unknown {
  const isUnknown = mayBeCommitted(error);
  if (!isUnknown && pragma(connection, 'user_version') === version) {
    rmSync(copy, { force: true });
    return error;
  }
  const meaning = meaningOf(error, connection.path);
  if (!(meaning instanceof UnavailableError)) return meaning;
  const { hint, retryAfterSeconds } = meaning;
  const state = isUnknown ? 'may be' : 'is';
  return new UnavailableError(
    `${reasonOfStop(meaning)}; it ${state} upgraded in part, and a copy from before is kept: ${copy}`,
    { cause: error, hint, retryAfterSeconds },
  );
}

function versionOf(copy: string): bigint {
  const database = new DatabaseSync(copy, { readOnly: true, readBigInts: true });
  try {
    return pragma(database, 'user_version');
  } finally {
    database.close();
  }
}
