/** Events that are billed can be dropped for good, and whoever asks afterwards reads the same as before or is told why not. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { examine } from '../../src/engine/doctor/examination.ts';
import { UnavailableError, UnknownOutcomeError } from '../../src/errors.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import {
  finalize,
  grant,
  invoiceAt,
  refusal,
  settle,
  subscribe,
  type Subscription,
  use,
} from '../support/billing-scenario.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { createContract, createFlatPrice, createMeter, createPrice, send } from '../support/usage-scenario.ts';
import { createWorld, type World } from '../support/world.ts';

const clickhouse = await useClickhouse();

const april = '2026-04-01T00:00:00.000Z';

/** March is billed: tokens by model, a grant that expires within it, one for a region, and a budget of a property. */
async function furnish(world: World): Promise<Subscription> {
  const subscription = await subscribe(world, { meter: { groupKeys: ['Model'] } });
  const { contractId } = subscription;
  await grant(world, subscription, { amountCents: 300, expiresAt: '2026-03-15T12:00:00Z' });
  await grant(world, subscription, { amountCents: 5_000, specifiers: { properties: { region: 'eu' } } });
  const budget = { eventPropertyKey: 'team', eventPropertyValue: 'red', maxCreditsCents: 900 };
  await world.call('budgets.add', { params: { contractId }, body: budget });
  const march = [
    { tokens: 100.5, at: '2026-03-02T08:00:00Z', key: 'a', Model: 'large', team: 'red', region: 'eu' },
    { tokens: 333, at: '2026-03-15T11:59:59Z', key: 'b', Model: 'small', team: 'red' },
    { tokens: 51, at: '2026-03-15T12:00:00Z', key: 'c', Model: 'large', team: 'blue', region: 'us' },
    { tokens: 77, at: '2026-03-31T23:59:59Z', key: 'd', team: 'red', region: 'eu' },
  ];
  world.clock.set('2026-03-31T23:59:59Z');
  await send(
    world,
    ...march.map(({ at, key, ...properties }) => ({
      customerId: subscription.customerId,
      contractId,
      timestamp: at,
      idempotencyKey: key,
      properties,
    })),
  );
  world.clock.set('2026-04-02T00:00:00Z');
  await finalize(world, (await invoiceAt(world, subscription, 0)).id);
  // Of April, and one too late for March.
  await use(world, subscription, { tokens: 410, at: '2026-04-01T00:00:00Z', key: 'e', Model: 'large', team: 'red' });
  await use(world, subscription, { tokens: 1, at: '2026-03-31T00:00:00Z', key: 'late', team: 'red' });
  return subscription;
}

/** What is asked of both worlds: the answers without what tells when they were given. */
const questions = ({ contractId, customerId }: Subscription): readonly (readonly [OperationName, CallInput])[] => [
  ['usage.cost', { body: { contractId } }],
  ['usage.cost', { body: { contractId, endDate: april } }],
  ['usage.breakdown', { body: { contractId, groupKey: 'Model' } }],
  ['usage.cost', { body: { customerId, startDate: april, endDate: '2026-05-01T00:00:00Z' } }],
  ['budgets.usage', { params: { contractId } }],
  ['invoices.list', { query: { include: 'lineItems' } }],
  ['credits.ledger', { params: { contractId } }],
  ['credits.balance', { params: { contractId } }],
  ['credits.verify', { params: { contractId } }],
];

async function answersOf(world: World, subscription: Subscription): Promise<string[]> {
  const answers: string[] = [];
  for (const [name, input] of questions(subscription)) answers.push(JSON.stringify(await world.call(name, input)));
  return answers;
}

async function drop(world: World, before = april, body: object = {}) {
  return (await world.call('events.drop', { body: { before, ...body } })).data;
}

async function problemsOf(world: World): Promise<string[]> {
  const { findings } = await examine({ store: world.store, now: world.clock.now }, { isFull: true });
  return findings.filter(({ check }) => check !== 'late-events').map(({ check, problem }) => `${check}: ${problem}`);
}

describe.runIf(clickhouse !== undefined)('dropping events', () => {
  let world: World;
  let acme: Subscription;
  let events: string;
  beforeEach(async () => {
    events = (await clickhouse?.create()) ?? '';
    world = await createWorld({ events });
    acme = await furnish(world);
  });
  afterEach(async () => await world.close());

  const keys = async () =>
    (await world.call('usage.events')).data.map(({ idempotencyKey }) => idempotencyKey).toSorted();

  test('changes no cost, budget, invoice, balance or ledger, then and when the next month is billed', async () => {
    // Where no event can be dropped, and which answers the same as long as none is.
    const other = await createWorld();
    const same = await furnish(other);
    expect(await drop(world)).toEqual({
      before: april,
      isRehearsal: false,
      eventCount: 5,
      contractCount: 1,
      windowCount: 1,
    });
    expect(await keys()).toEqual(['e']);
    expect(await answersOf(world, acme)).toEqual(await answersOf(other, same));
    for (const each of [world, other]) {
      each.clock.set('2026-04-20T00:00:00Z');
      await grant(each, acme, { amountCents: 40, specifiers: { properties: { city: 'Rome' } } });
      await use(each, acme, { tokens: 900, at: '2026-04-19T00:00:00Z', Model: 'small', team: 'red', region: 'eu' });
      await settle(each, acme);
      each.clock.set('2026-05-02T00:00:00Z');
      await finalize(each, (await invoiceAt(each, acme, 1)).id);
    }
    const [is, was] = [await answersOf(world, acme), await answersOf(other, same)];
    expect(is.join('\n')).toContain('"isExhausted":true');
    expect(is).toEqual(was);
    expect(await problemsOf(world)).toEqual([]);
    await other.close();
  });

  test('keeps what an explanation says of amounts, and says that the events are gone', async () => {
    const { id } = await invoiceAt(world, acme, 0);
    const explain = async () => (await world.call('invoices.explain', { params: { invoiceId: id } })).data;
    const before = await explain();
    await drop(world);
    const { lines, eventsDroppedBefore, lateEventCount, ...rest } = await explain();
    expect(eventsDroppedBefore).toBe(april);
    expect(lateEventCount).toBeUndefined();
    expect({ ...rest, lateEventCount: 1 }).toEqual({ ...before, lines: undefined, lateEventCount: 1 });
    expect(lines).toEqual(before.lines.map(({ usage: _usage, ...line }) => line));
    expect(before.lines.filter(({ usage }) => usage !== undefined)).not.toEqual([]);
    const next = await world.call('invoices.explain', { params: { invoiceId: (await invoiceAt(world, acme, 1)).id } });
    expect(next.data.lines[0]?.usage?.eventCount).toBe(1);
    expect(next.data).not.toHaveProperty('eventsDroppedBefore');
  });

  test('cuts through a billed month as well', async () => {
    const cost = { body: { contractId: acme.contractId } };
    const whole = await world.call('usage.cost', cost);
    await drop(world, '2026-03-15T12:00:00.000Z');
    expect(await keys()).toEqual(['c', 'd', 'e', 'late']);
    expect(await world.call('usage.cost', cost)).toEqual(whole);
    expect(await problemsOf(world)).toEqual([]);
    const rest = { ...cost.body, startDate: '2026-03-20T00:00:00Z', endDate: april };
    expect((await world.call('usage.cost', { body: rest })).totalAmount).toBe(0.77);
  });

  test('is refused while an invoice that is not finalized needs one of them, and drops none', async () => {
    const words =
      /^409 events from before 2026-04-02T00:00:00.000Z are not billed yet: invoice DRAFT-\w+ of contract \S+, for usage from 2026-04-01T00:00:00.000Z to 2026-05-01T00:00:00.000Z, is not finalized$/;
    expect(await refusal(world, 'events.drop', { body: { before: '2026-04-02' } })).toMatch(words);
    expect(await refusal(world, 'events.drop', { body: { before: '2026-04-02', rehearse: true } })).toMatch(words);
    expect(await keys()).toHaveLength(6);
    expect(await refusal(world, 'events.drop', { body: { before: '2026-04-03' } })).toMatch(
      /^422 before: must not be after now/,
    );
  });

  test('is refused for usage by the year until the year is billed', async () => {
    const pricingId = await createPrice(world, acme.meterId, { priceInterval: 'YEAR', name: 'By the year' });
    const { customerId } = acme;
    await createContract(world, {
      customerId,
      pricingIds: [pricingId],
      startDate: '2026-02-01',
      endDate: '2027-02-01',
    });
    expect(await refusal(world, 'events.drop', { body: { before: '2026-04-01' } })).toContain(
      'for usage from 2026-02-01T00:00:00.000Z to 2027-02-01T00:00:00.000Z',
    );
    expect(await refusal(world, 'events.drop', { body: { before: '2026-02-01' } })).toBe('accepted');
  });

  test('passes over an invoice that was cancelled as a draft', async () => {
    await world.call('invoices.cancel', { params: { invoiceId: (await invoiceAt(world, acme, 1)).id } });
    world.clock.set('2026-05-01T00:00:00Z');
    // More of April may come, and counts in its cost.
    await expect(drop(world, '2026-04-20T00:00:00Z')).rejects.toMatchObject({
      message: expect.stringMatching(
        /^events from before 2026-04-20T00:00:00.000Z are still counted: .*to 2026-05-01T00:00:00.000Z, is cancelled$/,
      ),
      hint: `drop that usage whole once it has ended, or drop those from before ${april}`,
    });
    const cost = { body: { contractId: acme.contractId, endDate: '2026-05-01T00:00:00Z' } };
    const whole = await world.call('usage.cost', cost);
    await drop(world, '2026-05-01T00:00:00Z');
    expect({ ...(await world.call('usage.cost', cost)), queriedAt: '' }).toEqual({ ...whole, queriedAt: '' });
  });

  test('refuses what comes from before, and every key that was dropped, and counts nothing twice', async () => {
    await send(world, { customerId: acme.customerId, idempotencyKey: 'timeless', properties: { tokens: 5 } });
    await drop(world);
    const before = await answersOf(world, acme);
    const sent = async (event: object) =>
      await refusal(world, 'usage.ingest', { body: { eventName: 'call', customerId: acme.customerId, ...event } });
    const gone = `409 the event "a" cannot be recorded: events from before ${april} were dropped`;
    expect(await sent({ idempotencyKey: 'a', timestamp: '2026-03-02T08:00:00Z' })).toBe(gone);
    expect(await sent({ idempotencyKey: 'new', timestamp: '2026-03-31T23:59:59.999Z' })).toContain('were dropped');
    const known = '409 the event "b" was recorded before, and has been dropped';
    expect(await sent({ idempotencyKey: 'b', timestamp: '2026-04-01T10:00:00Z' })).toBe(known);
    const again = { eventName: 'call', customerId: acme.customerId, idempotencyKey: 'b' };
    await expect(world.call('usage.ingest', { body: again })).rejects.toMatchObject({
      hint: 'it was counted when it first came; send a new event under another key',
    });
    expect(await sent({ idempotencyKey: 'b' })).toBe(known);
    const batch = [
      { eventName: 'call', customerId: acme.customerId, idempotencyKey: 'fresh' },
      { eventName: 'call', customerId: acme.customerId, idempotencyKey: 'd' },
    ];
    expect(await refusal(world, 'usage.ingestBatch', { body: { events: batch } })).toContain('"d" was recorded before');
    expect(await keys()).toEqual(['e', 'timeless']);
    expect(await sent({ idempotencyKey: 'timeless', properties: { tokens: 5 } })).toBe('accepted');
    expect(
      await sent({
        idempotencyKey: 'e',
        timestamp: april,
        contractId: acme.contractId,
        properties: { tokens: 410, Model: 'large', team: 'red' },
      }),
    ).toBe('accepted');
    expect(await answersOf(world, acme)).toEqual(before);
  });

  test('refuses every question that would need one of them', async () => {
    await drop(world);
    const { contractId, customerId, meterId } = acme;
    const floor = { eventPropertyKey: 'floor', eventPropertyValue: '1' };
    const ofAnother = await createMeter(world, 'OTHER');
    await world.call('budgets.add', { params: { contractId }, body: { ...floor, meterId: ofAnother } });
    const range = { startDate: '2026-03-10T00:00:00Z', endDate: april };
    const asked: readonly (readonly [OperationName, CallInput])[] = [
      ['usage.cost', { body: { contractId, ...range } }],
      ['usage.cost', { body: { contractId, endDate: '2026-03-20T00:00:00Z' } }],
      ['usage.cost', { body: { contractId, eventNames: ['call'] } }],
      ['usage.cost', { body: { contractId, propertyFilters: [{ key: 'team', value: 'red' }] } }],
      ['usage.cost', { body: { customerId, ...range } }],
      ['usage.events', { query: { start: '2026-03-31' } }],
      ['usage.late', { query: { start: '2026-03-31' } }],
      ['meters.test', { params: { meterId }, body: { customerId, ...range } }],
      ['budgets.add', { params: { contractId }, body: { ...floor, eventPropertyValue: '2' } }],
      ['budgets.update', { params: { contractId, index: '1' }, body: { meterId: null } }],
    ];
    for (const [name, input] of asked)
      expect([name, await refusal(world, name, input)]).toEqual([name, expect.stringContaining('dropped')]);
    const pricingIds = [acme.pricingId];
    await expect(createContract(world, { customerId, pricingIds, startDate: '2026-03-31' })).rejects.toThrow('dropped');
    await createContract(world, { customerId, pricingIds, startDate: '2026-04-01' });
    await createContract(world, { customerId, pricingIds: [await createFlatPrice(world)], startDate: '2026-03-31' });
  });

  test('says with every refusal from when on there is something, and what can be done of the time before', async () => {
    await drop(world);
    const { contractId, customerId, meterId, pricingId } = acme;
    const plan = await world.call('plans.create', { body: { name: 'More', items: [{ pricingId }] } });
    const march = '2026-03-10T00:00:00.000Z';
    const range = { startDate: march, endDate: april };
    const event = { eventName: 'call', customerId, timestamp: march, idempotencyKey: 'new' };
    const begin = `begin at ${april} or later`;
    const whole = `${begin}; for a contract, whole billing periods can be read too, without filters`;
    const asked: readonly (readonly [OperationName, CallInput, string, string])[] = [
      ['usage.cost', { body: { contractId, ...range } }, `usage cannot be read from ${march} on`, whole],
      ['usage.cost', { body: { customerId, ...range } }, `usage of a customer cannot be read from ${march} on`, whole],
      ['usage.events', { query: { start: march } }, `events cannot be listed from ${march} on`, begin],
      [
        'meters.test',
        { params: { meterId }, body: { customerId, ...range } },
        `a meter cannot be tested from ${march} on`,
        begin,
      ],
      [
        'contracts.create',
        { body: { planId: plan.data.id, customerId, startDate: '2026-03-10' } },
        `usage cannot be billed from ${march} on`,
        begin,
      ],
      [
        'usage.ingest',
        { body: event },
        'the event "new" cannot be recorded',
        'leave it out; to bill its usage all the same, send it with a later timestamp',
      ],
    ];
    for (const [name, input, what, hint] of asked) {
      await expect(world.call(name, input)).rejects.toMatchObject({
        message: `${what}: events from before ${april} were dropped`,
        hint,
      });
    }
    const budget = { eventPropertyKey: 'floor', eventPropertyValue: '1' };
    await expect(world.call('budgets.add', { params: { contractId }, body: budget })).rejects.toMatchObject({
      message: 'what floor has used of this contract can no longer be known: its events of billed periods were dropped',
      hint: "add the budget to the customer's next contract, or use a group key of its meters",
    });
  });

  test('leaves budgets of group keys, and of properties that were told apart', async () => {
    await drop(world);
    const { contractId } = acme;
    const add = async (eventPropertyKey: string, eventPropertyValue: string) =>
      await world.call('budgets.add', { params: { contractId }, body: { eventPropertyKey, eventPropertyValue } });
    await add('Model', 'large');
    await add('team', 'blue');
    const { budgets } = (await world.call('budgets.usage', { params: { contractId } })).data;
    expect(budgets.map(({ consumedCents }) => consumedCents)).toEqual([921, 562, 51]);
  });

  test('that is moved on claims to have told apart nothing that it had not', async () => {
    await drop(world, '2026-03-10T00:00:00Z');
    await grant(world, acme, { amountCents: 40, specifiers: { properties: { city: 'Rome' } } });
    await drop(world);
    const body = { eventPropertyKey: 'city', eventPropertyValue: 'Rome' };
    expect(await refusal(world, 'budgets.add', { params: { contractId: acme.contractId }, body })).toContain('dropped');
  });

  test('can be rehearsed, repeated, and moved on', async () => {
    expect(await drop(world, april, { rehearse: true })).toMatchObject({ isRehearsal: true, eventCount: 5 });
    expect(await keys()).toHaveLength(6);
    await drop(world, '2026-03-10T00:00:00Z');
    expect(await drop(world)).toMatchObject({ eventCount: 4 });
    expect(await drop(world)).toMatchObject({ eventCount: 0 });
    expect(await drop(world, '2026-03-10T00:00:00Z')).toMatchObject({ eventCount: 0 });
    expect(await keys()).toEqual(['e']);
  });

  test('that is cut off behind the decision leaves rows that nobody sees, which doctor tells of, and is done again', async () => {
    const rows = async () =>
      (await clickhouse?.ask(events, 'SELECT count() AS rows FROM tallybookEvents FINAL'))?.[0]?.['rows'];
    const { retention } = world.store.events;
    const cut = {
      ...world.store.events,
      retention: { ...retention, drop: async () => await Promise.reject(new UnavailableError('cut off')) },
    };
    const { createEngine } = await import('../../src/engine/engine.ts');
    const { countedBytes } = await import('../support/world.ts');
    const engine = createEngine({
      store: { ...world.store, events: cut as typeof world.store.events },
      now: world.clock.now,
      newId: () => 'never',
      randomBytes: countedBytes(),
      finalizationGraceHours: 0,
    });
    // All that waits moves first, so that the rows are there to be left.
    await drop(world, '2026-02-01T00:00:00Z');
    expect(await rows()).toBe(6);
    await expect(engine.as(await engine.owner()).call('events.drop', { body: { before: april } })).rejects.toThrow(
      new UnknownOutcomeError(
        'these events are dropped, and nobody sees them any more; their rows are still stored; the next step failed: cut off',
        { hint: 'repeat the command to have the rows removed', isRetryable: true },
      ),
    );
    expect(await rows()).toBe(6);
    expect(await keys()).toEqual(['e']);
    expect((await world.call('usage.cost', { body: { contractId: acme.contractId } })).totalAmount).toBe(9.72);
    expect(await problemsOf(world)).toEqual([expect.stringContaining('5 rows of events that were dropped')]);
    await drop(world);
    expect(await rows()).toBe(1);
    expect(await problemsOf(world)).toEqual([]);
  });

  test('doctor holds billed lines to what was kept of them', async () => {
    await drop(world);
    await world.store.write(async (tx) => {
      const row = await tx.selectFrom('frozenUsage').select('content').executeTakeFirstOrThrow();
      const content = row.content.replace('"quantity":"333"', '"quantity":"332"');
      await tx.updateTable('frozenUsage').set({ content }).execute();
    });
    expect(await problemsOf(world)).toEqual([expect.stringMatching(/^invoice-lines: invoice INV-000001 has quantity/)]);
  });

  test('is refused where events are in the book itself', async () => {
    const inside = await createWorld();
    expect(await refusal(inside, 'events.drop', { body: { before: '2026-01-01' } })).toBe('accepted');
    await furnish(inside);
    // April is a draft: finalizing it would change nothing.
    for (const before of [april, '2026-04-02']) {
      for (const rehearse of [true, false]) {
        expect(await refusal(inside, 'events.drop', { body: { before, rehearse } })).toBe(
          '409 the events of :memory: are in that database itself, where none are ever dropped',
        );
      }
    }
    expect((await inside.call('usage.events')).total).toBe(6);
    await inside.close();
  });

  test('is refused to whoever is not the owner of the database', async () => {
    const { data } = await world.call('keys.create', { body: { name: 'all', scopes: ['*'] } });
    const caller = world.engine.as(await world.engine.authenticate(data.key));
    await expect(caller.call('events.drop', { body: { before: april } })).rejects.toThrow('only to the owner');
  });
});
