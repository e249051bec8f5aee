/** What a user of ClickHouse is set to, or the URL says, never makes less of the events: all are read, or the refusal says why not. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { openStore } from '../../src/store/open.ts';
import { updateOrganization } from '../../src/store/records/organizations.ts';
import type { Store } from '../../src/store/store.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, row } from './rows.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('ClickHouse with', () => {
  const open: Store[] = [];
  afterAll(async () => {
    for (const store of open) await store.close();
  });

  /** A book whose events are read and written under these settings. */
  async function openWith(settings: string): Promise<Store> {
    const events = `${await clickhouse?.create()}?${settings}`;
    const store = await openStore(':memory:', { events, eventUpkeep: { longestTail: 1, leastKept: 1 } });
    open.push(store);
    await store.write(insertTwoOrganizations);
    return store;
  }

  /** Sixty of sixty groups, in two moves; what is sent again is the same, and nothing is wrong with it. */
  async function seen(store: Store) {
    const events = Array.from({ length: 60 }, (_value, index) =>
      eventOf(`k${index}`, { propertiesJson: `{"group":"g${index}"}` }),
    );
    for (const some of [events.slice(0, 40), events.slice(40), [eventOf('last')]])
      await store.write((tx) => store.events.append(tx, 'org-a', some, () => true));
    const again = await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    return await store.read(async (tx) => ({
      again: new Set(again),
      total: (await store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 })).rows.length,
      groups: (await aggregateOne(store.events, tx, countingGroups))[0]?.length,
      faults: await store.events.listFaults(tx, 'org-a'),
    }));
  }

  const countingGroups = {
    orgId: 'org-a',
    customerId: 'customer',
    boundsEpochMs: [0, 10_000],
    rules: {
      aggregationType: 'COUNT',
      groupKeys: ['group'],
      eventTypeFilter: { include: [], exclude: [] },
      propertyFilters: [],
    },
    dimensions: { needsEventName: false, propertyKeys: [] },
    isStanding: false,
  } as const;

  let plain: Awaited<ReturnType<typeof seen>>;
  beforeAll(async () => {
    plain = await seen(await openWith(''));
  });

  test.each([
    'limit=1',
    'offset=1',
    'additional_result_filter=0',
    "additional_table_filters={'tallybookEvents':'place = 1'}",
    'aggregate_functions_null_for_empty=1',
    'empty_result_for_aggregation_by_empty_set=1',
    'data_type_default_nullable=1',
    'use_query_cache=1',
    'output_format_json_quote_64bit_integers=1',
    'async_insert=1&wait_for_async_insert=0',
    'transform_null_in=1',
    'session_timezone=Pacific/Kiritimati',
  ])('%s reads what it reads without', async (settings) => {
    expect(plain).toMatchObject({ total: 61, groups: 61, faults: [] });
    expect(await seen(await openWith(settings))).toEqual(plain);
  });

  test.each([
    'max_rows_to_group_by=20&group_by_overflow_mode=any',
    'max_result_rows=20&result_overflow_mode=break&max_block_size=10',
    'max_rows_to_read=20&read_overflow_mode=break&max_block_size=10',
  ])('a limit that does not do says so and leaves nothing out (%s)', async (settings) => {
    await expect(openWith(settings).then(seen)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^a limit of the user of .* was reached: /),
    });
  });

  test('a month that is larger than it drops says so', async () => {
    const events = (await clickhouse?.create()) ?? '';
    const day = 86_400_000;
    const store = await openStore(':memory:', { events: `${events}?max_partition_size_to_drop=1` });
    open.push(store);
    await store.write(async (tx) => {
      await tx.insertInto('organizations').values(row.organization('org-a')).execute();
      await tx.insertInto('customers').values(row.customer('org-a', 'customer')).execute();
    });
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('a', { timestampEpochMs: day })], () => true));
    await store.write((tx) => updateOrganization(tx, 'org-a', { eventsDroppedBeforeEpochMs: 40 * day }));
    const drop = async () =>
      await store.write(async (tx) => await store.events.retention?.drop(tx, 'org-a'), { turn: 'org-a' });
    await expect(drop()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^a limit of the user of .* was reached: .*size_to_drop/s),
      hint: expect.stringContaining('in the URL'),
    });
    expect(await store.read(async (tx) => await store.events.retention?.countLeft(tx, 'org-a'))).toBe(1);
  });

  test.each([
    ['insert_quorm=2', "Unknown setting 'insert_quorm'"],
    ['insert_quorum=two', "'two'"],
    ['max_execution_time=soon', 'soon'],
    ['max_threads=-1', "'-'"],
    ['allow_experimental_analyzer=perhaps', "'perhaps'"],
    ['join_algorithm=nested', "'nested'"],
  ])(
    'a setting of the URL that the server does not take says so, before anything is asked (%s)',
    async (settings, words) => {
      await expect(openWith(settings)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringMatching(/^the server does not take a setting of clickhouse:.*\?.*: /),
        hint: expect.stringContaining('after the ? in the URL'),
      });
      await expect(openWith(settings)).rejects.toThrow(words);
    },
  );

  test('a user who may only read is refused', async () => {
    const opening = openWith('readonly=1');
    await expect(opening).rejects.toThrow(/^the server of .* refuses this user: .*readonly/);
    await expect(opening).rejects.toBeInstanceOf(UnavailableError);
  });
});
