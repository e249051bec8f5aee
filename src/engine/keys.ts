/** Who calls: API keys, organizations, and the local owner (interface 5, semantics 1, 3 and 13). */

import { setTimeout as sleep } from 'node:timers/promises';

import { isSameDigest, sha256Of } from '../digest.ts';
import { BillingError, ConflictError, NotFoundError, UnauthorizedError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { apiKeyForm, apiKeyOf, apiKeySecretBytes } from '../operations/api-key.ts';
import type { Moment } from '../operations/field-rules.ts';
import type { Caller, OperationTable } from '../operations/index.ts';
import type { keyOperations } from '../operations/keys.ts';
import type { Scope } from '../operations/operation.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { Transaction } from '../store/database.ts';
import { findApiKey, findApiKeyAndTime, insertApiKey, listApiKeys, updateApiKey } from '../store/records/api-keys.ts';
import type { ApiKey } from '../store/records/api-keys.ts';
import { readBookFacts, refuseUnfinished } from '../store/records/book-facts.ts';
import { findClock } from '../store/records/clock.ts';
import {
  findOrganization,
  insertOrganization,
  listOrganizations,
  updateOrganization,
} from '../store/records/organizations.ts';
import type { Organization } from '../store/records/organizations.ts';
import type { EngineDependencies } from './dependencies.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { existing, pastIssues, refuse } from './refuse.ts';
import { checkMachineTime, timeOf } from './transaction.ts';
import { wireTimestamp } from './wire.ts';

const suffixCharacters = 4;
/** How many organizations a refusal lists. */
const shownNames = 10;

/**
 * The local owner acting for an organization: the one named by id or name, else the oldest, which is made when the
 * database has none. Throws NotFoundError for an unknown name, UnavailableError where the first cannot be made, ConflictError
 * for a copy that is not whole yet.
 */
export async function findOwner(dependencies: EngineDependencies, organization?: string): Promise<Caller> {
  const { store } = dependencies;
  if (organization !== undefined) {
    const [named, all] = await store.read(async (tx) => {
      await refuseBegunCopy(dependencies, tx);
      const found = await findOrganization(tx, organization);
      return [found, found === undefined ? await listOrganizations(tx) : []] as const;
    });
    if (named === undefined) throw unknownOrganization(organization, hintOn(all));
    return ownerOf(named);
  }
  const oldest = await store.read(async (tx) => await oldestOrganization(dependencies, tx));
  if (oldest !== undefined) return ownerOf(oldest);
  if (store.isReadOnly) {
    throw new UnavailableError(`the database ${store.location} has no organization and is read-only`, {
      hint: 'make the file and its directory writable, or give the path of another database',
    });
  }
  // Looked for again inside the write: another process may have made it meanwhile.
  return ownerOf(
    await store.write(async (tx) => (await oldestOrganization(dependencies, tx)) ?? (await addFirst(dependencies, tx))),
  );
}

/** The caller of an API key. Throws UnauthorizedError with the words of semantics 1. */
export async function authenticate(dependencies: EngineDependencies, key: string): Promise<Caller> {
  if (!apiKeyForm.test(key)) throw new UnauthorizedError('Invalid API key');
  const digest = sha256Of(key);
  const found = await dependencies.store.read(async (tx) => await findApiKeyAndTime(tx, digest));
  if (found === undefined || !isSameDigest(found.digest, digest)) throw new UnauthorizedError('Invalid API key');
  const now = dependencies.now();
  if (found.revokedAt !== null) throw new UnauthorizedError('API key has been revoked');
  const hasEnded = hasExpired(found, () => timeOf(found, now).timestamp);
  if (hasEnded) throw new UnauthorizedError('API key has expired');
  if (!isNoted(found, now)) await noteUseInTime(dependencies, found, now);
  return { organizationId: found.orgId, scopes: found.scopes, keyId: found.id, isLocal: false };
}

export const keyHandlers: HandlersOf<typeof keyOperations> = {
  'keys.create': async (context, { body }) => {
    const expiresAt = body.expiresAt ?? null;
    refuse(pastIssues('expiresAt', expiresAt, context.timestamp));
    return { body: { data: await issueKey(context, { name: body.name, scopes: body.scopes, expiresAt }) } };
  },

  'keys.list': async (context) => {
    const keys = await listApiKeys(context.tx, context.orgId);
    return { body: { data: keys.map(wireKey) } };
  },

  'keys.whoami': async (context) => {
    const { caller, organization } = context;
    const found = caller.keyId === undefined ? null : await getKey(context, caller.keyId);
    const key = found && { id: found.id, name: found.name, suffix: found.suffix, expiresAt: found.expiresAt };
    const { id, name, environment } = organization;
    return { body: { data: { organization: { id, name }, environment, scopes: [...caller.scopes], key } } };
  },

  'keys.revoke': async (context, { params }) => {
    const key = await getKey(context, params.keyId);
    const revokedAt = key.revokedAt ?? context.timestamp;
    await updateApiKey(context.tx, context.orgId, key.id, { revokedAt });
    return { body: { data: wireKey({ ...key, revokedAt }) } };
  },

  'keys.rotate': async (context, { params, body }) => {
    const { validUntil } = body;
    const old = await getKey(context, params.keyId);
    refuse(pastIssues('validUntil', validUntil, context.timestamp));
    if (old.revokedAt !== null) throw unusable(old, 'has been revoked');
    if (hasExpired(old, () => context.timestamp)) throw unusable(old, 'has expired');
    // The new key takes over name, scopes and end of the old one: rotating must not prolong a right.
    const data = await issueKey(context, { name: old.name, scopes: old.scopes, expiresAt: old.expiresAt });
    const end =
      validUntil === undefined ? { revokedAt: context.timestamp } : { expiresAt: earlier(validUntil, old.expiresAt) };
    await updateApiKey(context.tx, context.orgId, old.id, end);
    return { body: { data } };
  },

  'orgs.create': async (context, { body }) => {
    await checkNameIsFree(context, body.name);
    await checkTimeIsReal(context, body.environment);
    const organization = await addOrganization(context.tx, { id: context.newId(), createdAt: context.timestamp }, body);
    return { body: { data: wireOrganization(organization) } };
  },

  'orgs.list': async (context) => {
    const organizations = await listOrganizations(context.tx);
    return { body: { data: organizations.map(wireOrganization) } };
  },

  'orgs.update': async (context, { params, body }) => {
    const organization = await findOrganization(context.tx, params.organizationId);
    if (organization === undefined) throw unknownOrganization(params.organizationId);
    if (body.name !== undefined && body.name !== organization.name) await checkNameIsFree(context, body.name);
    await checkTimeIsReal(context, body.environment);
    const changes = {
      name: body.name ?? organization.name,
      salesTaxEnabled: body.salesTaxEnabled ?? organization.salesTaxEnabled,
      paymentProcessor: body.paymentProcessor === undefined ? organization.paymentProcessor : body.paymentProcessor,
      environment: body.environment ?? organization.environment,
    };
    await updateOrganization(context.tx, organization.id, changes);
    return { body: { data: wireOrganization({ ...organization, ...changes }) } };
  },
};

async function oldestOrganization(
  dependencies: EngineDependencies,
  tx: Transaction,
): Promise<Organization | undefined> {
  await refuseBegunCopy(dependencies, tx);
  return (await listOrganizations(tx))[0];
}

/** A database that was empty when it was opened may hold a part of another book by now. */
async function refuseBegunCopy({ store }: EngineDependencies, tx: Transaction): Promise<void> {
  refuseUnfinished(await readBookFacts(tx), store.location);
}

async function addFirst(dependencies: EngineDependencies, tx: Transaction): Promise<Organization> {
  const now = dependencies.now();
  checkMachineTime(now);
  const made = { id: dependencies.newId(), createdAt: wireTimestamp(now) };
  return await addOrganization(tx, made, { name: 'default', keyPrefix: 'tally' });
}

async function addOrganization(
  tx: Transaction,
  made: Pick<Organization, 'id' | 'createdAt'>,
  given: ParsedInput<OperationTable['orgs.create']>['body'],
): Promise<Organization> {
  const { name, keyPrefix, salesTaxEnabled = false, paymentProcessor = null, environment = 'sandbox' } = given;
  const organization: Organization = {
    ...made,
    name,
    keyPrefix,
    salesTaxEnabled,
    paymentProcessor,
    environment,
    lastCreatedAt: made.createdAt,
    eventsDroppedBeforeEpochMs: 0,
  };
  await insertOrganization(tx, organization);
  return organization;
}

function ownerOf(organization: Organization): Caller {
  return { organizationId: organization.id, scopes: ['*'], isLocal: true };
}

function unknownOrganization(idOrName: string, hint = 'see them with: tally orgs list'): NotFoundError {
  return new NotFoundError(`no organization has the id or name "${idOrName}"`, { hint });
}

/** Names them here: a command that lists them would itself fail where a profile or variable names the unknown one. */
function hintOn(organizations: readonly Organization[]): string {
  const names = organizations.slice(0, shownNames).map(({ name }) => name);
  const more = organizations.length - names.length;
  if (names.length === 0) return 'there is none yet; the first command that names none makes one';
  return `the organization${organizations.length === 1 ? ' is' : 's are'} ${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

async function checkNameIsFree(context: CallContext, name: string): Promise<void> {
  const organizations = await listOrganizations(context.tx);
  if (organizations.some((organization) => organization.name === name)) {
    throw new ConflictError(`an organization is called "${name}" already`);
  }
}

/** Production bills in real time. */
async function checkTimeIsReal(
  { tx }: CallContext,
  environment: Organization['environment'] | undefined,
): Promise<void> {
  if (environment !== 'production' || (await findClock(tx)) === undefined) return;
  throw new ConflictError('the clock of this database is simulated, and in production time is real', {
    hint: 'go back to real time with: tally clock reset',
  });
}

/** Every request asks this, and most keys have no end, so the time is made a text only when needed. */
function hasExpired(key: ApiKey, timestamp: () => string): boolean {
  return key.expiresAt !== null && key.expiresAt <= timestamp();
}

/**
 * A note from a clock that had run far ahead does not count: it would say for years that the key has just been used. One from a
 * clock that is a little ahead does, or every request that two machines get by turns would be a write.
 */
function isNoted({ lastUsedAt }: ApiKey, now: Moment): boolean {
  if (lastUsedAt === null) return false;
  const agoMilliseconds = now.epochMilliseconds - Date.parse(lastUsedAt);
  return agoMilliseconds < 1000 * limits.lastUsedResolutionSeconds && agoMilliseconds >= -1000 * limits.clockLagSeconds;
}

/** Notes the use of a key, and goes on without the note where that takes long: its commit may wait for a standby. */
async function noteUseInTime(dependencies: EngineDependencies, key: ApiKey, now: Moment): Promise<void> {
  const late = sleep(limits.lastUsedMilliseconds, undefined, { ref: false });
  await Promise.race([noteUse(dependencies, key, now), late]);
}

/** Keeps when the key was last used, to the minute. It is only a note: a database that cannot take it refuses nobody. */
async function noteUse({ store }: EngineDependencies, key: ApiKey, now: Moment): Promise<void> {
  if (store.isReadOnly) return;
  try {
    // A reading must not wait for a writer only to note that it was made.
    await store.write(async (tx) => await updateApiKey(tx, key.orgId, key.id, { lastUsedAt: wireTimestamp(now) }), {
      busyTimeoutMilliseconds: 0,
      turn: `use of ${key.id}`,
    });
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
  }
}

/** Makes a key and keeps its digest; the answer is the only place where the key itself ever appears. */
async function issueKey(
  context: CallContext,
  wanted: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt: string | null },
) {
  const text = apiKeyOf(context.organization.keyPrefix, context.randomBytes(apiKeySecretBytes));
  const key: ApiKey = {
    ...wanted,
    scopes: [...new Set(wanted.scopes)],
    orgId: context.orgId,
    id: context.newId(),
    digest: sha256Of(text),
    suffix: text.slice(-suffixCharacters),
    revokedAt: null,
    lastUsedAt: null,
    createdAt: context.timestamp,
  };
  await insertApiKey(context.tx, key);
  return { key: text, ...wireKey(key) };
}

async function getKey({ tx, orgId }: CallContext, id: string): Promise<ApiKey> {
  return existing(await findApiKey(tx, orgId, id), 'key', 'keys list');
}

function unusable(key: ApiKey, what: string): ConflictError {
  return new ConflictError(`the key "${key.name}" ${what}; it cannot be rotated`, {
    hint: 'create another with: tally keys create',
  });
}

function earlier(instant: string, other: string | null): string {
  return other === null || instant < other ? instant : other;
}

function wireKey(key: ApiKey) {
  const { id, name, suffix, scopes, expiresAt, revokedAt, lastUsedAt, createdAt } = key;
  return { id, name, suffix, scopes: [...scopes], expiresAt, revokedAt, lastUsedAt, createdAt };
}

function wireOrganization(organization: Organization) {
  const { id, name, keyPrefix, salesTaxEnabled, paymentProcessor, environment, createdAt } = organization;
  return { id, name, keyPrefix, salesTaxEnabled, paymentProcessor, environment, createdAt };
}
