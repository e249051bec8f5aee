import { describe, expect, it } from 'vitest';

import { watchStatements } from '../reliability/statements.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

const ada = { name: 'Ada Lovelace', email: 'ada@acme.example', roles: ['accounts_payable', 'primary'] };

async function create(body: Record<string, unknown> = {}) {
  return (await world.call('customers.create', { body: { name: 'Acme', contacts: [ada], ...body } })).data;
}

async function contactRows() {
  return await world.store.read(
    async (tx) =>
      await tx.selectFrom('contacts').select(['name', 'email', 'source', 'status', 'roles']).orderBy('seq').execute(),
  );
}

describe('assigning customer success managers', () => {
  const linked = { provider: 'stripe', paymentProviderId: 'cus_1', contacts: [{ ...ada, roles: ['primary'] }] };

  async function assign(...assignments: { id?: string; email: string; name?: string }[]) {
    const body = {
      assignments: assignments.map(({ id = 'cus_1', ...csm }) => ({ stripeCustomerId: id, csm })),
    };
    return (await world.call('customers.assignCsm', { body })).data;
  }

  async function managers() {
    return (await contactRows()).filter((contact) => contact.roles.includes('csm'));
  }

  it('reads the contacts of a customer once, however many of the assignments are its', async () => {
    await create(linked);
    const readingsOf = async (...names: string[]) => {
      let readings = 0;
      const stop = watchStatements((sql) => {
        if (/from "contacts"/i.test(sql)) readings += 1;
      });
      await assign(...names.map((name) => ({ email: `${name}@example.com` })));
      stop();
      return readings;
    };
    expect(await readingsOf('a', 'b', 'c', 'a')).toBe(await readingsOf('a'));
    expect((await managers()).map(({ email, status }) => [email, status])).toEqual([
      ['a@example.com', 'Active'],
      ['b@example.com', 'Unreachable'],
      ['c@example.com', 'Unreachable'],
    ]);
  });

  it('adds an imported contact, and names it by its email when no name is given', async () => {
    const { id } = await create(linked);
    const answer = await assign({ email: 'grace@example.com' });
    expect(answer).toEqual({
      updated: 1,
      notFound: 0,
      results: [
        {
          stripeCustomerId: 'cus_1',
          status: 'updated',
          customerId: id,
          csmContactId: expect.any(String) as unknown,
          demotedCount: 0,
        },
      ],
    });
    expect(await managers()).toEqual([
      { name: 'grace', email: 'grace@example.com', source: 'imported', status: 'Active', roles: '["csm"]' },
    ]);
  });

  it('makes other imported managers unreachable, and counts those that were reachable', async () => {
    await create(linked);
    await assign({ email: 'grace@example.com' });
    const second = await assign({ email: 'mary@example.com' });
    expect(second.results[0]).toMatchObject({ demotedCount: 1 });
    const third = await assign({ email: 'jean@example.com' });
    expect(third.results[0]).toMatchObject({ demotedCount: 1 });
    expect((await managers()).map(({ email, status }) => [email, status])).toEqual([
      ['grace@example.com', 'Unreachable'],
      ['mary@example.com', 'Unreachable'],
      ['jean@example.com', 'Active'],
    ]);
  });

  it('reaches a manager again who had been made unreachable', async () => {
    await create(linked);
    const first = await assign({ email: 'grace@example.com', name: 'Grace Hopper' });
    await assign({ email: 'mary@example.com' });
    const again = await assign({ email: 'grace@example.com' });
    expect(again.results[0]).toMatchObject({ csmContactId: first.results[0]?.csmContactId, demotedCount: 1 });
    expect(await managers()).toMatchObject([
      { name: 'Grace Hopper', status: 'Active' },
      { email: 'mary@example.com', status: 'Unreachable' },
    ]);
  });

  it('knows a manager by the email in lower case, and takes over a new name', async () => {
    await create(linked);
    await assign({ email: 'grace@example.com' });
    const answer = await assign({ email: 'Grace@Example.COM', name: 'Grace Hopper' });
    expect(answer.results[0]).toMatchObject({ demotedCount: 0 });
    expect(await managers()).toMatchObject([{ name: 'Grace Hopper', email: 'grace@example.com', status: 'Active' }]);
  });

  it.each([
    ['JOSE\u0301@example.com', 'jos\u00C9@EXAMPLE.com', 1],
    ['JOS\u00C9@example.com', 'jos\u00E9@example.com', 2],
    ['\u0130van@example.com', 'ivan@example.com', 2],
  ])('takes %s and %s for %i, since letters of ASCII alone are lowered', async (first, second, count) => {
    await create(linked);
    await assign({ email: first });
    await assign({ email: second });
    expect(await managers()).toHaveLength(count);
  });

  it('keeps managers made by hand, and updates the one with the same email without making it imported', async () => {
    const byHand = { name: 'Grace', email: 'grace@example.com', roles: ['csm'] };
    const { id } = await create({
      ...linked,
      contacts: [byHand, { ...byHand, name: 'Mary', email: 'mary@example.com' }],
    });
    const first = await assign({ email: 'jean@example.com' });
    expect(first.results[0]).toMatchObject({ demotedCount: 0 });
    const second = await assign({ email: 'GRACE@example.com', name: 'Grace Hopper' });
    expect(second.results[0]).toMatchObject({ customerId: id, demotedCount: 1 });
    expect(await managers()).toMatchObject([
      { name: 'Grace Hopper', source: 'manual', status: 'Active' },
      { name: 'Mary', source: 'manual', status: 'Active' },
      { name: 'jean', source: 'imported', status: 'Unreachable' },
    ]);
  });

  it('leaves contacts of other roles as they are, of the same email too', async () => {
    await create(linked);
    await assign({ email: ada.email, name: 'Somebody else' });
    expect(await contactRows()).toMatchObject([
      { name: 'Ada Lovelace', roles: '["primary"]', status: 'Active' },
      { name: 'Somebody else', roles: '["csm"]', status: 'Active' },
    ]);
  });

  it('applies assignments in order, to the same customer too', async () => {
    await create(linked);
    const answer = await assign(...['grace', 'mary', 'joan'].map((name) => ({ email: `${name}@example.com` })));
    // Whoever was demoted by an earlier one is not counted again.
    expect(answer).toMatchObject({
      updated: 3,
      results: [{ demotedCount: 0 }, { demotedCount: 1 }, { demotedCount: 1 }],
    });
    expect((await managers()).map(({ email, status }) => [email, status])).toEqual([
      ['grace@example.com', 'Unreachable'],
      ['mary@example.com', 'Unreachable'],
      ['joan@example.com', 'Active'],
    ]);
  });

  it('reports ids that match no customer and applies the rest', async () => {
    await create(linked);
    const answer = await assign({ id: 'cus_9', email: 'grace@example.com' }, { email: 'grace@example.com' });
    expect(answer).toMatchObject({ updated: 1, notFound: 1 });
    expect(answer.results[0]).toEqual({ stripeCustomerId: 'cus_9', status: 'not_found' });
  });

  it('never matches a customer of another organization', async () => {
    await create(linked);
    const other = await world.addOrganization('eu');
    const { body } = await other.call('customers.assignCsm', {
      body: { assignments: [{ stripeCustomerId: 'cus_1', csm: { email: 'grace@example.com' } }] },
    });
    expect(body.data).toMatchObject({ updated: 0, notFound: 1 });
    expect(await managers()).toEqual([]);
  });

  it('takes 1 to 100 assignments', async () => {
    await expect(assign()).rejects.toMatchObject({ kind: 'invalidInput' });
    const many = Array.from({ length: 101 }, () => ({ email: 'grace@example.com' }));
    await expect(assign(...many)).rejects.toMatchObject({ kind: 'invalidInput' });
  });
});
