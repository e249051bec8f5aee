import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { foldWhole } from '../../src/calculation/ledger-fold.ts';
import { textOfNumber } from '../../src/exact-json.ts';
import { getContract } from '../../src/engine/contract-lookup.ts';
import { createEngine } from '../../src/engine/engine.ts';
import type { EngineParts } from '../../src/engine/dependencies.ts';
import { borrowedLedgers, createKnownLedgers, readLedger } from '../../src/engine/known-ledgers.ts';
import { createLedgerWriter, ofGrant, totalsOf } from '../../src/engine/ledger-writing.ts';
import { inTransaction } from '../../src/engine/transaction.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { balance, grant, subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const postgres = await usePostgres();

let store: Store;
/** What one process and another have open, on one file. */
let here: World;
let there: World;
let acme: Subscription;
let grantId: string;

/** A book of two processes, with a customer who has 1,000 cents. */
async function open(database: string): Promise<void> {
  here = await createWorld({ database });
  store = await openStore(database);
  const engine = createEngine({ ...dependencies(), store });
  const billing = engine.as(await engine.owner());
  there = { ...here, store, engine, billing, call: async (name, input) => (await billing.call(name, input)).body };
  acme = await subscribe(here);
  grantId = await grant(here, acme, { amountCents: 1000 });
}

function dependencies() {
  return { now: here.clock.now, newId: randomUUIDv7, randomBytes, finalizationGraceHours: 0 };
}

async function take(world: World, amountCents: number): Promise<void> {
  const body = { grantEntryId: grantId, amountCents: -amountCents, description: 'taken' };
  await world.call('credits.adjust', { params: { contractId: acme.contractId }, body });
}

async function leftIn(world: World): Promise<string> {
  return textOfNumber((await balance(world, acme)).balance.balanceCents);
}

const places = [
  { engine: 'SQLite', placeOf: () => Promise.resolve(join(newDirectory(), 'billing.db')) },
  ...(postgres === undefined ? [] : [{ engine: 'PostgreSQL', placeOf: () => postgres.create() }]),
];

describe.each(places)('a ledger that is known, on $engine,', ({ placeOf }) => {
  beforeEach(async () => await open(await placeOf()));
  afterEach(async () => {
    await here.close();
    await there.engine.close();
  });

  test('is read again where another process has written behind it', async () => {
    await take(here, 100);
    await take(there, 200);
    expect(await leftIn(here)).toBe('700');
    await take(here, 300);
    await expect(take(there, 401)).rejects.toThrow('has less than that left');
    await take(there, 400);
    expect([await leftIn(here), await leftIn(there)]).toEqual(['0', '0']);
    const { data } = await here.call('credits.verify', { params: { contractId: acme.contractId } });
    expect(data).toMatchObject({ entryCount: 5, findings: [] });
  });

  test('is not what a transaction had written that was taken back', async () => {
    const parts: EngineParts = { ...dependencies(), store, meterSql: createMeterSql(), ledgers: createKnownLedgers() };
    const caller = await there.engine.owner();
    const takenBack = inTransaction(parts, { caller, access: 'write' }, async (context) => {
      const contract = await getContract(context, acme.contractId);
      const writer = createLedgerWriter(context, contract, await readLedger(context, contract.id));
      const facts = { type: 'adjustment', sourceType: 'adjustment', description: 'taken back' } as const;
      const amounts = { amountCents: -900n, creditMicros: 0n, appliedCents: 0n };
      await writer.append({ ...ofGrant(totalsOf(writer, grantId).grant), ...facts, ...amounts });
      await writer.finish();
      throw new Error('something else went wrong');
    });
    await expect(takenBack).rejects.toThrow('something else went wrong');
    const { fold } = await inTransaction(
      parts,
      { caller, access: 'read' },
      async (context) => await readLedger(context, acme.contractId),
    );
    expect(fold.cents).toBe(1000n);
  });

  test('has grants of one instant in the order in which they were made, whatever order new ids are in', async () => {
    let left = 0xff;
    const newId = () => `01900000-0000-7000-8000-${(left--).toString(16).padStart(12, '0')}`;
    const engine = createEngine({ ...dependencies(), store, newId });
    const billing = engine.as(await engine.owner());
    const call: World['call'] = async (name, input) => (await billing.call(name, input)).body;
    const made = [];
    for (const amountCents of [1, 2, 3]) made.push(await grant({ ...here, call }, acme, { amountCents }));
    const { blocks } = await balance(here, acme);
    expect(blocks.map(({ id }) => id)).toEqual([grantId, ...made]);
  });

  /** Writes an adjustment behind the program's back, which has no seal. */
  async function writeUnsealed(amounts: { readonly amountCents: bigint; readonly balanceAfterCents?: bigint }) {
    await store.write(async (tx) => {
      const [entry] = await tx.selectFrom('ledgerEntries').selectAll().orderBy('seq').execute();
      if (entry === undefined) throw new Error('there is a grant');
      const { seq: _, hash: _hash, isPromotional: _flag, ...row } = entry;
      const facts = { id: randomUUIDv7(), type: 'adjustment' as const, grantEntryId: grantId, isPromotional: true };
      await tx
        .insertInto('ledgerEntries')
        .values({ ...row, ...facts, ...amounts })
        .execute();
    });
  }

  test('is read anew where its newest entry has no seal, which is as good as any other that has none', async () => {
    await writeUnsealed({ amountCents: -100n, balanceAfterCents: 900n });
    expect([await leftIn(here), await leftIn(there)]).toEqual(['900', '900']);
    await writeUnsealed({ amountCents: -200n, balanceAfterCents: 700n });
    expect([await leftIn(here), await leftIn(there)]).toEqual(['700', '700']);
    await take(here, 700);
    expect(await leftIn(there)).toBe('0');
  });

  test('that is broken lets nothing be written, neither now nor later', async () => {
    await writeUnsealed({ amountCents: -1n });
    for (const world of [here, there, here]) await expect(take(world, 1)).rejects.toThrow('is wrong');
  });
});

test('a ledger is forgotten when others were used since, and there is no room for all', () => {
  const ledgers = createKnownLedgers(3);
  const ledger = (head: string) => ({ head, fold: foldWhole([]) });
  // Kept again, a ledger takes no more room than before.
  for (const name of ['a', 'a', 'b', 'b', 'c']) ledgers.keep(name, ledger(name));
  expect(ledgers.find('a')?.head).toBe('a');
  ledgers.keep('d', ledger('d'));
  expect(['a', 'b', 'c', 'd'].filter((name) => ledgers.find(name) !== undefined)).toEqual(['a', 'c', 'd']);
});

test('what is taken back leaves the ledger as it was read, and what is written meanwhile is known to it alone', () => {
  const ledgers = createKnownLedgers();
  const ledger = (head: string) => ({ head, fold: foldWhole([]) });
  const borrowed = borrowedLedgers(ledgers);
  borrowed.keep('a', ledger('as it is'));
  borrowed.keep('a', ledger('rehearsed'));
  expect([borrowed, ledgers, borrowedLedgers(ledgers)].map((each) => each.find('a')?.head)).toEqual([
    'rehearsed',
    'as it is',
    'as it is',
  ]);
});
