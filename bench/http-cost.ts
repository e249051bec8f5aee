/**
 * The usage cost of the largest customer over HTTP: 30 ragged days in 48 groups, each request with another range, beside bare
 * reads of as many daily sums in the same rounds. Both are processor time of one process.
 */

import { join } from 'node:path';

import { customerName } from './event-data.ts';
import { processorClock, raggedRange, rollUpMilliseconds } from './event-limits.ts';
import type { EventService } from './event-service.ts';
import { processorMicroseconds, routeOf, start } from './http-load.ts';
import { inTurns } from './measure.ts';
import type { Result } from './report.ts';

const requestsPerRound = 1_000;
const rounds = 3;
/** As many as fit into the days of the events. */
const ranges = 3_000;

/** Serves the store of `service`, which holds `count` events, in another process. */
export async function measureCostOverHttp(
  { store, billing }: EventService,
  { folder, count }: { readonly folder: string; readonly count: number },
): Promise<Result[]> {
  const { body: created } = await billing.call('keys.create', { body: { name: 'bench', scopes: ['usage:read'] } });
  const served = await start(store.location);
  const headers = { authorization: `Bearer ${created.data.key}`, 'content-type': 'application/json' };
  let sent = 0;
  const costRequest = () => {
    const { from, to } = raggedRange(sent++ % ranges);
    const dates = { startDate: new Date(from).toISOString(), endDate: new Date(to).toISOString() };
    const body = JSON.stringify({ externalCustomerId: customerName(0), ...dates });
    return { ...routeOf('usage.cost', {}), headers, body };
  };
  const { bare, cost } = await inTurns(
    {
      bare: () => rollUpMilliseconds(join(folder, 'days.db'), processorClock),
      cost: async () => (await processorMicroseconds(served, requestsPerRound, costRequest)) / 1000,
    },
    { turns: rounds + 1, warming: 1 },
  ).finally(() => served.child.kill());
  return [
    { name: 'L4: 30 daily sums of 48 groups, processor time', measured: bare, unit: 'ms' },
    {
      name: `goal 7: POST of usage cost, 30 ragged days, 48 groups, at ${count / 1e6} million, processor time`,
      measured: cost,
      unit: 'ms',
      ratio: bare / cost,
      ratioTo: 'the rate of L4',
      lowestRatio: 0.5,
    },
  ];
}
