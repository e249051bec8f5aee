import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { describeDatabase } from './database-suite.ts';
import { describeEventAggregation } from './event-aggregation-suite.ts';
import { describeEventStore } from './event-store-suite.ts';

let directory: string;
let files = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallybook-store-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const openFile = () => openStore(join(directory, `${(files += 1)}.db`));
const openMemory = () => openStore(':memory:');

describeDatabase('SQLite in a file', openFile);
describeDatabase('SQLite in memory', openMemory);
describeEventStore('SQLite in a file', openFile);
describeEventStore('SQLite in memory', openMemory);
describeEventAggregation('SQLite in a file', openFile);
describeEventAggregation('SQLite in memory', openMemory);
