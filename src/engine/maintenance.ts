/** Examination, backup and restoration of databases that are named by URL; each loads what it needs. */

import { resolve } from 'node:path';

import { DamagedError, NotFoundError } from '../errors.ts';
import type { Maintenance } from '../operations/maintenance.ts';
import { inspectDamagedStore, isToBeMade, openStore, pathOf, refuseUnknownSslMode } from '../store/open.ts';
import { wireTimestamp } from './wire.ts';

/** A call that opens a database on a server throws a usage error if `sslMode` decides on TLS to it and is no known mode. */
export function createMaintenance({
  now,
  sslMode,
}: {
  readonly now: () => Temporal.Instant;
  /** The value of PGSSLMODE. */
  readonly sslMode?: string | undefined;
}): Maintenance {
  const check = async (database: string): Promise<void> => await refuseUnknownSslMode(database, sslMode);
  return {
    async kindOf(database) {
      const { databaseKindOf } = await import('../store/mirror-file.ts');
      return databaseKindOf(database);
    },
    async examine(database, { isFull, events }) {
      await check(database);
      const { examine, examineDamaged } = await import('./doctor/examination.ts');
      try {
        const store = await openStore(database, { readOnly: true, events });
        try {
          return await examine({ store, now }, { isFull });
        } finally {
          await store.close();
        }
      } catch (error) {
        if (!(error instanceof DamagedError)) throw error;
        return examineDamaged(await inspectDamagedStore(database, error), { now, isFull });
      }
    },
    async rebuild(database, options) {
      await check(database);
      if (isToBeMade(database))
        throw new NotFoundError(`there is no database ${pathOf(database)}`, { hint: 'check the path' });
      const store = await openStore(database, options);
      try {
        const { upkeep } = store.events;
        if (upkeep !== undefined) await store.write(async (tx) => await upkeep.rebuild(tx));
        return { isRebuilt: upkeep !== undefined, copyBefore: store.copyBefore };
      } finally {
        await store.close();
      }
    },
    async backUp(paths) {
      await check(paths.from);
      const { backUp } = await import('../store/backup.ts');
      return await backUp({ ...paths, createdAt: wireTimestamp(now()) });
    },
    async passingBeside(backup) {
      const { passingBeside } = await import('../store/new-file.ts');
      return passingBeside(resolve(backup));
    },
    async restore(request) {
      await check(request.to);
      const { restore } = await import('../store/backup.ts');
      return await restore(request);
    },
    async copy({ isDryRun, from, ...rest }) {
      await check(from.database);
      await check(rest.to.database);
      const { copyBook, measureBook, refuseMirror } = await import('../store/copy/copy-book.ts');
      if (!isDryRun) return await copyBook({ from, ...rest });
      refuseMirror(rest.to);
      return await measureBook(from);
    },
    async openMirror(file, source) {
      const { openMirror, openMirrorOf } = await import('../store/mirror-file.ts');
      return source === undefined ? await openMirror(file) : await openMirrorOf(source, file);
    },
  };
}
