/** API keys. The key itself is never stored: it is found by its digest, and people tell keys apart by their last characters. */

import type { Selectable } from 'kysely';

import type { Scope } from '../../operations/operation.ts';
import type { ApiKeysTable, Transaction } from '../database.ts';
import { type OfOrganization, onceUnchanged, prepared } from '../prepared.ts';

/** A key as it is stored; instants are texts. */
export interface ApiKey {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
  /** The last characters of the key. */
  readonly suffix: string;
  readonly scopes: readonly Scope[];
  /** The key is refused from this instant on. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

const columns = [
  'orgId',
  'id',
  'name',
  'digest',
  'suffix',
  'scopes',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'createdAt',
] as const;

export interface ApiKeyAndTime extends ApiKey {
  /** Where a simulated clock stands; undefined if time is real. */
  readonly simulated: string | undefined;
  /** The time of the key's organization never goes behind this. */
  readonly lastCreatedAt: string;
}

/** The key with a digest, in any organization (only the key names it), with the time of its organization. */
export const findApiKeyAndTime = onceUnchanged(async (tx, digest): Promise<ApiKeyAndTime | undefined> => {
  const [row] = await keyAndTime(tx, { digest });
  if (row === undefined) return undefined;
  return { ...toApiKey(row), simulated: row.simulated ?? undefined, lastCreatedAt: row.lastCreatedAt ?? '' };
});

const keyAndTime = prepared((tx, { digest }: { readonly digest: string }) =>
  tx
    .selectFrom('apiKeys')
    .select((row) => [
      ...columns,
      row.selectFrom('clock').select('now').as('simulated'),
      row.selectFrom('organizations').select('lastCreatedAt').whereRef('id', '=', 'apiKeys.orgId').as('lastCreatedAt'),
    ])
    .where('digest', '=', digest),
);

/** Also a key that is revoked or expired; undefined for an id that the organization does not have. */
export async function findApiKey(tx: Transaction, orgId: string, id: string): Promise<ApiKey | undefined> {
  const row = await tx
    .selectFrom('apiKeys')
    .select(columns)
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toApiKey(row);
}

/** Every key of the organization, newest first. */
export async function listApiKeys(tx: Transaction, orgId: string): Promise<ApiKey[]> {
  return (await keysOfOrganization(tx, { orgId })).map(toApiKey);
}

const keysOfOrganization = prepared(
  (tx, { orgId }: OfOrganization) =>
    tx
      .selectFrom('apiKeys')
      .select(columns)
      .where('orgId', '=', orgId)
      .orderBy('createdAt', 'desc')
      .orderBy('seq', 'desc'),
  { name: 'keys', of: () => [{ orgId: '' }] },
);

/** If any organization has the digest already, this is a ConstraintViolation. */
export async function insertApiKey(tx: Transaction, key: ApiKey): Promise<void> {
  await tx
    .insertInto('apiKeys')
    .values({ ...key, scopes: JSON.stringify(key.scopes) })
    .execute();
}

/** Revokes a key, lets it expire or notes its use; nothing else about a key ever changes. */
export async function updateApiKey(
  tx: Transaction,
  orgId: string,
  id: string,
  changes: Partial<Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'lastUsedAt'>>,
): Promise<void> {
  await tx.updateTable('apiKeys').set(changes).where('orgId', '=', orgId).where('id', '=', id).execute();
}

function toApiKey(row: Omit<Selectable<ApiKeysTable>, 'seq'>): ApiKey {
  return { ...row, scopes: JSON.parse(row.scopes) as Scope[] };
}
