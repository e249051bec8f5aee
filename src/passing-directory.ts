/** A directory that is removed with the end of the work in it, even if a signal ends the process. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const standing = new Set<string>();

/**
 * Makes a directory whose path begins with `prefix`, for its owner alone, and removes it when `work` is done or a signal ends
 * the process: half a copy is as large as a book, and holds all of its customers. Throws as Node's `mkdtemp` does.
 */
export async function inPassingDirectory<T>(prefix: string, work: (directory: string) => Promise<T>): Promise<T> {
  // Before there is anything to leave behind.
  if (standing.size === 0) hear();
  try {
    const directory = mkdtempSync(prefix);
    standing.add(directory);
    try {
      return await work(directory);
    } finally {
      remove(directory);
    }
  } finally {
    if (standing.size === 0) unhear();
  }
}

function hear(): void {
  process.on('exit', removeAll);
  for (const signal of ending) process.on(signal, end);
}

function unhear(): void {
  process.off('exit', removeAll);
  for (const signal of ending) process.off(signal, end);
}

/** If the program has a listener of its own, it decides what happens; otherwise the signal takes its usual effect. */
function end(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  unhear();
  process.kill(process.pid, signal);
}

/** At the end of the process, whose exit code a directory that cannot be removed must not replace: the next backup names it. */
function removeAll(): void {
  for (const directory of standing) {
    try {
      remove(directory);
    } catch {
      continue;
    }
  }
}

const mostTries = 100;

/**
 * A thread that SQLite copies in may still make a file between the removal of the others and that of the directory. It may also
 * remove one itself meanwhile: then Node, told to pass over what is not there, leaves all the rest without an error.
 */
function remove(directory: string): void {
  standing.delete(directory);
  for (let tries = 0; tries < mostTries && existsSync(directory); tries += 1) {
    rmSync(directory, { recursive: true, force: true, maxRetries: mostTries, retryDelay: 1 });
  }
}
