import { beforeEach, describe, expect, test } from 'vitest';

import { refusalOf } from '../support/refusal.ts';
import {
  createContract,
  createCustomer,
  createMeter,
  createPrice,
  invoicesOf,
  meteredCustomer,
  send,
} from '../support/usage-scenario.ts';
import type { MeteredCustomer } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let { customerId, pricingId, contractOf, total, use } = {} as MeteredCustomer;
beforeEach(async () => {
  ({ customerId, pricingId, contractOf, total, use } = await meteredCustomer(world));
});

async function finalizeFirst(contractId: string) {
  const [invoice] = await invoicesOf(world, contractId);
  if (invoice === undefined) throw new Error('the contract has no invoice');
  await world.call('invoices.finalize', { params: { invoiceId: invoice.id } });
  return invoice.id;
}

describe('once an invoice is finalized', () => {
  let contractId: string;
  const january = { startDate: '2026-01-01T00:00:00Z', endDate: '2026-02-01T00:00:00Z' };
  beforeEach(async () => {
    contractId = await contractOf();
    await use('2026-01-10', 100, { idempotencyKey: 'january' });
    await use('2026-02-10', 10, { idempotencyKey: 'february' });
    await finalizeFirst(contractId);
  });

  async function eventOf(key: string) {
    const { data } = await world.call('usage.events', { query: { limit: '100' } });
    return data.find((event) => event.idempotencyKey === key);
  }

  test('an event of its period is kept, marked late, and not billed', async () => {
    await use('2026-01-31', 1000, { idempotencyKey: 'late' });
    expect(await eventOf('late')).toMatchObject({ isLate: true, version: 1 });
    expect(await total(contractId, january)).toBe(1);
    const [invoice] = await invoicesOf(world, contractId);
    expect(invoice?.totalCents).toBe(100);
  });

  test('a call says how many of its events came late, and nothing of those that came before', async () => {
    const event = (idempotencyKey: string, timestamp: string) => {
      const properties = { tokens: 100 };
      return { customerId, eventName: 'call', idempotencyKey, timestamp: `${timestamp}T00:00:00.000Z`, properties };
    };
    const late = event('late', '2026-01-31');
    const events = [late, event('in time', '2026-02-28')];
    expect(await world.billing.call('usage.ingestBatch', { body: { events } })).toMatchObject({ lateCount: 1 });
    expect(await world.billing.call('usage.ingest', { body: late })).not.toHaveProperty('lateCount');
    const alone = event('late, too', '2026-01-31');
    expect(await world.billing.call('usage.ingest', { body: alone })).toMatchObject({ lateCount: 1 });
  });

  test('an event of any of its finalized periods is late', async () => {
    const [, february] = await invoicesOf(world, contractId);
    await world.call('invoices.finalize', { params: { invoiceId: february?.id ?? '' } });
    await use('2026-02-28', 1000, { idempotencyKey: 'of February' });
    await use('2026-03-01', 1000, { idempotencyKey: 'of March' });
    expect([await eventOf('of February'), await eventOf('of March')].map((each) => each?.isLate)).toEqual([
      true,
      false,
    ]);
  });

  test('an event of the next period is billed as before', async () => {
    await use('2026-02-01', 1000, { idempotencyKey: 'next' });
    expect(await eventOf('next')).toMatchObject({ isLate: false });
    expect(await total(contractId)).toBe(11.1);
  });

  test('an event that no meter of the contract counts is not late', async () => {
    const only = await createMeter(world, 'ONLY', { eventTypeFilter: { include: ['chat'] } });
    const globex = await createCustomer(world, 'globex');
    const theirs = await createContract(world, { customerId: globex, pricingIds: [await createPrice(world, only)] });
    await finalizeFirst(theirs);
    const event = { customerId: globex, timestamp: '2026-01-10T00:00:00Z' };
    await send(world, { ...event, idempotencyKey: 'call' }, { ...event, idempotencyKey: 'chat', eventName: 'chat' });
    expect([await eventOf('call'), await eventOf('chat')].map((each) => each?.isLate)).toEqual([false, true]);
  });

  test('an event that names a contract whose period is open is not late', async () => {
    const open = await contractOf();
    await use('2026-01-10', 100, { idempotencyKey: 'open', contractId: open });
    expect(await eventOf('open')).toMatchObject({ isLate: false });
    expect(await total(open)).toBe(1);
  });

  test('an event that names no contract is late by the oldest, which takes it, whatever newer ones have billed', async () => {
    world.clock.advance({ seconds: 1 });
    const open = await contractOf();
    await finalizeFirst(await contractOf({ startDate: '2026-02-01' }));
    await use('2026-01-10', 100, { idempotencyKey: 'of January' });
    await use('2026-02-20', 100, { idempotencyKey: 'of February' });
    const found = [await eventOf('of January'), await eventOf('of February')];
    expect(found.map((each) => each?.isLate)).toEqual([true, false]);
    expect([await total(open, january), await total(contractId)]).toEqual([0, 2.1]);
  });

  test('an event that names no contract is late by the newer, where the older does not price its meter', async () => {
    const globex = await createCustomer(world, 'globex');
    const other = await createPrice(world, await createMeter(world, 'OTHER'));
    await createContract(world, { customerId: globex, pricingIds: [other] });
    world.clock.advance({ seconds: 1 });
    await finalizeFirst(await createContract(world, { customerId: globex, pricingIds: [pricingId] }));
    await use('2026-01-20', 100, { idempotencyKey: 'of the newer', customerId: globex });
    expect(await eventOf('of the newer')).toMatchObject({ isLate: true });
  });

  test('its events cannot be replaced, and the refusal names the key', async () => {
    expect(await refusalOf(use('2026-01-10', 200, { idempotencyKey: 'january' }))).toBe(
      'conflict events[0]: the event "january" differs from the one recorded under this key, and its billing period is finalized',
    );
    expect(await total(contractId, january)).toBe(1);
  });

  test('in a batch the refusal names each of them by its place', async () => {
    const changed = { customerId, timestamp: '2026-01-10T12:00:00Z', properties: { tokens: 7 } };
    const others = Array.from({ length: 101 }, (_, index) => ({ ...changed, idempotencyKey: `late-${index}` }));
    await send(world, ...others);
    const events = [{ ...changed, idempotencyKey: 'new' }, ...others].map((event) => ({
      eventName: 'call',
      ...event,
      properties: { tokens: 8 },
    }));
    const refusal = await refusalOf(world.call('usage.ingestBatch', { body: { events } }));
    const words = 'differs from the one recorded under this key, and its billing period is finalized';
    expect(refusal.split('; ').slice(0, 2)).toEqual([
      `conflict events[1]: the event "late-0" ${words}`,
      `events[2]: the event "late-1" ${words}`,
    ]);
    expect(refusal.split('; ')).toHaveLength(101);
    expect(refusal).toMatch(/; and 1 more$/);
    expect(await eventOf('new')).toBeUndefined();
  });

  test('its events can come again as they are', async () => {
    await use('2026-01-10', 100, { idempotencyKey: 'january' });
    expect(await eventOf('january')).toMatchObject({ version: 1, isLate: false });
  });

  test('no event can be moved out of its period, nor into it', async () => {
    expect(await refusalOf(use('2026-02-10', 100, { idempotencyKey: 'january' }))).toContain('the event "january"');
    expect(await refusalOf(use('2026-01-10', 10, { idempotencyKey: 'february' }))).toContain('the event "february"');
  });

  test('no event of its period can be moved to another customer', async () => {
    const globex = await createCustomer(world, 'globex');
    expect(await refusalOf(use('2026-01-10', 100, { idempotencyKey: 'january', customerId: globex }))).toContain(
      'conflict',
    );
  });

  test('a batch that would replace one of its events is not recorded at all', async () => {
    const event = { customerId, timestamp: '2026-02-10T00:00:00Z' };
    const batch = send(world, { ...event, idempotencyKey: 'new' }, { ...event, idempotencyKey: 'january' });
    expect(await refusalOf(batch)).toContain('the event "january"');
    expect(await eventOf('new')).toBeUndefined();
  });
});
