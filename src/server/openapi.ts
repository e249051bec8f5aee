/** The OpenAPI 3.1 document of the service, read from the declarations of the operations. */

import * as z from 'zod';

import { factHeaders, serviceHeaders } from '../answer-facts.ts';
import { errorFacts } from '../errors.ts';
import type { ErrorKind } from '../errors.ts';
import { limits } from '../limits.ts';
import { apiKeyFormWords } from '../operations/api-key.ts';
import { commandGroups, mayReplay, pathParameters, replayStatus, takesVersion } from '../operations/operation.ts';
import type { Operation } from '../operations/operation.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

export interface OpenApiOptions {
  /** Version of the service. */
  readonly version: string;
}

/** The document as JSON; the order of its members follows the declarations alone. */
export function openApiDocument(operations: readonly Operation[], options: OpenApiOptions): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'tallybook',
      summary: 'Usage-based billing: customers, contracts, credits, meters, invoices.',
      description: beyondSchemas,
      version: options.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the document, whoever serves it.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(operations),
    paths: pathsOf(operations),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key: ${apiKeyFormWords}.`,
        },
      },
      schemas: { Error: errorSchema },
      responses: Object.fromEntries(errorResponseNames.map((kind) => [kind, errorResponse(kind)])),
    },
  };
}

/** What is refused although a schema allows it: JSON Schema takes 1.0 for an integer, and has no words for the rest. */
const beyondSchemas = [
  'Schemas cannot say all that is refused.',
  'An integer is written with digits alone: not as 1.0, 1e3 or -0.',
  `A number of credits has at most ${limits.creditFractionDigits} decimals.`,
  `Dates and date-times are in the years ${limits.firstYear} to ${limits.lastYear}, and no minute has a second 60.`,
  'Texts are well-formed Unicode, and most hold no control characters but tabs and line breaks. They come out in NFC.',
  'Values of contract metadata, of event properties and of what these are compared with are measured in code units of UTF-16.',
  'No object gives a name twice, and none has a member __proto__, constructor or prototype.',
].join(' ');

function tagsOf(operations: readonly Operation[]): Json {
  const groups = new Set(operations.filter(({ route }) => route !== undefined).map(({ command }) => command.group));
  return [...groups].map((group) => ({ name: group, description: commandGroups[group] }));
}

function pathsOf(operations: readonly Operation[]): JsonObject {
  const paths = new Map<string, Record<string, Json>>();
  for (const operation of operations) {
    if (operation.route === undefined) continue;
    const { path, method } = operation.route;
    paths.set(path, { ...paths.get(path), [method.toLowerCase()]: operationObject(operation, path) });
  }
  return Object.fromEntries(paths);
}

function operationObject(operation: Operation, path: string): JsonObject {
  const parameters = [
    ...pathParameterObjects(operation, path),
    ...queryParameterObjects(operation),
    ...(takesVersion(operation) ? [ifMatchParameter] : []),
  ];
  return {
    operationId: operation.name,
    tags: [operation.command.group],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: requestBody(operation, operation.body) }),
    responses: responsesOf(operation),
    security: [{ bearer: operation.scope === 'any' ? [] : [operation.scope] }],
    'x-scope': operation.scope,
    'x-documented': operation.documented === true,
  };
}

function pathParameterObjects(operation: Operation, path: string): Json[] {
  const schema = schemaOf(operation.params, 'input');
  return pathParameters(path).map((name) =>
    parameterObject(operation, { name, place: 'path', isRequired: true, schema }),
  );
}

function queryParameterObjects(operation: Operation): Json[] {
  const schema = schemaOf(operation.query, 'input');
  const required = (schema['required'] ?? []) as readonly string[];
  return Object.keys((schema['properties'] ?? {}) as JsonObject).map((name) =>
    parameterObject(operation, { name, place: 'query', isRequired: required.includes(name), schema }),
  );
}

interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  readonly isRequired: boolean;
  /** The schema of the object that the parameter belongs to. */
  readonly schema: JsonObject;
}

function parameterObject(operation: Operation, { name, place, isRequired, schema }: Parameter): JsonObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const { description, ...own } = properties[name] ?? { type: 'string' };
  const examples = operation.examples.flatMap(({ input }) => {
    const value = place === 'path' ? input.params?.[name] : input.query?.[name];
    return value === undefined ? [] : [wireValue(value, own)];
  });
  return {
    name,
    in: place,
    required: isRequired,
    ...(description === undefined ? {} : { description }),
    // One text that lists values between commas.
    ...(own['type'] === 'array' ? { style: 'form', explode: false } : {}),
    schema: own,
    ...(examples[0] === undefined ? {} : { example: examples[0] }),
  };
}

/** A query text as the JSON value that its schema describes. */
function wireValue(text: string, schema: JsonObject): Json {
  if (schema['type'] === 'integer') return Number(text);
  if (schema['type'] === 'boolean') return text === 'true';
  if (schema['type'] === 'array') return text.split(',');
  return text;
}

const ifMatchParameter: JsonObject = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: `ETag of the version that the caller saw; another version in place is answered with ${errorFacts.preconditionFailed.status}.`,
  schema: { type: 'string' },
};

function requestBody(operation: Operation, body: z.ZodObject): JsonObject {
  const schema = schemaOf(body, 'input');
  const examples = operation.examples.flatMap(({ about, input }, index) =>
    input.body === undefined ? [] : [[`example${index + 1}`, { summary: about, value: input.body as Json }] as const],
  );
  return {
    required: !body.safeParse({}).success,
    content: {
      'application/json': {
        schema,
        ...(examples.length === 0 ? {} : { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function responsesOf(operation: Operation): JsonObject {
  const success: JsonObject = {
    description: operation.summary,
    headers: {
      [serviceHeaders.requestId]: textHeader('Names this request in the logs of the service.'),
      ...(operation.versioned === true ? { ETag: textHeader(factHeaders.etag.about) } : {}),
      ...(operation.recordsEvents === true ? factsOfEvents : {}),
      ...(operation.tellsRepetition === true ? headersFor('isReplay') : {}),
    },
    content: { 'application/json': { schema: schemaOf(operation.response, 'output') } },
  };
  const kinds = new Set<ErrorKind>([
    ...everywhere,
    ...operation.errors,
    ...(operation.route?.method === 'GET' ? [] : ofBodies),
  ]);
  const failures = [...kinds].map((kind): [string, Json] => [
    String(errorFacts[kind].status),
    { $ref: `#/components/responses/${kind}` },
  ]);
  return {
    ...(mayReplay(operation) ? { [String(replayStatus)]: replayOf(success) } : {}),
    [String(operation.status)]: success,
    ...Object.fromEntries(failures),
  };
}

const factsOfEvents = headersFor('unchanged', 'replaced', 'outsideContractCount', 'lateCount');

function headersFor(...facts: readonly (keyof typeof factHeaders)[]): JsonObject {
  const described = facts.map((fact) => factHeaders[fact]);
  return Object.fromEntries(described.map(({ name, about }) => [inCapitals(name), textHeader(about)]));
}

function replayOf(success: JsonObject): JsonObject {
  return {
    ...success,
    description: 'What an earlier request with the same idempotency member made; nothing was created now.',
    headers: {
      ...(success['headers'] as JsonObject),
      [inCapitals(factHeaders.isReplay.name)]: textHeader('true, and absent from other answers.'),
      ...headersFor('mismatches'),
    },
  };
}

/** The capitalization of header names in documents: `Tallybook-Hint`. */
function inCapitals(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function textHeader(description: string): JsonObject {
  return { schema: { type: 'string' }, description };
}

const everywhere: readonly ErrorKind[] = [
  'badRequest',
  'unauthorized',
  'forbidden',
  'rateLimited',
  'internal',
  'unavailable',
];
/** Routes without a body refuse one as well; only GET ignores it. */
const ofBodies: readonly ErrorKind[] = ['payloadTooLarge', 'unsupportedMediaType', 'invalidInput'];

const errorSchema: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'code'],
      properties: { message: { type: 'string' }, code: { type: 'string' } },
    },
  },
};

const errorDescriptions: Readonly<Partial<Record<ErrorKind, string>>> = {
  badRequest: 'Malformed JSON, or an unknown or impossible query parameter.',
  unauthorized: 'No key, or one that is invalid, revoked or expired.',
  forbidden: 'The key lacks the scope that the message names.',
  notFound: 'Nothing with this id in the organization.',
  conflict: 'The current state forbids it.',
  preconditionFailed: 'It changed since the caller read it.',
  payloadTooLarge: 'The body is too large.',
  unsupportedMediaType: 'The body is not plain JSON in UTF-8.',
  invalidInput: 'The request alone is wrong; the message lists each field by its path.',
  rateLimited: 'Too many requests from one address.',
  internal: 'A failure of the service.',
  unavailable: 'The service cannot answer now; nothing was changed, unless the message says that this is not known.',
};
const errorResponseNames = Object.keys(errorDescriptions) as ErrorKind[];

function errorResponse(kind: ErrorKind): JsonObject {
  const retryAfter = { schema: { type: 'integer' }, description: 'Seconds to wait before the next try.' };
  return {
    description: errorDescriptions[kind] ?? kind,
    ...(errorFacts[kind].retryable ? { headers: { 'Retry-After': retryAfter } } : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

/** Keywords for texts. Numbers and flags in a query are parsed from text, but for readers of the document they are not texts. */
const textKeywords: Readonly<Record<string, readonly string[]>> = {
  integer: ['minLength', 'maxLength', 'pattern'],
  number: ['minLength', 'maxLength', 'pattern'],
  boolean: ['enum'],
};
/** Hints for the command line. */
const ownKeywords = ['flag', 'x-members', 'x-list', 'reference'];

function schemaOf(type: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const own = jsonSchema as Record<string, unknown>;
      if (own['x-list'] === true) listInstead(own);
      for (const keyword of ownKeywords) delete own[keyword];
      for (const keyword of textKeywords[String(own['type'])] ?? []) delete own[keyword];
      // Answers may get new members within a version (semantics 13).
      if (io === 'output' && own['additionalProperties'] === false) delete own['additionalProperties'];
    },
  });
  return schema as JsonObject;
}

/** Turns a text that lists some of the allowed names into an array. */
function listInstead(schema: Record<string, unknown>): void {
  schema['items'] = { type: 'string', enum: schema['enum'] };
  schema['type'] = 'array';
  for (const keyword of ['enum', 'maxLength']) delete schema[keyword];
}
