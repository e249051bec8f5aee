import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { row } from './rows.ts';
import { refusal } from '../support/refusal.ts';
import { addCustomer, customers, file, fill, open, openFilled, useTestFile } from './test-file.ts';

useTestFile();

const writer = join(import.meta.dirname, 'write-customers.ts');

function startWriter(name: string, count: number) {
  const child = spawn(process.execPath, [writer, file, name, String(count)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output: text(child.stdout), errors: text(child.stderr), ended };
}

/** Another connection to the same file, for as long as `use` runs. */
async function withAnother(use: (database: DatabaseSync) => Promise<void>): Promise<void> {
  const database = new DatabaseSync(file);
  try {
    await use(database);
  } finally {
    database.close();
  }
}

describe('a database that others use', () => {
  const options = { busyTimeoutMilliseconds: 120 };

  test('is unavailable for writing once the wait is over, names its path, and can still be read', async () => {
    await openFilled();
    const store = await open(file, options);
    await withAnother(async (other) => {
      other.exec('BEGIN IMMEDIATE');
      const error = await refusal(addCustomer(store, 'c'));
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toBe(
        `the database ${file} is locked by another process (waited 120 ms); nothing was changed`,
      );
      expect(error.retryAfterSeconds).toBe(1);
      expect(await customers(store)).toBe(3);
    });
    await addCustomer(store, 'c');
    expect(await customers(store)).toBe(4);
  });

  test('and has no log yet, as after it was restored, is opened as soon as the other has finished', async () => {
    await fill();
    await withAnother(async (other) => {
      other.exec('PRAGMA journal_mode = DELETE; BEGIN');
      other.prepare('SELECT * FROM "customers"').all();
      const tooEarly = await refusal(open(file, options));
      expect(tooEarly.message).toBe(
        `the database ${file} is locked by another process (waited 120 ms); nothing was changed`,
      );
      const opening = open();
      await new Promise((resolve) => setImmediate(resolve));
      other.exec('COMMIT');
      expect(await customers(await opening)).toBe(3);
    });
  });

  test('is written as soon as the other has finished, and other work goes on meanwhile', async () => {
    const store = await openFilled();
    await withAnother(async (other) => {
      other.exec('BEGIN IMMEDIATE');
      const added = addCustomer(store, 'c');
      await new Promise((resolve) => setImmediate(resolve));
      other.exec('COMMIT');
      await added;
    });
    expect(await customers(store)).toBe(4);
  });

  test('is read by the same process while one of its writes waits for the other', async () => {
    const store = await openFilled();
    await withAnother(async (other) => {
      other.exec('BEGIN IMMEDIATE');
      const order: string[] = [];
      const added = addCustomer(store, 'c').then(() => order.push('written'));
      expect(await customers(store)).toBe(3);
      order.push('read');
      other.exec('COMMIT');
      await added;
      expect(order).toEqual(['read', 'written']);
    });
  });

  test('is not waited for by a write that is told not to', async () => {
    const store = await openFilled();
    await withAnother(async (other) => {
      other.exec('BEGIN IMMEDIATE');
      const patient = addCustomer(store, 'c');
      const hasty = store.write(async (tx) => await tx.selectFrom('customers').select('id').execute(), {
        busyTimeoutMilliseconds: 0,
      });
      expect((await refusal(hasty)).message).toContain('waited 0 ms');
      other.exec('COMMIT');
      await patient;
    });
    expect(await customers(store)).toBe(4);
  });

  test('is closed only once a write that waits for the other has been made', async () => {
    const store = await openFilled();
    await withAnother(async (other) => {
      other.exec('BEGIN IMMEDIATE');
      const added = addCustomer(store, 'c');
      const closed = store.close();
      other.exec('COMMIT');
      await added;
      await closed;
    });
    expect(await customers(await open())).toBe(4);
  });

  test('shows one state to a read from its first query to its last', async () => {
    const writer = await openFilled();
    const reader = await open();
    const seen = await reader.read(async (tx) => {
      const count = async () => (await tx.selectFrom('customers').select('id').execute()).length;
      const before = await count();
      await addCustomer(writer, 'c');
      return [before, await count()];
    });
    expect(seen).toEqual([3, 3]);
    expect(await customers(reader)).toBe(4);
  });

  test('takes 4 x 50 writes of four processes without an error or a loss', async () => {
    const store = await openFilled();
    const writers = ['p', 'q', 'r', 's'].map((name) => startWriter(name, 50));
    for (const { ended, errors } of writers) {
      expect(await errors).toBe('');
      expect(await ended).toBe(0);
    }
    expect(await customers(store)).toBe(3 + 200);
    const counter = await store.read((tx) =>
      tx.selectFrom('organizations').select('nextInvoiceNumber').where('id', '=', 'org-a').executeTakeFirst(),
    );
    expect(counter).toEqual({ nextInvoiceNumber: 201n });
  });

  test('has a log of 64 MiB at most once nobody reads any more what was there before it grew', async () => {
    const store = await openFilled();
    const logMebibytes = () => statSync(`${file}-wal`).size / 2 ** 20;
    await withAnother(async (other) => {
      other.exec('BEGIN');
      other.prepare('SELECT count(*) FROM customers').get();
      const name = 'x'.repeat(2 ** 20);
      await store.write(async (tx) => {
        for (let index = 0; index < 70; index += 1) {
          await tx
            .insertInto('customers')
            .values({ ...row.customer('org-a', `large-${index}`), name })
            .execute();
        }
      });
      expect(logMebibytes()).toBeGreaterThan(64);
      other.exec('COMMIT');
    });
    for (const id of ['first', 'second']) await addCustomer(store, id);
    expect(logMebibytes()).toBeLessThanOrEqual(64);
  });

  test('is made once by four processes that all find nothing there', async () => {
    for (const { ended, errors } of ['p', 'q', 'r', 's'].map((name) => startWriter(name, 0))) {
      expect(await errors).toBe('');
      expect(await ended).toBe(0);
    }
    expect(await customers(await openFilled())).toBe(3);
  });

  test('holds every acknowledged write of a process that was killed', async () => {
    await fill();
    const { child, output, ended } = startWriter('p', 100_000);
    let seen = 0;
    child.stdout.on('data', () => {
      seen += 1;
      if (seen === 3) child.kill('SIGKILL');
    });
    await ended;
    const acknowledged = (await output).split('\n').slice(0, -1);
    const store = await open();
    const kept = await store.read((tx) => tx.selectFrom('customers').select('id').where('id', 'like', 'p-%').execute());
    const counter = await store.read((tx) =>
      tx.selectFrom('organizations').select('nextInvoiceNumber').where('id', '=', 'org-a').executeTakeFirstOrThrow(),
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
    expect(counter.nextInvoiceNumber).toBe(1n + BigInt(kept.length));
  });
});
