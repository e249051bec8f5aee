/** From what a caller sent to what a handler gets, or to an error that lists every issue with its path. */

import type * as z from 'zod';

import { counted } from '../counted.ts';
import { BadRequestError, InvalidInputError, pathText } from '../errors.ts';
import type { InputIssue } from '../errors.ts';
import { forbiddenNameMessage, isExactNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { loadOperation, loadOutline } from './index.ts';
import type { OperationName, OperationTable } from './index.ts';
import { listed } from './listed.ts';
import { checkVersionForm } from './operation.ts';
import type { CallInput, Operation, Outline } from './operation.ts';
import { readPlainly, refused } from './plain.ts';

/** The parsed input of an operation, as its handler sees it. */
export interface ParsedInput<O extends Operation> {
  readonly params: z.output<O['params']>;
  readonly query: z.output<O['query']>;
  readonly body: O extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : undefined;
  readonly ifMatch: string | undefined;
}

/**
 * Parses a call by its declaration. Throws BadRequestError for the query (400) and InvalidInputError for path
 * parameters and the body (422), both naming the issues, the first hundred of them.
 */
export function parseInput<O extends Operation>(operation: O, input: CallInput): ParsedInput<O> {
  const query = check(operation.query, input.query ?? {});
  if (!query.success) {
    const issues = issuesOf(query.error.issues, input.query ?? {}, 'unknown parameter');
    throw new BadRequestError(
      issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
    );
  }
  const params = check(operation.params, input.params ?? {});
  if (!params.success) throw new InvalidInputError(issuesOf(params.error.issues, input.params ?? {}, 'unknown field'));
  return {
    params: params.data,
    query: query.data,
    body: parseBody(operation, operation.body === undefined ? input.body : bodyOf(input)),
    ifMatch: input.ifMatch,
  } as ParsedInput<O>;
}

/** The same by the name of the operation; its schemas are loaded only for a call that they must judge. */
export async function parseCall<N extends OperationName>(
  name: N,
  input: CallInput,
): Promise<ParsedInput<OperationTable[N]>> {
  if (input.ifMatch !== undefined) checkVersionForm(input.ifMatch);
  const plain = parsePlainly(await loadOutline(name), input);
  return (plain as ParsedInput<OperationTable[N]> | undefined) ?? parseInput(await loadOperation(name), input);
}

/** The same without schemas, for a call that plainly keeps to its declaration; undefined where the schemas must judge. */
export function parsePlainly(outline: Outline, input: CallInput): ParsedInput<Operation> | undefined {
  const query = readPlainly(outline.query, input.query ?? {});
  const params = readPlainly(outline.params, input.params ?? {});
  const body =
    outline.body !== undefined
      ? readPlainly(outline.body, bodyOf(input))
      : input.body === undefined || isEmptyObject(input.body)
        ? undefined
        : refused;
  if (query === refused || params === refused || body === refused) return undefined;
  return { params, query, body, ifMatch: input.ifMatch } as ParsedInput<Operation>;
}

/** An absent body is one without members. The JSON value `null` is not an object, so the schema refuses it. */
function bodyOf({ body = {} }: CallInput): unknown {
  return body;
}

function parseBody(operation: Operation, body: unknown): unknown {
  if (operation.body === undefined) {
    if (body === undefined || isEmptyObject(body)) return undefined;
    throw new InvalidInputError([{ path: '', message: 'this operation takes no body' }]);
  }
  const parsed = check(operation.body, body);
  if (!parsed.success) throw new InvalidInputError(issuesOf(parsed.error.issues, body, 'unknown field'));
  const misread = misreadIn(body, parsed.data);
  if (misread !== undefined) throw new InvalidInputError([{ ...misread, path: pathText(misread.path) }]);
  return parsed.data;
}

const noObjectMessage = 'must be an object';

interface Misread {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * What schemas overlook where any name may stand: they take a number that keeps its digits for an object and give out its only
 * member, and they leave out a member `__proto__`.
 */
function misreadIn(given: unknown, taken: unknown): Misread | undefined {
  if (!isObject(given) || !isObject(taken) || isExactNumber(taken)) return undefined;
  if (isExactNumber(given)) return { path: [], message: noObjectMessage };
  for (const name in given) {
    if (name === '__proto__') return { path: [name], message: forbiddenNameMessage };
    const within = misreadIn(given[name], taken[name]);
    if (within !== undefined) return { ...within, path: [Array.isArray(given) ? Number(name) : name, ...within.path] };
  }
  return undefined;
}

const checkedBefore = new WeakSet<z.ZodType>();

/**
 * Checks a value against a schema. The schema is compiled for its second value, or for one with a long list: compiling takes
 * longer than checking one value, and most processes make a single call. A schema that is not compiled passes the issues of a
 * member on as arguments, and a list of many wrong elements has more of them than a stack holds.
 */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const jitless = !checkedBefore.has(schema) && !hasLongList(value);
  checkedBefore.add(schema);
  return schema.safeParse(value, { jitless });
}

function hasLongList(value: unknown): boolean {
  return (
    isObject(value) && Object.values(value).some((each) => Array.isArray(each) && each.length > limits.listedIssues)
  );
}

function isObject(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** The issues of a refused value, with JSON paths such as `contacts[0].email`. */
export function issuesOf(issues: readonly z.core.$ZodIssue[], value: unknown, unknownWords: string): InputIssue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => pathText(path)));
  const numbers = new Set<string>();
  const all = issues.flatMap((issue): InputIssue[] => {
    const inside = issue.code === 'unrecognized_keys' ? issue.path : issue.path.slice(0, -1);
    if (isExactNumber(valueAt(value, inside))) {
      const isSaid = numbers.has(pathText(inside));
      numbers.add(pathText(inside));
      return isSaid ? [] : [{ path: pathText(inside), message: noObjectMessage }];
    }
    // A text where a list belongs is measured as if it were one.
    if ((issue.code === 'too_small' || issue.code === 'too_big') && mistyped.has(pathText(issue.path))) return [];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), message: unknownWords }));
    }
    if (issue.code === 'invalid_key') {
      return issue.issues.map((inner) => ({ path: pathText(issue.path), message: inner.message }));
    }
    if (issue.code === 'invalid_type' || issue.code === 'custom' || issue.code === 'invalid_value') {
      if (valueAt(value, issue.path) === undefined && issue.path.length > 0 && issue.message !== '') {
        return [{ path: pathText(issue.path), message: isOwnMessage(issue) ? issue.message : 'is required' }];
      }
    }
    return [{ path: pathText(issue.path), message: wordsOf(issue) }];
  });
  return listed(all, (message) => ({ path: '', message }));
}

/** A rule across fields puts its words on a field that may be absent; those words are better than "is required". */
function isOwnMessage(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['rule'] === true;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: noObjectMessage,
  record: noObjectMessage,
};

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return typeWords[issue.expected] ?? issue.message;
  if (issue.code === 'invalid_value') return `must be ${issue.values.map((each) => JSON.stringify(each)).join(' or ')}`;
  if (issue.code === 'too_small' && issue.origin === 'array') {
    return `must have at least ${counted(Number(issue.minimum), 'element')}`;
  }
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return `must have at most ${counted(Number(issue.maximum), 'element')}`;
  }
  // Unless the declaration has words of its own.
  if (issue.code === 'too_big' && issue.origin === 'string' && issue.message.startsWith('Too ')) {
    return `must have at most ${issue.maximum} characters`;
  }
  return issue.message;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}
