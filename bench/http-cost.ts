/**
 * The usage cost of the largest customer over HTTP: 30 ragged days in 48 groups, each request with another range, beside bare
 * reads of as many daily sums in the same rounds. Both are processor time of one process.
 */

import { join } from 'node:path';

import { customerName } from './event-data.ts';
import { processorClock, raggedRange, removeDatabase, rollUpMilliseconds } from './event-limits.ts';
import { ingestRate, openService } from './event-service.ts';
import { processorMicroseconds, routeOf, start } from './http-load.ts';
import { median } from './measure.ts';
import type { Result } from './report.ts';

const eventCount = 1_000_000;
const requestsPerRound = 1_000;
/** As many as fit into the days of the events. */
const ranges = 3_000;

export async function measureCostOverHttp(folder: string, rounds: number): Promise<Result[]> {
  const file = join(folder, 'costs.db');
  const key = await writeEvents(file);
  const service = await start(file);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const seen = { bare: [] as number[], cost: [] as number[] };
  let sent = 0;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const bare = rollUpMilliseconds(join(folder, 'days.db'), processorClock);
      const microseconds = await processorMicroseconds(service, requestsPerRound, () => {
        const { from, to } = raggedRange(sent++ % ranges);
        const dates = { startDate: new Date(from).toISOString(), endDate: new Date(to).toISOString() };
        const body = JSON.stringify({ externalCustomerId: customerName(0), ...dates });
        return { ...routeOf('usage.cost', {}), headers, body };
      });
      if (round === 0) continue;
      seen.bare.push(bare);
      seen.cost.push(microseconds / 1000);
    }
  } finally {
    service.child.kill();
    removeDatabase(file);
  }
  const [bare, cost] = [median(seen.bare), median(seen.cost)];
  return [
    { name: 'L4: 30 daily sums of 48 groups, processor time', measured: bare, unit: 'ms' },
    {
      name: 'POST of usage cost, 30 ragged days, 48 groups, at 1 million events, processor time',
      measured: cost,
      unit: 'ms',
      ratio: bare / cost,
      ratioTo: 'the rate of L4',
      lowestRatio: 0.5,
    },
  ];
}

/** Writes the events and gives a key for reading them. */
async function writeEvents(file: string): Promise<string> {
  const service = await openService(file, { meters: 1 });
  await ingestRate(service, { first: 0, last: eventCount, count: eventCount, batch: 10_000 });
  const { body } = await service.billing.call('keys.create', { body: { name: 'bench', scopes: ['usage:read'] } });
  await service.close();
  return body.data.key;
}
