/**
 * A mirror without a file yet: it is made with the first records. So a pull that finds no contract leaves nothing behind, and
 * takes away nothing that another pull has made meanwhile.
 */

import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';

import { makeDirectory } from '../make-directory.ts';
import { once } from '../once.ts';
import type { Mirror, MirrorRun, MirrorSource } from '../operations/mirror.ts';
import { unwritable } from './new-file.ts';

/** Throws UnavailableError if no file could be made at `path`; `open` makes it, or gives what has been made there meanwhile. */
export function newMirror(path: string, source: MirrorSource, open: () => Promise<Mirror>): Mirror {
  refuseUnwritable(dirname(path));
  let opened: Mirror | undefined;
  let run: MirrorRun | undefined;
  const make = once(async () => {
    opened = await open();
    if (run !== undefined) await opened.noteRun(run);
    return opened;
  });
  return {
    location: path,
    source: async () => (await opened?.source()) ?? source,
    find: async (kind, id) => await opened?.find(kind, id),
    list: async (kind, filter) => (await opened?.list(kind, filter)) ?? { rows: [], total: 0 },
    keep: async (records, facts) => await (await make()).keep(records, facts),
    unfinishedRun: async () => (opened === undefined ? run : await opened.unfinishedRun()),
    async noteRun(noted) {
      run = noted;
      await opened?.noteRun(noted);
    },
    noteSource: async (noted) => await (await make()).noteSource(noted),
    close: async () => await opened?.close(),
  };
}

/** Before a service is asked for minutes. */
function refuseUnwritable(directory: string): void {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw unwritable(directory, error);
  }
}
