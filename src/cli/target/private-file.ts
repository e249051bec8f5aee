/**
 * Small JSON files that only their owner may read: profiles and keys (security 2, SEC-1 and SEC-5). Reading uses no library,
 * so that a command that needs no profile loads none; conf writes, under a lock. All of it is synchronous: loading the module
 * for asynchronous files takes longer than the whole work.
 */

import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

import { BillingError, isFailureOfDisk, reasonOfFile } from '../../errors.ts';
import { isJsonObject } from '../../exact-json.ts';
import { makeDirectory } from '../../make-directory.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { whileLocked } from './lock-file.ts';

/** The facts about this machine that decide whether a file is private. */
export interface Machine {
  readonly platform: string;
  /** Undefined where users have no numeric ids. */
  readonly userId: number | undefined;
  /** The time in milliseconds, to tell an abandoned lock from one in use. */
  now(): number;
  /** The number of the kind of disk that a file is on; the system is asked when not given. */
  readonly diskTypeOf?: (path: string) => number;
}

export type Members = Readonly<Record<string, unknown>>;

/**
 * The members of a JSON file; undefined if there is none. Throws a usage error, and changes nothing, if the file is damaged, a
 * link, another user's, or open to others.
 */
export function readPrivateFile(path: string, machine: Machine): Members | undefined {
  const text = readPrivateText(path, machine);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Falls through: the same message fits, because it is not a JSON object.
  }
  throw damaged(path, 'it is not a JSON object');
}

/** Members that are objects of texts, such as profiles. Throws a usage error if the file at `path` has anything else there. */
export function recordsOf(value: unknown, path: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const isRecord = (each: unknown) =>
    isJsonObject(each) && Object.values(each).every((text) => typeof text === 'string');
  if (isJsonObject(value) && Object.values(value).every(isRecord)) {
    return value as Readonly<Record<string, Readonly<Record<string, string>>>>;
  }
  throw damaged(path, 'an entry is not an object of texts');
}

/** A usage error of a file that somebody has to repair. */
export function damaged(path: string, what: string): BillingError {
  return refusal(`${path} is damaged: ${what}`, 'repair the file, or move it away; it was left as it is');
}

/** The text of such a file; undefined if there is none. Throws what `openPrivateFile` throws. */
export function readPrivateText(path: string, machine: Machine): string | undefined {
  return withPrivateFile(path, machine, (file) => readFileSync(file, 'utf8'));
}

/** What `read` makes of such a file, which is open meanwhile; undefined if there is none. Throws what `openPrivateFile` throws. */
export function withPrivateFile<T>(path: string, machine: Machine, read: (file: number) => T): T | undefined {
  const file = openPrivateFile(path, machine, constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file that only its owner may read; undefined if there is none and `flags` do not create one. Throws a usage error
 * for a link, what is no file, another user's file, and a file open to others; what the system throws if it cannot be written.
 */
export function openPrivateFile(path: string, machine: Machine, flags: number): number | undefined {
  const file = openFile(path, flags);
  if (file === undefined) return undefined;
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw refusal(`${path} is not a file`, 'put a file there, or move it away');
    if (machine.platform !== 'win32') {
      if (machine.userId !== undefined && facts.uid !== machine.userId)
        throw refusal(`${path} belongs to another user`);
      checkMode(path, facts.mode, 0o600);
    }
    checkDirectory(dirname(path), machine);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openFile(path: string, flags: number): number | undefined {
  try {
    // A pipe is opened at once, to be refused, instead of waiting for somebody who writes to it.
    return openSync(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw refusal(`${path} is a symbolic link`, 'put the file itself there');
    if (flags !== constants.O_RDONLY) throw error;
    throw refusal(`${path} cannot be read: ${reasonOfFile(error)}`);
  }
}

/** Whether other users of this machine may read or write a file; false if there is no file or modes mean nothing. */
export function isOpenToOthers(path: string, { platform }: Machine): boolean {
  const facts = platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && hasOthers(facts.mode);
}

function checkDirectory(path: string, { platform }: Machine): void {
  if (platform !== 'win32') checkMode(path, statSync(path).mode, 0o700);
}

function hasOthers(mode: number): boolean {
  return (mode & 0o077) !== 0;
}

function checkMode(path: string, mode: number, most: number): void {
  if (!hasOthers(mode)) return;
  throw refusal(`${path} is open to other users of this machine`, `run: chmod ${most.toString(8)} ${shellWord(path)}`);
}

/** Replaces the members of a file with what `change` returns; waits while another process does the same. */
export async function changePrivateFile(
  path: string,
  machine: Machine,
  change: (members: Members) => Members,
): Promise<void> {
  await makePrivateDirectory(dirname(path), machine, 'TALLY_CONFIG_DIR');
  // Checked for the first file, too: once it exists, every read would be refused.
  checkDirectory(dirname(path), machine);
  await whileLocked(path, machine, async () => {
    const members = change(readPrivateFile(path, machine) ?? {});
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw refusal(`${path} is a symbolic link`);
    const { default: Conf } = await import('conf');
    const conf = new Conf({
      cwd: dirname(path),
      configName: basename(path, '.json'),
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    conf.store = members;
  });
}

/**
 * Creates a directory that only its owner may enter; an existing one keeps its mode, which is checked where it is used. If it
 * cannot be created, the refusal names the variable that sets another place.
 */
export async function makePrivateDirectory(path: string, machine: Machine, variable: string): Promise<void> {
  try {
    if (makeDirectory(path) && machine.platform !== 'win32') chmodSync(path, 0o700);
  } catch (error) {
    const { unwritable } = await import('../files/output-file.ts');
    if (isFailureOfDisk(error)) throw unwritable(path, error);
    throw refusal(
      `the directory ${path} cannot be made: ${reasonOfFile(error)}`,
      `set ${variable} to a directory that can be written`,
    );
  }
}

function refusal(message: string, hint?: string): BillingError {
  return new BillingError('usage', message, { hint });
}
