import { describe, expect, it } from 'vitest';

import { useWorld, world } from '../support/use-world.ts';

useWorld();

const tokens = { code: 'TOKENS', displayName: 'Tokens', aggregationKey: 'tokens' };
const unknownIds = ['01900000-0000-7000-8000-00000000ffff', 'nonsense', ''];

async function create(body: Record<string, unknown> = {}) {
  return (await world.call('meters.create', { body: { ...tokens, ...body } })).data;
}

async function get(meterId: string) {
  return (await world.call('meters.get', { params: { meterId } })).data;
}

async function archive(meterId: string) {
  return (await world.call('meters.archive', { params: { meterId } })).data;
}

async function rateCard(meterId: string) {
  return (await world.call('meters.rateCard', { params: { meterId } })).data;
}

async function setRateCard(meterId: string, body: Record<string, unknown>) {
  return (await world.call('meters.setRateCard', { params: { meterId }, body })).data;
}

async function codes(query: Record<string, string> = {}) {
  return (await world.call('meters.list', { query })).data.map((meter) => meter.code);
}

async function price(meterId: string) {
  const body = {
    productName: 'Inference',
    name: 'Per token',
    model: 'USAGE',
    meterId,
    unitAmount: '1',
    priceInterval: 'MONTH',
  };
  return (await world.call('pricing.create', { body })).data;
}

describe('creating a meter', () => {
  it('answers 201 with the fields of the interface, filters empty and aggregation SUM unless given', async () => {
    const answer = await world.billing.call('meters.create', { body: tokens });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^01900000-/) as unknown,
      code: 'TOKENS',
      displayName: 'Tokens',
      aggregationType: 'SUM',
      eventTypeFilter: { include: [], exclude: [] },
      propertyFilters: [],
      aggregationKey: 'tokens',
      groupKeys: [],
      createdAt: '2026-03-01T00:00:00.000Z',
      updatedAt: '2026-03-01T00:00:00.000Z',
    });
  });

  it('keeps every field as it was given', async () => {
    const given = {
      description: 'Tokens that a model wrote',
      aggregationType: 'MAX',
      eventTypeFilter: { include: ['llm.request'], exclude: ['llm.test'] },
      propertyFilters: [
        { name: 'model', exists: true },
        { name: 'region', include: ['eu', 'us'], exclude: ['test'] },
      ],
      groupKeys: ['model', 'region'],
    };
    const created = await create(given);
    expect(created).toMatchObject(given);
    expect(await get(created.id)).toEqual({ ...created, status: 'active' });
  });

  it('needs no aggregation key for COUNT', async () => {
    const { data } = await world.call('meters.create', {
      body: { code: 'CALLS', displayName: 'Calls', aggregationType: 'COUNT' },
    });
    expect(data).not.toHaveProperty('aggregationKey');
  });

  it.each(['SUM', 'MAX', 'MIN'])('needs an aggregation key for %s', async (aggregationType) => {
    const body = { code: 'TOKENS', displayName: 'Tokens', aggregationType };
    await expect(world.call('meters.create', { body })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: `aggregationKey: is required for ${aggregationType}`,
    });
  });

  it('keeps a query as it was sent, and none of the rules that it overrides', async () => {
    const sql = `SELECT sum(properties['tokens']) AS value FROM events`;
    const { id } = await create({ sql, eventTypeFilter: { include: ['llm.request'] } });
    const { data } = await world.call('meters.get', { params: { meterId: id } });
    expect(data).toMatchObject({
      sql,
      eventTypeFilter: { include: [], exclude: [] },
      propertyFilters: [],
      groupKeys: [],
    });
    expect(data).not.toHaveProperty('aggregationKey');
  });

  it.each([
    ['SELECT tokens AS value FROM events', 'sql: cannot be read as a meter: no such column: tokens'],
    ['SELECT 1 AS amount', 'sql: cannot be read as a meter: it must return one column, named value'],
    ['SELECT random() AS value', 'sql: cannot be read as a meter: not authorized to use function: random'],
  ])('refuses the query %s', async (sql, message) => {
    await expect(create({ sql })).rejects.toMatchObject({ kind: 'invalidInput', message });
    expect((await world.call('meters.list', { query: { status: 'all' } })).data).toEqual([]);
  });

  it.each([
    [{ code: 'tokens' }, 'code: must consist of uppercase letters, digits and underscores'],
    [{ groupKeys: ['model', 'model'] }, 'groupKeys: must not name a key twice'],
    [{ aggregatonKey: 'x' }, 'aggregatonKey: unknown field'],
  ])('refuses %j', async (body, message) => {
    await expect(create(body)).rejects.toMatchObject({ kind: 'invalidInput', message });
  });

  it('refuses a code that an unarchived meter has', async () => {
    const { id } = await create();
    await expect(create()).rejects.toMatchObject({
      kind: 'conflict',
      message: `the code TOKENS belongs to meter ${id} already`,
    });
  });

  it('may use a code again once its meter is archived, as often as that happens', async () => {
    for (const round of [1, 2]) {
      const { id } = await create({ displayName: `round ${round}` });
      await archive(id);
    }
    await create();
    expect(await codes({ status: 'all' })).toEqual(['TOKENS', 'TOKENS', 'TOKENS']);
    expect(await codes()).toEqual(['TOKENS']);
  });

  it('may use a code that another organization has', async () => {
    await create();
    const other = await world.addOrganization('eu');
    expect((await other.call('meters.create', { body: tokens })).status).toBe(201);
  });
});

describe('listing meters', () => {
  it('shows active ones, newest first, unless asked for inactive or all', async () => {
    const { id } = await create({ code: 'A' });
    await create({ code: 'B' });
    await create({ code: 'C' });
    await archive(id);
    expect(await codes()).toEqual(['C', 'B']);
    expect(await codes({ status: 'active' })).toEqual(['C', 'B']);
    expect(await codes({ status: 'inactive' })).toEqual(['A']);
    expect(await codes({ status: 'all' })).toEqual(['C', 'B', 'A']);
  });

  it('comes in pages', async () => {
    for (const code of ['A', 'B', 'C']) await create({ code });
    const page = await world.call('meters.list', { query: { limit: '2', offset: '1' } });
    expect(page).toMatchObject({ data: [{ code: 'B' }, { code: 'A' }], hasMore: false, total: 3 });
  });
});

describe('archiving a meter', () => {
  it('makes it inactive, and doing it again changes nothing', async () => {
    const { id } = await create();
    world.clock.advance({ hours: 1 });
    const archived = await archive(id);
    expect(archived).toMatchObject({ status: 'inactive', updatedAt: '2026-03-01T01:00:00.000Z' });
    world.clock.advance({ hours: 1 });
    expect(await archive(id)).toEqual(archived);
    expect(await get(id)).toEqual(archived);
  });

  it('is refused while an unarchived price has it', async () => {
    const { id } = await create();
    const pricing = await price(id);
    await expect(archive(id)).rejects.toMatchObject({
      kind: 'conflict',
      message: `meter TOKENS is priced by "Per token" (${pricing.id})`,
    });
    await world.call('pricing.archive', { params: { pricingId: pricing.id } });
    expect(await archive(id)).toMatchObject({ status: 'inactive' });
  });
});

describe('property filters', () => {
  it('are 64 KiB at most, however many values they have', async () => {
    const filters = (count: number) => [
      { name: 'model', include: Array.from({ length: count }, (_, index) => `${index}${'x'.repeat(4_000)}`) },
    ];
    expect((await create({ propertyFilters: filters(16) })).propertyFilters).toHaveLength(1);
    await expect(create({ code: 'OTHER', propertyFilters: filters(17) })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'propertyFilters: must be at most 65536 bytes of JSON',
    });
  });
});

describe('a rate card', () => {
  it('is empty until it is set', async () => {
    const { id } = await create();
    expect(await rateCard(id)).toEqual({ meterId: id, rates: [], fallbackUnitAmount: null, updatedAt: null });
  });

  it('keeps rates in their order, decimals as they were written', async () => {
    const { id } = await create({ groupKeys: ['model', 'region'] });
    const rates = [
      { dimensions: { region: 'eu', model: 'large' }, unitAmount: '0.0000150' },
      { dimensions: { model: '' }, unitAmount: '0' },
      { dimensions: { model: 'large' }, unitAmount: '0.000012' },
    ];
    const set = await setRateCard(id, { rates, fallbackUnitAmount: '0.000003' });
    expect(set).toEqual({ meterId: id, rates, fallbackUnitAmount: '0.000003', updatedAt: '2026-03-01T00:00:00.000Z' });
    expect(await rateCard(id)).toEqual(set);
  });

  it('is replaced as a whole', async () => {
    const { id } = await create({ groupKeys: ['model'] });
    await setRateCard(id, { rates: [{ dimensions: { model: 'a' }, unitAmount: '1' }], fallbackUnitAmount: '2' });
    world.clock.advance({ hours: 1 });
    const rates = [{ dimensions: { model: 'b' }, unitAmount: '3' }];
    const set = await setRateCard(id, { rates });
    expect(set).toEqual({ meterId: id, rates, fallbackUnitAmount: null, updatedAt: '2026-03-01T01:00:00.000Z' });
    expect(await rateCard(id)).toEqual(set);
  });

  it('refuses a dimension that the meter does not group by', async () => {
    const { id } = await create({ groupKeys: ['model', 'region'] });
    const rates = [
      { dimensions: { model: 'a' }, unitAmount: '1' },
      { dimensions: { modle: 'b' }, unitAmount: '1' },
    ];
    await expect(setRateCard(id, { rates })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'rates[1].dimensions.modle: is not a group key of meter TOKENS; it has model, region',
    });
    expect((await rateCard(id)).rates).toEqual([]);
  });

  it('refuses one combination twice, in whichever order its dimensions stand', async () => {
    const { id } = await create({ groupKeys: ['model', 'region'] });
    const rates = [
      { dimensions: { model: 'a', region: 'eu' }, unitAmount: '1' },
      { dimensions: { model: 'a' }, unitAmount: '2' },
      { dimensions: { region: 'eu', model: 'a' }, unitAmount: '3' },
    ];
    await expect(setRateCard(id, { rates })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'rates[2].dimensions: repeats the combination of rates[0]',
    });
  });

  it('takes no more than 1 MiB, which is what a contract has room for', async () => {
    const { id } = await create({ groupKeys: ['model'] });
    const rates = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        dimensions: { model: `${index}${'x'.repeat(4_000)}` },
        unitAmount: '1',
      }));
    expect((await setRateCard(id, { rates: rates(256) })).rates).toHaveLength(256);
    await expect(setRateCard(id, { rates: rates(260) })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'rates: must be at most 1048576 bytes of JSON',
    });
  });

  it('names the first hundred of what is wrong, and says how much more there is', async () => {
    const { id } = await create({ groupKeys: ['model'] });
    const rates = Array.from({ length: 102 }, () => ({ dimensions: { model: 'a' }, unitAmount: '1' }));
    await expect(setRateCard(id, { rates })).rejects.toMatchObject({
      message: expect.stringMatching(
        /rates\[100\]\.dimensions: repeats the combination of rates\[0\]; and 1 more$/,
      ) as string,
    });
  });

  it('refuses a rate without dimensions, which would be a second fallback', async () => {
    const { id } = await create({ groupKeys: ['model'] });
    await expect(setRateCard(id, { rates: [{ dimensions: {}, unitAmount: '1' }] })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'rates[0].dimensions: must name a group key; fallbackUnitAmount prices all the rest',
    });
  });

  it('of a meter without group keys may have a fallback alone', async () => {
    const { id } = await create();
    expect(await setRateCard(id, { rates: [], fallbackUnitAmount: '2' })).toMatchObject({ fallbackUnitAmount: '2' });
  });

  it.each(['__proto__', 'constructor'])('refuses the dimension %s', async (name) => {
    const { id } = await create({ groupKeys: ['model'] });
    const rates = [{ dimensions: Object.fromEntries([[name, 'a']]), unitAmount: '1' }];
    await expect(setRateCard(id, { rates })).rejects.toMatchObject({ kind: 'invalidInput' });
  });
});

describe('a meter of another organization', () => {
  it('is answered like one that never was', async () => {
    const { id } = await create();
    const other = await world.addOrganization('eu');
    for (const meterId of [id, ...unknownIds]) {
      const params = { meterId };
      const calls = [
        async () => await other.call('meters.get', { params }),
        async () => await other.call('meters.archive', { params }),
        async () => await other.call('meters.rateCard', { params }),
        async () => await other.call('meters.setRateCard', { params, body: { rates: [] } }),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ kind: 'notFound', message: 'no meter has this id' });
      }
    }
    expect((await other.call('meters.list', { query: { status: 'all' } })).body.total).toBe(0);
    expect((await get(id)).status).toBe('active');
  });
});
