/** Reliability 7, C1 over HTTP: a server is killed while many write, and share its commits; what it answered is kept. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createClient } from '../../src/client/client.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { serveProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';
import { damageOf, problemsOf } from './soundness.ts';
import { drawn, inTier, seeds } from './tiers.ts';

const clientCount = 16;

test.each(seeds(inTier(2, 30)))(
  'a server that is killed under load has kept each write that it answered, whole and once (seed %i)',
  async (seed) => {
    const home = newDirectory();
    const file = join(home, 'book.db');
    const options = { database: file, start: Temporal.Now.instant().toString(), newId: randomUUID };
    const before = await createWorld(options);
    const acme = await subscribe(before, { contract: { startDate: '2026-01-01' } });
    const { data } = await before.call('keys.create', { body: { name: 'clients', scopes: ['*'] } });
    await before.close();

    const server = await serveProgram([], { home, environment: { TALLY_DATABASE: file } });
    const acknowledged = { grants: [] as string[], events: [] as string[] };
    const enough = 40 + drawn(seed, 'acknowledgements', 200);
    const work = Array.from({ length: clientCount }, async (_value, number) => {
      const client = createClient({
        baseUrl: server.url,
        key: data.key,
        now: Date.now,
        sleep: async () => await Promise.reject(new Error('the server is gone')),
        random: () => 0.5,
      });
      try {
        for (let index = 0; ; index += 1) {
          const key = `${number}-${index}`;
          const body = { amountCents: 100, expiresAt: '2090-01-01T00:00:00Z', externalId: key };
          await client.call('credits.grant', { params: { contractId: acme.contractId }, body });
          acknowledged.grants.push(key);
          const event = {
            eventName: 'call',
            idempotencyKey: key,
            customerId: acme.customerId,
            properties: { tokens: 1 },
          };
          await client.call('usage.ingest', { body: event });
          acknowledged.events.push(key);
          if (acknowledged.events.length >= enough) process.kill(server.pid, 'SIGKILL');
        }
      } catch {
        // The answer that never came: its write may be there or not.
      } finally {
        await client.close();
      }
    });
    await Promise.all(work);
    await server.stop();

    expect(damageOf(file)).toEqual([]);
    const after = await createWorld(options);
    const kept = await after.store.read(async (tx) => {
      const rows = await tx.selectFrom('ledgerEntries').select('externalId').where('type', '=', 'grant').execute();
      return rows.flatMap(({ externalId }) => externalId ?? []);
    });
    expect(new Set(kept).size).toBe(kept.length);
    expect(acknowledged.grants.filter((key) => !kept.includes(key))).toEqual([]);
    expect(kept.length - acknowledged.grants.length).toBeLessThanOrEqual(clientCount);
    const { total } = await after.call('usage.events', { query: { limit: '1' } });
    expect(total).toBeGreaterThanOrEqual(acknowledged.events.length);
    expect(total).toBeLessThanOrEqual(acknowledged.events.length + clientCount);
    expect(await problemsOf(after)).toEqual([]);
    await after.close();
  },
  60_000,
);
