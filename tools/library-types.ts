/**
 * The input and the answer of every operation as plain TypeScript, for programs that use this one as a library: they have
 * neither our declarations nor the schema library. Derived from the same JSON Schema that the OpenAPI document shows.
 */

import * as z from 'zod';

import { allOperations } from '../src/operations/all.ts';
import { takesVersion } from '../src/operations/operation.ts';
import type { Operation } from '../src/operations/operation.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  /** A text that may list several of the names, separated by commas. */
  readonly 'x-list'?: true;
  readonly const?: unknown;
  readonly $ref?: string;
  /** A number that may have digits that a plain number would lose. */
  readonly isExact?: true;
}

/** The text of src/library/operations.ts. */
export function libraryTypes(): string {
  const entries = allOperations.map(operationEntry);
  return `/** What each operation takes and answers. Written by npm run generate: do not edit. */

import type { ExactNumber } from '../exact-json.ts';

export interface Operations {
${entries.map((entry) => indented(entry)).join('\n')}
}
`;
}

function operationEntry(operation: Operation): string {
  const words = [`${operation.summary}.`, operation.description].filter(Boolean).join(' ');
  const input = [
    hasMembers(operation.params) ? part('params', operation.params) : '',
    hasMembers(operation.query) ? part('query', operation.query) : '',
    operation.body === undefined ? '' : part('body', operation.body),
    takesVersion(operation)
      ? '/** Version that the caller saw: the call is refused when it is another now. */\nreadonly ifMatch?: string;'
      : '',
  ].filter(Boolean);
  const inputType = input.length === 0 ? 'Readonly<Record<string, never>>' : block(input);
  const answer = typeOf(schemaOf(operation.response, 'output'));
  return `${comment(words)}readonly '${operation.name}': ${block([`readonly input: ${inputType};`, `readonly answer: ${answer};`])};`;
}

function part(name: 'params' | 'query' | 'body', type: z.ZodObject): string {
  const schema = schemaOf(type, 'input');
  const isOptional = type.safeParse({}).success;
  return `readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema)};`;
}

function hasMembers(type: z.ZodObject): boolean {
  return Object.keys(type.shape).length > 0;
}

function schemaOf(type: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => {
      const isNumber = jsonSchema.type === 'number' || jsonSchema.type === 'integer';
      if (isNumber && zodSchema._zod.def.type === 'custom') Object.assign(jsonSchema, { isExact: true });
    },
  }) as Schema;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) throw new Error(`a type that holds itself has no plain form yet: ${schema.$ref}`);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    const lists = schema['x-list'] === true && schema.enum.length > 1 ? ['`${string},${string}`'] : [];
    return [...schema.enum.map((value) => JSON.stringify(value)), ...lists].join(' | ');
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((each) => typeOf(each)));
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${typeOf(each)})`).join(' & ');
  const types = [schema.type].flat();
  return [...new Set(types.map((type) => typeNamed(type, schema)))].join(' | ');
}

/** Named texts are listed only if not every text is allowed. */
function union(types: readonly string[]): string {
  const kept = types.includes('string') ? types.filter((type) => !type.startsWith('"')) : types;
  return [...new Set(kept)].join(' | ');
}

function typeNamed(type: string | undefined, schema: Schema): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  if (type === 'number' || type === 'integer') return schema.isExact === true ? 'ExactNumber' : 'number';
  if (type === 'array') return arrayType(schema);
  if (type === 'object' || schema.properties !== undefined) return objectType(schema);
  return 'unknown';
}

function arrayType({ items, prefixItems }: Schema): string {
  if (prefixItems !== undefined) return `readonly [${prefixItems.map((each) => typeOf(each)).join(', ')}]`;
  return `readonly (${items === undefined ? 'unknown' : typeOf(items)})[]`;
}

function objectType(schema: Schema): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(member.description)}readonly ${propertyName(name)}${mark}: ${typeOf(member)};`;
  });
  if (members.length > 0) return block(members);
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
  return additionalProperties === false ? 'Readonly<Record<string, never>>' : `Readonly<Record<string, ${values}>>`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function comment(words: string | undefined): string {
  return words === undefined || words === '' ? '' : `/** ${words.replaceAll('*/', '* /')} */\n`;
}

function block(members: readonly string[]): string {
  return `{\n${members.map((member) => indented(member)).join('\n')}\n}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
