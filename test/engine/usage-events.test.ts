import { beforeEach, describe, expect, test } from 'vitest';

import { exactNumber } from '../../src/exact-json.ts';
import { createContract, createCustomer, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let customerId: string;
beforeEach(async () => {
  customerId = await createCustomer(world, 'acme');
});

async function events(query: Record<string, string> = {}) {
  return (await world.call('usage.events', { query: { limit: '100', ...query } })).data;
}

async function ingest(body: Record<string, unknown>) {
  return await world.billing.call('usage.ingest', { body: { eventName: 'call', ...body } });
}

async function ingestBatch(...batch: Record<string, unknown>[]) {
  return await world.billing.call('usage.ingestBatch', { body: { events: batch } });
}

describe('sending an event', () => {
  test('is answered 202 with its key and the request', async () => {
    const { status, body } = await ingest({ customerId, idempotencyKey: 'k1' });
    expect(status).toBe(202);
    expect(body).toEqual({ status: 'accepted', idempotencyKey: 'k1', requestId: expect.any(String) as string });
  });

  test('without a key gets one of its own, so that it always counts', async () => {
    const first = await ingest({ customerId });
    const second = await ingest({ customerId });
    expect(first.body.idempotencyKey).not.toBe(second.body.idempotencyKey);
    expect(await events()).toHaveLength(2);
  });

  test('keeps everything that was sent, the digits of numbers too', async () => {
    const [price, trace] = [JSON.rawJSON('1.10'), JSON.rawJSON('18446744073709551617')];
    const properties = { price, trace, model: 'large', isCached: true, region: null };
    const sent = { idempotencyKey: 'k1', timestamp: '2026-03-01T00:00:00+02:00', properties };
    await ingest({ externalCustomerId: 'acme', ...sent });
    expect(await events()).toEqual([
      {
        id: expect.any(String) as string,
        eventName: 'call',
        customerId,
        contractId: null,
        idempotencyKey: 'k1',
        timestamp: '2026-02-28T22:00:00.000Z',
        properties,
        version: 1,
        isLate: false,
        receivedAt: '2026-03-15T12:00:00.000Z',
      },
    ]);
  });

  test('without a timestamp happens now', async () => {
    await ingest({ customerId });
    expect((await events())[0]?.timestamp).toBe('2026-03-15T12:00:00.000Z');
  });

  test('may be an hour ahead, and not a millisecond more', async () => {
    await ingest({ customerId, timestamp: '2026-03-15T13:00:00.000Z' });
    await expect(ingest({ customerId, timestamp: '2026-03-15T13:00:00.001Z' })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'timestamp: must be at most one hour in the future, and now is 2026-03-15T12:00:00.000Z',
    });
  });

  test('for an unknown customer is refused by the field that named it', async () => {
    await expect(ingest({ customerId: 'nobody' })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'customerId: names no customer',
    });
    await expect(ingest({ externalCustomerId: 'nobody' })).rejects.toMatchObject({
      message: 'externalCustomerId: names no customer',
    });
  });

  test('names its customer in one way', async () => {
    const message = 'customerId: exactly one of customerId and externalCustomerId is required';
    await expect(ingest({})).rejects.toMatchObject({ kind: 'invalidInput', message });
    await expect(ingest({ customerId, externalCustomerId: 'acme' })).rejects.toMatchObject({ message });
  });

  test.each([
    ['a value', 'properties.model', (text: string) => ({ properties: { model: text } })],
    ['the key', 'idempotencyKey', (text: string) => ({ idempotencyKey: text })],
    ['the name', 'eventName', (text: string) => ({ eventName: text })],
  ])('with more combining marks in a row than 30 is refused by %s', async (_what, path, given) => {
    expect((await ingest({ customerId, ...given(`e${'\u0323'.repeat(30)}`) })).status).toBe(202);
    await expect(ingest({ customerId, ...given(`e${'\u0323'.repeat(31)}`) })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: `${path}: must not have more than 30 combining marks in a row`,
    });
  });

  test('with a nested property is refused', async () => {
    await expect(ingest({ customerId, properties: { model: { name: 'large' } } })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'properties.model: must be text, a number, a boolean or null',
    });
  });

  // A list shows what is kept, and a hundred numbers of 16 MB are longer than any text can be.
  test.each([
    ['a text', (zeros: number) => '0'.repeat(zeros + 2)],
    ['a number', (zeros: number) => exactNumber(`1.${'0'.repeat(zeros)}`)],
  ])('with a value of more than 4096 characters is refused, which is %s', async (_what, valueOf) => {
    expect((await ingest({ customerId, properties: { n: valueOf(4094) } })).status).toBe(202);
    await expect(ingest({ customerId, properties: { n: valueOf(4095) } })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'properties.n: must have at most 4096 characters',
    });
  });

  test('finds the customer of an external id in another Unicode form', async () => {
    const accented = await createCustomer(world, 'caf\u00e9');
    await ingest({ externalCustomerId: 'cafe\u0301' });
    expect((await events())[0]?.customerId).toBe(accented);
  });
});

describe('a batch', () => {
  test('is answered 202 with its count', async () => {
    const { status, body } = await ingestBatch({ eventName: 'a', customerId }, { eventName: 'b', customerId });
    expect(status).toBe(202);
    expect(body).toEqual({ status: 'accepted', count: 2, requestId: expect.any(String) as string });
  });

  test('is recorded whole or not at all, and the refusal names every event that is wrong', async () => {
    const good = { eventName: 'call', customerId };
    const wrong = [
      { ...good, customerId: 'nobody' },
      { eventName: 'call', externalCustomerId: 'nobody' },
    ];
    await expect(ingestBatch(good, ...wrong)).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'events[1].customerId: names no customer; events[2].externalCustomerId: names no customer',
    });
    await expect(ingestBatch(good, { ...good, timestamp: '2030-01-01T00:00:00Z' })).rejects.toMatchObject({
      message: 'events[1].timestamp: must be at most one hour in the future, and now is 2026-03-15T12:00:00.000Z',
    });
    await expect(ingestBatch(good, { ...good, contractId: 'none' })).rejects.toMatchObject({
      message: 'events[1].contractId: names no contract of this customer',
    });
    expect(await events()).toEqual([]);
  });

  test('may name no contract of another customer whose events it holds, too', async () => {
    const globex = await createCustomer(world, 'globex');
    const pricingIds = [await createPrice(world, await createMeter(world, 'TOKENS'))];
    const contractId = await createContract(world, { customerId: globex, pricingIds });
    const theirs = { eventName: 'call', customerId: globex, contractId };
    await expect(ingestBatch(theirs, { ...theirs, customerId })).rejects.toMatchObject({
      message: 'events[1].contractId: names no contract of this customer',
    });
  });

  test('lists a hundred wrong events, and says how many more there are', async () => {
    const wrong = Array.from({ length: 103 }, () => ({ eventName: 'call', customerId: 'nobody' }));
    await expect(ingestBatch(...wrong)).rejects.toThrow(/events\[99\]\.customerId: names no customer; and 3 more$/);
  });
});

describe('an idempotency key', () => {
  const sent = { idempotencyKey: 'k1', timestamp: '2026-03-01T00:00:00Z' };

  test('that comes again with the same content counts once', async () => {
    await send(world, { customerId, ...sent, properties: { tokens: 1, model: 'large' } });
    await send(world, { customerId, ...sent, properties: { model: 'large', tokens: 1 } });
    expect((await events()).map(({ version, properties }) => ({ version, properties }))).toEqual([
      { version: 1, properties: { model: 'large', tokens: 1 } },
    ]);
  });

  test('that comes again with other content replaces the event', async () => {
    await send(world, { customerId, ...sent, properties: { tokens: 1 } });
    await send(world, { customerId, ...sent, properties: { tokens: 2 } });
    expect((await events()).map(({ version, properties }) => ({ version, properties }))).toEqual([
      { version: 2, properties: { tokens: 2 } },
    ]);
  });

  test('given twice in one batch counts in its last version', async () => {
    const first = { customerId, ...sent, properties: { tokens: 1 } };
    await send(world, first, { ...first, properties: { tokens: 2 } });
    expect((await events()).map((event) => event.properties)).toEqual([{ tokens: 2 }]);
  });

  test('says of its batch how many were there already, and how many took the place of others', async () => {
    const [first, second] = [
      { customerId, eventName: 'call', ...sent, properties: { n: 1 } },
      { customerId, eventName: 'call', idempotencyKey: 'k2', properties: { n: 1 } },
    ];
    expect((await ingestBatch(first, second)).knownEvents).toEqual({ unchanged: 0, replaced: 0 });
    world.clock.advance({ hours: 1 });
    const third = { ...first, idempotencyKey: 'k3' };
    const changed = { ...first, properties: { n: 2 } };
    expect((await ingestBatch(changed, second, third, third)).knownEvents).toEqual({ unchanged: 2, replaced: 1 });
    expect((await ingest(changed)).knownEvents).toEqual({ unchanged: 1, replaced: 0 });
  });

  test('says how many name a contract that does not cover their time, whom nobody is billed for', async () => {
    const pricingId = await createPrice(world, await createMeter(world, 'CALLS'));
    const terms = { pricingIds: [pricingId], startDate: '2026-02-01', endDate: '2026-03-01' };
    const contractId = await createContract(world, { customerId, ...terms });
    const at = (timestamp: string) => ({ customerId, contractId, eventName: 'call', timestamp });
    const within = [at('2026-02-01T00:00:00.000Z'), at('2026-02-28T23:59:59.999Z')];
    const outside = [at('2026-01-31T23:59:59.999Z'), at('2026-03-01T00:00:00.000Z')];
    const unnamed = { customerId, eventName: 'call', timestamp: '2026-01-31T23:59:59.999Z' };
    expect(await ingestBatch(...within, unnamed)).not.toHaveProperty('outsideContractCount');
    expect(await ingestBatch(...within, ...outside)).toMatchObject({ outsideContractCount: 2 });
    expect(await ingest(outside[1] ?? {})).toMatchObject({ outsideContractCount: 1 });
  });

  test('without a timestamp keeps the instant at which it first came', async () => {
    await send(world, { customerId, idempotencyKey: 'k1', properties: { tokens: 1 } });
    world.clock.advance({ days: 20 });
    await send(world, { customerId, idempotencyKey: 'k1', properties: { tokens: 1 } });
    expect((await events()).map(({ version, timestamp }) => ({ version, timestamp }))).toEqual([
      { version: 1, timestamp: '2026-03-15T12:00:00.000Z' },
    ]);
  });

  test.each([
    ['other properties', async () => ({ customerId, properties: { tokens: 2 } })],
    ['another name', async () => ({ customerId, eventName: 'chat', properties: { tokens: 1 } })],
    [
      'another customer',
      async () => ({ customerId: await createCustomer(world, 'globex'), properties: { tokens: 1 } }),
    ],
    [
      'a contract',
      async () => {
        const pricingIds = [await createPrice(world, await createMeter(world, 'TOKENS'))];
        const contractId = await createContract(world, { customerId, pricingIds });
        return { customerId, contractId, properties: { tokens: 1 } };
      },
    ],
  ])('without a timestamp and with %s replaces the event at the instant at which it comes', async (_what, other) => {
    await send(world, { customerId, idempotencyKey: 'k1', properties: { tokens: 1 } });
    world.clock.advance({ days: 20 });
    await send(world, { idempotencyKey: 'k1', ...(await other()) });
    expect((await events()).map(({ version, timestamp }) => ({ version, timestamp }))).toEqual([
      { version: 2, timestamp: '2026-04-04T12:00:00.000Z' },
    ]);
  });

  test('may move its event to another customer', async () => {
    const other = await createCustomer(world, 'globex');
    await send(world, { customerId, ...sent });
    await send(world, { customerId: other, ...sent });
    expect((await events()).map((event) => [event.customerId, event.version])).toEqual([[other, 2]]);
  });
});

describe('the list of events', () => {
  beforeEach(async () => {
    const other = await createCustomer(world, 'globex');
    await send(
      world,
      { customerId, idempotencyKey: 'a', timestamp: '2026-03-02T00:00:00Z' },
      { customerId, idempotencyKey: 'b', timestamp: '2026-03-01T00:00:00Z', eventName: 'chat' },
      { customerId: other, idempotencyKey: 'c', timestamp: '2026-03-03T00:00:00Z' },
    );
  });
  const keysOf = async (query: Record<string, string>) => (await events(query)).map((event) => event.idempotencyKey);

  test('begins with what came last', async () => {
    expect(await keysOf({})).toEqual(['c', 'b', 'a']);
  });

  test('can be narrowed by name, customer and a half-open range', async () => {
    expect(await keysOf({ eventName: 'chat' })).toEqual(['b']);
    expect(await keysOf({ customerId })).toEqual(['b', 'a']);
    expect(await keysOf({ start: '2026-03-02', end: '2026-03-03' })).toEqual(['a']);
    expect(await keysOf({ customerId: 'nobody' })).toEqual([]);
  });

  test('comes in pages', async () => {
    const page = await world.call('usage.events', { query: { limit: '2', offset: '1' } });
    expect(page).toMatchObject({ hasMore: false, total: 3 });
    expect((await world.call('usage.events', { query: { limit: '2' } })).hasMore).toBe(true);
  });
});

test('an event of a period whose draft was cancelled is not late: its cost shows it, and it may name another contract yet', async () => {
  const pricingIds = [await createPrice(world, await createMeter(world, 'TOKENS'))];
  const contractOf = async () => await createContract(world, { customerId, pricingIds, startDate: '2026-03-01' });
  const wrong = await contractOf();
  const right = await contractOf();
  const { data } = await world.call('invoices.list', { query: { customerId, limit: '100', include: 'period' } });
  const draft = data.find(({ contractId, period }) => contractId === wrong && period?.start === '2026-03-01');
  await world.call('invoices.cancel', { params: { invoiceId: draft?.id ?? '' } });
  const event = { customerId, idempotencyKey: 'k1', timestamp: '2026-03-10T00:00:00Z', properties: { tokens: 5 } };
  const costs = async () =>
    await Promise.all(
      [wrong, right].map(async (contractId) => (await world.call('usage.cost', { body: { contractId } })).totalAmount),
    );
  await send(world, event);
  expect((await events()).map(({ isLate }) => isLate)).toEqual([false]);
  expect(await costs()).toEqual([0.05, 0]);
  await send(world, { ...event, contractId: right });
  expect(await costs()).toEqual([0, 0.05]);
});

test('an organization neither sees nor reaches what is of another', async () => {
  await send(world, { customerId, idempotencyKey: 'k1' });
  const eu = await world.addOrganization('eu');
  expect((await eu.call('usage.events', {})).body).toEqual({ data: [], hasMore: false, total: 0 });
  const event = { eventName: 'call', idempotencyKey: 'k1' };
  await expect(eu.call('usage.ingest', { body: { ...event, customerId } })).rejects.toMatchObject({
    message: 'customerId: names no customer',
  });
  await expect(eu.call('usage.ingest', { body: { ...event, externalCustomerId: 'acme' } })).rejects.toMatchObject({
    message: 'externalCustomerId: names no customer',
  });
});
