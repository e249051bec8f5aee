import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { inTier } from '../reliability/tiers.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { describeEventAggregation } from './event-aggregation-suite.ts';
import { describeEventStore } from './event-store-suite.ts';

const clickhouse = await useClickhouse();

if (clickhouse !== undefined) {
  const open = async (mostStaged: number): Promise<Store> => {
    const events = await clickhouse.take();
    const store = await openStore(':memory:', { events, eventUpkeep: { longestTail: mostStaged, leastKept: 1 } });
    return {
      ...store,
      close: async () => {
        await store.close();
        await clickhouse.giveBack(events);
      },
    };
  };
  const openMoved = async (): Promise<Store> => {
    const events = await clickhouse.take();
    const store = await openStore(':memory:', { events });
    const server = connectClickhouse(events);
    return {
      ...store,
      write: async (change, options) => {
        const result = await store.write(change, options);
        await moveStaged(store, server);
        return result;
      },
      close: async () => {
        await Promise.all([store.close(), server.close()]);
        await clickhouse.giveBack(events);
      },
    };
  };
  // A statement there takes as long as twenty on SQLite.
  const events = { runs: inTier(15, 30) };
  const readings = { runs: inTier(8, 40) };
  describeEventStore('ClickHouse, half of it moved', () => open(1), events);
  describeEventStore('ClickHouse, moved', openMoved, events);
  describeEventAggregation('ClickHouse, moved', openMoved, readings);
  describeEventAggregation('ClickHouse, half of it moved', () => open(1), readings);
}
