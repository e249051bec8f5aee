/** Names of fields inside of fields, `metadata.externalCustomerId` or `items.*.pricingId`, held to what an operation answers. */

import { BillingError } from '../../errors.ts';
import { loadOutline } from '../../operations/index.ts';
import type { OperationName } from '../../operations/index.ts';
import type { Form } from '../../operations/plain.ts';
import { nearest } from '../catalog/nearest.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import type { OutputChoice } from '../output/output.ts';

type FormWith<Member extends string> = Extract<Form, Readonly<Record<Member, unknown>>>;

/**
 * Throws a usage error for a path that no answer has: it would be null, or an empty column, in every row. The names before the
 * first dot are taken to be fields.
 */
export async function checkInner(
  { jsonFields = [], columns = [] }: OutputChoice,
  { operation, view }: Pick<CommandSpec, 'operation' | 'view'>,
): Promise<void> {
  const headers = Object.values(view.included ?? {})
    .concat(view.columns)
    .flat()
    .map(({ header }) => header.toLowerCase());
  const asked = [...jsonFields, ...columns.filter((name) => !headers.includes(name.toLowerCase()))];
  const inner = asked.filter((name) => name.includes('.'));
  if (inner.length === 0) return;
  const { response } = await loadOutline(operation as OperationName);
  const found = view.rows === '' ? response : formAt(response, view.rows.split('.'));
  const row = bare(found ?? 'schema');
  for (const path of inner) checkPath(path, hasMember(row, 'list') ? row.list : row);
}

function checkPath(path: string, row: Form): void {
  const names = path.split('.');
  let form = row;
  for (const [index, name] of names.entries()) {
    const next = formAt(form, [name]);
    if (next === undefined) throw unknownAt(path, { at: names.slice(0, index), rest: names.slice(index), form });
    form = next;
  }
}

/** What stands at a path; undefined where nothing can. */
function formAt(form: Form, names: readonly string[]): Form | undefined {
  const [name, ...rest] = names;
  if (name === undefined) return form;
  const here = bare(form);
  if (hasMember(here, 'members')) {
    const member = Object.hasOwn(here.members, name) ? here.members[name] : undefined;
    return member === undefined ? undefined : formAt(member, rest);
  }
  if (hasMember(here, 'list')) return /^(?:\*|\d+)$/.test(name) ? formAt(here.list, rest) : undefined;
  if (hasMember(here, 'record')) return formAt(here.record, rest);
  if (hasMember(here, 'oneOf')) return here.oneOf.map((each) => formAt(each, names)).find((each) => each !== undefined);
  return here === 'schema' || here === 'any' ? here : undefined;
}

/** Without what says only when there is a value. */
function bare(form: Form): Form {
  if (hasMember(form, 'nullable')) return bare(form.nullable);
  if (hasMember(form, 'optional')) return bare(form.optional);
  return hasMember(form, 'of') ? bare(form.of) : form;
}

function hasMember<Member extends string>(form: Form, member: Member): form is FormWith<Member> {
  return typeof form === 'object' && !Array.isArray(form) && Object.hasOwn(form, member);
}

interface Unknown {
  /** The names that are known. */
  readonly at: readonly string[];
  readonly rest: readonly string[];
  /** What stands there. */
  readonly form: Form;
}

function unknownAt(path: string, { at, rest, form }: Unknown): BillingError {
  return new BillingError('usage', `there is no field "${path}"`, { hint: hintAt(at.join('.'), rest, bare(form)) });
}

function hintAt(known: string, [name = '', ...rest]: readonly string[], form: Form): string {
  if (hasMember(form, 'list')) {
    const isOfElements = formAt(form, ['*', name, ...rest]) !== undefined;
    const meant = [known, '*', ...(isOfElements ? [name, ...rest] : namesOf(form.list).slice(0, 1))].join('.');
    return isOfElements ? `did you mean ${meant}?` : `${known} is a list: ${meant} is of each element`;
  }
  const names = namesOf(form);
  if (names.length === 0) return `${known} has no fields`;
  const meant = nearest(name, names);
  if (meant !== undefined) return `did you mean ${[known, meant, ...rest].join('.')}?`;
  return `the fields of ${known} are ${names.join(', ')}`;
}

function namesOf(form: Form): readonly string[] {
  const here = bare(form);
  return hasMember(here, 'members') ? Object.keys(here.members) : [];
}
