/** Reliability 8: several processes work on one file at once; what is done once is done once, and nobody is turned away. */

import { once } from 'node:events';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import type { WebhookEventType } from '../../src/operations/wire-values.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { openBook, stepsOf } from './book.ts';
import type { Book } from './book.ts';
import { outputOf, startChild } from './child.ts';
import { placeImage } from './database-image.ts';
import type { Race } from './race-process.ts';
import { writeReferenceBook } from './reference-book.ts';
import type { ReferenceBook } from './reference-book.ts';
import { damageOf, problemsOf } from './soundness.ts';
import { inTier } from './tiers.ts';

const all = stepsOf();
const steps = all.slice(
  0,
  all.findIndex(({ name }) => name === 'round 0: finalizes the next invoice of acme'),
);
let directory: string;
let reference: ReferenceBook;

beforeAll(async () => {
  directory = newDirectory();
  reference = await writeReferenceBook(directory, steps);
});

/** A book as it is ahead of the first step of this name, or behind the last one, that the processes are to share. */
function shared(file: string, before?: string): string {
  const path = join(directory, file);
  const index = before === undefined ? steps.length : steps.findIndex(({ name }) => name === before);
  placeImage(path, reference.images[index] ?? {});
  return path;
}

interface RaceOptions {
  readonly kind: 'grants' | 'finalize' | 'ingest';
  readonly processes: number;
  /** The instant that all of them have. */
  readonly at: string;
}

/** Lets the processes begin together; gives the lines of each. Fails when one of them does. */
async function race(file: string, { kind, processes, at }: RaceOptions, what: Race): Promise<string[][]> {
  const children = Array.from({ length: processes }, (_value, number) =>
    startChild('race-process.ts', [file, at, kind, String(number), JSON.stringify(what)]),
  );
  await Promise.all(children.map(async ({ process: child }) => await once(child.stdout, 'data')));
  for (const { process: child } of children) child.stdin.end('go\n');
  const outputs = await Promise.all(children.map(async (child) => await outputOf(child)));
  return outputs.map((output) => output.trim().split('\n').slice(1));
}

async function inspected<T>(file: string, look: (book: Book) => Promise<T>): Promise<T> {
  const book = await openBook(file);
  try {
    expect(await problemsOf(book.world)).toEqual([]);
    return await look(book);
  } finally {
    await book.world.close();
    expect(damageOf(file)).toEqual([]);
  }
}

async function ids({ world }: Book, externalCustomerId: string): Promise<{ contractId: string; customerId: string }> {
  const { data } = await world.call('contracts.list', { query: { externalCustomerId } });
  return { contractId: data[0]?.id ?? '', customerId: data[0]?.customerId ?? '' };
}

const webhooks = async ({ world }: Book, type: WebhookEventType): Promise<string[]> =>
  await world.store.read(async (tx) => {
    const rows = await tx.selectFrom('webhookEvents').select('body').where('type', '=', type).orderBy('seq').execute();
    return rows.map(({ body }) => body);
  });

test(
  'a grant that eight processes ask for by one externalId is made once, and each of them is told the same id',
  async () => {
    const file = shared('grants.db');
    const count = inTier(40, 200);
    const { contractId } = await inspected(file, async (book) => await ids(book, 'acme'));
    const outputs = await race(
      file,
      { kind: 'grants', processes: 8, at: '2026-02-12T00:00:00Z' },
      { contractId, count },
    );

    const told = outputs.map((lines) => lines.toSorted());
    expect(told[0]).toHaveLength(count);
    for (const lines of told) expect(lines).toEqual(told[0]);
    const kept = await inspected(file, async ({ world }) =>
      world.store.read(async (tx) => {
        const rows = tx.selectFrom('ledgerEntries').select(['externalId', 'id']);
        return await rows.where('externalId', 'like', 'grant-%').execute();
      }),
    );
    expect(kept.map(({ externalId, id }) => `${externalId} ${id}`).toSorted()).toEqual(told[0]);
  },
  inTier(60_000, 600_000),
);

test('an invoice that two processes finalize is finalized once, and both are told its number', async () => {
  const file = shared('finalize.db');
  const drafts = await inspected(file, async ({ world }) =>
    world.store.read(async (tx) => {
      const rows = tx.selectFrom('invoices').select(['id', 'status']).orderBy('seq');
      return await rows.where('periodIndex', '=', 0n).execute();
    }),
  );
  expect(drafts.map(({ status }) => status)).toEqual(['Drafted', 'Drafted', 'Drafted']);
  const invoiceIds = drafts.map(({ id }) => id);
  const [one, other] = await race(
    file,
    { kind: 'finalize', processes: 2, at: '2026-02-28T01:00:00Z' },
    { invoiceIds, count: 1 },
  );
  expect(one?.map((line) => line.split(' ')[1])).toEqual(['INV-000001', 'INV-000002', 'INV-000003']);
  expect(other).toEqual(one);
  await inspected(file, async (book) => {
    const updated = await webhooks(book, 'invoice.updated');
    const finalized = invoiceIds.map((id) => updated.filter((body) => body.includes(id)).length);
    expect(finalized).toEqual([1, 1, 1]);
  });
});

test('a budget that eight processes exhaust together is exhausted once, and every event counts', async () => {
  const file = shared('budget.db', 'round 0: records events of acme');
  const count = inTier(10, 100);
  const owner = await inspected(file, async (book) => await ids(book, 'acme'));
  await race(file, { kind: 'ingest', processes: 8, at: '2026-02-08T00:00:00Z' }, { ...owner, count });
  await inspected(file, async (book) => {
    const { data } = await book.world.call('budgets.usage', { params: { contractId: owner.contractId } });
    // 1.5 cents a token, and a cap of 40 cents.
    expect(data.budgets).toMatchObject([{ isExhausted: true, consumedCents: (8 * count * 3) / 2 }]);
    expect(await webhooks(book, 'credit.budget.exhausted')).toHaveLength(1);
    expect((await book.world.call('usage.events', { query: { limit: '1' } })).total).toBe(8 * count);
  });
});
