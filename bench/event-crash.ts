/** What `kill -9` does to a store that is ingesting events: how long it takes to open again, and whether anything is lost. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { removeDatabase } from './event-limits.ts';
import { openService } from './event-service.ts';
import { median } from './measure.ts';
import type { Result } from './report.ts';

/** Killed after this many thousand acknowledged events: the log is long by then, and in one case about to be checkpointed. */
const killedAfter = [25, 32, 39] as const;

export async function measureCrash({ folder, count }: { readonly folder: string; readonly count: number }) {
  const [file, fresh] = [join(folder, 'killed.db'), join(folder, 'fresh.db')];
  await (await openService(fresh, { meters: 1 })).close();
  const longer: number[] = [];
  let lost = 0;
  let wrong = 0;
  for (const thousands of killedAfter) {
    copyFileSync(fresh, file);
    const acknowledged = await killAfter(thousands * 1_000, { file, count });
    const afterKill = await openMilliseconds(file);
    const afterClose = [await openMilliseconds(file), await openMilliseconds(file), await openMilliseconds(file)];
    longer.push(afterKill - median(afterClose));
    lost += Math.max(0, acknowledged - countEvents(file));
    wrong += await countFaults(file);
    removeDatabase(file);
  }
  removeDatabase(fresh);
  const results: Result[] = [
    {
      name: 'goal 10: opened after `kill -9`, beyond an orderly start',
      measured: median(longer),
      unit: 'ms',
      highest: 25,
    },
    { name: 'goal 10: acknowledged events lost to `kill -9`', measured: lost, unit: 'units', highest: 0 },
    {
      name: 'goal 10: roll-ups and keys that a recount finds wrong after it',
      measured: wrong,
      unit: 'units',
      highest: 0,
    },
  ];
  return results;
}

/** How many events were acknowledged when the process was gone. */
async function killAfter(events: number, { file, count }: { readonly file: string; readonly count: number }) {
  const child = fork(join(import.meta.dirname, 'ingesting-process.ts'), [file, String(count)]);
  let acknowledged = 0;
  child.on('message', (message) => {
    acknowledged = Number(message);
    if (acknowledged >= events) child.kill('SIGKILL');
  });
  await once(child, 'close');
  if (acknowledged < events) throw new Error(`the ingesting process ended after ${acknowledged} events`);
  return acknowledged;
}

/** Opens the store and waits for the first read. */
async function openMilliseconds(file: string): Promise<number> {
  const begin = performance.now();
  const service = await openService(file);
  await service.billing.call('meters.list', {});
  const milliseconds = performance.now() - begin;
  await service.close();
  return milliseconds;
}

function countEvents(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('SELECT count(*) AS "count" FROM "events"').get();
  database.close();
  return Number(row?.['count']);
}

async function countFaults(file: string): Promise<number> {
  const { store, close } = await openService(file);
  const faults = await store.read(async (tx) => {
    const organizations = await tx.selectFrom('organizations').select('id').execute();
    const found = organizations.map(async ({ id }) => await store.events.upkeep?.listFaults(tx, id));
    return (await Promise.all(found)).flatMap((each) => each ?? []);
  });
  await close();
  return faults.length;
}
