import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { allOperations, operations } from '../../src/operations/all.ts';
import { loadOperation, loadRoom, roomOf } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { pathParameters, scopes } from '../../src/operations/operation.ts';
import { parseInput } from '../../src/operations/parse.ts';

describe.each(allOperations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  test('is in the table under its name, once', () => {
    expect(operations[name as keyof typeof operations]).toBe(operation);
    expect(allOperations.filter((each) => each.name === name)).toHaveLength(1);
  });

  test('is found in its room without the others', async () => {
    expect(await loadOperation(operation.name as OperationName)).toBe(operation);
  });

  test('has a summary without a full stop and a known scope', () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect([...scopes, 'any']).toContain(operation.scope);
  });

  test('declares each parameter of its path, and gives it on the command line', () => {
    const declared = Object.keys(operation.params.shape);
    if (operation.route !== undefined) expect(pathParameters(operation.route.path)).toEqual(declared);
    expect(operation.command.positional ?? []).toEqual(declared);
  });

  test('has examples that parse', () => {
    expect(operation.examples.length).toBeGreaterThan(0);
    for (const example of operation.examples) expect(parseInput(operation, example.input)).toBeDefined();
  });

  test('has no pattern with a flag, which its description leaves out', () => {
    const flagged: RegExp[] = [];
    for (const type of [operation.params, operation.query, ...(operation.body === undefined ? [] : [operation.body])]) {
      z.toJSONSchema(type, {
        io: 'input',
        unrepresentable: 'any',
        override: ({ zodSchema }) => {
          for (const { _zod: rule } of zodSchema._zod.def.checks ?? []) {
            if ('pattern' in rule.def && rule.def.pattern instanceof RegExp && rule.def.pattern.flags !== '') {
              flagged.push(rule.def.pattern);
            }
          }
        },
      });
    }
    expect(flagged).toEqual([]);
  });

  test('refuses unknown fields and parameters by name', () => {
    expect(() => parseInput(operation, { query: { surprise: '1' } })).toThrow(
      expect.objectContaining({ kind: 'badRequest', message: expect.stringContaining('surprise: unknown parameter') }),
    );
    if (operation.body === undefined) return;
    expect(() => parseInput(operation, { ...operation.examples[0]?.input, body: { surprise: 1 } })).toThrow(
      expect.objectContaining({ kind: 'invalidInput', message: expect.stringContaining('surprise: unknown field') }),
    );
  });
});

test.each(['customers.vanish', 'nowhere.list', 'constructor.name', ''])(
  'an operation called %j is none',
  async (name) => {
    await expect(loadOperation(name as OperationName)).rejects.toThrow(new TypeError(`no operation is called ${name}`));
  },
);

test('what reads the path that a write changes, or its command group, is declared in the room of the write', async () => {
  for (const { name, route, command } of allOperations) {
    const near = allOperations.filter(
      (each) => each.route !== undefined && (each.route.path === route?.path || each.command.group === command.group),
    );
    expect(await loadRoom(roomOf(name as OperationName))).toEqual(expect.arrayContaining(near));
  }
});

test('each number in a query with a least and a most says both', () => {
  const unsaid = allOperations.flatMap(({ name, query }) => {
    const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
    return (Object.values(properties) as z.core.JSONSchema.JSONSchema[])
      .filter(({ minimum, maximum, description = '' }) => {
        return maximum !== undefined && !description.includes(`, ${minimum} to ${maximum}; `);
      })
      .map(({ description }) => `${name}: ${description}`);
  });
  expect(unsaid).toEqual([]);
});

test('no two operations share a route or a command', () => {
  const routes = allOperations.flatMap((each) =>
    each.route === undefined ? [] : [`${each.route.method} ${each.route.path}`],
  );
  expect(new Set(routes).size).toBe(routes.length);
  const commands = allOperations.map((each) => `${each.command.group} ${each.command.verb}`);
  expect(new Set(commands).size).toBe(commands.length);
});

test('the interface document names 18 operations, and all of them are declared', () => {
  expect(
    allOperations
      .filter((each) => each.documented)
      .map((each) => `${each.route?.method} ${each.route?.path} ${each.scope}`),
  ).toEqual([
    'POST /v1/customers customers:write',
    'GET /v1/customers/{customerId} customers:read',
    'PATCH /v1/customers/{customerId} customers:write',
    'POST /v1/customers/csm-assignments customers:write',
    'POST /v1/contracts contracts:write',
    'PATCH /v1/contracts/{contractId} contracts:write',
    'POST /v1/contracts/{contractId}/credits/promotional/grant contracts:write',
    'GET /v1/contracts/{contractId}/credits/ledger contracts:read',
    'GET /v1/contracts/{contractId}/budgets contracts:read',
    'GET /v1/contracts/{contractId}/budgets/usage contracts:read',
    'PATCH /v1/contracts/{contractId}/budgets/{index} contracts:write',
    'POST /v1/meters meters:write',
    'POST /v1/usage/cost usage:read',
    'GET /v1/invoices invoices:read',
    'GET /v1/invoices/{invoiceId} invoices:read',
    'GET /v1/pricing/{pricingId} pricing:read',
    'GET /v1/pricing pricing:read',
    'GET /v1/plans/{planId} plans:read',
  ]);
});

describe('a refusal names every field by its path', () => {
  test.each([
    ['customers.create', {}, 'name: is required; contacts: is required'],
    ['customers.create', [], 'must be an object'],
    ['customers.create', { name: 'A', contacts: [] }, 'contacts: must have at least 1 element'],
    ['customers.create', { name: 'A', contacts: '' }, 'contacts: must be a list'],
    [
      'contracts.create',
      {
        planId: 'p',
        customerId: 'c',
        startDate: '2026-03-01',
        creditSettings: { alertThresholdsCents: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
      },
      'creditSettings.alertThresholdsCents: must have at most 10 elements',
    ],
    [
      'contracts.create',
      { planId: 'p'.repeat(256), customerId: 'c', startDate: '2026-03-01' },
      'planId: must have at most 255 characters',
    ],
    [
      'customers.create',
      { name: 'A', contacts: [{ name: 'B', email: 'b', roles: ['other'] }] },
      'contacts[0].email: must be an email address such as ada@example.com',
    ],
    [
      'customers.create',
      { name: 'A', contacts: [{ name: 'B', email: 'b@c.de', roles: ['other'] }], provider: 'stripe' },
      'paymentProviderId: is required together with provider',
    ],
    ['customers.update', {}, 'at least one field is required'],
    ['orgs.update', {}, 'at least one field is required'],
    ['webhooks.update', {}, 'at least one field is required'],
    [
      'credits.grant',
      { ammountCents: 5, amountCents: 5, expiresAt: '2026-12-31T00:00:00Z' },
      'ammountCents: unknown field',
    ],
    ['credits.grant', { amountCents: 5 }, 'expiresAt: is required'],
    [
      'credits.grant',
      { expiresAt: '2026-12-31T00:00:00Z' },
      'amountCents: is required, or creditRateCents with creditAmount',
    ],
    [
      'credits.grant',
      { expiresAt: '2026-12-31T00:00:00Z', creditAmount: 5 },
      'creditRateCents: is required together with creditAmount',
    ],
    [
      'contracts.create',
      { planId: 'p', customerId: 'c', startDate: '2026-02-30' },
      'startDate: must be a date that exists, such as 2026-03-01',
    ],
    [
      'contracts.create',
      { planId: 'p', customerId: 'c', startDate: '2026-02-01', overrides: [{ meterId: 'm' }] },
      'overrides[0].dimensions: is required; overrides[0].unitAmount: is required',
    ],
    [
      'meters.create',
      { code: 'tokens', displayName: 'Tokens', aggregationKey: 'n' },
      'code: must consist of uppercase letters, digits and underscores',
    ],
    ['meters.create', { code: 'TOKENS', displayName: 'Tokens' }, 'aggregationKey: is required for SUM'],
    [
      'usage.cost',
      { contractId: 'c', startDate: '2026-03-02T00:00:00Z', endDate: '2026-03-01T00:00:00Z' },
      'endDate: must be after startDate',
    ],
    [
      'usage.ingest',
      { eventName: 'e', customerId: 'c', properties: { nested: { a: 1 } } },
      'properties.nested: must be text, a number, a boolean or null',
    ],
  ] as const)('%s %j', (name, body, message) => {
    const operation = operations[name];
    const params = Object.fromEntries(Object.keys(operation.params.shape).map((key) => [key, 'x']));
    expect(() => parseInput(operation, { params, body })).toThrow(message);
    try {
      parseInput(operation, { params, body });
    } catch (error) {
      expect((error as Error).message).toBe(message);
    }
  });
});
