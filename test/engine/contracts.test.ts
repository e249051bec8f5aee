import { describe, expect, test } from 'vitest';

import {
  finalize,
  invoiceAt,
  invoices,
  ledger,
  linesOf,
  movements,
  refusal,
  subscribe,
  use,
} from '../support/billing-scenario.ts';
import { createCustomer, createFlatPrice, createMeter, createPlan, createPrice } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const unknownId = '01900000-0000-7000-8000-ffffffffffff';

describe('creating a contract', () => {
  test('answers with the contract as the interface shows it', async () => {
    const customerId = await createCustomer(world, 'acme');
    const planId = await createPlan(world, [await createFlatPrice(world)]);
    const { status, body } = await world.billing.call('contracts.create', {
      body: {
        planId,
        customerId,
        startDate: '2026-03-01',
        endDate: '2027-03-01',
        metadata: { order: 'PO-1', seats: 5 },
      },
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: body.data.id,
      customerId,
      planId,
      name: 'Acme - Pay as you go',
      startDate: '2026-03-01',
      endDate: '2027-03-01',
      isActive: true,
      createdAt: '2026-03-01T00:00:00.000Z',
      metadata: { order: 'PO-1', seats: 5 },
    });
    expect((await world.call('contracts.get', { params: { contractId: body.data.id } })).data).toEqual(body.data);
  });

  test('leaves endDate out where the contract rolls', async () => {
    const { contractId } = await subscribe(world);
    const { data } = await world.call('contracts.get', { params: { contractId } });
    expect(Object.keys(data)).not.toContain('endDate');
  });

  test.each([
    ['an unknown plan', { planId: unknownId }, 'planId: names no plan'],
    ['an unknown customer', { customerId: unknownId }, 'customerId: names no customer'],
    ['an end on the start', { endDate: '2026-03-01' }, 'endDate: must be after startDate'],
    ['an end before the start', { endDate: '2026-02-01' }, 'endDate: must be after startDate'],
    [
      'a budget of an unknown meter',
      {
        creditSettings: {
          budgets: [{ eventPropertyKey: 'model', eventPropertyValue: 'large', meterId: unknownId }],
        },
      },
      'creditSettings.budgets[0].meterId',
    ],
    [
      'a price that the plan does not have',
      { overrides: [{ basePricingId: unknownId, unitAmount: '1' }] },
      'overrides[0].basePricingId',
    ],
    [
      'a meter that the plan does not have',
      { overrides: [{ meterId: unknownId, dimensions: {}, unitAmount: '1' }] },
      'overrides[0].meterId',
    ],
    [
      'an expiry of its credits that has passed',
      { creditGrantCents: 5, creditSettings: { expiresAt: '2026-03-01T00:00:00Z' } },
      'creditSettings.expiresAt: must be after now',
    ],
  ])('refuses %s', async (_what, body, words) => {
    const customerId = await createCustomer(world, 'acme');
    const planId = await createPlan(world, [await createFlatPrice(world)]);
    const input = { body: { planId, customerId, startDate: '2026-03-01', ...body } };
    const said = await refusal(world, 'contracts.create', input);
    expect(said.startsWith('422 ')).toBe(true);
    expect(said).toContain(words);
    expect((await world.call('contracts.list')).total).toBe(0);
  });

  test.each([
    [
      'the same price twice',
      { unitAmount: '1' },
      { unitAmount: '2' },
      'overrides[1].basePricingId: is overridden twice',
    ],
    ['tiers of a price without tiers', { pricingTiers: [{ unitAmount: '1' }] }, undefined, 'overrides[0].pricingTiers'],
    ['nothing', {}, undefined, 'overrides[0]: overrides nothing'],
    [
      'the flat amount of tiers on the quantity',
      { flatAmount: '4' },
      undefined,
      'overrides[0].flatAmount: this price has its flat amounts in its tiers',
      { model: 'TIER', unitAmount: undefined, pricingTiers: [{ unitAmount: '1' }] },
    ],
  ])('refuses overrides of %s', async (_what, first, second, words, price: Record<string, unknown> = {}) => {
    const customerId = await createCustomer(world, 'acme');
    const basePricingId = await createFlatPrice(world, price);
    const planId = await createPlan(world, [basePricingId]);
    const overrides = [first, second].flatMap((each) => (each === undefined ? [] : [{ basePricingId, ...each }]));
    const input = { body: { planId, customerId, startDate: '2026-03-01', overrides } };
    expect(await refusal(world, 'contracts.create', input)).toContain(words);
  });

  describe('of usage', () => {
    const tiers = [{ minQty: '0', maxQty: '10', unitAmount: '1' }, { unitAmount: '0.5' }];

    async function overridden(price: Record<string, unknown>, override: Record<string, unknown>) {
      const customerId = await createCustomer(world, 'acme');
      const basePricingId = await createPrice(world, await createMeter(world, 'TOKENS'), price);
      const planId = await createPlan(world, [basePricingId]);
      return { body: { planId, customerId, startDate: '2026-03-01', overrides: [{ basePricingId, ...override }] } };
    }

    test.each([
      ['the unit amount of tiers', { pricingTiers: tiers }, { unitAmount: '1' }, 'unitAmount: this price has tiers'],
      [
        'tiers with a gap',
        { pricingTiers: tiers },
        { pricingTiers: [tiers[0], { minQty: '20', unitAmount: '1' }] },
        'pricingTiers[1].minQty: must be 10',
      ],
      [
        'a tier without an amount',
        { pricingTiers: tiers },
        { pricingTiers: [tiers[0], { minQty: '10' }] },
        'pricingTiers[1].unitAmount: is required, or flatAmount',
      ],
      ['a quantity', {}, { quantity: '2' }, 'quantity: a price by usage takes its quantity from its meter'],
    ])('refuses overrides of %s', async (_what, price, override, words) => {
      const input = await overridden(price, override);
      expect(await refusal(world, 'contracts.create', input)).toContain(`422 overrides[0].${words}`);
    });

    test('tiers are overridden by tiers', async () => {
      const { data } = await world.call(
        'contracts.create',
        await overridden({ pricingTiers: tiers }, { pricingTiers: [{ unitAmount: '0.25' }] }),
      );
      const { data: read } = await world.call('contracts.get', {
        params: { contractId: data.id },
        query: { include: 'terms' },
      });
      expect(read.terms?.items[0]?.pricingTiers).toEqual([
        { minQty: '0', maxQty: '', unitAmount: '0.25', flatAmount: '0' },
      ]);
    });
  });

  test('refuses a price that comes to more than an invoice can be over', async () => {
    const customerId = await createCustomer(world, 'acme');
    const basePricingId = await createFlatPrice(world);
    const planId = await createPlan(world, [basePricingId]);
    const overrides = [{ basePricingId, quantity: '999999999999999' }];
    const input = { body: { planId, customerId, startDate: '2026-03-01', overrides } };
    expect(await refusal(world, 'contracts.create', input)).toBe(
      '422 overrides[0]: comes to 3099999999999996900 cents with this price, more than 1000000000000000',
    );
  });

  test('refuses a rate for what its meter does not tell apart', async () => {
    const customerId = await createCustomer(world, 'acme');
    const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model'] });
    const planId = await createPlan(world, [await createPrice(world, meterId)]);
    const overrides = [{ meterId, dimensions: { region: 'eu' }, unitAmount: '1' }];
    const input = { body: { planId, customerId, startDate: '2026-03-01', overrides } };
    expect(await refusal(world, 'contracts.create', input)).toContain(
      'overrides[0].dimensions.region: is not a group key',
    );
  });
});

describe('the credits that a contract begins with', () => {
  test('are a paid grant, billed on the first invoice', async () => {
    const acme = await subscribe(world, {
      contract: { creditGrantCents: 10_000, creditSettings: { expiresAt: '2026-12-01T00:00:00Z' } },
    });
    expect(await ledger(world, acme)).toMatchObject([
      {
        type: 'grant',
        amountCents: 10_000,
        isPromotional: false,
        sourceType: 'contract',
        expiresAt: '2026-12-01T00:00:00.000Z',
      },
    ]);
    const [first, second] = await invoices(world, acme);
    expect(first && linesOf(first)).toEqual(['Tokens 0', 'Prepaid credits 10000']);
    expect(second && linesOf(second)).toEqual(['Tokens 0']);
  });

  test.each([
    ['the default of the plan when they are not given', undefined, ['grant 4200 0']],
    ['none when they are null', null, []],
    ['none when they are 0', 0, []],
    ['those given', 77, ['grant 77 0']],
  ])('are %s', async (_rule, creditGrantCents, expected) => {
    const customerId = await createCustomer(world, 'acme');
    const pricingId = await createFlatPrice(world);
    const plan = await world.call('plans.create', {
      body: { name: 'Prepaid', items: [{ pricingId }], metadata: { defaultCreditGrantCents: 4200 } },
    });
    const { data } = await world.call('contracts.create', {
      body: {
        customerId,
        planId: plan.data.id,
        startDate: '2026-03-01',
        ...(creditGrantCents === undefined ? {} : { creditGrantCents }),
      },
    });
    const acme = { customerId, contractId: data.id, meterId: '', pricingId };
    expect(await movements(world, acme)).toEqual(expected);
  });

  test('lapse with the last invoice of the contract', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-05-01', creditGrantCents: 1000 } });
    await use(world, acme, { tokens: 300, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-05-01T00:00:00Z');
    await finalize(world, (await invoiceAt(world, acme, 0)).id);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0']);
    await finalize(world, (await invoiceAt(world, acme, 1)).id);
    expect(await movements(world, acme)).toEqual(['grant 1000 0', 'usage -300 0', 'expiration -700 0']);
  });
});

describe('the terms of a contract', () => {
  test('take what happens when credits run out from the plan, unless they say it themselves', async () => {
    const customerId = await createCustomer(world, 'acme');
    const { data: plan } = await world.call('plans.create', {
      body: {
        name: 'Watched',
        items: [{ pricingId: await createFlatPrice(world) }],
        metadata: { defaultCreditSettings: { onDepletion: 'alert_only' } },
      },
    });
    const settings = [undefined, { creditRateCents: 5 }, { onDepletion: 'auto_invoice' }];
    for (const creditSettings of settings) {
      const body = { planId: plan.id, customerId, startDate: '2026-03-01', creditSettings };
      await world.call('contracts.create', { body });
    }
    const { data } = await world.call('contracts.list', { query: { include: 'terms' } });
    const found = data.toReversed().map(({ terms }) => terms?.creditSettings.onDepletion);
    expect(found).toEqual(['alert_only', 'alert_only', 'auto_invoice']);
  });

  test('are what was frozen when it was made, and shown where they are asked for', async () => {
    const customerId = await createCustomer(world, 'acme');
    const pricingId = await createFlatPrice(world);
    const { data } = await world.call('contracts.create', {
      body: {
        planId: await createPlan(world, [pricingId]),
        customerId,
        startDate: '2026-03-01',
        netTerms: 14,
        creditGrantCents: 500,
        creditSettings: {
          onDepletion: 'alert_only',
          creditRateCents: 10,
          alertThresholdsCents: [100],
          expiresAt: '2027-01-01T00:00:00Z',
        },
        overrides: [{ basePricingId: pricingId, unitAmount: '29.50', quantity: '3' }],
      },
    });
    const call = { params: { contractId: data.id } };
    expect((await world.call('contracts.get', call)).data).toEqual(data);
    const whole = (await world.call('contracts.get', { ...call, query: { include: 'terms' } })).data;
    expect(whole).toEqual({
      ...data,
      terms: {
        netTerms: 14,
        effectiveEndDate: null,
        creditGrantCents: 500,
        creditSettings: {
          onDepletion: 'alert_only',
          creditRateCents: 10,
          expiresAt: '2027-01-01T00:00:00.000Z',
          alertThresholdsCents: [100],
        },
        items: [
          {
            pricingId,
            quantity: '3',
            unitAmount: '29.50',
            flatAmount: null,
            pricingTiers: [],
            meterId: null,
            rates: [],
            fallbackUnitAmount: null,
          },
        ],
      },
    });
    expect((await world.call('contracts.list', { query: { include: 'terms' } })).data).toEqual([whole]);
    await world.call('contracts.cancel', call);
    const cancelled = (await world.call('contracts.get', { ...call, query: { include: 'terms' } })).data;
    expect(cancelled.terms?.effectiveEndDate).toBe('2026-04-01');
  });
});

describe('metadata', () => {
  test('is replaced as a whole, and cleared by null', async () => {
    const { contractId } = await subscribe(world, { contract: { metadata: { a: 1, b: true } } });
    const update = async (metadata: unknown) =>
      (await world.call('contracts.update', { params: { contractId }, body: { metadata } })).data.metadata;
    expect(await update({ c: 'x' })).toEqual({ c: 'x' });
    expect(await update(null)).toEqual({});
    expect((await world.call('contracts.get', { params: { contractId } })).data.metadata).toEqual({});
  });

  test('keeps numbers digit by digit', async () => {
    const { contractId } = await subscribe(world);
    const metadata = { big: JSON.rawJSON('12345678901234567890.10') };
    await world.call('contracts.update', { params: { contractId }, body: { metadata } });
    const { data } = await world.call('contracts.get', { params: { contractId } });
    expect(JSON.stringify(data.metadata)).toBe('{"big":12345678901234567890.10}');
  });

  test.each([
    ['a\u0000', 'must be well-formed Unicode without NUL'],
    ['\ud800', 'must be well-formed Unicode without NUL'],
    ['x'.repeat(501), 'must have at most 500 characters'],
    [[], 'must be text, a number or a boolean'],
    [null, 'must be text, a number or a boolean'],
  ])('says what is wrong with %j', async (value, words) => {
    const { contractId } = await subscribe(world);
    const call = refusal(world, 'contracts.update', { params: { contractId }, body: { metadata: { a: value } } });
    expect(await call).toBe(`422 metadata.a: ${words}`);
  });
});

describe('the list of contracts', () => {
  test('filters by customer, own customer id, plan and activity, newest first', async () => {
    const acme = await subscribe(world);
    world.clock.advance({ milliseconds: 1 });
    const other = await subscribe(world, { name: 'other', contract: { endDate: '2026-04-01' } });
    const list = async (query: Record<string, string> = {}) =>
      (await world.call('contracts.list', { query })).data.map((contract) => contract.id);
    expect(await list()).toEqual([other.contractId, acme.contractId]);
    expect(await list({ customerId: acme.customerId })).toEqual([acme.contractId]);
    expect(await list({ externalCustomerId: 'other' })).toEqual([other.contractId]);
    expect(await list({ externalCustomerId: 'nobody' })).toEqual([]);
    expect(await list({ limit: '1', offset: '1' })).toEqual([acme.contractId]);
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    expect(await list({ planId: data.planId })).toEqual([acme.contractId]);
    expect(await list({ isActive: 'false' })).toEqual([]);
    world.clock.set('2026-04-01T00:00:00Z');
    expect(await list({ isActive: 'false' })).toEqual([other.contractId]);
    expect(await list({ isActive: 'true' })).toEqual([acme.contractId]);
  });
});

describe('another organization', () => {
  test('sees nothing of a contract, and cannot use what is not its own', async () => {
    const acme = await subscribe(world);
    const rival = await world.addOrganization('rival');
    const { data } = await world.call('contracts.get', { params: { contractId: acme.contractId } });
    for (const contractId of [acme.contractId, unknownId, 'nonsense']) {
      await expect(rival.call('contracts.get', { params: { contractId } })).rejects.toThrow('no contract has this id');
    }
    await expect(rival.call('contracts.cancel', { params: { contractId: acme.contractId } })).rejects.toThrow(
      'no contract has this id',
    );
    await expect(
      rival.call('contracts.create', {
        body: { planId: data.planId, customerId: acme.customerId, startDate: '2026-03-01' },
      }),
    ).rejects.toThrow('planId: names no plan; customerId: names no customer');
    expect((await rival.call('contracts.list')).body.total).toBe(0);
    expect((await rival.call('invoices.list')).body.total).toBe(0);
  });
});
