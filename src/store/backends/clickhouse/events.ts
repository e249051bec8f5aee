/**
 * Events in ClickHouse, of books that are kept elsewhere. append.ts says how they get there, view.ts what a reader sees.
 */

import type { Transaction } from '../../database.ts';
import { storedEvent, withoutPlace } from '../../event-content.ts';
import type { EventPage, EventQuery, EventStore } from '../../event-store.ts';
import { askByMeter, type GroupQuestion } from '../event-groups.ts';
import { appendEvents } from './append.ts';
import { listEventFaults } from './event-faults.ts';
import { aggregateInClickhouse } from './event-readings.ts';
import { countLeft, dropEvents } from './retention.ts';
import type { ClickhouseServer } from './connection.ts';
import { ofContracts, scanView, viewOf } from './view.ts';

/** Up to `mostStaged` events of an organization wait to be moved. */
export function createClickhouseEventStore(server: ClickhouseServer, mostStaged: number): EventStore {
  return {
    append: async (tx, orgId, events, canReplace) =>
      await appendEvents({ server, mostStaged }, tx, { orgId, events, canReplace }),
    scan: async (tx, request, onEvent) => await scanView(server, await viewOf(tx, request), { request }, onEvent),
    async aggregate(tx, of, meters) {
      const view = await viewOf(tx, of);
      const ask = async (question: GroupQuestion) => await aggregateInClickhouse(server, view, question);
      const [readings = []] = await askByMeter(of, { meters }, ask);
      return readings;
    },
    async aggregateNamed(tx, of, asked) {
      const view = ofContracts(await viewOf(tx, of), asked.contractIds);
      return await askByMeter(of, asked, async (question) => await aggregateInClickhouse(server, view, question));
    },
    list: async (tx, query) => await list(server, tx, query),
    listFaults: async (tx, orgId) => await listEventFaults(server, tx, orgId),
    checkAnswers: server.checkAnswers,
    retention: {
      drop: async (tx, orgId) => await dropEvents(server, tx, orgId),
      countLeft: async (tx, orgId) => await countLeft(server, tx, orgId),
    },
  };
}

async function list({ ask }: ClickhouseServer, tx: Transaction, query: EventQuery): Promise<EventPage> {
  const view = await viewOf(tx, query);
  const { eventName, customerId, onlyLate = false, limit, offset } = query;
  const { fromEpochMs: from = 0, toEpochMs: to = Number.MAX_SAFE_INTEGER } = query;
  const texts = [
    view.condition,
    ...(onlyLate ? ['isLate = 1'] : []),
    ...(eventName === undefined ? [] : ['eventName = {eventName:String}']),
    'timestampEpochMs >= {from:Int64} AND timestampEpochMs < {to:Int64}',
  ];
  const parameters = { ...view.parameters, from, to, ...(eventName === undefined ? {} : { eventName }) };
  const staged = view.staged
    .filter(
      (event) =>
        (!onlyLate || event.isLate) &&
        (eventName === undefined || event.eventName === eventName) &&
        (customerId === undefined || event.customerId === customerId) &&
        event.timestampEpochMs >= from &&
        event.timestampEpochMs < to,
    )
    .toSorted((a, b) => b.place - a.place);
  const matching = `FROM tallybookEvents FINAL WHERE ${texts.join(' AND ')}`;
  const [counted] = await ask(`SELECT count() AS total ${matching}`, parameters);
  // At most all staged events come before the page, so reading that many rows more covers whatever the page needs.
  const skipped = Math.max(0, offset - staged.length);
  const rows = await ask(
    `SELECT * ${matching} ORDER BY place DESC LIMIT ${limit + staged.length} OFFSET ${skipped}`,
    parameters,
  );
  const moved = rows.map((row) => ({ ...storedEvent(row), place: Number(row['place']) }));
  const page = [...moved, ...staged]
    .toSorted((a, b) => b.place - a.place)
    .slice(offset - skipped, offset - skipped + limit);
  return { rows: page.map(withoutPlace), total: Number(counted?.['total']) + staged.length };
}
