import { beforeEach, describe, expect, test } from 'vitest';

import {
  balance,
  finalize,
  grant,
  grantPaid,
  invoiceAt,
  ledger,
  movements,
  refusal,
  settle,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import type { World } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

type Body = Record<string, unknown>;

const unknownId = '01900000-0000-7000-8000-ffffffffffff';
const expiresAt = '2026-12-31T00:00:00Z';

/** A grant with everything that the answer says beside its body. */
async function granted(body: Body) {
  return await world.billing.call('credits.grant', {
    params: { contractId: acme.contractId },
    body: { expiresAt, ...body },
  });
}

async function refusedGrant(body: Body): Promise<string> {
  return await refusal(world, 'credits.grant', {
    params: { contractId: acme.contractId },
    body: { expiresAt, ...body },
  });
}

describe('a promotional grant', () => {
  test('answers with its entry as the interface shows it', async () => {
    const { status, body } = await granted({ creditAmount: 500, creditRateCents: 10, metadata: { ticket: 4711 } });
    expect(status).toBe(201);
    expect(body).toEqual({
      data: {
        id: body.data.id,
        type: 'grant',
        amountCents: 5000,
        creditAmount: 500,
        creditRateCents: 10,
        currency: 'USD',
        description: 'Promotional credit grant',
        sourceType: 'promotional',
        invoiceId: null,
        grantEntryId: null,
        expiresAt: '2026-12-31T00:00:00.000Z',
        isPromotional: true,
        createdAt: '2026-03-01T00:00:00.000Z',
        purchaseRateCents: 0,
        balanceAfterCents: 5000,
        creditBalanceAfter: 500,
        metadata: { ticket: 4711 },
      },
    });
  });

  test('of dollars tracks no credits', async () => {
    const { body } = await granted({ amountCents: 700 });
    expect(body.data).toMatchObject({ amountCents: 700, creditAmount: 0, creditRateCents: 0, metadata: null });
  });

  test.each([
    [{ creditRateCents: 0, creditAmount: 25 }, 0, 25],
    [{ amountCents: 0, creditRateCents: 0, creditAmount: 25 }, 0, 25],
    [{ amountCents: 0 }, 0, 0],
    [{ creditRateCents: 3, creditAmount: 0.5 }, 2, 0.5],
    [{ amountCents: 2, creditRateCents: 3, creditAmount: 0.5 }, 2, 0.5],
    [{ creditRateCents: 1, creditAmount: 0.000001 }, 0, 0.000001],
  ])('of %j is worth %d cents and %d credits', async (body, amountCents, creditAmount) => {
    expect((await granted(body)).body.data).toMatchObject({ amountCents, creditAmount });
  });

  test('loses no value of its metadata: names that are one in NFC are refused, others come out in it', async () => {
    expect(await refusedGrant({ amountCents: 1, metadata: { '\u00e9': 1, 'e\u0301': 2 } })).toMatch(
      /^422 metadata.*twice/,
    );
    const { body } = await granted({ amountCents: 1, metadata: { 'e\u0301': 2 } });
    expect(body.data.metadata).toEqual({ '\u00e9': 2 });
  });

  test.each([{ a: '\ud800' }, { a: '\u0000' }, { a: ['\ud800'] }, { a: { '\udfff': 1 } }, { a: [{ b: 'x\u0000' }] }])(
    'takes no metadata %j that not every database can hold',
    async (metadata) => {
      expect(await refusedGrant({ amountCents: 1, metadata })).toBe(
        '422 metadata: must be well-formed Unicode without NUL throughout',
      );
    },
  );

  test('drops the two reserved names of its metadata', async () => {
    const { body } = await granted({ amountCents: 1, metadata: { isPromotional: false, deductionBatchId: 'x', a: 1 } });
    expect(body.data.metadata).toEqual({ a: 1 });
  });

  test.each([
    ['x', 16_376],
    ['\u6f22', 5458],
  ])('takes 16 KiB of metadata in UTF-8, and no more: of %s %d times', async (letter, count) => {
    const grantWith = async (times: number) =>
      await refusedGrant({ amountCents: 1, metadata: { a: letter.repeat(times) } });
    expect(await grantWith(count)).toBe('accepted');
    expect(await grantWith(count + 1)).toBe('422 metadata: must be at most 16384 bytes of JSON');
  });

  test('takes 16 KiB of specifiers, and no more: every reading of the ledger reads them', async () => {
    const grantWith = async (count: number) => {
      const properties = { model: Array.from({ length: 4 }, (_, index) => String(index).repeat(count)) };
      return await refusedGrant({ amountCents: 1, specifiers: { properties } });
    };
    expect(await grantWith(4_085)).toBe('accepted');
    expect(await grantWith(4_096)).toBe('422 specifiers: must be at most 16384 bytes of JSON');
  });

  test.each([
    ['a rate without credits', { creditRateCents: 5 }, '422 creditAmount'],
    ['credits without a rate', { creditAmount: 5 }, '422 creditRateCents'],
    ['neither mode', {}, '422 amountCents'],
    [
      'amounts that contradict each other',
      { amountCents: 51, creditAmount: 0.1, creditRateCents: 10 },
      '422 amountCents: contradicts the credits: 0.1 at a rate of 10 come to 1 cent',
    ],
    [
      'more than 10^15 cents',
      { creditAmount: 1_000_000_000_000, creditRateCents: 1001 },
      '422 creditAmount: comes to 1001000000000000 cents',
    ],
    ['an expiry that has passed', { amountCents: 1, expiresAt: '2026-03-01T00:00:00Z' }, '422 expiresAt'],
    [
      'specifiers that name nothing',
      {
        amountCents: 1,
        specifiers: { meterIds: [unknownId], pricingIds: [unknownId], productIds: [unknownId] },
      },
      '422 specifiers.meterIds[0]: names no meter; specifiers.pricingIds[0]: names no price; specifiers.productIds[0]',
    ],
  ])('is refused with %s', async (_what, body, words) => {
    expect((await refusedGrant(body)).startsWith(words)).toBe(true);
    expect(await ledger(world, acme)).toEqual([]);
  });

  test('is accepted of 10^15 cents by credits and rate', async () => {
    expect(await refusedGrant({ creditAmount: 1_000_000_000_000, creditRateCents: 1000 })).toBe('accepted');
  });

  test.each([
    ['with an end', '2026-04-01'],
    ['that was cancelled', undefined],
  ])('is refused once the last invoice of an ended contract %s is finalized', async (_how, endDate) => {
    const ended = await subscribe(world, { name: 'ended', contract: { endDate } });
    const params = { contractId: ended.contractId };
    const cancelAt = 'end_of_period';
    if (endDate === undefined) await world.call('contracts.cancel', { params, body: { cancelAt } });
    world.clock.set('2026-04-01T00:00:00Z');
    const body = { amountCents: 1, expiresAt };
    expect(await refusal(world, 'credits.grant', { params, body })).toBe('accepted');
    await finalize(world, (await invoiceAt(world, ended, 0)).id);
    expect(await refusal(world, 'credits.grant', { params, body })).toBe(
      `409 the last invoice of contract ${ended.contractId} is closed: no usage of it is billed any more`,
    );
  });
});

describe('what no database could keep as a number', () => {
  const most = { creditRateCents: 0, creditAmount: 1_000_000_000_000 };

  test('is not granted: a wallet of nine times the most credits takes no tenth', async () => {
    for (let count = 0; count < 9; count += 1) await granted(most);
    const before = await ledger(world, acme);
    expect(await refusedGrant(most)).toBe(
      `409 the wallet of contract ${acme.contractId} would hold more than 9000000000000000000 cents or 9000000000000 credits`,
    );
    expect(await refusedGrant({ amountCents: 1 })).toBe('accepted');
    expect((await ledger(world, acme)).slice(0, -1)).toEqual(before);
  });

  test('is not paid of a line by free credits, however much they are worth', async () => {
    const dear = await subscribe(world, {
      name: 'dear',
      contract: { creditSettings: { creditRateCents: 1_000_000_000 } },
    });
    await grant(world, dear, most);
    await use(world, dear, { tokens: '9'.repeat(30), at: '2026-03-01T00:00:00Z' });
    expect(await settle(world, dear)).toMatchObject([{ type: 'usage', amountCents: 0, creditAmount: -1e12 }]);
    world.clock.set('2026-04-01T00:00:00Z');
    const { id } = await invoiceAt(world, dear, 0);
    expect(await refusal(world, 'invoices.finalize', { params: { invoiceId: id } })).toMatch(
      /^409 .* cannot be finalized over/,
    );
    expect(await refusal(world, 'contracts.cancel', { params: { contractId: dear.contractId }, body: {} })).toBe(
      'accepted',
    );
  });
});

describe('the same externalId', () => {
  test('gives the entry that it made, and grants nothing more', async () => {
    const first = await granted({ amountCents: 700, externalId: 'ticket-1' });
    world.clock.advance({ hours: 1 });
    const second = await granted({ amountCents: 700, externalId: 'ticket-1' });
    expect(second).toEqual({ ...first, status: 200, isReplay: true, mismatches: [] });
    expect(await movements(world, acme)).toEqual(['grant 700 0']);
  });

  test('with another body still gives the first entry, and says what differs', async () => {
    const first = await granted({ amountCents: 700, externalId: 'ticket-1', specifiers: { eventNames: ['a'] } });
    const second = await granted({
      amountCents: 800,
      description: 'Other',
      expiresAt: '2027-01-01T00:00:00Z',
      externalId: 'ticket-1',
    });
    expect(second.body).toEqual(first.body);
    expect(second.mismatches).toEqual(['amountCents', 'expiresAt', 'description', 'specifiers']);
  });

  test('is the same request in other words when it means the same', async () => {
    await granted({ creditAmount: 10, creditRateCents: 5, externalId: 'a', metadata: { x: 1, y: { p: 1, q: 2 } } });
    const { mismatches } = await granted({
      amountCents: 50,
      creditAmount: JSON.rawJSON('10.0'),
      creditRateCents: 5,
      description: 'Promotional credit grant',
      expiresAt: '2026-12-31T01:00:00+01:00',
      externalId: 'a',
      metadata: { y: { q: 2, p: 1 }, x: 1 },
    });
    expect(mismatches).toEqual([]);
  });

  test('is replayed even when the grant has expired, was reversed, or the contract has ended', async () => {
    const ended = await subscribe(world, { name: 'ended', contract: { endDate: '2026-04-01' } });
    const params = { contractId: ended.contractId };
    const body = { amountCents: 700, expiresAt: '2026-03-15T00:00:00Z', externalId: 'ticket-1' };
    const first = await world.billing.call('credits.grant', { params, body });
    await world.call('credits.reverse', { params: { ...params, entryId: first.body.data.id }, body: {} });
    world.clock.set('2026-04-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, ended, 0)).id);
    const second = await world.billing.call('credits.grant', { params, body });
    expect(second).toMatchObject({ status: 200, isReplay: true, body: first.body });
  });

  test('is one for each contract', async () => {
    const other = await subscribe(world, { name: 'other' });
    await granted({ amountCents: 700, externalId: 'ticket-1' });
    await grant(world, other, { amountCents: 700, externalId: 'ticket-1' });
    expect(await movements(world, other)).toEqual(['grant 700 0']);
  });

  test('is shared by promotional and paid grants', async () => {
    await granted({ amountCents: 700, externalId: 'a' });
    const { mismatches } = await world.billing.call('credits.grantPaid', {
      params: { contractId: acme.contractId },
      body: { amountCents: 700, expiresAt, externalId: 'a', description: 'Promotional credit grant' },
    });
    expect(mismatches).toEqual(['isPromotional']);
  });

  test('is granted once by sixteen requests at a time', async () => {
    const requests = Array.from({ length: 16 }, async () => await granted({ amountCents: 700, externalId: 'a' }));
    const answers = await Promise.all(requests);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    expect(await movements(world, acme)).toEqual(['grant 700 0']);
  });
});

describe('a paid grant', () => {
  test('keeps its purchase rate and may never expire', async () => {
    const { data } = await world.call('credits.grantPaid', {
      params: { contractId: acme.contractId },
      body: { creditAmount: 10, creditRateCents: 5 },
    });
    expect(data).toMatchObject({
      isPromotional: false,
      purchaseRateCents: 5,
      expiresAt: null,
      sourceType: 'contract',
      description: 'Credit purchase',
    });
  });
});

describe('the ledger', () => {
  test('is empty without a wallet', async () => {
    const { data } = await world.call('credits.ledger', { params: { contractId: acme.contractId } });
    expect(data).toEqual({ totalCount: 0, entries: [] });
  });

  test('shows everything, newest first, or a part that is asked for', async () => {
    for (const amountCents of [1, 2, 3]) {
      await grant(world, acme, { amountCents });
      world.clock.advance({ hours: 1 });
    }
    await use(world, acme, { tokens: 1, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    const read = async (query: Record<string, string>) => {
      const { data } = await world.call('credits.ledger', { params: { contractId: acme.contractId }, query });
      return [data.totalCount, ...data.entries.map((entry) => Number(entry.amountCents))];
    };
    expect(await read({})).toEqual([4, -1, 3, 2, 1]);
    expect(await read({ type: 'grant', limit: '1', offset: '1' })).toEqual([3, 2]);
    expect(await read({ createdAfter: '2026-03-01T02:00:00Z' })).toEqual([2, -1, 3]);
    expect(await read({ createdBefore: '2026-03-01T01:00:00Z' })).toEqual([1, 1]);
  });

  test('tells on request what each grant pays for, and which entry a reversal undoes', async () => {
    const specifiers = { eventNames: ['llm.request'] };
    const limited = await grant(world, acme, { amountCents: 1, specifiers });
    const free = await grant(world, acme, { amountCents: 2 });
    const params = { contractId: acme.contractId };
    await world.call('credits.reverse', { params: { ...params, entryId: free }, body: { description: 'Twice' } });
    const shown = async (query: Record<string, string>) =>
      (await world.call('credits.ledger', { params, query })).data.entries.map(
        ({ type, id, paysFor, reversesEntryId }) => [type === 'reversal' ? type : id, paysFor, reversesEntryId],
      );
    expect(await shown({ include: 'origin' })).toEqual([
      ['reversal', undefined, free],
      [free, {}, undefined],
      [limited, specifiers, undefined],
    ]);
    expect(await shown({})).toEqual(['reversal', free, limited].map((each) => [each, undefined, undefined]));
  });
});

describe('the balance', () => {
  test('lists every grant in burn order with its state', async () => {
    const later = await grant(world, acme, { creditAmount: 30, creditRateCents: 10, description: 'Later' });
    const sooner = await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-11T12:00:00Z' });
    await use(world, acme, { tokens: 100, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    const read = await balance(world, acme);
    expect(read.balance).toEqual({
      balanceCents: 300,
      creditBalance: 30,
      currency: 'USD',
      blockCount: 2,
      asOf: '2026-03-01T00:00:00.000Z',
    });
    expect(read.blocks).toMatchObject([
      { id: sooner, status: 'depleted', priority: 1, daysUntilExpiry: 10, remainingCents: 0, originalCents: 100 },
      {
        id: later,
        status: 'active',
        priority: 2,
        daysUntilExpiry: 305,
        remainingCents: 300,
        remainingCredits: 30,
        description: 'Later',
      },
    ]);
  });

  test('shows null days for a grant that never expires', async () => {
    await grantPaid(world, acme, { amountCents: 1 });
    expect((await balance(world, acme)).blocks[0]).toMatchObject({ daysUntilExpiry: null, expiresAt: null });
  });
});

describe('another organization', () => {
  test('finds no contract to grant to, and its own objects cannot be named in specifiers elsewhere', async () => {
    const rival = await world.addOrganization('rival');
    const params = { contractId: acme.contractId };
    const calls = [
      ['credits.grant', { params, body: { amountCents: 1, expiresAt } }],
      ['credits.grantPaid', { params, body: { amountCents: 1 } }],
      ['credits.ledger', { params }],
      ['credits.balance', { params }],
      ['credits.adjust', { params, body: { grantEntryId: unknownId, amountCents: 1, description: 'x' } }],
      ['credits.reverse', { params: { ...params, entryId: unknownId }, body: {} }],
      ['credits.settle', { params }],
    ] as const;
    for (const [name, input] of calls) await expect(rival.call(name, input)).rejects.toThrow('no contract has this id');
    const there: World = { ...world, call: async (name, input) => (await rival.call(name, input)).body };
    const foreign = await subscribe(there);
    expect(await refusedGrant({ amountCents: 1, specifiers: { meterIds: [foreign.meterId] } })).toBe(
      '422 specifiers.meterIds[0]: names no meter',
    );
  });
});
