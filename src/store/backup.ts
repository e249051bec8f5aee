/**
 * Backups of a database while it is in use, and restoring them. A backup is one file with its manifest beside it. Neither
 * direction ever overwrites anything: a new file is made in a private directory and moved into place once it is whole.
 */

import { createHash } from 'node:crypto';
import { accessSync, constants, createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { refuseInMemory, refuseUrl } from '../database-url.ts';
import { BillingError, NotFoundError, UnavailableError } from '../errors.ts';
import { makeDirectory } from '../make-directory.ts';
import type { BackedUp, BackupManifest } from '../operations/backup-manifest.ts';
import { removeNewestNote } from './backends/sqlite/newest-note.ts';
import { damagedBackup } from './damaged-backup.ts';
import { factsOf, refuseLongPath } from './file-facts.ts';
import { beside, makeCopy, makeEmpty, publish, refuseExisting, unwritable } from './new-file.ts';
import { isPostgresUrl, pathOf } from './open.ts';

/** Appended to the path of the backup. */
const manifestEnding = '.manifest.json';

const aBackup = {
  what: 'a backup is a file',
  hint: 'give the path of a file; name the database with --database, or with --to of restore',
};

/**
 * Writes the database at `from`, as it stands at one instant, to the file `to`, and its manifest beside it. Others may go on
 * writing to the database. Throws ConflictError if a file is in the way, and an internal error if the database is damaged.
 */
export async function backUp({
  from,
  to,
  createdAt,
}: {
  readonly from: string;
  readonly to: string;
  readonly createdAt: string;
}): Promise<BackupManifest> {
  if (to === '-') {
    throw new BillingError(
      'usage',
      'a backup is a file with a manifest beside it, and does not go to standard output',
      {
        hint: 'give a path: tally backup ./today.db',
      },
    );
  }
  refuseUrl(to, aBackup);
  const target = resolve(to);
  const copyTo = isPostgresUrl(from) ? await dumping(from) : await copying(existingFile(pathOf(from)), target);
  for (const path of [target, target + manifestEnding]) refuseExisting(path);
  refuseStrayLogs(target);
  return await beside(target, async (copy) => {
    makeEmpty(copy);
    const facts = await copyTo(copy);
    const manifest: BackupManifest = { manifestVersion: 1, createdAt, ...facts, ...(await contentOf(copy)) };
    const written = copy + manifestEnding;
    writeFileSync(written, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
    // The manifest goes last: a backup without one is not taken for whole.
    publish(copy, target);
    publish(written, target + manifestEnding);
    return manifest;
  });
}

/** Writes the content of a database to an empty file and describes it. */
type CopyTo = (path: string) => Promise<BackedUp>;

async function copying(source: string, target: string): Promise<CopyTo> {
  const { copyDatabase } = await import('./backends/sqlite/copy-database.ts');
  const { readCopy } = await import('./backends/sqlite/backup.ts');
  return async (copy) => {
    refuseLongPath(copy, target);
    await copyDatabase(source, copy, target);
    const { damages, ...facts } = readCopy(copy, source);
    if (damages.length === 0) return facts;
    throw new BillingError('internal', `the database ${source} is damaged, and was not backed up: ${damages[0]}`, {
      hint: 'see everything that is wrong with: tally doctor --full; restore an earlier backup',
    });
  };
}

/** A server's files are not ours to copy, and its tools may be missing on this machine: the dump holds all rows as text. */
async function dumping(url: string): Promise<CopyTo> {
  const { writeDump } = await import('./backends/postgres/dump.ts');
  return async (copy) => await writeDump(url, copy);
}

/**
 * Puts the backup `from` in the place of the database `to`, where there must be nothing, an empty file, or a server's database
 * without rows. Throws ConflictError if there is more, NotFoundError without the backup or its manifest, and a failed check if
 * the two do not belong together. With `isDryRun` the backup is checked against its manifest, and nothing is made.
 */
export async function restore({
  from,
  to,
  isDryRun = false,
}: {
  readonly from: string;
  readonly to: string;
  readonly isDryRun?: boolean;
}): Promise<BackupManifest> {
  const source = readableFile(from);
  const manifest = readManifest(source + manifestEnding);
  const backup: Backup = { source, manifest };
  await checkKind(backup, to);
  await (isPostgresUrl(to) ? restoreToServer(backup, to, isDryRun) : restoreToFile(backup, to, isDryRun));
  return manifest;
}

interface Backup {
  readonly source: string;
  readonly manifest: BackupManifest;
}

async function restoreToServer({ source, manifest }: Backup, to: string, isDryRun: boolean): Promise<void> {
  if (isDryRun) {
    throw new BillingError('usage', 'restoring into a database on a server cannot be tried without writing to it', {
      hint: 'restore it into another database',
    });
  }
  const { restoreDump } = await import('./backends/postgres/dump.ts');
  await checkContent(source, source, manifest);
  await restoreDump(source, to, manifest);
}

async function restoreToFile({ source, manifest }: Backup, to: string, isDryRun: boolean): Promise<void> {
  refuseInMemory(to, 'restore');
  const target = resolve(pathOf(to));
  refuseExisting(target, { allowsEmpty: true });
  refuseStrayLogs(target);
  if (isDryRun) {
    await checkCopy(source, source, manifest);
    return;
  }
  try {
    makeDirectory(dirname(target));
  } catch (error) {
    throw unwritable(dirname(target), error);
  }
  const { noteBegun } = await import('./backends/sqlite/handle.ts');
  await beside(target, async (copy) => {
    refuseLongPath(copy, target);
    makeCopy(source, copy, target);
    await checkCopy(source, copy, manifest);
    if (factsOf(target)?.size === 0) rmSync(target);
    publish(copy, target);
    removeNewestNote(target);
    noteBegun(target);
  });
}

/** SQLite would take the log or journal of another database for that of the new file. */
function refuseStrayLogs(target: string): void {
  for (const end of ['-wal', '-journal']) refuseExisting(target + end, { allowsEmpty: true });
}

/** A backup can only be restored to the kind of database that it was made from. */
async function checkKind({ source, manifest }: Backup, to: string): Promise<void> {
  const { headerOf } = await import('./dump-header.ts');
  const isDump = headerOf(source) !== undefined;
  if (isDump === isPostgresUrl(to)) return;
  // What was damaged at its beginning looks like the other kind.
  await checkContent(source, source, manifest);
  throw isDump
    ? new BillingError('usage', `${source} is the backup of a database on a server`, {
        hint: 'restore it with: --to postgres://USER@HOST/DATABASE',
      })
    : new BillingError('usage', `${source} is the backup of a file`, { hint: 'restore it with: --to PATH' });
}

/** Throws if `copy`, made of the backup at `source`, is not the sound database that the manifest describes. */
async function checkCopy(source: string, copy: string, manifest: BackupManifest): Promise<void> {
  const { readCopy } = await import('./backends/sqlite/backup.ts');
  await checkContent(source, copy, manifest);
  const { damages, schemaVersion, organizations } = readCopy(copy, source);
  if (damages.length > 0) throw damagedBackup(source, damages[0] ?? '');
  if (schemaVersion !== manifest.schemaVersion)
    throw damagedBackup(source, 'its schema is not the one in its manifest');
  if (!isDeepStrictEqual(organizations, manifest.organizations)) {
    throw damagedBackup(source, 'its rows are not what its manifest says');
  }
}

async function checkContent(source: string, copy: string, manifest: BackupManifest): Promise<void> {
  const content = await contentOf(copy);
  if (content.bytes === manifest.bytes && content.sha256 === manifest.sha256) return;
  throw damagedBackup(source, 'it is not the file that its manifest describes');
}

const withManifest = 'a backup is restored together with the manifest that was written with it';

function readManifest(path: string): BackupManifest {
  const text = readFileSync(readableFile(path, withManifest), 'utf8');
  try {
    const manifest = JSON.parse(text) as Partial<BackupManifest> | null;
    const isComplete =
      manifest?.manifestVersion === 1 &&
      typeof manifest.bytes === 'number' &&
      typeof manifest.sha256 === 'string' &&
      typeof manifest.schemaVersion === 'number' &&
      Array.isArray(manifest.organizations);
    if (isComplete) return manifest as BackupManifest;
  } catch {
    // Refused below, like JSON that is not a manifest.
  }
  throw new BillingError('checkFailed', `${path} is not the manifest of a backup; nothing was restored`, {
    hint: withManifest,
  });
}

function readableFile(path: string, whereMissing?: string): string {
  const found = existingFile(path, whereMissing);
  try {
    accessSync(found, constants.R_OK);
    return found;
  } catch (cause) {
    throw new UnavailableError(`${found} cannot be read; nothing was restored`, {
      cause,
      hint: 'check that this user may read the backup and its manifest',
    });
  }
}

function existingFile(path: string, whereMissing = 'check the path'): string {
  refuseUrl(path, aBackup);
  const absolute = resolve(path);
  const found = factsOf(absolute);
  if (found?.isFile() === true) return absolute;
  throw new NotFoundError(found === undefined ? `there is no file ${absolute}` : `${absolute} is not a file`, {
    hint: whereMissing,
  });
}

async function contentOf(path: string): Promise<Pick<BackupManifest, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return { bytes: factsOf(path)?.size ?? 0, sha256: hash.digest('hex') };
}
