import { beforeEach, describe, expect, test } from 'vitest';

import { textOfNumber } from '../../src/exact-json.ts';
import { refusalOf } from '../support/refusal.ts';
import { createCustomer, createMeter, createPrice, send, type SentEvent } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-15T12:00:00.000Z' });

let customerId: string;
beforeEach(async () => {
  customerId = await createCustomer(world, 'acme');
});

const march = { startDate: '2026-03-01T00:00:00Z', endDate: '2026-04-01T00:00:00Z' };

async function cost(body: Record<string, unknown> = {}) {
  return await world.call('usage.cost', { body: { customerId, ...march, ...body } });
}

async function total(body: Record<string, unknown> = {}) {
  return (await cost(body)).totalAmount;
}

/** A meter with a price, for events with these properties. */
async function priced(meter: Record<string, unknown> = {}, price: Record<string, unknown> = {}): Promise<string> {
  const meterId = await createMeter(world, 'TOKENS', meter);
  await createPrice(world, meterId, price);
  return meterId;
}

async function use(...properties: Record<string, unknown>[]) {
  await send(world, ...properties.map((each): SentEvent => ({ customerId, properties: each })));
}

async function refused(body: Record<string, unknown>) {
  return await refusalOf(world.call('usage.cost', { body }));
}

describe('the cost of usage', () => {
  test('is answered as the interface shows it, without an envelope', async () => {
    await priced();
    await use({ tokens: 250 });
    expect(await cost()).toEqual({
      totalAmount: 2.5,
      currency: 'USD',
      unit: 'currency',
      startDate: '2026-03-01T00:00:00.000Z',
      endDate: '2026-04-01T00:00:00.000Z',
      queriedAt: '2026-03-15T12:00:00.000Z',
    });
  });

  test('of 10,000 tenths at a dollar is 1000 dollars exactly', async () => {
    await priced({}, { unitAmount: '1' });
    await use(...Array.from({ length: 10_000 }, () => ({ tokens: 0.1 })));
    expect(await total()).toBe(1000);
  });

  test('of 3 at 0.000002 dollars is 0.000006', async () => {
    await priced({}, { unitAmount: '0.000002' });
    await use({ tokens: 1 }, { tokens: 2 });
    expect(await total()).toEqual(0.000006);
  });

  test('is rounded half-up to twelve decimals', async () => {
    await priced({}, { unitAmount: '0.000000000001' });
    await use({ tokens: 2.5 });
    expect(textOfNumber(await total())).toBe('0.000000000003');
  });

  test('keeps digits that a float would lose', async () => {
    await priced({}, { unitAmount: '1' });
    await use({ tokens: 123_456_789_012_345 }, { tokens: JSON.rawJSON('0.1234560') });
    expect(await total()).toEqual(JSON.rawJSON('123456789012345.123456'));
  });

  test('does not depend on the order of events, nor on their batches', async () => {
    await priced();
    const events = [0.1, 0.7, 1e-7, 12, 3.3].map((tokens, index) => ({
      customerId,
      idempotencyKey: `k${index}`,
      timestamp: `2026-03-0${index + 1}T00:00:00Z`,
      properties: { tokens },
    }));
    await send(world, ...events);
    const inOneBatch = await total();
    const globex = await createCustomer(world, 'globex');
    for (const event of events.toReversed()) {
      await send(world, { ...event, customerId: globex, idempotencyKey: `globex ${event.idempotencyKey}` });
    }
    expect(await total({ customerId: globex })).toEqual(inOneBatch);
    expect(inOneBatch).toBe(0.161000001);
  });

  test('counts an event that comes twice once, and a replaced one in its new version', async () => {
    await priced();
    const event = { customerId, idempotencyKey: 'k', timestamp: '2026-03-01T00:00:00Z' };
    await send(world, { ...event, properties: { tokens: 100 } });
    await send(world, { ...event, properties: { tokens: 100 } });
    expect(await total()).toBe(1);
    await send(world, { ...event, properties: { tokens: 300 } });
    expect(await total()).toBe(3);
  });

  test('takes a text that is a number for one, and skips a value that is none', async () => {
    await priced();
    await use({ tokens: '20' }, { tokens: 'many' }, { tokens: true }, { tokens: null }, {}, { tokens: '1e2' });
    expect(await total()).toBe(1.2);
  });

  test.each([
    ['SUM', 0.06],
    ['MAX', 0.07],
    ['MIN', -0.03],
    ['COUNT', 0.04],
  ])('by a %s meter', async (aggregationType, expected) => {
    await priced({ aggregationType });
    await use({ tokens: 2 }, { tokens: 7 }, { tokens: -3 }, { other: 1 });
    // A quantity below 0 counts as 0.
    expect(await total()).toBe(Math.max(expected, 0));
  });

  test('includes the start of the range and excludes its end', async () => {
    await priced();
    await send(
      world,
      { customerId, timestamp: '2026-02-28T23:59:59.999Z', properties: { tokens: 1000 } },
      { customerId, timestamp: '2026-03-01T00:00:00.000Z', properties: { tokens: 100 } },
      { customerId, timestamp: '2026-03-02T00:00:00.000Z', properties: { tokens: 10 } },
    );
    expect(await total({ endDate: '2026-03-02T00:00:00Z' })).toBe(1);
  });

  test("is another customer's business alone", async () => {
    await priced();
    const globex = await createCustomer(world, 'globex');
    await send(world, { customerId: globex, properties: { tokens: 100 } });
    expect(await total()).toBe(0);
    expect(await total({ customerId: undefined, externalCustomerId: 'globex' })).toBe(1);
  });
});

describe('without a contract', () => {
  test('the newest price of a meter holds, and an archived one no more', async () => {
    const meterId = await priced();
    world.clock.advance({ minutes: 1 });
    const newest = await createPrice(world, meterId, { unitAmount: '0.05' });
    await use({ tokens: 10 });
    expect(await total()).toBe(0.5);
    await world.call('pricing.archive', { params: { pricingId: newest } });
    expect(await total()).toBe(0.1);
  });

  test('a meter without a price costs nothing', async () => {
    await createMeter(world, 'TOKENS');
    await use({ tokens: 10 });
    expect(await total()).toBe(0);
  });

  test('every meter that counts an event adds to the cost', async () => {
    await priced();
    await createPrice(world, await createMeter(world, 'CALLS', { aggregationType: 'COUNT' }), { unitAmount: '1' });
    await use({ tokens: 10 }, { tokens: 20 });
    expect(await total()).toBe(2.3);
  });

  test('a meter without usage costs nothing, whatever its first tier asks for', async () => {
    await priced({}, { pricingTiers: [{ minQty: '0', unitAmount: '0.01', flatAmount: '5' }] });
    expect(await total()).toBe(0);
    await use({ tokens: 100 });
    expect(await total()).toBe(6);
  });

  test('the rate card prices each combination, a missing group key by itself', async () => {
    const meterId = await priced({ groupKeys: ['model'] });
    await world.call('meters.setRateCard', {
      params: { meterId },
      body: { rates: [{ dimensions: { model: 'large' }, unitAmount: '0.5' }], fallbackUnitAmount: '0.1' },
    });
    await use({ tokens: 2, model: 'large' }, { tokens: 3, model: 'small' }, { tokens: 4 });
    expect(await total()).toBe(1.7);
  });
});

describe('a part of the usage', () => {
  beforeEach(async () => {
    await priced({ eventTypeFilter: { include: ['call', 'chat'] } });
    await createPrice(world, await createMeter(world, 'EVERYTHING', { aggregationType: 'COUNT' }), { unitAmount: '1' });
    await send(
      world,
      { customerId, properties: { tokens: 100, tenant: 'a' } },
      { customerId, eventName: 'chat', properties: { tokens: 10, tenant: 'b' } },
      { customerId, eventName: 'other', properties: { tokens: 1000, tenant: 1 } },
    );
  });

  test.each([
    ['no names', {}, 4.1],
    ['a name of both meters', { eventNames: ['chat'] }, 2.1],
    ['a name of the meter of every event', { eventNames: ['other'] }, 1],
    ['a name that nobody sent', { eventNames: ['none'] }, 0],
    ['a list of no names, which is of no meter', { eventNames: [] }, 0],
    ['two names', { eventNames: ['other', 'call'] }, 3.1],
    ['a property', { propertyFilters: [{ key: 'tenant', value: 'a' }] }, 2],
    ['a number as text', { propertyFilters: [{ key: 'tenant', value: '1' }] }, 1],
    [
      'two properties, of which both must hold',
      {
        propertyFilters: [
          { key: 'tenant', value: 'a' },
          { key: 'tokens', value: '10' },
        ],
      },
      0,
    ],
    ['a property that no event has', { propertyFilters: [{ key: 'region', value: '' }] }, 0],
  ])('by %s', async (_, filter, expected) => {
    expect(await total(filter)).toBe(expected);
  });

  test.each(['NFC', 'NFD'])('by a name is the same in either form of Unicode, of a meter in %s too', async (form) => {
    const name = 'caf\u00e9';
    const rules = { eventTypeFilter: { include: [name.normalize(form)] } };
    await createPrice(world, await createMeter(world, 'CAFE', rules), { unitAmount: '0.5' });
    await send(world, { customerId, eventName: name.normalize('NFD'), properties: { tokens: 10 } });
    expect(await total({ eventNames: [name] })).toBe(6);
    expect(await total({ eventNames: [name.normalize('NFD')] })).toBe(6);
  });

  test('by a name that a meter excludes leaves the meter out, whatever else it includes', async () => {
    const rules = { eventTypeFilter: { include: ['chat', 'other'], exclude: ['chat'] } };
    await createPrice(world, await createMeter(world, 'ALL_BUT_CHAT', rules), { unitAmount: '0.001' });
    expect(await total({ eventNames: ['chat'] })).toBe(2.1);
    expect(await total({ eventNames: ['other'] })).toBe(2);
  });
});

describe('identifiers and dates', () => {
  test.each([
    ['nobody', { ...march }, 'customerId: one of customerId, externalCustomerId and contractId is required'],
    ['an unknown id', { customerId: 'x', ...march }, 'customerId: names no customer'],
    ['an unknown external id', { externalCustomerId: 'x', ...march }, 'externalCustomerId: names no customer'],
    ['an unknown contract', { contractId: 'x' }, 'contractId: names no contract'],
    ['no dates', { externalCustomerId: 'acme' }, 'startDate: is required unless contractId is given'],
    [
      'an empty range',
      { externalCustomerId: 'acme', startDate: march.endDate, endDate: march.endDate },
      'endDate: must be after startDate',
    ],
  ])('of %s are refused', async (_, body, message) => {
    expect(await refused(body)).toContain(`invalidInput ${message}`);
  });

  test('of two customers are refused', async () => {
    await createCustomer(world, 'globex');
    expect(await refused({ customerId, externalCustomerId: 'globex', ...march })).toBe(
      'invalidInput externalCustomerId: names another customer than customerId',
    );
  });

  test('of another organization are unknown', async () => {
    const eu = await world.addOrganization('eu');
    await expect(eu.call('usage.cost', { body: { customerId, ...march } })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'customerId: names no customer',
    });
  });
});

describe('an estimate', () => {
  async function estimate(events: Record<string, unknown>[]) {
    return (await world.call('pricing.estimate', { body: { events } })).data;
  }

  test('rates events by the newest prices without recording them', async () => {
    const meterId = await priced({ groupKeys: ['model'] }, { unitAmount: '0.000002' });
    const estimated = await estimate([
      { eventName: 'call', properties: { tokens: 1, model: 'small' } },
      { eventName: 'call', properties: { tokens: 2, model: 'large' } },
      { eventName: 'call', properties: { tokens: '0.5', model: 'large' } },
    ]);
    const line = { meterId, meterCode: 'TOKENS', pricingId: expect.any(String) as string, name: 'Tokens' };
    expect(estimated).toEqual({
      totalAmount: 0.000007,
      currency: 'USD',
      lines: [
        { ...line, dimensions: { model: 'large' }, quantity: 2.5, unitPrice: '0.000002', totalAmount: '0.000005' },
        { ...line, dimensions: { model: 'small' }, quantity: 1, unitPrice: '0.000002', totalAmount: '0.000002' },
      ],
    });
    expect(await total()).toBe(0);
  });

  test('of events that no meter counts is 0, with no line', async () => {
    await priced({ eventTypeFilter: { include: ['call'] } }, { pricingTiers: [{ minQty: '0', flatAmount: '5' }] });
    expect(await estimate([{ eventName: 'other', properties: { tokens: 1 } }])).toMatchObject({
      totalAmount: 0,
      lines: [],
    });
  });

  test('takes 1 to 500 events', async () => {
    await expect(estimate([])).rejects.toMatchObject({ kind: 'invalidInput' });
    await expect(estimate(Array.from({ length: 501 }, () => ({ eventName: 'call' })))).rejects.toMatchObject({
      kind: 'invalidInput',
    });
  });

  test('by the prices of an unknown contract is refused', async () => {
    await expect(
      world.call('pricing.estimate', { body: { contractId: 'x', events: [{ eventName: 'call' }] } }),
    ).rejects.toMatchObject({ kind: 'invalidInput', message: 'contractId: names no contract' });
  });
});
