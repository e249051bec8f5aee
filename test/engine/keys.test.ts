import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import type { BillingError } from '../../src/errors.ts';
import { openStore } from '../../src/store/open.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { countedBytes, countedIds, createWorld } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

async function createKey(body: { scopes?: string[]; expiresAt?: string } = {}) {
  return (await world.call('keys.create', { body: { name: 'ci', scopes: ['*'], ...body } })).data;
}

describe('the local owner', () => {
  it('gets an organization called default in a database without any', async () => {
    const { data } = await world.call('orgs.list');
    expect(data).toEqual([
      {
        id: '01900000-0000-7000-8000-000000000001',
        name: 'default',
        keyPrefix: 'tally',
        salesTaxEnabled: false,
        paymentProcessor: null,
        environment: 'sandbox',
        createdAt: '2026-03-01T00:00:00.000Z',
      },
    ]);
  });

  it('acts for the oldest organization unless one is named', async () => {
    await world.call('orgs.create', { body: { name: 'eu' } });
    const owner = await world.engine.owner();
    expect(owner).toEqual({ organizationId: '01900000-0000-7000-8000-000000000001', scopes: ['*'], isLocal: true });
    expect((await world.call('orgs.list')).data.map((each) => each.name)).toEqual(['default', 'eu']);
  });

  it('acts for the organization that is named, by name or by id', async () => {
    const { data: eu } = await world.call('orgs.create', { body: { name: 'eu' } });
    expect((await world.engine.owner('eu')).organizationId).toBe(eu.id);
    expect((await world.engine.owner(eu.id)).organizationId).toBe(eu.id);
    await world.call('orgs.update', { params: { organizationId: 'default' }, body: { name: eu.id } });
    expect((await world.engine.owner(eu.id)).organizationId).toBe(eu.id);
  });

  it('is told the names when the named organization does not exist', async () => {
    const hintOf = async () => await world.engine.owner('us').catch((error: unknown) => (error as BillingError).hint);
    await expect(world.engine.owner('us')).rejects.toMatchObject({
      kind: 'notFound',
      message: 'no organization has the id or name "us"',
    });
    await world.engine.owner();
    expect(await hintOf()).toBe('the organization is default');
    for (let count = 0; count < 11; count += 1) await world.call('orgs.create', { body: { name: `eu${count}` } });
    expect(await hintOf()).toMatch(/^the organizations are default, (?:eu\d+, ){8}eu\d+ and 2 more$/);
  });

  it('cannot be made in an empty database that is read-only', async () => {
    const directory = newDirectory();
    const path = join(directory, 'empty.db');
    await (await openStore(path)).close();
    const store = await openStore(path, { readOnly: true });
    try {
      const { now } = world.clock;
      const dependencies = { store, now, newId: countedIds(), randomBytes: countedBytes(), finalizationGraceHours: 0 };
      await expect(createEngine(dependencies).owner()).rejects.toMatchObject({
        kind: 'unavailable',
        message: `the database ${path} has no organization and is read-only`,
      });
    } finally {
      await store.close();
    }
  });
});

describe('organizations', () => {
  it('have unique names', async () => {
    await expect(world.call('orgs.create', { body: { name: 'default' } })).rejects.toMatchObject({
      kind: 'conflict',
      message: 'an organization is called "default" already',
    });
    const { data: eu } = await world.call('orgs.create', { body: { name: 'eu' } });
    await expect(
      world.call('orgs.update', { params: { organizationId: eu.id }, body: { name: 'default' } }),
    ).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('keep their own name when it is given again', async () => {
    const { data } = await world.call('orgs.update', {
      params: { organizationId: 'default' },
      body: { name: 'default' },
    });
    expect(data.name).toBe('default');
  });

  it('switch sales tax and the payment processor on and off', async () => {
    const on = await world.call('orgs.update', {
      params: { organizationId: 'default' },
      body: { salesTaxEnabled: true, paymentProcessor: 'stripe' },
    });
    expect(on.data).toMatchObject({ salesTaxEnabled: true, paymentProcessor: 'stripe' });
    const off = await world.call('orgs.update', {
      params: { organizationId: 'default' },
      body: { paymentProcessor: null },
    });
    expect(off.data).toMatchObject({ salesTaxEnabled: true, paymentProcessor: null });
  });

  it('must be named by something that exists, and changed in at least one field', async () => {
    await expect(
      world.call('orgs.update', { params: { organizationId: 'us' }, body: { name: 'eu' } }),
    ).rejects.toMatchObject({ kind: 'notFound' });
    await expect(world.call('orgs.update', { params: { organizationId: 'default' }, body: {} })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'at least one field is required',
    });
  });

  it('give their prefix to their keys', async () => {
    await world.call('orgs.create', { body: { name: 'eu', keyPrefix: 'acme' } });
    const eu = world.engine.as(await world.engine.owner('eu'));
    const { body } = await eu.call('keys.create', { body: { name: 'ci', scopes: ['*'] } });
    expect(body.data.key).toMatch(/^acme_live_[0-9a-f]{48}$/);
  });
});

describe('a key', () => {
  it('has the form of interface 5.2, is shown once and kept as its digest and last four characters', async () => {
    const created = await createKey();
    expect(created.key).toMatch(/^tally_live_[0-9a-f]{48}$/);
    expect(created.suffix).toBe(created.key.slice(-4));
    const { data } = await world.call('keys.list');
    const { key, ...rest } = created;
    expect(data).toEqual([rest]);
    const rows = await world.store.read(async (tx) => await tx.selectFrom('apiKeys').selectAll().execute());
    expect(
      JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(key.slice(-48));
  });

  it('gives access with its scopes and no others', async () => {
    const { key, id } = await createKey({ scopes: ['customers:read'] });
    const caller = await world.engine.authenticate(key);
    expect(caller).toEqual({
      organizationId: '01900000-0000-7000-8000-000000000001',
      scopes: ['customers:read'],
      keyId: id,
      isLocal: false,
    });
  });

  it('of any scope may ask whose it is, and the owner too', async () => {
    const { key, id } = await createKey({ scopes: ['usage:write'] });
    const caller = await world.engine.authenticate(key);
    const { data } = (await world.engine.as(caller).call('keys.whoami')).body;
    expect(data).toEqual({
      organization: { id: '01900000-0000-7000-8000-000000000001', name: 'default' },
      environment: 'sandbox',
      scopes: ['usage:write'],
      key: { id, name: expect.any(String), suffix: key.slice(-4), expiresAt: null },
    });
    expect((await world.call('keys.whoami')).data).toMatchObject({ scopes: ['*'], key: null });
  });

  it('keeps each scope once', async () => {
    const { scopes } = await createKey({ scopes: ['usage:read', 'usage:read', 'meters:read'] });
    expect(scopes).toEqual(['usage:read', 'meters:read']);
  });

  it('gives access to its own organization', async () => {
    const { data: eu } = await world.call('orgs.create', { body: { name: 'eu' } });
    const owner = world.engine.as(await world.engine.owner('eu'));
    const { body } = await owner.call('keys.create', { body: { name: 'ci', scopes: ['*'] } });
    expect((await world.engine.authenticate(body.data.key)).organizationId).toBe(eu.id);
  });

  it.each([
    ['unknown', `tally_live_${'0'.repeat(48)}`],
    ['cut short', 'tally_live_00'],
    ['of another form', 'hello'],
    ['empty', ''],
  ])('that is %s is invalid', async (_what, key) => {
    await createKey();
    await expect(world.engine.authenticate(key)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'Invalid API key',
    });
  });

  it('that differs in one digit is invalid', async () => {
    const { key } = await createKey();
    const other = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    await expect(world.engine.authenticate(other)).rejects.toMatchObject({ message: 'Invalid API key' });
  });

  it('lives by the simulated time while the clock of the machine goes on', async () => {
    const { key } = await createKey({ expiresAt: '2026-03-02T00:00:00Z' });
    await world.call('clock.set', { body: { to: '2026-03-01T00:00:01Z' } });
    world.clock.set('2026-03-03T00:00:00Z');
    await expect(world.engine.authenticate(key)).resolves.toMatchObject({ isLocal: false });
    await world.call('clock.advance', { body: { to: '2026-03-02T00:00:00Z' } });
    await expect(world.engine.authenticate(key)).rejects.toThrow('API key has expired');
  });

  it('is refused from the instant at which it expires', async () => {
    const { key } = await createKey({ expiresAt: '2026-03-02T00:00:00Z' });
    world.clock.set('2026-03-01T23:59:59.999Z');
    await expect(world.engine.authenticate(key)).resolves.toMatchObject({ isLocal: false });
    world.clock.set('2026-03-02T00:00:00Z');
    await expect(world.engine.authenticate(key)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'API key has expired',
    });
  });

  it('that has expired stays so where the clock of the machine goes back', async () => {
    const { key } = await createKey({ expiresAt: '2026-03-02T00:00:00Z' });
    world.clock.set('2026-03-02T00:00:00Z');
    await createKey();
    world.clock.set('2026-03-01T12:00:00Z');
    await expect(world.engine.authenticate(key)).rejects.toMatchObject({ message: 'API key has expired' });
  });

  it('must expire in the future', async () => {
    await expect(createKey({ expiresAt: '2026-03-01T00:00:00Z' })).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'expiresAt: must be after now, 2026-03-01T00:00:00.000Z',
    });
  });

  it('is refused as soon as it is revoked, and revoking it again changes nothing', async () => {
    const { id, key } = await createKey();
    const first = await world.call('keys.revoke', { params: { keyId: id } });
    await expect(world.engine.authenticate(key)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'API key has been revoked',
    });
    world.clock.advance({ hours: 1 });
    const second = await world.call('keys.revoke', { params: { keyId: id } });
    expect(second.data).toEqual(first.data);
    expect(second.data.revokedAt).toBe('2026-03-01T00:00:00.000Z');
  });

  it('notes its last use, at most once a minute', async () => {
    const { key } = await createKey();
    const lastUsedAt = async () => (await world.call('keys.list')).data[0]?.lastUsedAt;
    expect(await lastUsedAt()).toBeNull();
    await world.engine.authenticate(key);
    expect(await lastUsedAt()).toBe('2026-03-01T00:00:00.000Z');
    world.clock.advance({ seconds: 59 });
    await world.engine.authenticate(key);
    expect(await lastUsedAt()).toBe('2026-03-01T00:00:00.000Z');
    world.clock.advance({ seconds: 1 });
    await world.engine.authenticate(key);
    expect(await lastUsedAt()).toBe('2026-03-01T00:01:00.000Z');
  });

  it('notes its use again where its last use was noted by a clock that ran ahead', async () => {
    const { key } = await createKey();
    world.clock.set('2031-03-01T00:00:00Z');
    await world.engine.authenticate(key);
    world.clock.set('2026-03-01T00:05:00Z');
    await world.engine.authenticate(key);
    expect((await world.call('keys.list')).data[0]?.lastUsedAt).toBe('2026-03-01T00:05:00.000Z');
  });

  it('is noted once a minute also where the clocks of two machines are some minutes apart', async () => {
    const { key } = await createKey();
    const lastUsedAt = async () => (await world.call('keys.list')).data[0]?.lastUsedAt;
    const noted = '2026-03-01T00:05:00.000Z';
    world.clock.set(noted);
    await world.engine.authenticate(key);
    world.clock.set('2026-03-01T00:00:00Z');
    await world.engine.authenticate(key);
    expect(await lastUsedAt()).toBe(noted);
    world.clock.set('2026-02-28T23:59:59.999Z');
    await world.engine.authenticate(key);
    expect(await lastUsedAt()).toBe('2026-02-28T23:59:59.999Z');
  });

  it('is let in while another process holds the database, without the note of its use', async () => {
    const directory = newDirectory();
    const path = join(directory, 'busy.db');
    const first = await createWorld({ database: path });
    // Who waited would wait for this test.
    const store = await openStore(path, { busyTimeoutMilliseconds: 600_000 });
    try {
      const { key } = (await first.call('keys.create', { body: { name: 'ci', scopes: ['*'] } })).data;
      const { now } = first.clock;
      const dependencies = { store, now, newId: countedIds(), randomBytes: countedBytes(), finalizationGraceHours: 0 };
      await first.store.write(async () => {
        await expect(createEngine(dependencies).authenticate(key)).resolves.toMatchObject({ isLocal: false });
      });
      expect((await first.call('keys.list')).data[0]?.lastUsedAt).toBeNull();
    } finally {
      await store.close();
      await first.close();
    }
  });

  it('may not administer, whatever its scopes', async () => {
    const { key } = await createKey();
    const remote = world.engine.as(await world.engine.authenticate(key));
    await expect(remote.call('keys.list')).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(remote.call('orgs.list')).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('rotating a key', () => {
  it('gives a new one of the same name, scopes and end, and revokes the old one at once', async () => {
    const old = await createKey({ scopes: ['usage:write'], expiresAt: '2026-06-01T00:00:00Z' });
    const { data: next } = await world.call('keys.rotate', { params: { keyId: old.id } });
    expect(next).toMatchObject({ name: 'ci', scopes: ['usage:write'], expiresAt: '2026-06-01T00:00:00.000Z' });
    expect(next.key).not.toBe(old.key);
    await expect(world.engine.authenticate(next.key)).resolves.toMatchObject({ scopes: ['usage:write'] });
    await expect(world.engine.authenticate(old.key)).rejects.toMatchObject({ message: 'API key has been revoked' });
  });

  it('keeps the old one until the instant that is given', async () => {
    const old = await createKey();
    await world.call('keys.rotate', { params: { keyId: old.id }, body: { validUntil: '2026-03-08T00:00:00Z' } });
    await expect(world.engine.authenticate(old.key)).resolves.toMatchObject({ isLocal: false });
    world.clock.set('2026-03-08T00:00:00Z');
    await expect(world.engine.authenticate(old.key)).rejects.toMatchObject({ message: 'API key has expired' });
  });

  it('never prolongs the old one', async () => {
    const old = await createKey({ expiresAt: '2026-03-02T00:00:00Z' });
    await world.call('keys.rotate', { params: { keyId: old.id }, body: { validUntil: '2026-03-08T00:00:00Z' } });
    world.clock.set('2026-03-02T00:00:00Z');
    await expect(world.engine.authenticate(old.key)).rejects.toMatchObject({ message: 'API key has expired' });
  });

  it('is refused for one that is revoked or expired, and for an instant that has passed', async () => {
    const hint = 'create another with: tally keys create';
    const revoked = await createKey();
    await world.call('keys.revoke', { params: { keyId: revoked.id } });
    await expect(world.call('keys.rotate', { params: { keyId: revoked.id } })).rejects.toMatchObject({
      message: 'the key "ci" has been revoked; it cannot be rotated',
      hint,
    });
    const expired = await createKey({ expiresAt: '2026-03-02T00:00:00Z' });
    const current = await createKey();
    world.clock.set('2026-03-03T00:00:00Z');
    await expect(world.call('keys.rotate', { params: { keyId: expired.id } })).rejects.toMatchObject({
      message: 'the key "ci" has expired; it cannot be rotated',
      hint,
    });
    await expect(
      world.call('keys.rotate', { params: { keyId: current.id }, body: { validUntil: '2026-03-03T00:00:00Z' } }),
    ).rejects.toMatchObject({
      kind: 'invalidInput',
      message: 'validUntil: must be after now, 2026-03-03T00:00:00.000Z',
    });
  });

  it("answers another organization's key like one that never was", async () => {
    const { id } = await createKey();
    const eu = await world.addOrganization('eu');
    for (const name of ['keys.rotate', 'keys.revoke'] as const) {
      for (const keyId of [id, '01900000-0000-7000-8000-00000000ffff', 'nonsense']) {
        await expect(eu.call(name, { params: { keyId } })).rejects.toMatchObject({
          kind: 'notFound',
          message: 'no key has this id',
        });
      }
    }
    expect((await eu.call('keys.list')).body.data).toEqual([]);
  });
});
