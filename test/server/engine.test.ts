/** The real engine behind the real wire: what one caller sees in process, another sees over HTTP. */

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { BillingError } from '../../src/errors.ts';
import type { Answer, Billing, OperationName } from '../../src/operations/index.ts';
import type { CallInput, Scope } from '../../src/operations/operation.ts';
import { startClient } from '../client/harness.ts';
import { grant, subscribe, use } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { send, serverWith } from './harness.ts';

async function makeWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(async () => world.close());
  return world;
}

async function serve(world: World) {
  const server = serverWith({ engine: world.engine, rateLimitPerMinute: 0, now: world.clock.now });
  onTestFinished(async () => server.close());
  return server.listen();
}

async function createKey(world: World, scopes: Scope[] = ['*']): Promise<{ id: string; key: string }> {
  return (await world.call('keys.create', { body: { name: 'test', scopes } })).data;
}

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});

describe('a key of the engine', () => {
  test('opens the service until it is revoked, on the very next request', async () => {
    const { id, key } = await createKey(world);
    const { port } = await serve(world);
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(port, '/v1/customers', { headers })).text).toBe('{"data":[],"hasMore":false,"total":0}');
    await world.call('keys.revoke', { params: { keyId: id } });
    const refused = await send(port, '/v1/customers', { headers });
    expect([refused.status, refused.message]).toEqual([401, 'API key has been revoked']);
  });

  test('that nobody made is refused', async () => {
    const { port } = await serve(world);
    const refused = await send(port, '/v1/customers');
    expect([refused.status, refused.message]).toEqual([401, 'Invalid API key']);
  });
});

test('a meter whose query gives no number is named to whoever asks for what it bills', async () => {
  const acme = await subscribe(world, { meter: { sql: `SELECT max(properties['tokens']) AS value FROM events` } });
  await use(world, acme, { tokens: 'many', at: '2026-03-01T00:00:00Z' });
  const { key } = await createKey(world, ['invoices:read']);
  const { port } = await serve(world);
  const reply = await send(port, '/v1/invoices', { headers: { authorization: `Bearer ${key}` } });
  expect(JSON.parse(reply.text)).toEqual({
    error: {
      message: `the meter TOKENS_ACME (${acme.meterId}) gave no quantity: value must be a number, but is text: cast or sum it`,
      code: 'UNAVAILABLE',
    },
  });
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
});

test('credits that expire are listed as in process, and a contract that cannot be read is named with its meter', async () => {
  const acme = await subscribe(world, { meter: { sql: `SELECT max(properties['tokens']) AS value FROM events` } });
  for (const day of [20, 10]) await grant(world, acme, { amountCents: day, expiresAt: `2026-03-${day}T00:00:00Z` });
  await use(world, acme, { tokens: 3, at: '2026-03-01T00:00:00Z', key: 'e' });
  const { url, port } = await serve(world);
  const remote = startClient(url, { key: (await createKey(world, ['contracts:read'])).key });
  for (const query of [
    {},
    { limit: '1', offset: '1' },
    { expiresBefore: '2026-03-11' },
    { limit: '0' },
    { customerId: 'x' },
  ]) {
    const local = await outcomeOf(world.billing, ['credits.expiring', { query }]);
    expect([query, await outcomeOf(remote, ['credits.expiring', { query }])]).toEqual([query, local]);
  }
  expect((await remote.call('credits.expiring')).body.data.grants.map((each) => each.projected.remainingCents)).toEqual(
    [7, 20],
  );
  await use(world, acme, { tokens: 'many', at: '2026-03-01T00:00:00Z', key: 'e' });
  const { key } = await createKey(world, ['contracts:read']);
  const reply = await send(port, '/v1/credits/expiring', { headers: { authorization: `Bearer ${key}` } });
  expect([reply.status, reply.message]).toEqual([
    503,
    `contract ${acme.contractId}: the meter TOKENS_ACME (${acme.meterId}) gave no quantity: value must be a number, but is text: cast or sum it`,
  ]);
  const other = await createKey(world, ['usage:read']);
  const refused = await send(port, '/v1/credits/expiring', { headers: { authorization: `Bearer ${other.key}` } });
  expect([refused.status, refused.message]).toEqual([
    403,
    'API key does not have the required permission: contracts:read',
  ]);
});

describe('tenants', () => {
  test("another tenant's id, an unknown id and an id of no form get the same answer, byte by byte", async () => {
    const { data: theirs } = await world.call('customers.create', {
      body: { name: 'Theirs', contacts: [{ name: 'A', email: 'a@example.com', roles: ['primary'] }] },
    });
    const owner = await world.addOrganization('ours');
    const { body } = await owner.call('keys.create', { body: { name: 'test', scopes: ['*'] } });
    const { port } = await serve(world);
    const headers = { authorization: `Bearer ${body.data.key}` };
    const ids = [theirs.id, '01900000-0000-7000-8000-00000000ffff', 'x', '..%2F..'];
    for (const [method, text] of [
      ['GET', undefined],
      ['PATCH', '{"name":"Mine"}'],
    ] as const) {
      const replies: string[] = [];
      for (const id of ids) {
        const options = { method, headers, ...(text === undefined ? {} : { body: text }) };
        const reply = await send(port, `/v1/customers/${id}`, options);
        expect(reply.status).toBe(404);
        replies.push(reply.text.replace(decodeURIComponent(id), 'ID'));
      }
      expect(new Set(replies).size).toBe(1);
    }
  });
});

test('the id by which events were accepted is the one that the log and the header have, and keys are made of another', async () => {
  const { key } = await createKey(world);
  const contacts = [{ name: 'A', email: 'a@example.com', roles: ['primary'] }];
  await world.call('customers.create', { body: { name: 'Acme', externalCustomerId: 'acme', contacts } });
  const { port } = await serve(world);
  const headers = { authorization: `Bearer ${key}` };
  const event = { eventName: 'call', externalCustomerId: 'acme' };
  for (const [path, body] of [
    ['/v1/events', event],
    ['/v1/events/batch', { events: [event, event] }],
  ] as const) {
    const reply = await send(port, path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(reply.status).toBe(202);
    expect(JSON.parse(reply.text)).toMatchObject({ requestId: reply.headers['x-request-id'] });
  }
  const { data, total } = await world.call('usage.events', {});
  expect([new Set(data.map((each) => each.idempotencyKey)).size, total]).toEqual([3, 3]);
});

type Step = readonly [OperationName, CallInput?];

async function outcomeOf(billing: Billing, [name, input]: Step): Promise<unknown> {
  try {
    return await billing.call(name, input);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const { kind, message, hint } = error;
    return { kind, message, hint, name: error.constructor.name };
  }
}

describe('in process and over HTTP', () => {
  const contact = { name: 'Ada', email: 'ada@example.com', roles: ['accounts_payable'] };
  const create: Step = [
    'customers.create',
    { body: { name: 'Acmé', contacts: [contact], externalCustomerId: 'acme', tags: ['a', 'b'] } },
  ];
  const stepsWith = (customerId: string): readonly Step[] => [
    ['customers.create', { body: { name: 'Acme 2', contacts: [contact], externalCustomerId: 'acme' } }],
    ['customers.create', { body: { name: '', contacts: [], ammountCents: 5, tags: 'x' } }],
    ['customers.create', { body: [] }],
    ['customers.create'],
    ['customers.list'],
    ['customers.list', { query: { externalCustomerId: 'acme', limit: '1' } }],
    ['customers.list', { query: { limit: '0', x: '1' } }],
    ['customers.get', { params: { customerId } }],
    ['customers.get', { params: { customerId: 'né/x' } }],
    ['customers.get', {}],
    ['customers.update', { params: { customerId }, body: { legalName: null, tags: [] } }],
    ['customers.update', { params: { customerId }, body: {} }],
    ['customers.pause', { params: { customerId }, body: { until: '2026-04-01' } }],
    ['customers.pause', { params: { customerId }, body: { until: '2026-02-30' } }],
    ['customers.resume', { params: { customerId } }],
    [
      'customers.assignCsm',
      { body: { assignments: [{ stripeCustomerId: 'cus_1', csm: { email: 'g@example.com' } }] } },
    ],
  ];

  test('every answer and every refusal is the same', async () => {
    const served = await makeWorld();
    const { url } = await serve(served);
    const remote = startClient(url, { key: (await createKey(served)).key });
    // The same ids are counted on both sides when both have made a key.
    await createKey(world);
    const created = (await outcomeOf(world.billing, create)) as Answer<'customers.create'>;
    expect(await outcomeOf(remote, create)).toEqual(created);
    const outcomes: Answer[] = [];
    for (const step of stepsWith(created.body.data.id)) {
      const local = await outcomeOf(world.billing, step);
      expect([step, await outcomeOf(remote, step)]).toEqual([step, local]);
      outcomes.push(local as Answer);
    }
    expect(outcomes.filter(({ status }) => status !== undefined).length).toBeGreaterThan(5);
  });
});
