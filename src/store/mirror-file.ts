/** Whether a file is a mirror. Looks only at its head, because every command that opens a database asks. */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

import { inMemory, withoutPassword } from '../database-url.ts';
import { BillingError, ConflictError, NotFoundError } from '../errors.ts';
import type { DatabaseKind } from '../operations/maintenance.ts';
import type { Mirror, MirrorSource } from '../operations/mirror.ts';
import { applicationIds } from './application-id.ts';
import { factsOf } from './file-facts.ts';
import { isPostgresUrl, pathOf } from './open.ts';

/** Offset of a SQLite file's application id: four bytes, big-endian (https://sqlite.org/fileformat.html). */
const applicationIdOffset = 68;

/** The kind of database that a URL names; `file` also if nothing is there yet. */
export function databaseKindOf(url: string): DatabaseKind {
  if (isPostgresUrl(url)) return 'server';
  return isMirrorFile(url) ? 'mirror' : 'file';
}

/** False if there is no file or it cannot be read, and for the URL of a server. */
export function isMirrorFile(url: string): boolean {
  if (isPostgresUrl(url)) return false;
  const path = pathOf(url);
  let descriptor: number | undefined;
  try {
    // Opening a pipe would wait for its writer.
    if (!statSync(path).isFile()) return false;
    descriptor = openSync(path, 'r');
    const head = Buffer.alloc(4);
    return readSync(descriptor, head, 0, 4, applicationIdOffset) === 4 && head.readUInt32BE() === applicationIds.mirror;
  } catch {
    // If the file cannot be read, opening it will say why.
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Opens a mirror for reading. Throws NotFoundError if there is no file, ConflictError if it is not a mirror. */
export async function openMirror(url: string): Promise<Mirror> {
  const path = filePathOf(url);
  if (factsOf(path) === undefined) {
    throw new NotFoundError(`there is no mirror at ${path}`, {
      hint: 'make one with: tally pull --contract ID --to FILE',
    });
  }
  if (!isMirrorFile(path)) throw notAMirror(path);
  const { openSqliteMirror } = await import('./backends/sqlite/mirror.ts');
  return await openSqliteMirror(path);
}

/**
 * Opens the mirror of `source` for writing; if there is no file, it is made with the first records. Throws ConflictError if the
 * file is something else or mirrors another service, as soon as that is seen; either is left as it is.
 */
export async function openMirrorOf(source: MirrorSource, url: string): Promise<Mirror> {
  const path = filePathOf(url);
  if (factsOf(path) !== undefined) return await openForWriting(source, path);
  const { newMirror } = await import('./new-mirror.ts');
  return newMirror(path, source, async () => await openForWriting(source, path));
}

async function openForWriting(source: MirrorSource, path: string): Promise<Mirror> {
  if ((factsOf(path)?.size ?? 0) > 0 && !isMirrorFile(path)) throw notAMirror(path);
  const { openSqliteMirror } = await import('./backends/sqlite/mirror.ts');
  const mirror = await openSqliteMirror(path, source);
  const found = await mirror.source();
  if (isSameService(found, source)) return mirror;
  await mirror.close();
  throw new ConflictError(`${path} mirrors ${wordsOf(found)}, and not ${wordsOf(source)}: nothing was pulled`, {
    hint: 'give every service a file of its own',
  });
}

/** Two profiles with one address may hold keys of two organizations. */
function isSameService(one: MirrorSource, other: MirrorSource): boolean {
  if (one.environment !== other.environment || one.address !== other.address) return false;
  return one.profile === undefined || other.profile === undefined || one.profile === other.profile;
}

function wordsOf({ address, environment, profile }: MirrorSource): string {
  return `${address} (${environment}${profile === undefined ? '' : `, profile ${profile}`})`;
}

function filePathOf(url: string): string {
  const path = isPostgresUrl(url) ? inMemory : pathOf(url);
  if (path === inMemory) throw new BillingError('usage', `a mirror is a file, but ${withoutPassword(url)} is not one`);
  return resolve(path);
}

function notAMirror(path: string): ConflictError {
  return new ConflictError(`${path} already exists and is not a mirror: it was left as it is`, {
    hint: 'pull into a new file',
  });
}
