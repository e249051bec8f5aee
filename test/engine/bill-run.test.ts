import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { createRunReport } from '../../src/engine/bill-run.ts';
import { nothingDone } from '../../src/engine/due-work.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { UnavailableError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { openStore } from '../../src/store/open.ts';
import { grant, invoiceAt, invoices, movements, refusal, subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createClock, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ graceHours: 12 });

async function run(body: Record<string, unknown> = {}) {
  return (await world.call('bill.run', { body })).data;
}

async function statuses(subscription: Subscription): Promise<string[]> {
  return (await invoices(world, subscription)).map(({ status }) => status);
}

const march = { contract: { endDate: '2026-04-01' } };

describe('a bill run', () => {
  test('by a clock that stands after the year 2100 is refused, as every write is, and changes nothing', async () => {
    const acme = await subscribe(world);
    world.clock.set('9999-01-01T00:00:00Z');
    const words = 'the clock of this machine stands at 9999-01-01T00:00:00.000Z, after the year 2100';
    await expect(run()).rejects.toThrow(words);
    await expect(grant(world, acme, { amountCents: 100 })).rejects.toThrow(UnavailableError);
    expect(await statuses(acme)).toEqual(['Drafted', 'Drafted']);
    world.clock.set('2026-04-01T12:00:00Z');
    expect(await run()).toMatchObject({ until: '2026-04-01T12:00:00.000Z', finalizedCount: 1, draftedCount: 1 });
    await expect(createWorld({ start: '2101-01-01T00:00:00.000Z' })).rejects.toThrow('after the year 2100');
    await (await createWorld({ start: '2100-12-31T23:59:59.999Z' })).close();
  });

  test('that was noted too early for a contract looks up when it will lack drafts', async () => {
    await subscribe(world);
    const noted = async () =>
      await world.store.read(async (tx) => await tx.selectFrom('contracts').select('draftsDueOn').execute());
    const before = await noted();
    await world.store.write(
      async (tx) => await tx.updateTable('contracts').set({ draftsDueOn: '2026-03-01' }).execute(),
    );
    expect(await run()).toMatchObject({ draftedCount: 0, failedCount: 0 });
    expect(await noted()).toEqual(before);
    world.clock.set('2026-04-01T00:00:00Z');
    expect(await run()).toMatchObject({ draftedCount: 1 });
  });

  test('whose clock is set back meanwhile does what is due by then, and fails at nothing', async () => {
    const clock = createClock('2026-03-01T00:00:00Z');
    let isSetBack = false;
    const now = () => {
      const instant = clock.now();
      if (isSetBack) clock.set('2026-03-15T00:00:00Z');
      return instant;
    };
    const other = await createWorld({ clock: { ...clock, now } });
    await subscribe(other, march);
    clock.set('2026-04-02T00:00:00Z');
    isSetBack = true;
    const { data } = await other.call('bill.run', { body: {} });
    expect(data).toMatchObject({ finalizedCount: 0, endedContractCount: 0, failures: [] });
    await other.close();
  });

  test('finalizes a draft when its hours of grace are over', async () => {
    const acme = await subscribe(world, march);
    await use(world, acme, { tokens: 250, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-01T11:59:59.999Z');
    expect(await run()).toMatchObject({ finalizedCount: 0, endedContractCount: 1 });
    world.clock.set('2026-04-01T12:00:00.000Z');
    const { invoices: done, ...counts } = await run();
    const invoice = await invoiceAt(world, acme, 0);
    expect(counts).toEqual({
      until: '2026-04-01T12:00:00.000Z',
      isRehearsal: false,
      finalizedCount: 1,
      totalCents: 250,
      draftedCount: 0,
      expiredGrantCount: 0,
      resumedCustomerCount: 0,
      endedContractCount: 0,
      failedCount: 0,
      failures: [],
    });
    expect(done).toEqual([
      {
        organizationId: expect.any(String),
        id: invoice.id,
        invoiceNumber: 'INV-000001',
        contractId: acme.contractId,
        customerId: acme.customerId,
        invoiceDate: '2026-04-01',
        totalCents: 250,
      },
    ]);
    expect(invoice).toMatchObject({ status: 'In Progress', invoiceNumber: 'INV-000001', totalCents: 250 });
  });

  test('does nothing the second time', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-20T00:00:00Z' });
    world.clock.set('2026-07-15T00:00:00Z');
    expect(await run()).toMatchObject({ finalizedCount: 4, draftedCount: 4, expiredGrantCount: 1 });
    const before = await movements(world, acme);
    expect(await run()).toMatchObject({ finalizedCount: 0, draftedCount: 0, expiredGrantCount: 0, failures: [] });
    expect(await movements(world, acme)).toEqual(before);
  });

  test('records what it does at the time at which it is done', async () => {
    const acme = await subscribe(world, march);
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-03-20T00:00:00Z' });
    world.clock.set('2026-04-10T00:00:00Z');
    await run();
    expect((await invoiceAt(world, acme, 0)).updatedAt).toBe('2026-04-10T00:00:00.000Z');
    const { data } = await world.call('credits.ledger', { params: { contractId: acme.contractId } });
    expect(data.entries[0]).toMatchObject({ type: 'expiration', createdAt: '2026-04-10T00:00:00.000Z' });
  });

  test('finalizes the drafts of a contract in the order of their periods', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-07-01' } });
    world.clock.set('2026-08-01T00:00:00Z');
    await run();
    const all = await invoices(world, acme);
    expect(all.map(({ invoiceNumber, invoiceDate }) => `${invoiceNumber} ${invoiceDate}`)).toEqual([
      'INV-000001 2026-04-01',
      'INV-000002 2026-05-01',
      'INV-000003 2026-06-01',
      'INV-000004 2026-07-01',
    ]);
  });

  test('finalizes the elapsed periods of a contract that was begun in the past', async () => {
    const acme = await subscribe(world, { contract: { startDate: '2025-12-01' } });
    expect(await statuses(acme)).toEqual(Array(5).fill('Drafted'));
    expect((await run()).finalizedCount).toBe(2);
    world.clock.set('2026-03-01T12:00:00Z');
    expect((await run()).finalizedCount).toBe(1);
    expect(await statuses(acme)).toEqual(['Paid', 'Paid', 'Paid', 'Drafted', 'Drafted']);
  });

  test('goes no further than it is told', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-07-01' } });
    world.clock.set('2026-08-01T00:00:00Z');
    expect((await run({ until: '2026-05-01' })).finalizedCount).toBe(1);
    expect((await run({ until: '2026-05-01T12:00:00Z' })).finalizedCount).toBe(1);
    expect(await statuses(acme)).toEqual(['Paid', 'Paid', 'Drafted', 'Drafted']);
  });

  test('is refused beyond now', async () => {
    expect(await refusal(world, 'bill.run', { body: { until: '2026-03-01T00:00:00.001Z' } })).toBe(
      '422 until: must not be after now, 2026-03-01T00:00:00.000Z',
    );
  });

  test('leaves the customer of a paused contract its invoice, and sends it when the pause ends', async () => {
    const acme = await subscribe(world, march);
    await world.call('customers.pause', { params: { customerId: acme.customerId }, body: { until: '2026-04-10' } });
    world.clock.set('2026-04-02T00:00:00Z');
    expect(await run()).toMatchObject({ finalizedCount: 1, resumedCustomerCount: 0 });
    const sentAt = async () =>
      await world.store.read(
        async (tx) => (await tx.selectFrom('invoices').select('sentAt').executeTakeFirst())?.sentAt,
      );
    expect(await sentAt()).toBeNull();
    world.clock.set('2026-04-10T08:00:00Z');
    expect(await run()).toMatchObject({ resumedCustomerCount: 1 });
    expect(await sentAt()).toBe('2026-04-10T08:00:00.000Z');
    expect(await run()).toMatchObject({ resumedCustomerCount: 0 });
  });

  test('is for one organization, or for all', async () => {
    await subscribe(world, march);
    const billing = await world.addOrganization('second');
    const second: World = { ...world, billing, call: async (name, input) => (await billing.call(name, input)).body };
    const other = await subscribe(second, march);
    world.clock.set('2026-05-01T00:00:00Z');
    expect((await run()).finalizedCount).toBe(1);
    expect((await invoices(second, other)).map(({ status }) => status)).toEqual(['Drafted']);
    expect((await run({ allOrganizations: true })).finalizedCount).toBe(1);
    expect((await invoices(second, other)).map(({ invoiceNumber }) => invoiceNumber)).toEqual(['INV-000001']);
  });
});

describe('a rehearsal', () => {
  test('shows all that would be done, and keeps nothing', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-06-01' } });
    await grant(world, acme, { amountCents: 100, expiresAt: '2026-04-20T00:00:00Z' });
    await use(world, acme, { tokens: 130, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-07-01T00:00:00Z');
    const drafts = await invoices(world, acme);
    const before = await movements(world, acme);
    const rehearsed = await run({ rehearse: true });
    expect(rehearsed).toMatchObject({ isRehearsal: true, finalizedCount: 3, totalCents: 30, endedContractCount: 1 });
    expect(rehearsed.invoices.map(({ invoiceNumber }) => invoiceNumber)).toEqual(
      drafts.map(({ invoiceNumber }) => invoiceNumber),
    );
    expect(await invoices(world, acme)).toEqual(drafts);
    expect(await movements(world, acme)).toEqual(before);
    const { invoices: _rehearsed, ...counts } = rehearsed;
    expect(await run()).toMatchObject({ ...counts, isRehearsal: false });
  });
});

describe('a contract that cannot be billed', () => {
  const strict = { sql: `SELECT max(properties['tokens']) AS value FROM events` };

  /** Its drafts cannot be read either. */
  async function storedStatuses({ contractId }: Subscription): Promise<string[]> {
    const rows = await world.store.read(
      async (tx) =>
        await tx.selectFrom('invoices').select('status').where('contractId', '=', contractId).orderBy('seq').execute(),
    );
    return rows.map(({ status }) => status);
  }

  test('is told, stops no other, and is billed by the run after it was put right', async () => {
    const broken = await subscribe(world, { name: 'broken', meter: strict, ...march });
    const sound = await subscribe(world, { name: 'sound', ...march });
    await use(world, broken, { tokens: 'many', key: 'bad', at: '2026-03-01T00:00:00Z' });
    await use(world, sound, { tokens: 40, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-04-02T00:00:00Z');
    const { finalizedCount, totalCents, failedCount, failures } = await run();
    expect({ finalizedCount, totalCents, failedCount }).toEqual({ finalizedCount: 1, totalCents: 40, failedCount: 1 });
    expect(failures).toEqual([
      {
        organizationId: expect.any(String),
        contractId: broken.contractId,
        message: expect.stringMatching(/^the meter TOKENS_BROKEN \(.*\) gave no quantity: value must be a number/),
      },
    ]);
    expect(await storedStatuses(broken)).toEqual(['Drafted']);
    expect((await run({ rehearse: true })).failedCount).toBe(1);
    await use(world, broken, { tokens: 5, key: 'bad', at: '2026-03-01T00:00:00Z' });
    expect(await run()).toMatchObject({ finalizedCount: 1, failedCount: 0 });
    expect((await invoiceAt(world, broken, 0)).invoiceNumber).toBe('INV-000002');
  });

  test('is billed up to what fails, and a rehearsal of that ends, and tells of the failure alone', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-05-01' } });
    await use(world, acme, { tokens: 5, at: '2026-03-01T00:00:00Z' });
    world.clock.set('2026-05-02T00:00:00Z');
    await use(world, acme, { tokens: 9e15, at: '2026-04-01T00:00:00Z' });
    expect(await run({ rehearse: true })).toMatchObject({ finalizedCount: 0, failedCount: 1 });
    expect(await storedStatuses(acme)).toEqual(['Drafted', 'Drafted']);
    expect(await run()).toMatchObject({ finalizedCount: 1, totalCents: 5, failedCount: 1 });
    expect(await storedStatuses(acme)).toEqual(['In Progress', 'Drafted']);
  });

  test('counts once however often the run meets it, also behind those that are listed', () => {
    const report = createRunReport();
    const contracts = limits.billRunListed + 2;
    for (let i = 0; i < 2 * contracts; i += 1) {
      report.fail({ organizationId: 'org', contractId: `contract${i % contracts}`, message: 'no quantity' });
    }
    expect(report.body()).toMatchObject({ failedCount: contracts, failures: { length: limits.billRunListed } });
  });

  test('stands in the way of simulated time no more than of others', async () => {
    await world.call('clock.advance', { body: { to: '2026-03-01' } });
    const broken = await subscribe(world, { name: 'broken', meter: strict, ...march });
    const sound = await subscribe(world, { name: 'sound' });
    await use(world, broken, { tokens: 'many', at: '2026-03-01T00:00:00Z' });
    const { data } = await world.call('clock.advance', { body: { to: '2026-06-01' } });
    expect(data).toMatchObject({ now: '2026-06-01T00:00:00.000Z', finalizedCount: 3, failures: { length: 1 } });
    expect(await storedStatuses(broken)).toEqual(['Drafted']);
    expect(await statuses(sound)).toEqual(['Paid', 'Paid', 'Paid', 'Drafted', 'Drafted']);
  });
});

test.skipIf(process.platform === 'win32')(
  'a database that fails ends the run, and is no failure of a customer',
  async () => {
    const directory = newDirectory();
    const database = join(directory, 'billing.db');
    const own = await createWorld({ start: '2026-03-01T00:00:00.000Z', database });
    const { customerId } = await subscribe(own);
    await own.call('customers.pause', { params: { customerId }, body: { until: '2026-03-10' } });
    own.clock.set('2026-03-10T00:00:00Z');
    renameSync(database, `${database}.moved`);
    await expect(own.call('bill.run')).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('was moved or replaced'),
    });
    await own.close();
  },
);

describe('the bill run of a server', () => {
  test('is for every organization', async () => {
    const acme = await subscribe(world, march);
    world.clock.set('2026-05-01T00:00:00Z');
    expect(await world.engine.billDue()).toMatchObject({ finalizedCount: 1, failures: [] });
    expect(await statuses(acme)).toEqual(['Paid']);
  });

  test('leaves a simulated database to its clock', async () => {
    await world.call('clock.set', { body: { to: '2026-05-01' } });
    const acme = await subscribe(world, march);
    world.clock.set('2026-06-01T00:00:00Z');
    expect(await world.engine.billDue()).toBeUndefined();
    expect(await statuses(acme)).toEqual(['Drafted']);
  });

  test('is none where the database can only be read, so that nobody takes it for one that billed', async () => {
    const directory = newDirectory();
    const database = join(directory, 'billing.db');
    const own = await createWorld({ start: '2026-03-01T00:00:00.000Z', database });
    await subscribe(own, march);
    await own.close();
    const store = await openStore(database, { readOnly: true });
    const { now } = own.clock;
    const engine = createEngine({ store, now, newId: () => '', randomBytes, finalizationGraceHours: 0 });
    own.clock.set('2026-05-01T00:00:00Z');
    expect(await engine.billDue()).toBeUndefined();
    await engine.close();
  });

  test('begins no further step once it is told to stop', async () => {
    const acme = await subscribe(world, march);
    world.clock.set('2026-05-01T00:00:00Z');
    expect(await world.engine.billDue(AbortSignal.abort())).toMatchObject({ finalizedCount: 0 });
    expect(await statuses(acme)).toEqual(['Drafted']);
  });
});

test('a report counts and sums everything, and lists no more invoices than an answer holds', () => {
  const report = createRunReport();
  const invoice = {
    id: 'invoice',
    contractId: 'contract',
    customerId: 'customer',
    draftNumber: 'DRAFT-1',
    number: 'INV-000001',
    invoiceDate: Temporal.PlainDate.from('2026-04-01'),
    lineCount: 1,
    totalCents: 3n,
  };
  const count = limits.billRunListed + 2;
  report.add('org', { ...nothingDone, invoices: Array.from({ length: count }, () => invoice) }, false);
  const body = report.body();
  expect(body).toMatchObject({ finalizedCount: count, totalCents: 3 * count });
  expect(body.invoices).toHaveLength(limits.billRunListed);
});

describe('a clock that ran ahead', () => {
  test('while another organization wrote brings nothing before its time, and no failure', async () => {
    const acme = await subscribe(world, { contract: { endDate: '2026-06-01' } });
    const eu = await world.addOrganization('eu');
    world.clock.set('2030-01-01T00:00:00.000Z');
    await eu.call('products.create', { body: { name: 'Ahead' } });
    world.clock.set('2026-04-02T00:00:00.000Z');
    expect(await run({ allOrganizations: true })).toMatchObject({ finalizedCount: 1, failures: [] });
    expect(await statuses(acme)).toEqual(['Paid', 'Drafted', 'Drafted']);
  });

  test('has brought what it billed to the time at which nothing earlier is recorded any more', async () => {
    await subscribe(world, march);
    world.clock.set('2026-05-01T00:00:00.000Z');
    expect(await run()).toMatchObject({ finalizedCount: 1 });
    world.clock.set('2026-04-15T00:00:00.000Z');
    const { data } = await world.call('products.create', { body: { name: 'later' } });
    expect(data.createdAt).toBe('2026-05-01T00:00:00.000Z');
  });

  test('leaves drafts and expiries due that were not done', async () => {
    const acme = await subscribe(world);
    await grant(world, acme, { amountCents: 500, expiresAt: '2026-04-01T00:00:00Z' });
    const eu = await world.addOrganization('eu');
    world.clock.set('2026-04-01T00:00:00.000Z');
    await eu.call('products.create', { body: { name: 'Ahead' } });
    world.clock.set('2026-03-31T23:59:59.999Z');
    await run({ allOrganizations: true });
    world.clock.set('2026-04-01T00:00:00.000Z');
    expect(await run()).toMatchObject({ draftedCount: 1, expiredGrantCount: 1 });
    expect(await movements(world, acme)).toEqual(['grant 500 0', 'expiration -500 0']);
  });
});
