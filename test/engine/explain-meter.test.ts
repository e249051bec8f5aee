import { beforeEach, describe, expect, test } from 'vitest';

import { finalize, invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { refusalOf } from '../support/refusal.ts';
import { createMeter, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-20T00:00:00.000Z' });

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

const march = { startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' };

async function testMeter(body: Record<string, unknown>, meterId = acme.meterId) {
  return (await world.call('meters.test', { params: { meterId }, body: { ...march, ...body } })).data;
}

describe('a meter tried out', () => {
  test('reads what matches, and says what it passed over and why', async () => {
    const meterId = await createMeter(world, 'CALLS', {
      eventTypeFilter: { include: ['call'] },
      propertyFilters: [{ name: 'region', include: ['eu'] }],
      groupKeys: ['model'],
    });
    const event = (key: string, properties: Record<string, unknown>, eventName = 'call') => ({
      customerId: acme.customerId,
      idempotencyKey: key,
      eventName,
      timestamp: '2026-03-10T00:00:00Z',
      properties: { region: 'eu', ...properties },
    });
    await send(
      world,
      event('a', { tokens: 5, model: 'large' }),
      event('b', { tokens: '2.5', model: 'large' }),
      event('c', { tokens: 1 }),
      event('d', { tokens: 'many', model: 'large' }),
      event('e', { model: 'large' }),
      event('f', { tokens: 100, model: 'large', region: 'us' }),
      event('g', { tokens: 100 }, 'other'),
    );
    const read = await testMeter({ customerId: acme.customerId }, meterId);
    expect(read).toMatchObject({ meterCode: 'CALLS', matchedCount: 5, unmatchedCount: 2, lateCount: 0 });
    expect(
      read.groups.map((group) => [
        group.dimensions,
        group.quantity,
        [group.eventCount, group.skippedCount, group.withoutKeyCount],
      ]),
    ).toEqual([
      [{ model: '' }, 1, [1, 0, 0]],
      [{ model: 'large' }, 7.5, [2, 1, 1]],
    ]);
    expect(read.skipped).toEqual([
      {
        idempotencyKey: 'd',
        eventName: 'call',
        timestamp: '2026-03-10T00:00:00.000Z',
        value: 'many',
        reason: 'is not a number',
      },
    ]);
  });

  test('without events reads 0', async () => {
    const read = await testMeter({ externalCustomerId: 'acme' });
    expect(read.groups).toEqual([{ dimensions: {}, quantity: 0, eventCount: 0, skippedCount: 0, withoutKeyCount: 0 }]);
  });

  test('takes events from the start on, up to the end, without it', async () => {
    for (const at of ['2026-03-09T23:59:59.999Z', '2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z']) {
      await use(world, acme, { tokens: 1, at });
    }
    const read = await testMeter({
      customerId: acme.customerId,
      startDate: '2026-03-10T00:00:00Z',
      endDate: '2026-03-11T00:00:00Z',
    });
    expect(read.matchedCount).toBe(1);
    expect(read.groups[0]).toMatchObject({ firstAt: '2026-03-10T00:00:00.000Z', lastAt: '2026-03-10T00:00:00.000Z' });
  });

  test('of a contract reads only what is billed on it', async () => {
    const other = await subscribe(world, { name: 'second' });
    await use(world, acme, { tokens: 1, at: '2026-03-10T00:00:00Z' });
    await send(world, { customerId: acme.customerId, timestamp: '2026-03-10T00:00:00Z', properties: { tokens: 2 } });
    expect((await testMeter({ contractId: acme.contractId })).groups[0]?.quantity).toBe(3);
    expect((await testMeter({ contractId: other.contractId })).groups[0]?.quantity).toBe(0);
  });

  test('of a contract that has no price for it reads nothing', async () => {
    await use(world, acme, { tokens: 1, at: '2026-03-10T00:00:00Z' });
    const unpriced = await createMeter(world, 'UNPRICED');
    expect((await testMeter({ customerId: acme.customerId }, unpriced)).matchedCount).toBe(1);
    expect(await testMeter({ contractId: acme.contractId }, unpriced)).toMatchObject({
      matchedCount: 0,
      unmatchedCount: 0,
      groups: [{ quantity: 0, eventCount: 0 }],
    });
  });

  test.each([
    ['of its whole life', {}, 2],
    ['of before it', { endDate: '2026-03-10T00:00:00Z' }, 0],
    ['of after it', { startDate: '2026-03-20T00:00:00Z' }, 0],
    ['from before it on', { endDate: '2026-03-15T00:00:00Z' }, 1],
  ])('of a contract reads nothing of before and after it: %s', async (_what, range, quantity) => {
    const short = await subscribe(world, {
      name: 'short',
      contract: { startDate: '2026-03-10', endDate: '2026-03-20' },
    });
    for (const day of ['09T23:59:59.999', '10T00:00:00', '19T23:59:59.999', '20T00:00:00']) {
      const event = { customerId: short.customerId, timestamp: `2026-03-${day}Z`, properties: { tokens: 1 } };
      await send(world, event, { ...event, contractId: short.contractId, properties: { tokens: 0 } });
    }
    const read = await testMeter({ contractId: short.contractId, ...range }, short.meterId);
    expect([read.groups[0]?.quantity, read.matchedCount]).toEqual([quantity, quantity * 2]);
    expect(read).toMatchObject({ startDate: expect.stringMatching(/^2026-03/), endDate: expect.any(String) });
  });

  test('with a query reads what the query gives over the same events', async () => {
    const { data } = await world.call('meters.create', {
      body: {
        code: 'BY_QUERY',
        displayName: 'By query',
        sql: "SELECT sum(properties['tokens']) * 2 AS value FROM events",
      },
    });
    await use(world, acme, { tokens: 3, at: '2026-03-10T00:00:00Z', key: 'a' });
    await use(world, acme, { tokens: 4, at: '2026-03-11T00:00:00Z', key: 'b' });
    const read = await testMeter({ customerId: acme.customerId }, data.id);
    expect(read).toMatchObject({ aggregationType: 'SQL', matchedCount: 2 });
    expect(read.groups).toMatchObject([{ quantity: 14, eventCount: 2, firstAt: '2026-03-10T00:00:00.000Z' }]);
  });

  test('leaves out events that came late, and counts them', async () => {
    await use(world, acme, { tokens: 1, at: '2026-03-10T00:00:00Z' });
    world.clock.set('2026-04-02T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    await use(world, acme, { tokens: 50, at: '2026-03-11T00:00:00Z', key: 'late' });
    const read = await testMeter({ contractId: acme.contractId });
    expect([read.groups[0]?.quantity, read.lateCount]).toEqual([1, 1]);
    const { data, total } = await world.call('usage.late', {});
    expect([total, data[0]?.idempotencyKey, data[0]?.isLate]).toEqual([1, 'late', true]);
    const elsewhere = await world.call('usage.late', { query: { start: '2026-03-12' } });
    expect(elsewhere.data).toEqual([]);
  });
});

describe('what a trial refuses', () => {
  test.each([
    [{}, 'customerId: one of customerId, externalCustomerId and contractId is required'],
    [{ customerId: 'nobody' }, 'customerId: names no customer'],
    [{ contractId: 'none' }, 'contractId: names no contract'],
    [{ externalCustomerId: 'acme', endDate: '2026-03-01T00:00:00Z' }, 'endDate: must be after startDate'],
  ])('%j', async (body, words) => {
    expect(await refusalOf(testMeter(body))).toBe(`invalidInput ${words}`);
  });

  test('identifiers of two customers', async () => {
    await subscribe(world, { name: 'second' });
    const call = testMeter({ contractId: acme.contractId, externalCustomerId: 'second' });
    expect(await refusalOf(call)).toBe('invalidInput externalCustomerId: names another customer than contractId');
  });

  test('a meter of another organization, in the words for an unknown one', async () => {
    const stranger = await world.addOrganization('Other');
    const input = { params: { meterId: acme.meterId }, body: { ...march, customerId: acme.customerId } };
    expect(await refusalOf(stranger.call('meters.test', input))).toBe('notFound no meter has this id');
    expect(await refusalOf(testMeter({ customerId: acme.customerId }, 'nothing'))).toBe(
      'notFound no meter has this id',
    );
    expect((await stranger.call('usage.late', {})).body.data).toEqual([]);
  });
});
