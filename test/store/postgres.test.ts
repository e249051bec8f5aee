import { openStore } from '../../src/store/open.ts';
import { usePostgres } from '../support/postgres.ts';
import { describeDatabase } from './database-suite.ts';
import { describePrepared } from './prepared-suite.ts';
import { describeLongLists } from './long-lists-suite.ts';
import { describeEventAggregation } from './event-aggregation-suite.ts';
import { describeEventStore } from './event-store-suite.ts';
import { describePages } from './page-suite.ts';
import { describeRules } from './rules-suite.ts';

const postgres = await usePostgres();

if (postgres !== undefined) {
  const url = await postgres.create();
  const open = async () => {
    await postgres.empty(url);
    return await openStore(url);
  };
  describeDatabase('PostgreSQL', open);
  describePrepared('PostgreSQL', open);
  describeRules('PostgreSQL', open);
  describeLongLists('PostgreSQL', open);
  describePages('PostgreSQL', async () => [await open(), await openStore(url)], { runs: 10 });
  describeEventStore('PostgreSQL', open);
  describeEventAggregation('PostgreSQL', open, { runs: 20 });
}
