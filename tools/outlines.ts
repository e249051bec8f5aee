/** The outlines of operations: their facts as data, their schemas as forms (src/operations/plain.ts). */

import type * as z from 'zod';

import type { Operation, Outline } from '../src/operations/operation.ts';
import { recognizedForm } from '../src/operations/plain.ts';
import type { Form } from '../src/operations/plain.ts';

export function outlineOf(operation: Operation): Outline {
  const { params, query, body, response, command } = operation;
  const facts = Object.fromEntries(Object.entries(operation).filter(([name]) => !forPeople.has(name))) as Operation;
  return {
    ...facts,
    command: { group: command.group, verb: command.verb },
    params: formOf(params),
    query: formOf(query),
    ...(body === undefined ? {} : { body: formOf(body) }),
    response: formOf(response),
  } as Outline;
}

const forPeople: ReadonlySet<string> = new Set(['summary', 'description', 'errors', 'view', 'examples', 'body']);

/** The form that reads as the schema does; `schema` for a schema, or a part of one, that no form can express with certainty. */
export function formOf(schema: z.core.$ZodType): Form {
  const found = recognizedForm(schema as z.ZodType);
  if (found === undefined) return derivedForm(schema);
  const isRule = typeof found === 'object' && 'rule' in found && !('of' in found);
  return isRule ? { rule: found.rule, of: membersOf((schema as z.ZodObject).shape) } : found;
}

function derivedForm(schema: z.core.$ZodType): Form {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const bounds = boundsOf(def.checks ?? []);
  if (bounds === undefined) return 'schema';
  if (def.type === 'array') return { list: formOf(def.element), ...bounds };
  if (def.type === 'string' && !('format' in def)) {
    return def.checks === undefined
      ? 'string'
      : ['string', bounds.least ?? 0, ...(bounds.most === undefined ? [] : [bounds.most])];
  }
  if (def.checks !== undefined && def.checks.length > 0) return 'schema';
  if (def.type === 'object') return def.catchall?._zod.def.type === 'never' ? membersOf(def.shape) : 'schema';
  if (def.type === 'record') return formOf(def.keyType) === 'string' ? { record: formOf(def.valueType) } : 'schema';
  if (def.type === 'union') return oneOf(def.options.map(formOf));
  if (def.type === 'optional') return { optional: formOf(def.innerType) };
  if (def.type === 'nullable') return { nullable: formOf(def.innerType) };
  if (def.type === 'default' && typeof def.defaultValue !== 'object')
    return { default: def.defaultValue, of: formOf(def.innerType) };
  if (def.type === 'enum') return { values: Object.values(def.entries) };
  if (def.type === 'literal') return { values: def.values };
  if (def.type === 'null') return { values: [null] };
  if (def.type === 'number' && 'format' in def && def.format === 'safeint') return 'int';
  if (def.type === 'boolean') return 'boolean';
  return def.type === 'unknown' ? 'any' : 'schema';
}

/** An alternative that only the schema can judge might be the intended one. */
function oneOf(forms: readonly Form[]): Form {
  return forms.some((form) => JSON.stringify(form).includes('"schema"')) ? 'schema' : { oneOf: forms };
}

function membersOf(shape: Readonly<Record<string, z.core.$ZodType>>): Form {
  return { members: Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, formOf(schema)])) };
}

/** The bounds of a length; undefined if anything else is checked, too. */
function boundsOf(checks: readonly z.core.$ZodCheck[]): { least?: number; most?: number } | undefined {
  const bounds: { least?: number; most?: number } = {};
  for (const { _zod } of checks as readonly z.core.$ZodChecks[]) {
    if (_zod.def.check === 'min_length') bounds.least = _zod.def.minimum;
    else if (_zod.def.check === 'max_length') bounds.most = _zod.def.maximum;
    else return undefined;
  }
  return bounds;
}
