import { describe, expect, it } from 'vitest';

import { useWorld, world } from '../support/use-world.ts';

useWorld();

const ada = { name: 'Ada Lovelace', email: 'ada@acme.example', roles: ['accounts_payable', 'primary'] };
const address = { address1: '1 High St', city: 'Springfield', region: 'IL', postalCode: '62701', country: 'us' };
const unknownIds = ['01900000-0000-7000-8000-00000000ffff', 'nonsense', ''];

async function create(body: Record<string, unknown> = {}) {
  return (await world.call('customers.create', { body: { name: 'Acme', contacts: [ada], ...body } })).data;
}

async function get(customerId: string) {
  return (await world.call('customers.get', { params: { customerId } })).data;
}

async function update(customerId: string, body: Record<string, unknown>) {
  return (await world.call('customers.update', { params: { customerId }, body })).data;
}

async function setOrganization(body: Record<string, unknown>) {
  await world.call('orgs.update', { params: { organizationId: 'default' }, body });
}

async function contactRows() {
  return await world.store.read(
    async (tx) =>
      await tx.selectFrom('contacts').select(['name', 'email', 'source', 'status', 'roles']).orderBy('seq').execute(),
  );
}

describe('the billing address of a customer', () => {
  const read = async (customerId: string) =>
    (await world.call('customers.billingAddress', { params: { customerId } })).data;

  it('is what it was created with, the country in capitals', async () => {
    const { id } = await create({ billingAddress: address });
    expect(await read(id)).toEqual({ ...address, country: 'US' });
  });

  it('is null where there is none', async () => {
    const { id } = await create();
    expect(await read(id)).toBeNull();
  });

  it("of another organization's customer is not found", async () => {
    const { id } = await create({ billingAddress: address });
    const other = await world.addOrganization('eu');
    await expect(other.call('customers.billingAddress', { params: { customerId: id } })).rejects.toMatchObject({
      kind: 'notFound',
    });
  });
});

describe('creating a customer', () => {
  it('answers 201 with every field but externalIds and billingContacts', async () => {
    const answer = await world.billing.call('customers.create', {
      body: {
        name: 'Acme Inc',
        legalName: 'Acme Incorporated',
        externalCustomerId: 'acme',
        provider: 'stripe',
        paymentProviderId: 'cus_1',
        tags: ['eu', 'enterprise'],
        contacts: [ada],
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      data: {
        id: expect.stringMatching(/^01900000-/) as unknown,
        name: 'Acme Inc',
        legalName: 'Acme Incorporated',
        tags: ['eu', 'enterprise'],
        isPaused: false,
        pausedAt: null,
        pausedUntil: null,
        metadata: { externalCustomerId: 'acme', externalCompanyIds: [] },
        createdAt: '2026-03-01T00:00:00.000Z',
        updatedAt: '2026-03-01T00:00:00.000Z',
      },
    });
  });

  it('keeps contacts as made by hand, reachable, addressed with "to"', async () => {
    await create();
    expect(await contactRows()).toEqual([
      {
        name: 'Ada Lovelace',
        email: 'ada@acme.example',
        source: 'manual',
        status: 'Active',
        roles: '["accounts_payable","primary"]',
      },
    ]);
  });

  it('needs a billing address where the organization collects sales tax, and keeps its country in upper case', async () => {
    await setOrganization({ salesTaxEnabled: true });
    await expect(create()).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'billingAddress: is required: the organization collects sales tax',
    });
    const { id } = await create({ billingAddress: address });
    const rows = await world.store.read(
      async (tx) => await tx.selectFrom('customers').select('billingAddress').where('id', '=', id).execute(),
    );
    expect(JSON.parse(rows[0]?.billingAddress ?? '')).toEqual({ ...address, country: 'US' });
  });

  it('takes a payment method only where the organization has a payment processor', async () => {
    const method = { paymentMethodId: 'pm_1', paymentMethodType: 'card' };
    await expect(create(method)).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'paymentMethodId: cannot be kept: the organization has no payment processor',
    });
    await setOrganization({ paymentProcessor: 'stripe' });
    await expect(create(method)).resolves.toMatchObject({ name: 'Acme' });
  });

  it.each([
    [{ provider: 'stripe' }, 'paymentProviderId: is required together with provider'],
    [{ paymentProviderId: 'cus_1' }, 'provider: is required together with paymentProviderId'],
    [{ paymentMethodId: 'pm_1' }, 'paymentMethodType: is required together with paymentMethodId'],
    [{ paymentMethodType: 'card' }, 'paymentMethodId: is required together with paymentMethodType'],
    [{ contacts: [] }, 'contacts: must have at least 1 element'],
    [{ ammount: 1 }, 'ammount: unknown field'],
  ])('refuses %j', async (body, message) => {
    await expect(create(body)).rejects.toMatchObject({ kind: 'invalidInput', message });
  });

  it('refuses a processor customer that is linked already', async () => {
    const link = { provider: 'stripe', paymentProviderId: 'cus_1' };
    const { id } = await create(link);
    await expect(create(link)).rejects.toMatchObject({
      kind: 'conflict',
      message: `stripe customer "cus_1" is linked to customer ${id} already`,
    });
  });

  it('refuses an externalCustomerId that is in use, compared after NFC and to the case', async () => {
    const { id } = await create({ externalCustomerId: 'Ame\u0301lie' });
    await expect(create({ externalCustomerId: 'Am\u00e9lie' })).rejects.toMatchObject({
      kind: 'conflict',
      message: `externalCustomerId "Am\u00e9lie" belongs to customer ${id} already`,
    });
    await expect(create({ externalCustomerId: 'am\u00e9lie' })).resolves.toMatchObject({ name: 'Acme' });
  });

  it('that is refused leaves nothing behind', async () => {
    await create({ externalCustomerId: 'acme' });
    await expect(create({ externalCustomerId: 'acme' })).rejects.toMatchObject({ kind: 'conflict' });
    expect((await world.call('customers.list')).total).toBe(1);
    expect(await contactRows()).toHaveLength(1);
  });

  it('may use the ids that a customer of another organization has', async () => {
    const ids = { externalCustomerId: 'acme', provider: 'stripe', paymentProviderId: 'cus_1' };
    await create(ids);
    const other = await world.addOrganization('eu');
    const answer = await other.call('customers.create', { body: { name: 'Acme', contacts: [ada], ...ids } });
    expect(answer.status).toBe(201);
  });
});

describe('reading a customer', () => {
  it('shows the processor link, and the contacts for invoices in the order in which they were added', async () => {
    const { id } = await create({
      provider: 'stripe',
      paymentProviderId: 'cus_1',
      contacts: [
        { name: 'Zoe', email: 'zoe@acme.example', roles: ['accounts_payable'] },
        { name: 'Sam', email: 'sam@acme.example', roles: ['signatory'] },
        { name: 'Abe', email: 'abe@acme.example', roles: ['other', 'accounts_payable'], emailRecipientType: 'cc' },
      ],
    });
    expect(await get(id)).toMatchObject({
      externalIds: [{ provider: 'stripe', entityType: 'customer', id: 'cus_1' }],
      billingContacts: [
        { name: 'Zoe', email: 'zoe@acme.example', phone: null },
        { name: 'Abe', email: 'abe@acme.example', phone: null },
      ],
    });
  });

  it('shows empty lists for a customer without links and without contacts for invoices', async () => {
    const { id } = await create({ contacts: [{ ...ada, roles: ['csm'] }] });
    expect(await get(id)).toMatchObject({ externalIds: [], billingContacts: [] });
  });

  it('leaves out a contact for invoices that cannot be reached', async () => {
    const { id } = await create();
    await world.store.write(
      async (tx) =>
        await tx.updateTable('contacts').set({ status: 'Unreachable' }).where('customerId', '=', id).execute(),
    );
    const { data } = await world.call('customers.list');
    expect([(await get(id)).billingContacts, data.map(({ billingContacts }) => billingContacts)]).toEqual([[], [[]]]);
  });

  it('shows what a list shows of it', async () => {
    const roles = [
      ['accounts_payable'],
      ['csm'],
      ['primary', 'accounts_payable'],
      ['other', 'accounts_payable', 'csm'],
    ];
    const contacts = roles.map((own, place) => ({ name: `${place}`, email: `${place}@acme.example`, roles: own }));
    await create({ contacts });
    await create({ contacts: contacts.toReversed() });
    await create({ contacts: contacts.slice(1, 2) });
    const { data } = await world.call('customers.list');
    expect(data.map(({ billingContacts }) => billingContacts?.map(({ name }) => name))).toEqual([
      [],
      ['3', '2', '0'],
      ['0', '2', '3'],
    ]);
    for (const shown of data) expect(await get(shown.id)).toEqual(shown);
  });
});

describe('listing customers', () => {
  it('shows the newest first, those of one instant too, in pages', async () => {
    const names = ['a', 'b', 'c'];
    for (const name of names) await create({ name });
    world.clock.advance({ hours: 1 });
    await create({ name: 'd' });
    const first = await world.call('customers.list', { query: { limit: '3' } });
    expect(first.data.map((customer) => customer.name)).toEqual(['d', 'c', 'b']);
    expect(first).toMatchObject({ hasMore: true, total: 4 });
    const second = await world.call('customers.list', { query: { limit: '3', offset: '3' } });
    expect(second.data.map((customer) => customer.name)).toEqual(['a']);
    expect(second).toMatchObject({ hasMore: false, total: 4 });
  });

  it('shows ten when no limit is given', async () => {
    for (let index = 0; index < 11; index += 1) await create();
    const page = await world.call('customers.list');
    expect(page.data).toHaveLength(10);
    expect(page).toMatchObject({ hasMore: true, total: 11 });
  });

  it('shows each customer with its own contacts, as reading it does', async () => {
    const first = await create({ name: 'first' });
    const second = await create({ name: 'second', contacts: [{ ...ada, name: 'Grace' }] });
    const { data } = await world.call('customers.list');
    expect(data).toEqual([await get(second.id), await get(first.id)]);
  });

  it('finds by exact externalCustomerId, in either Unicode form', async () => {
    await create({ externalCustomerId: 'Am\u00e9lie' });
    await create({ externalCustomerId: 'acme' });
    const found = await world.call('customers.list', { query: { externalCustomerId: 'Ame\u0301lie' } });
    expect(found.data.map((customer) => customer.metadata.externalCustomerId)).toEqual(['Am\u00e9lie']);
    expect((await world.call('customers.list', { query: { externalCustomerId: 'Acme' } })).data).toEqual([]);
  });

  it.each(['0', '101', '-1', 'ten'])('refuses the limit %s', async (limit) => {
    await expect(world.call('customers.list', { query: { limit } })).rejects.toMatchObject({ kind: 'badRequest' });
  });
});

describe('changing a customer', () => {
  it('changes the fields that are given, and when it was changed, alone', async () => {
    const { id } = await create({ legalName: 'Acme Inc', tags: ['eu'], externalCustomerId: 'acme' });
    const before = await get(id);
    world.clock.advance({ hours: 1 });
    expect(await update(id, { name: 'Acme Ltd' })).toEqual({
      ...before,
      name: 'Acme Ltd',
      updatedAt: '2026-03-01T01:00:00.000Z',
    });
    expect(await get(id)).toMatchObject({ name: 'Acme Ltd', legalName: 'Acme Inc', tags: ['eu'] });
  });

  it('replaces tags, and empties them with an empty list', async () => {
    const { id } = await create({ tags: ['eu', 'old'] });
    expect((await update(id, { tags: ['new'] })).tags).toEqual(['new']);
    expect((await update(id, { tags: [] })).tags).toEqual([]);
  });

  it('clears legalName and externalCustomerId with null, so that another customer may use the id', async () => {
    const { id } = await create({ legalName: 'Acme Inc', externalCustomerId: 'acme' });
    expect(await update(id, { legalName: null, externalCustomerId: null })).toMatchObject({
      legalName: null,
      metadata: { externalCustomerId: null },
    });
    await expect(create({ externalCustomerId: 'acme' })).resolves.toMatchObject({ name: 'Acme' });
  });

  it.each([[{ provider: null }], [{ paymentProviderId: null }], [{ provider: null, paymentProviderId: null }]])(
    'clears the whole processor link with %j',
    async (body) => {
      const { id } = await create({ provider: 'stripe', paymentProviderId: 'cus_1' });
      expect((await update(id, body)).externalIds).toEqual([]);
      await expect(create({ provider: 'stripe', paymentProviderId: 'cus_1' })).resolves.toMatchObject({ name: 'Acme' });
    },
  );

  it('links a customer to a processor afterwards', async () => {
    const { id } = await create();
    const linked = await update(id, { provider: 'stripe', paymentProviderId: 'cus_2' });
    expect(linked.externalIds).toEqual([{ provider: 'stripe', entityType: 'customer', id: 'cus_2' }]);
  });

  it('takes a payment method only with a payment processor, and clears method and type together', async () => {
    const { id } = await create();
    const method = { paymentMethodId: 'pm_1', paymentMethodType: 'us_bank_account' };
    await expect(update(id, method)).rejects.toMatchObject({ kind: 'invalidInput' });
    await setOrganization({ paymentProcessor: 'stripe' });
    await update(id, method);
    const stored = async () =>
      await world.store.read(
        async (tx) => await tx.selectFrom('customers').select(['paymentMethodId', 'paymentMethodType']).execute(),
      );
    expect(await stored()).toEqual([method]);
    await update(id, { paymentMethodId: null });
    expect(await stored()).toEqual([{ paymentMethodId: null, paymentMethodType: null }]);
  });

  it('still works for one with a payment method after the organization gave up its processor', async () => {
    await setOrganization({ paymentProcessor: 'stripe' });
    const { id } = await create({ paymentMethodId: 'pm_1', paymentMethodType: 'card' });
    await setOrganization({ paymentProcessor: null });
    expect(await update(id, { name: 'Acme Ltd' })).toMatchObject({ name: 'Acme Ltd' });
  });

  it('refuses ids that another customer has, and accepts its own again', async () => {
    await create({ externalCustomerId: 'acme', provider: 'stripe', paymentProviderId: 'cus_1' });
    const { id } = await create({ externalCustomerId: 'beta', provider: 'stripe', paymentProviderId: 'cus_2' });
    await expect(update(id, { externalCustomerId: 'acme' })).rejects.toMatchObject({ kind: 'conflict' });
    await expect(update(id, { provider: 'stripe', paymentProviderId: 'cus_1' })).rejects.toMatchObject({
      kind: 'conflict',
    });
    await expect(
      update(id, { externalCustomerId: 'beta', provider: 'stripe', paymentProviderId: 'cus_2' }),
    ).resolves.toMatchObject({ metadata: { externalCustomerId: 'beta' } });
  });

  it.each([
    [{}, 'at least one field is required'],
    [{ name: null }, 'name: must be text'],
    [{ paymentMethodType: null }, 'paymentMethodType: is cleared by paymentMethodId: null'],
    [{ tags: null }, 'tags: must be a list'],
    [{ provider: 'stripe' }, 'paymentProviderId: is required together with provider'],
    [{ provider: 'stripe', paymentProviderId: null }, 'paymentProviderId: is required together with provider'],
    [{ name: 'Acme Ltd', createdAt: '2026-01-01T00:00:00Z' }, 'createdAt: unknown field'],
  ])('refuses %j', async (body, message) => {
    const { id } = await create();
    await expect(update(id, body)).rejects.toMatchObject({ kind: 'invalidInput', message });
  });
});

describe('a customer of another organization', () => {
  it('is answered like one that never was', async () => {
    const { id } = await create();
    const other = await world.addOrganization('eu');
    for (const customerId of [id, ...unknownIds]) {
      const calls = [
        async () => await other.call('customers.get', { params: { customerId } }),
        async () => await other.call('customers.update', { params: { customerId }, body: { name: 'Mine' } }),
        async () => await other.call('customers.pause', { params: { customerId } }),
        async () => await other.call('customers.resume', { params: { customerId } }),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          kind: 'notFound',
          message: 'no customer has this id',
        });
      }
    }
    expect((await other.call('customers.list')).body).toEqual({ data: [], hasMore: false, total: 0 });
    expect((await get(id)).name).toBe('Acme');
  });
});
