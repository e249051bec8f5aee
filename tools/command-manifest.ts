/** Turns declarations into the manifest: the one place where a schema becomes flags. */

import * as z from 'zod';

import { decimalForm } from '../src/operations/field-rules.ts';
import { changesState, commandGroups } from '../src/operations/operation.ts';
import type { Operation } from '../src/operations/operation.ts';
import type { ReferenceKind } from '../src/operations/references.ts';
import { exampleLine } from './example-line.ts';
import { dateOrInstant, isCalledDate } from '../src/cli/command-line/flags.ts';
import { globalFlags, operationFlags } from '../src/cli/command-line/global-flags.ts';
import type { GlobalFlag } from '../src/cli/command-line/global-flags.ts';
import { localFlags } from '../src/cli/command-line/local-flags.ts';
import type { CommandSpec, ExampleLine, FlagSpec, Manifest, Shape } from '../src/cli/command-line/manifest.ts';

/** The parts of zod's JSON schema that are read here. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  /** Name of the flag, if it is not the name of the field. */
  readonly flag?: string;
  readonly 'x-members'?: true;
  readonly reference?: ReferenceKind;
}

/** The commands of the given operations, grouped and ordered as in help. Throws if two flags would have one name. */
export function commandManifest(operations: readonly Operation[]): Manifest {
  return { groups: commandGroups, commands: operations.map(commandSpec) };
}

function commandSpec(operation: Operation): CommandSpec {
  const query = flagsOf(schemaOf(operation.query, 'input'), 'query');
  const body = operation.body === undefined ? [] : flagsOf(schemaOf(operation.body, 'input'), 'body');
  const local = localFlags[operation.name];
  const flags = [...query, ...body]
    .map((spec) => withAlias(spec, local?.aliases?.[spec.name]))
    .sort((one, other) => Number(other.isRequired ?? false) - Number(one.isRequired ?? false));
  checkNames(operation.name, flags, local?.flags ?? []);
  const params = schemaOf(operation.params, 'input').properties ?? {};
  const spec: Omit<CommandSpec, 'examples'> = {
    operation: operation.name,
    group: operation.command.group,
    verb: operation.command.verb,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.route === undefined ? {} : { method: operation.route.method, path: operation.route.path }),
    scope: operation.scope,
    errors: operation.errors,
    positionals: (operation.command.positional ?? []).map((name) => ({
      name,
      placeholder: kebabCase(name),
      description: params[name]?.description ?? '',
      ...(params[name]?.reference === undefined ? {} : { reference: params[name].reference }),
      ...(params[name]?.enum === undefined ? {} : { choices: params[name].enum.map(String) }),
    })),
    flags,
    view: operation.view,
    fields: rowFields(schemaOf(operation.response, 'output'), operation.view.rows),
    hasBody: operation.body !== undefined,
    isWrite: changesState(operation),
    isPaged:
      operation.view.rows === 'data' && ['limit', 'offset'].every((name) => query.some((flag) => flag.name === name)),
    isVersioned: operation.versioned === true,
    isBulk: operation.recordsEvents === true,
    isSecret: operation.secret === true,
    ...(typeof operation.repeatable === 'object' && operation.repeatable.inEach === undefined
      ? { idempotencyMember: operation.repeatable.whenGiven }
      : {}),
    ...(local === undefined ? {} : { localFlags: local.flags, localExamples: local.examples }),
    ...(operation.rehearsal === undefined ? {} : { rehearsalMember: operation.rehearsal }),
    ...(operation.destroys === true ? { destroys: true as const } : {}),
    ...(operation.findings === undefined ? {} : { findingsPath: operation.findings }),
  };
  const examples = operation.examples.map(({ about, input }) => ({ about, line: exampleLine(spec, input) }));
  const isAlone = examples.length + (local?.examples.length ?? 0) === 1;
  const variants = isAlone ? examples.map((each) => variant(spec, each)) : [];
  // A dry run comes before a write; afterwards it would be refused, because the work is done.
  return { ...spec, examples: spec.isWrite ? [...variants, ...examples] : [...examples, ...variants] };
}

/** Another way to make the same call that is worth knowing, for a command with a single example. */
function variant(spec: Omit<CommandSpec, 'examples'>, { line }: ExampleLine): ExampleLine {
  if (spec.isWrite) return { about: 'Look first: check it, and print the request', line: `${line} --dry-run` };
  if (spec.isPaged) return { about: 'All of them, for a spreadsheet', line: `${line} --all -o csv` };
  return { about: 'The same for a program', line: `${line} -o json` };
}

function schemaOf(type: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(type, { io, unrepresentable: 'any' }) as Schema;
}

function flagsOf(object: Schema, place: 'query' | 'body'): FlagSpec[] {
  return Object.entries(object.properties ?? {}).map(([name, schema]) => {
    const shape = shapeOf(schema, object.required?.includes(name) ?? false);
    const own = kebabCase(name);
    const reference = inner(schema).reference ?? inner(schema).items?.reference;
    const flag = schema.flag ?? inner(schema).flag ?? own;
    return {
      flag,
      // A flag that every command has keeps its meaning.
      ...(flag === own || globalFlags.some(({ name }) => name === own) ? {} : { alias: own }),
      in: place,
      name,
      placeholder: placeholderOf(name, schema, shape),
      description: schema.description ?? inner(schema).description ?? '',
      ...(reference === undefined ? {} : { reference }),
      ...(schema.default === undefined ? {} : { default: schema.default }),
      ...shape,
    };
  });
}

function withAlias(spec: FlagSpec, alias: string | undefined): FlagSpec {
  return alias === undefined ? spec : { ...spec, alias, description: `${spec.description} Also --${alias}.` };
}

/** The schema without the option of null. */
function inner(schema: Schema): Schema {
  if (Array.isArray(schema.type)) {
    const [type, ...others] = schema.type.filter((each) => each !== 'null') as string[];
    const { type: _types, ...rest } = schema;
    return type === undefined || others.length > 0 ? rest : { ...rest, type };
  }
  const choices = schema.anyOf?.filter((choice) => choice.type !== 'null') ?? [];
  if (choices.length === 0) return schema;
  if (choices.length === 1) return choices[0] ?? schema;
  if (choices.every((choice) => choice.properties !== undefined)) return mergedObject(choices);
  if (choices.every((choice) => choice.type === 'string')) return { type: 'string' };
  return choices.every(({ type, items }) => (items?.type ?? type) === 'string') ? { anyOf: choices } : {};
}

/** An object that may take several forms: it has the members of all forms, and requires those that all of them require. */
function mergedObject(forms: readonly Schema[]): Schema {
  return {
    type: 'object',
    properties: Object.assign({}, ...forms.map((form) => form.properties)) as Record<string, Schema>,
    required: (forms[0]?.required ?? []).filter((name) => forms.every((form) => form.required?.includes(name))),
  };
}

function shapeOf(schema: Schema, isRequired: boolean): Shape {
  const isNullable =
    (Array.isArray(schema.type) && schema.type.includes('null')) ||
    schema.anyOf?.some(({ type }) => type === 'null') === true;
  return {
    ...bareShape(inner(schema)),
    ...(isRequired ? { isRequired: true as const } : {}),
    ...(isNullable ? { isNullable: true as const } : {}),
  };
}

function bareShape(schema: Schema): Shape {
  if (typeof schema.const === 'string') return { kind: 'text', choices: [schema.const] };
  if (schema.type === 'boolean' || schema.type === 'integer' || schema.type === 'number') return { kind: schema.type };
  if (schema.type === 'string') {
    return schema.enum === undefined ? { kind: 'text' } : { kind: 'text', choices: schema.enum.map(String) };
  }
  if (schema.type === 'array') return listShape(schema.items ?? {});
  const isOpen = typeof schema.additionalProperties === 'object' && schema.properties === undefined;
  if (schema['x-members'] === true || isOpen) {
    const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};
    return { kind: 'members', element: shapeOf(values, false) };
  }
  if (schema.type === 'object') return { kind: 'object', fields: fieldsOf(schema) };
  return { kind: schema.anyOf === undefined ? 'any' : 'texts' };
}

function listShape(items: Schema): Shape {
  const element = shapeOf(items, false);
  return element.kind === 'object' ? { kind: 'objects', fields: element.fields ?? {} } : { kind: 'list', element };
}

function fieldsOf(object: Schema): Record<string, Shape> {
  return Object.fromEntries(
    Object.entries(object.properties ?? {}).map(([name, schema]) => [
      name,
      shapeOf(schema, object.required?.includes(name) ?? false),
    ]),
  );
}

function placeholderOf(name: string, schema: Schema, shape: Shape): string {
  if (shape.kind === 'boolean') return 'true|false';
  if (shape.kind === 'objects' || shape.kind === 'object') return 'name=value,…';
  if (shape.kind === 'members') return 'name=value';
  if (shape.kind === 'list') return `${wordOf(shape.element?.kind ?? 'text')},…`;
  if (shape.kind === 'integer' && name.endsWith('Cents')) return 'cents';
  const { format, pattern } = inner(schema);
  if (schema.anyOf?.map((choice) => choice.format).join(' ') === 'date date-time') return dateOrInstant;
  if (format === 'date') return 'date';
  // What is called a date may be given as one, although the service takes an instant alone (flags.ts).
  if (format === 'date-time') return isCalledDate(name) ? dateOrInstant : 'date-time';
  if (format === 'email') return 'email';
  if (pattern === decimalForm.source) return 'decimal';
  if (name.endsWith('Id')) return 'id';
  return wordOf(shape.kind);
}

function wordOf(kind: Shape['kind']): string {
  if (kind === 'integer' || kind === 'number') return 'number';
  return kind === 'any' ? 'value' : 'text';
}

function rowFields(response: Schema, rows: string): string[] {
  const at = rows === '' ? [] : rows.split('.');
  const found = at.reduce<Schema>((schema, name) => inner(schema.properties?.[name] ?? {}), response);
  return Object.keys((found.type === 'array' ? inner(found.items ?? {}) : found).properties ?? {});
}

function checkNames(operation: string, flags: readonly FlagSpec[], local: readonly GlobalFlag[]): void {
  const taken = new Set<string>([...globalFlags, ...operationFlags, ...local].map(({ name }) => name));
  for (const name of flags.flatMap(({ flag, alias }) => (alias === undefined ? [flag] : [flag, alias]))) {
    if (taken.has(name))
      throw new Error(`${operation}: the flag --${name} is taken; give the field another one by .meta({ flag })`);
    taken.add(name);
  }
}

/** `externalCustomerId` becomes `external-customer-id`. */
export function kebabCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}
