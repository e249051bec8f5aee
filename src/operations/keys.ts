/** Organizations and their keys: administration of an embedded service, never offered over the API (interface 5, semantics 3, 13). */

import * as z from 'zod';

import { apiKeyPrefixForm } from './api-key.ts';
import { exampleIds } from './example-ids.ts';
import { one, pathIdOf, text, timestamp, timestampInput, uuid } from './fields.ts';
import { defineOperation } from './define-operation.ts';
import { scopes } from './operation.ts';
import type { View } from './operation.ts';
import { underRule } from './plain.ts';
import { providers } from './providers.ts';

/** In production time is real: the clock of its database cannot be simulated. */
const environments = ['sandbox', 'production'] as const;
export type Environment = (typeof environments)[number];

const organization = z.strictObject({
  id: uuid,
  name: z.string(),
  keyPrefix: z.string(),
  salesTaxEnabled: z.boolean(),
  paymentProcessor: z.string().nullable(),
  environment: z.enum(environments),
  createdAt: timestamp,
});

const keyFields = {
  id: uuid,
  name: z.string(),
  suffix: z.string(),
  scopes: z.array(z.enum(scopes)),
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
};
const key = z.strictObject(keyFields);
/** The key itself stands first and is shown this once. */
const newKey = z.strictObject({ key: z.string(), ...keyFields });

const whoami = z.strictObject({
  organization: z.strictObject({ id: uuid, name: z.string() }),
  environment: z.enum(environments),
  scopes: z.array(z.enum(scopes)),
  /** Null for the owner of the database, who needs none. */
  key: z.strictObject({ id: uuid, name: z.string(), suffix: z.string(), expiresAt: timestamp.nullable() }).nullable(),
});
const whoamiView: View = {
  rows: 'data',
  columns: [
    { header: 'ORGANIZATION', path: 'organization.name' },
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'SCOPES', path: 'scopes', format: 'list' },
    { header: 'KEY', path: 'key.name' },
    { header: 'EXPIRES', path: 'key.expiresAt', format: 'timestamp' },
  ],
};

const keyColumns = [
  { header: 'ID', path: 'id' },
  { header: 'NAME', path: 'name' },
  { header: 'ENDS IN', path: 'suffix' },
  { header: 'SCOPES', path: 'scopes', format: 'list' },
  { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
  { header: 'REVOKED', path: 'revokedAt', format: 'timestamp' },
  { header: 'LAST USED', path: 'lastUsedAt', format: 'timestamp' },
] as const;
const keyView: View = { rows: 'data', columns: keyColumns };
const newKeyView: View = { rows: 'data', columns: [{ header: 'KEY', path: 'key' }, ...keyColumns] };
const organizationView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'KEY PREFIX', path: 'keyPrefix' },
    { header: 'SALES TAX', path: 'salesTaxEnabled', format: 'boolean' },
    { header: 'PROCESSOR', path: 'paymentProcessor' },
  ],
};

const settings = {
  salesTaxEnabled: z.boolean().optional().describe('Customers need a billing address.'),
  paymentProcessor: z
    .literal(providers.paymentProcessor1)
    .nullable()
    .optional()
    .describe('Payment processor that keeps payment methods; null for none.'),
  environment: z
    .enum(environments)
    .optional()
    .describe('In production the clock of this database can no longer be simulated.'),
};
const keyParams = z.strictObject({ keyId: pathIdOf('keys').describe('Key id.') });
const keyExample = { keyId: exampleIds.key };
const organizationExample = { organizationId: exampleIds.organization };

/** Administration of keys and organizations, without routes except for `keys.whoami`, which any key may ask. */
export const keyOperations = [
  defineOperation({
    name: 'keys.create',
    summary: 'Create an API key; it is shown only once',
    scope: '*',
    status: 201,
    body: z.strictObject({
      name: text().describe('What the key is for.'),
      scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).describe('What the key may do; * is everything.'),
      expiresAt: timestampInput
        .nullable()
        .optional()
        .describe('Instant from which on the key is refused; never when not given.'),
    }),
    response: one(newKey),
    errors: ['invalidInput'],
    command: { group: 'keys', verb: 'create' },
    view: newKeyView,
    examples: [
      { about: 'A key for CI', input: { body: { name: 'ci', scopes: ['*'] } } },
      {
        about: 'A key that only reads',
        input: { body: { name: 'report', scopes: ['invoices:read', 'customers:read'] } },
      },
    ],
    secret: true,
  }),
  defineOperation({
    name: 'keys.list',
    summary: 'List API keys, newest first',
    scope: '*',
    status: 200,
    response: one(z.array(key)),
    errors: [],
    command: { group: 'keys', verb: 'list' },
    view: keyView,
    examples: [{ about: 'All keys', input: {} }],
    readOnly: true,
  }),
  defineOperation({
    name: 'keys.whoami',
    summary: 'Show whose key is in use, and what it may do',
    description: 'Any key may ask.',
    route: { method: 'GET', path: '/v1/whoami' },
    scope: 'any',
    status: 200,
    response: one(whoami),
    errors: [],
    command: { group: 'keys', verb: 'whoami' },
    view: whoamiView,
    examples: [{ about: 'The key in use', input: {} }],
  }),
  defineOperation({
    name: 'keys.revoke',
    summary: 'Revoke an API key at once',
    scope: '*',
    status: 200,
    params: keyParams,
    response: one(key),
    errors: ['notFound'],
    command: { group: 'keys', verb: 'revoke', positional: ['keyId'] },
    view: keyView,
    examples: [{ about: 'Revoke a key', input: { params: keyExample } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'keys.rotate',
    summary: 'Replace an API key by a new one of the same scopes',
    description: 'The old key is revoked at once, or stays valid until the given instant.',
    scope: '*',
    status: 201,
    params: keyParams,
    body: z.strictObject({ validUntil: timestampInput.optional().describe('The old key works until then.') }),
    response: one(newKey),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'keys', verb: 'rotate', positional: ['keyId'] },
    view: newKeyView,
    examples: [{ about: 'Rotate a key', input: { params: keyExample } }],
    secret: true,
  }),
  defineOperation({
    name: 'orgs.create',
    summary: 'Create an organization in this database',
    scope: '*',
    status: 201,
    body: z.strictObject({
      name: text().describe('Unique name, used with --org.'),
      keyPrefix: z
        .string()
        .regex(apiKeyPrefixForm, 'must be 1 to 16 letters and digits')
        .default('tally')
        .describe('What its keys begin with.'),
      ...settings,
      environment: settings.environment.describe(`${settings.environment.description} Sandbox when not given.`),
    }),
    response: one(organization),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'orgs', verb: 'create' },
    view: organizationView,
    examples: [{ about: 'A second organization', input: { body: { name: 'eu', salesTaxEnabled: true } } }],
  }),
  defineOperation({
    name: 'orgs.list',
    summary: 'List the organizations of this database',
    scope: '*',
    status: 200,
    response: one(z.array(organization)),
    errors: [],
    command: { group: 'orgs', verb: 'list' },
    view: organizationView,
    examples: [{ about: 'All organizations', input: {} }],
    readOnly: true,
  }),
  defineOperation({
    name: 'orgs.update',
    summary: 'Change the settings of an organization',
    scope: '*',
    status: 200,
    params: z.strictObject({ organizationId: pathIdOf('organizations').describe('Organization id or name.') }),
    body: underRule('change', z.strictObject({ name: text().optional().describe('Unique name.'), ...settings })),
    response: one(organization),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'orgs', verb: 'update', positional: ['organizationId'] },
    view: organizationView,
    examples: [{ about: 'Collect sales tax', input: { params: organizationExample, body: { salesTaxEnabled: true } } }],
    repeatable: 'always',
  }),
] as const;
