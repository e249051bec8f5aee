/**
 * What a key gives access to, found by asking the service. Ours says it. Another service gets only requests that the interface
 * documents, and no writes: which reads it allows tells the read scopes, and no more can be known.
 */

import { BillingError, ForbiddenError } from '../../errors.ts';
import type { ConnectionFacts, OperationName } from '../../operations/index.ts';
import type { CallInput, Scope } from '../../operations/operation.ts';
import { reading } from '../session/open-session.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';

export interface ServiceFacts {
  /** By name; undefined if the service does not tell. */
  readonly organization?: string;
  readonly environment?: 'sandbox' | 'production';
  readonly expiresAt?: string | null;
  readonly scopes: readonly Scope[];
  /** Whether these are all scopes, or only those that could be tried. */
  readonly knowsAllScopes: boolean;
  readonly connection: ConnectionFacts | undefined;
}

/** What the key of a target gives access to, found over a separate connection. */
export async function factsOf(target: Target, session: Session): Promise<ServiceFacts> {
  return await reading(session, target, checkService);
}

/** Throws what the service answers: an unauthorized error for a refused key, a forbidden one for a key that allows nothing. */
async function checkService(opened: OpenBilling): Promise<ServiceFacts> {
  try {
    const { data } = (await opened.billing.call('keys.whoami')).body;
    const { organization, environment, scopes, key } = data;
    const connection = opened.connection?.();
    const expiresAt = key?.expiresAt ?? null;
    return { organization: organization.name, environment, scopes, expiresAt, knowsAllScopes: true, connection };
  } catch (error) {
    if (!(error instanceof BillingError) || error.kind !== 'notOffered') throw error;
  }
  const scopes: Scope[] = [];
  let isThere = false;
  for (const [scope, name, input] of readings) {
    const answer = await answerTo(opened, name, input);
    isThere ||= answer !== 'notOffered';
    if (answer === 'allowed') scopes.push(scope);
  }
  if (scopes.length > 0) return { scopes, knowsAllScopes: false, connection: opened.connection?.() };
  if (!isThere) {
    throw new BillingError('notOffered', 'the service is not at this base URL', {
      hint: 'give it without a path, or with the path at which a proxy serves it; /v1 is not part of it',
    });
  }
  throw new ForbiddenError(
    `the service accepts the key, but lets it read none of ${readings.map(([, name]) => name).join(', ')}`,
    { hint: `use a key with one of the scopes ${readings.map(([scope]) => scope).join(', ')}` },
  );
}

/** An id that does not exist, for scopes without a list: a key without the scope is refused before the lookup fails. */
const nothing = '00000000-0000-0000-0000-000000000000';

/** Documented reads, one for each read scope. */
const readings: readonly (readonly [Scope, OperationName, CallInput])[] = [
  ['invoices:read', 'invoices.list', { query: { limit: '1' } }],
  ['pricing:read', 'pricing.list', { query: { limit: '1' } }],
  ['customers:read', 'customers.get', { params: { customerId: nothing } }],
  ['plans:read', 'plans.get', { params: { planId: nothing } }],
  ['contracts:read', 'budgets.list', { params: { contractId: nothing } }],
];

async function answerTo(
  { billing }: OpenBilling,
  name: OperationName,
  input: CallInput,
): Promise<'allowed' | 'forbidden' | 'notOffered'> {
  try {
    await billing.call(name, input);
    return 'allowed';
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    if (error.kind === 'notFound' || error.kind === 'invalidInput') return 'allowed';
    if (error.kind === 'forbidden' || error.kind === 'notOffered') return error.kind;
    throw error;
  }
}

/** How this machine's clock differs from the service's, in words; undefined if the service's is not known. */
export function clockWords({ clockAheadMilliseconds, latencyMilliseconds }: ConnectionFacts): string | undefined {
  if (clockAheadMilliseconds === undefined) return undefined;
  const milliseconds = Math.abs(clockAheadMilliseconds);
  if (milliseconds <= 1_000 + latencyMilliseconds / 2) return 'as on this machine, to a second';
  const seconds = Math.round(milliseconds / 1000);
  const difference = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `this machine is ${difference} ${clockAheadMilliseconds > 0 ? 'behind' : 'ahead'}`;
}
