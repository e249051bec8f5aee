import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { errorFacts } from '../../src/errors.ts';
import { allOperations } from '../../src/operations/all.ts';
import { pathParameters } from '../../src/operations/operation.ts';
import { parseInput } from '../../src/operations/parse.ts';
import { openApiDocument } from '../../src/server/openapi.ts';

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: object; example?: unknown }[];
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
    expect(JSON.stringify(document)).not.toMatch(/"flag":|"x-members":|"\$schema":/);
  });

  test('names the server when told', () => {
    const served = openApiDocument(allOperations, { version: '1', serverUrl: 'https://billing.example' });
    expect(served['servers']).toEqual([{ url: 'https://billing.example' }]);
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

describe.each(routed)('$name', ({ operation, route }) => {
  const description = described(route.path, route.method);

  test('says its scope and whether the interface documents it', () => {
    expect(description['x-scope']).toBe(operation.scope);
    expect(description['x-documented']).toBe(operation.documented);
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

  test('a body is required exactly where an empty one is refused', () => {
    if (operation.body === undefined) return expect(description.requestBody).toBeUndefined();
    expect(description.requestBody?.required === true && operation.body.safeParse({}).success).toBe(false);
  });
});
