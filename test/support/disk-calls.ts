/** What is asked of the disk in an order on which a power loss would depend, and nothing else could show. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

import { onTestFinished, vi } from 'vitest';

const watched = ['fsyncSync', 'fdatasyncSync', 'renameSync'] as const;

/** Calls from now on, until the test ends, in their order: `sync PATH`, `rename FROM TO`. */
export function watchDisk(): readonly string[] {
  const calls: string[] = [];
  const pathOf = (file: unknown): string => fs.readlinkSync(`/proc/self/fd/${String(file)}`);
  for (const name of watched) {
    const asked = fs[name] as (...words: readonly unknown[]) => void;
    vi.spyOn(fs, name).mockImplementation((...words: readonly unknown[]) => {
      calls.push(name === 'renameSync' ? `rename ${words.join(' ')}` : `sync ${pathOf(words[0])}`);
      asked(...words);
    });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return calls;
}
