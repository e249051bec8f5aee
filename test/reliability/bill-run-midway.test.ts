/** A run of many transactions that the database ends midway: what is told of those before. */

import { renameSync } from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { UnknownOutcomeError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';
import { openDueBook, writeDueBook } from './due-book.ts';
import { watchStatements } from './statements.ts';

function newFile(): string {
  return join(newDirectory(), 'book.db');
}

/** As the write of this number commits, the file loses its name, so that the one behind it is refused. */
function moveAtWrite(file: string, number: number): void {
  let writes = 0;
  let isWriting = false;
  const stop = watchStatements((sql) => {
    if (sql.startsWith('BEGIN')) isWriting = sql === 'BEGIN IMMEDIATE';
    if (sql !== 'COMMIT' || !isWriting) return;
    writes += 1;
    if (writes === number) renameSync(file, `${file}.moved`);
  });
  onTestFinished(stop);
}

test.skipIf(process.platform === 'win32')(
  'a bill run that the database ends midway tells what it had done and keeps, and the next one does the rest',
  async () => {
    const file = newFile();
    const contracts = limits.billRunBatch + 1;
    await writeDueBook(file, contracts);
    const world = await openDueBook(file, 'aaaa');
    moveAtWrite(file, 1);
    const stopped = await world.call('bill.run', { body: {} }).catch((error: unknown) => error);
    // By which the operator journal knows that it has not changed nothing.
    expect(stopped).toBeInstanceOf(UnknownOutcomeError);
    expect(stopped).toMatchObject({
      kind: 'unavailable',
      message:
        `what the run had done is kept (finalized invoices: ${limits.billRunBatch}); the next step failed: ` +
        `the database ${file} was moved or replaced while it was in use; nothing was changed`,
      hint: 'stop the program that uses it; put the file back beside its log (-wal), or move the log after it; then start it again',
      isRetryable: true,
    });
    await world.close();
    renameSync(`${file}.moved`, file);
    const again = await openDueBook(file, 'bbbb');
    const { finalizedCount } = (await again.call('bill.run', { body: {} })).data;
    await again.close();
    expect(finalizedCount).toBe(2 * contracts - limits.billRunBatch);
  },
  30_000,
);

test.skipIf(process.platform === 'win32')(
  'a bill run of a server that the database ends midway has its figures, and what ended it',
  async () => {
    const file = newFile();
    await writeDueBook(file, limits.billRunBatch + 1);
    const world = await openDueBook(file, 'aaaa');
    moveAtWrite(file, 1);
    expect(await world.engine.billDue()).toMatchObject({
      finalizedCount: limits.billRunBatch,
      stoppedBy: expect.any(UnknownOutcomeError),
    });
    await expect(world.engine.billDue()).rejects.toThrow('was moved or replaced');
    await world.close();
  },
  30_000,
);

test.skipIf(process.platform === 'win32')(
  'a clock that the database stops on its way tells where it stands, and how to reach what was asked for',
  async () => {
    const file = newFile();
    const world = await createWorld({ database: file });
    await subscribe(world);
    moveAtWrite(file, 3);
    await expect(world.call('clock.advance', { body: { by: 'P3M' } })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(
        /^the clock stands at 2026-04-01T00:00:00.000Z, and what was done until then is kept; the next step failed: /,
      ),
      hint: 'once that is fixed, go on with: tally clock advance --to 2026-06-01T00:00:00.000Z',
      isRetryable: false,
    });
    await world.close();
    renameSync(`${file}.moved`, file);
    const again = await createWorld({ database: file });
    const { data } = await again.call('clock.advance', { body: { to: '2026-06-01T00:00:00.000Z' } });
    expect(data).toMatchObject({ now: '2026-06-01T00:00:00.000Z' });
    await again.close();
  },
);
