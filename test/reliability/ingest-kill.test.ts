/** A process is killed while it takes events in: all that it acknowledged is there, and what is derived is a recount of it. */

import { join } from 'node:path';

import { expect, test } from 'vitest';

import { decimalText } from '../../src/calculation/money.ts';
import type { EventAggregation } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { naiveReadings } from '../store/naive-readings.ts';
import { aggregateOne, insertTwoOrganizations } from '../store/rows.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { startChild } from './child.ts';
import { batchOf, day, eventUpkeep } from './ingest-batches.ts';
import { damageOf } from './soundness.ts';
import { drawn, inTier, seeds } from './tiers.ts';

const directory = newDirectory();

const request: EventAggregation = {
  orgId: 'org-a',
  customerId: 'customer',
  boundsEpochMs: [0, day, 2 * day + 5, 9 * day],
  rules: {
    aggregationType: 'SUM',
    aggregationKey: 'tokens',
    eventTypeFilter: { include: [], exclude: [] },
    propertyFilters: [],
    groupKeys: ['model'],
  },
  dimensions: { needsEventName: false, propertyKeys: [] },
  isStanding: true,
};

async function acknowledgedBeforeKill(file: string, behind: number): Promise<number> {
  const { process: child, output, errors, ended } = startChild('ingest-process.ts', [file]);
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString().split('\n').length - 1;
    if (seen >= behind) child.kill('SIGKILL');
  });
  await ended;
  expect(await errors).toBe('');
  return (await output).split('\n').length - 1;
}

test.each(seeds(inTier(5, 60)))(
  'a killed process loses no acknowledged event, and meters read a recount (seed %i)',
  async (seed) => {
    const file = join(directory, `killed-${seed}.db`);
    const made = await openStore(file);
    await made.write(insertTwoOrganizations);
    await made.close();
    const acknowledged = await acknowledgedBeforeKill(file, 1 + drawn(seed, 'batches', 60));
    const store = await openStore(file, { eventUpkeep });
    // The batch in flight may have been committed ahead of its acknowledgement; it is there whole, or not at all.
    const rows = [acknowledged, acknowledged + 1].map(expectedRows);
    expect(rows).toContainEqual(await readRows(store));
    expect(await store.read(async (tx) => await store.events.upkeep?.listFaults(tx, 'org-a'))).toEqual([]);
    expect(await store.read(async (tx) => await store.events.listFaults(tx, 'org-a'))).toEqual([]);
    for (let batch = acknowledged; batch < acknowledged + 10; batch += 1) {
      await store.write((tx) => store.events.append(tx, 'org-a', batchOf(batch), () => true));
    }
    expect(await readRows(store)).toEqual(expectedRows(acknowledged + 10));
    await store.close();
    expect(damageOf(file)).toEqual([]);
  },
  inTier(30_000, 120_000),
);

function expectedRows(batches: number): string[][] {
  const effective = new Map(
    Array.from({ length: batches }, (_, batch) => batchOf(batch))
      .flat()
      .map((event) => [event.idempotencyKey, event]),
  );
  return naiveReadings([...effective.values()], request);
}

async function readRows(store: Store): Promise<string[][]> {
  const readings = await store.read((tx) => aggregateOne(store.events, tx, request));
  return readings.map((interval) =>
    interval.map(
      ({ groupValues, quantity, count }) => `${groupValues['model']}//: ${decimalText(quantity)} of ${count}`,
    ),
  );
}
