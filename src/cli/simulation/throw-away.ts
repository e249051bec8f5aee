/** A service in memory with a simulated clock: gone when it is closed, and the same at every run. */

import { inMemory } from '../../database-url.ts';
import type { Billing } from '../../operations/index.ts';
import { readCatalog } from '../catalog/live.ts';
import { planCatalog } from '../catalog/plan.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { takeSteps } from '../catalog/steps.ts';
import type { Dependencies, OpenBilling } from '../session/session.ts';

/** Never posted to: nothing sends. It has the service keep what it would tell. */
const listener = { url: 'http://127.0.0.1/', allowPrivate: true };

/** The clock stands at `start`. Where somebody listens, every event that webhooks would tell of is kept. */
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
  const { steps, known } = planCatalog(file, await readCatalog(billing), { prune: false });
  await takeSteps(steps, known, { billing });
}

/** Contacts that a customer has to have, where nothing says who they are. */
export const madeUpContacts = [
  { name: 'Accounts payable', email: 'billing@example.com', roles: ['accounts_payable'] },
] as const;

/** Of the form of ids, counted from 1. */
function countedIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `01900000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
  };
}
