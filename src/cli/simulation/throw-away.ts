/** A service in memory with a simulated clock: discarded when it is closed, and the same in every run. */

import { inMemory } from '../../database-url.ts';
import type { Billing } from '../../operations/index.ts';
import { readCatalog } from '../catalog/live.ts';
import { diffOf } from '../catalog/diff.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { takeSteps } from '../catalog/steps.ts';
import { countedIds } from '../counted-ids.ts';
import type { Dependencies, OpenBilling } from '../session/session.ts';

/** Nothing is ever posted to it. It makes the service keep the events that it would send. */
const listener = { url: 'http://127.0.0.1/', allowPrivate: true };

/** Opens the service with its clock at `start`. With `isListening` it keeps every event that webhooks would send. */
export async function openThrowAway(
  dependencies: Dependencies,
  start: string,
  { isListening }: { readonly isListening: boolean },
): Promise<OpenBilling> {
  const now = Temporal.Instant.from(start);
  const target = {
    kind: 'embedded',
    environment: 'embedded',
    profile: undefined,
    database: inMemory,
    events: undefined,
    organization: undefined,
    sources: {},
  } as const;
  const opened = await dependencies.openEngine(target, { now: () => now, newId: countedIds() });
  try {
    const billing = opened.engine.as(await opened.engine.owner());
    await billing.call('clock.set', { body: { to: start } });
    if (isListening) await billing.call('webhooks.create', { body: listener });
    return { billing, close: async () => await opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Makes the catalog what a file says, as `tally catalog apply` does. */
export async function applyTo(billing: Billing, file: CatalogFile): Promise<void> {
  const { steps, known } = diffOf(file, await readCatalog(billing), { prune: false });
  await takeSteps(steps, known, { billing });
}

/** Contacts for a customer, which must have some, if none are given. */
export const madeUpContacts = [
  { name: 'Accounts payable', email: 'billing@example.com', roles: ['accounts_payable'] },
] as const;
