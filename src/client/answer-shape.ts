/** The parts of a successful answer on which every service of this interface agrees (reliability 10). */

import { isJsonObject } from '../exact-json.ts';
import type { Outline } from '../operations/operation.ts';

type Form = Outline['response'];
type Members = Readonly<Record<string, Form>>;

/**
 * The body of an answer; undefined if it lacks what no answer can be without: its envelope, the id of a resource, the lists of a
 * resource without one, or any member of a resource without either. A proxy's JSON would otherwise pass for an empty list, or for
 * a grant that was made. Any other field may be missing, null or unknown: other services' answers are shown as they are. An
 * undocumented answer may come without the member `data`, as semantics 1 shows a balance, and gets it here.
 */
export function answered({ documented, response: form }: Outline, body: unknown): unknown {
  if (!isJsonObject(body)) return undefined;
  const data = membersOf(form)?.['data'];
  if (data === undefined) return isResource(body, form) ? body : undefined;
  if (isResource(body['data'], data)) return body;
  return !documented && isResource(body, data) ? { data: body } : undefined;
}

const wholeNumber = /^-?\d{1,15}\.0+$/;

/** The body with `5` for `5.0` where the form has a count: code counts with plain numbers. Amounts stay as they are written. */
export function withPlainCounts(body: unknown, form: Form): unknown {
  if (form === 'int') return JSON.isRawJSON(body) && wholeNumber.test(body.rawJSON) ? Number(body.rawJSON) : body;
  if (typeof form !== 'object') return body;
  if ('nullable' in form) return withPlainCounts(body, form.nullable);
  if ('optional' in form) return withPlainCounts(body, form.optional);
  if ('list' in form) return Array.isArray(body) ? body.map((each) => withPlainCounts(each, form.list)) : body;
  const members = membersOf(form);
  if (members === undefined || !isJsonObject(body)) return body;
  const counted = ([name, value]: [string, unknown]) => [name, withPlainCounts(value, members[name] ?? 'any')];
  return Object.fromEntries(Object.entries(body).map(counted));
}

function isResource(value: unknown, form: Form): boolean {
  if (isList(form)) return Array.isArray(value) && value.every(isJsonObject);
  if (isNullable(form)) return value === null || isResource(value, form.nullable);
  const members = membersOf(form);
  if (members === undefined) return true;
  if (!isJsonObject(value)) return false;
  if ('id' in members) return 'id' in value;
  const lists = Object.entries(members).filter(([, member]) => isList(member));
  if (lists.length > 0) return lists.every(([name]) => Array.isArray(value[name]));
  return Object.keys(members).some((name) => name in value);
}

function membersOf(form: Form): Members | undefined {
  return typeof form === 'object' && 'members' in form ? form.members : undefined;
}

function isNullable(form: Form): form is Extract<Form, { readonly nullable: Form }> {
  return typeof form === 'object' && 'nullable' in form;
}

function isList(form: Form): form is Extract<Form, { readonly list: Form }> {
  return typeof form === 'object' && 'list' in form;
}
