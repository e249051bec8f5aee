/** What a success answers of what was asked, as far as every service of this interface agrees (reliability 10). */

import { isJsonObject } from '../exact-json.ts';
import type { OperationFacts, Outline } from '../operations/operation.ts';

type Form = Outline['response'];
type Members = Readonly<Record<string, Form>>;

/**
 * The body of an answer; undefined where it lacks what an answer cannot be without: its envelope, the id of a resource, the
 * lists of what has none, any member of what has neither. What a proxy says in JSON would pass for an empty list otherwise, or
 * for a grant that was made. Any other field may be missing, null or unknown: services of others are shown as they are. What is
 * not documented may come without the member `data`, as semantics 1 shows a balance, and gets it.
 */
export function answered({ documented }: Pick<OperationFacts, 'documented'>, form: Form, body: unknown): unknown {
  if (!isJsonObject(body)) return undefined;
  const data = membersOf(form)?.['data'];
  if (data === undefined) return isResource(body, form) ? body : undefined;
  if ('data' in body && isResource(body['data'], data)) return body;
  return !documented && isResource(body, data) ? { data: body } : undefined;
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
