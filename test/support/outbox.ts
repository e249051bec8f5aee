/** Who listens for webhooks, and what the outbox of a world holds. */

import type { World } from './world.ts';

export interface Sent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Registers an endpoint for these types of events, or for all. */
export async function listen(world: World, eventTypes?: readonly string[]): Promise<void> {
  const body = { url: 'https://hooks.example.com/', ...(eventTypes === undefined ? {} : { eventTypes }) };
  await world.call('webhooks.create', { body });
}

/** Every event of the outbox, oldest first. */
export async function outboxOf(world: World): Promise<Sent[]> {
  const rows = await world.store.read(async (tx) =>
    tx.selectFrom('webhookEvents').select('body').orderBy('seq').execute(),
  );
  return rows.map(({ body }) => JSON.parse(body) as Sent);
}
