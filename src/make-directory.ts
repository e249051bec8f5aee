/** Directories that only their owner can open. */

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it, for their owner alone, and gives whether it was missing. Throws as Node's `mkdir` does.
 * Node's own `recursive` never returns where nothing can be made, as in /proc.
 */
export function makeDirectory(path: string): boolean {
  if (existsSync(path)) return false;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    // Another process was quicker.
    if (existsSync(path)) return false;
    throw error;
  }
}
