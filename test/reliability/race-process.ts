/**
 * One of several processes on one file: `node race-process.ts FILE AT grants|finalize|ingest NUMBER JSON`. Prints `ready`, waits
 * for a line, so that all of them begin together, and then prints a line for each answer.
 */

import { once } from 'node:events';

import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { shuffled } from './tiers.ts';

/** What the processes of one race are given; ids that a kind does not need are left out. */
export interface Race {
  readonly contractId?: string;
  readonly customerId?: string;
  readonly invoiceIds?: readonly string[];
  /** Calls of each process. */
  readonly count: number;
}

const [file = '', at = '', kind = '', number = '0', json = '{}'] = process.argv.slice(2);
const { contractId = '', customerId = '', invoiceIds = [], count } = JSON.parse(json) as Race;

const kinds: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async grants(world) {
    const externalIds = Array.from({ length: count }, (_value, index) => `grant-${index}`);
    for (const externalId of shuffled(externalIds, Number(number))) {
      const body = { amountCents: 100, expiresAt: '2030-01-01T00:00:00Z', externalId };
      const { data } = await world.call('credits.grant', { params: { contractId }, body });
      print(externalId, data.id);
    }
  },
  async finalize(world) {
    for (const invoiceId of invoiceIds) {
      const { data } = await world.call('invoices.finalize', { params: { invoiceId } });
      print(invoiceId, data.invoiceNumber);
    }
  },
  async ingest(world) {
    for (let index = 0; index < count; index += 1) {
      const properties = { tokens: 1, model: 'large' };
      const event = { eventName: 'call', customerId, contractId, idempotencyKey: `${number}-${index}`, properties };
      await world.call('usage.ingestBatch', { body: { events: [event] } });
      print(event.idempotencyKey, 'recorded');
    }
  },
};

function print(...words: readonly string[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}

const world = await createWorld({ database: file, start: at, newId: () => crypto.randomUUID() });
print('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
await kinds[kind]?.(world);
await world.close();
