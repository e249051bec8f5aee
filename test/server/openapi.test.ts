import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { BillingError, errorFacts } from '../../src/errors.ts';
import { parseExactJson } from '../../src/exact-json.ts';
import { allOperations } from '../../src/operations/all.ts';
import { pathParameters } from '../../src/operations/operation.ts';
import { parseInput } from '../../src/operations/parse.ts';
import { openApiDocument } from '../../src/server/openapi.ts';

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly {
    name: string;
    in: string;
    required: boolean;
    schema: object;
    style?: string;
    explode?: boolean;
    example?: unknown;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { 'application/json': { schema: object; examples?: Record<string, { value: unknown }> } };
  };
  readonly responses: Record<string, object>;
  readonly security: unknown;
  readonly 'x-scope': string;
  readonly 'x-documented': boolean;
}

const document = openApiDocument(allOperations, { version: '1.2.3' });
const paths = document['paths'] as unknown as Record<string, Record<string, OperationObject>>;
const routed = allOperations.flatMap((operation) =>
  operation.route === undefined ? [] : [{ operation, route: operation.route, name: operation.name }],
);

function described(path: string, method: string): OperationObject {
  const found = paths[path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not described`);
  return found;
}

describe('the OpenAPI document', () => {
  test('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect(result.errors).toBeUndefined();
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('a broken document would be found out', async () => {
    const broken = { ...document, paths: { '/v1/customers': { get: { responses: { 200: {} } } } } };
    const result = await new Validator().validate(JSON.parse(JSON.stringify(broken)) as Record<string, unknown>);
    expect(result.valid).toBe(false);
  });

  test('describes every operation that has a route, and nothing else', () => {
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(ids.toSorted()).toEqual(routed.map(({ name }) => name).toSorted());
  });

  test('is the same every time', () => {
    expect(JSON.stringify(openApiDocument(allOperations, { version: '1.2.3' }))).toBe(JSON.stringify(document));
  });

  test('holds no hints that are meant for the command line', () => {
    expect(JSON.stringify(document)).not.toMatch(/"flag":|"x-members":|"x-list":|"\$schema":/);
  });

  test('is of whoever serves it', () => {
    expect(document['servers']).toEqual([{ url: '/' }]);
  });
});

test('a create that may be repeated by its idempotency member describes the answer of 200 and its headers', () => {
  const { responses } = described('/v1/contracts/{contractId}/credits/promotional/grant', 'post');
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '201']));
  expect(Object.keys((responses['200'] as { headers: object }).headers)).toEqual([
    'x-request-id',
    'Idempotency-Replayed',
    'Idempotency-Mismatch',
  ]);
  const withBoth = routed.filter(({ route }) => {
    const statuses = Object.keys(described(route.path, route.method).responses);
    return statuses.includes('200') && statuses.includes('201');
  });
  expect(withBoth.map(({ name }) => name)).toEqual(['credits.grant']);
});

test('what moves an invoice describes the header that tells of a repetition, and nothing else of one status does', () => {
  const telling = routed.filter(({ route, operation: { status } }) => {
    const { headers } = described(route.path, route.method).responses[String(status)] as { headers: object };
    return 'Idempotency-Replayed' in headers;
  });
  expect(telling.map(({ name }) => name)).toEqual(
    ['finalize', 'send', 'pay', 'cancel', 'refund'].map((verb) => `invoices.${verb}`),
  );
});

test('what records events describes the headers that tell of known and of late ones, and nothing else does', () => {
  const telling = routed.filter(({ route, operation: { status } }) => {
    const { headers } = described(route.path, route.method).responses[String(status)] as { headers: object };
    return ['Unchanged', 'Replaced', 'Late'].every((name) => `Tallybook-Events-${name}` in headers);
  });
  expect(telling.map(({ name }) => name)).toEqual(['usage.ingest', 'usage.ingestBatch']);
});

/** What the described schema of a body says to a value of one of its members. */
function judged(operationId: string, body: object): boolean {
  const { route } = routed.find(({ name }) => name === operationId) ?? {};
  const content = described(route?.path ?? '', route?.method ?? '').requestBody?.content['application/json'];
  return z.fromJSONSchema(content?.schema as z.core.JSONSchema.JSONSchema).safeParse(body).success;
}

describe('the described body', () => {
  const contract = { planId: 'p', customerId: 'c', startDate: '2026-03-01' };
  const grant = { expiresAt: '2099-12-31T00:00:00Z', creditRateCents: 10 };
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 1]));

  test.each([
    ['an override of a price', 'contracts.create', { overrides: [{ basePricingId: 'x', unitAmount: '1.5' }] }, true],
    [
      'one of a rate',
      'contracts.create',
      { overrides: [{ meterId: 'x', dimensions: { a: 'b' }, unitAmount: '1' }] },
      true,
    ],
    ['one of nothing', 'contracts.create', { overrides: [{ unitAmount: '1' }] }, false],
    ['one with a number', 'contracts.create', { overrides: [{ basePricingId: 'x', unitAmount: 1.5 }] }, false],
    ['one with an exponent', 'contracts.create', { overrides: [{ basePricingId: 'x', unitAmount: '1e3' }] }, false],
    ['ten keys', 'contracts.create', { metadata: names(10) }, true],
    ['eleven keys', 'contracts.create', { metadata: names(11) }, false],
    ['a long value', 'contracts.create', { metadata: { a: 'x'.repeat(501) } }, false],
  ])('of a contract with %s: accepted %s', (_what, operationId, members, isAccepted) => {
    expect(judged(operationId, { ...contract, ...members })).toBe(isAccepted);
  });

  test.each([
    [0.000001, true],
    [0, false],
  ])('of a grant of %d credits: accepted %s', (creditAmount, isAccepted) => {
    expect(judged('credits.grant', { ...grant, creditAmount })).toBe(isAccepted);
  });
});

describe('the description says what is refused although a schema allows it', () => {
  const { description } = document['info'] as { description: string };
  const event = { eventName: 'x', customerId: 'c' };
  const grant = { expiresAt: '2099-12-31T00:00:00Z' };

  test.each([
    ['written with digits alone', 'credits.grant', grant, '"amountCents":1.0'],
    ['at most 6 decimals', 'credits.grant', grant, '"creditRateCents":1,"creditAmount":0.0000001'],
    ['years 2000 to 2100', 'credits.grant', {}, '"expiresAt":"2101-01-01T00:00:00Z","amountCents":1'],
    ['well-formed Unicode', 'products.create', {}, String.raw`"name":"\ud800"`],
    ['control characters', 'products.create', {}, String.raw`"name":"\u0007"`],
    ['UTF-16', 'contracts.update', {}, `"metadata":{"a":"${'\u{1f600}'.repeat(251)}"}`],
    ['a name twice', 'products.create', { name: 'x' }, '"description":"x","description":"x"'],
    ['__proto__', 'usage.ingest', event, '"properties":{"__proto__":1}'],
  ])('%s: %s', (phrase, operationId, body, members) => {
    const text = JSON.stringify({ ...body, ' ': 0 }).replace('" ":0', members);
    const operation = routed.find(({ name }) => name === operationId)?.operation;
    if (operation === undefined) throw new Error(`${operationId} has no route`);
    const params = Object.fromEntries(Object.keys(operation.params.shape).map((name) => [name, 'x']));
    expect(description).toContain(phrase);
    expect(judged(operationId, JSON.parse(text) as object)).toBe(true);
    expect(() => parseInput(operation, { params, body: parseExactJson(text) })).toThrow(BillingError);
  });
});

test('a parameter that lists names is a list between commas', () => {
  const include = described('/v1/invoices', 'get').parameters?.find(({ name }) => name === 'include');
  expect(include).toMatchObject({ style: 'form', explode: false });
  expect(include?.schema).toEqual({ type: 'array', items: { type: 'string', enum: ['lineItems', 'period'] } });
});

test('the place of a budget is a whole number from 0', () => {
  const { parameters } = described('/v1/contracts/{contractId}/budgets/{index}', 'patch');
  expect(parameters?.find(({ name }) => name === 'index')?.schema).toEqual({ type: 'integer', minimum: 0 });
});

describe.each(routed)('$name', ({ operation, route }) => {
  const description = described(route.path, route.method);

  test('says its scope and whether the interface documents it', () => {
    expect(description['x-scope']).toBe(operation.scope);
    expect(description['x-documented']).toBe(operation.documented === true);
    expect(description.security).toEqual([{ bearer: operation.scope === 'any' ? [] : [operation.scope] }]);
  });

  test('describes each parameter of its path and query', () => {
    const named = (description.parameters ?? []).filter((each) => each.in !== 'header').map(({ name }) => name);
    expect(named).toEqual([...pathParameters(route.path), ...Object.keys(operation.query.shape)]);
  });

  test('answers with its status, and with every failure that it declares', () => {
    const statuses = operation.errors.map((kind) => String(errorFacts[kind].status));
    const everywhere = ['400', '401', '403', '429', '500', '503'];
    expect(Object.keys(description.responses)).toEqual(
      expect.arrayContaining([String(operation.status), ...statuses, ...everywhere]),
    );
  });

  test('says how a body is refused, where it takes none as well', () => {
    const refusals = Object.keys(description.responses).filter((status) => ['413', '415', '422'].includes(status));
    expect(refusals).toEqual(route.method === 'GET' ? [] : ['413', '415', '422']);
  });

  test('each example is accepted by the declaration and by the described schemas', () => {
    for (const { input } of operation.examples) {
      expect(() => parseInput(operation, input)).not.toThrow();
      const content = description.requestBody?.content['application/json'];
      if (input.body !== undefined && content !== undefined) {
        const schema = z.fromJSONSchema(content.schema as z.core.JSONSchema.JSONSchema);
        expect(schema.safeParse(JSON.parse(JSON.stringify(input.body))).error).toBeUndefined();
      }
    }
    for (const parameter of description.parameters ?? []) {
      if (parameter.example === undefined) continue;
      const schema = z.fromJSONSchema(parameter.schema as z.core.JSONSchema.JSONSchema);
      expect(schema.safeParse(parameter.example).error).toBeUndefined();
    }
  });

  test('takes the version that a change rests on, and says what becomes of another one', () => {
    const isTaken = (description.parameters ?? []).some(({ name }) => name === 'If-Match');
    expect(isTaken).toBe(operation.versioned === true && route.method !== 'GET');
    expect(Object.keys(description.responses).includes('412')).toBe(isTaken);
  });

  test('a body is required exactly where an empty one is refused', () => {
    if (operation.body === undefined) return expect(description.requestBody).toBeUndefined();
    expect(description.requestBody?.required).toBe(!operation.body.safeParse({}).success);
  });
});
