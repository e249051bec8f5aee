/**
 * What an operation is: data, never behaviour. Routes, client, commands, OpenAPI, completions and reference are derived
 * from declarations of this form; nothing else knows a path, a scope, a status or a flag.
 */

import type * as z from 'zod';

import { BadRequestError, type ErrorKind, ForbiddenError } from '../errors.ts';
import type { Form } from './plain.ts';

/** Every scope that a key may carry (interface 5.6, 5.7; semantics 1 and 3). */
export const scopes = [
  '*',
  'customers:read',
  'customers:write',
  'invoices:read',
  'invoices:write',
  'contracts:read',
  'contracts:write',
  'plans:read',
  'plans:write',
  'pricing:read',
  'pricing:write',
  'meters:read',
  'meters:write',
  'usage:read',
  'usage:write',
] as const;
export type Scope = (typeof scopes)[number];

/** What an operation asks of a key: a scope, or only that it is a valid key. */
export type NeededScope = Scope | 'any';

/**
 * Throws ForbiddenError naming the scope that a key lacks, in the words of interface 5.10: `*` is every scope, while writing
 * does not include reading (interface 5.6).
 */
export function requireScope(held: readonly Scope[], needed: NeededScope): void {
  if (needed === 'any' || held.includes('*') || held.includes(needed)) return;
  throw new ForbiddenError(`API key does not have the required permission: ${needed}`);
}

/** Groups in the order of help. */
export const commandGroups = {
  customers: 'Customers, their contacts and pauses',
  contracts: 'Contracts between a customer and a plan',
  credits: 'Grants, ledger and balance of a contract',
  budgets: 'Caps on the credit use of one usage dimension',
  meters: 'What is measured, and its prices per dimension',
  usage: 'Events, and what they cost',
  invoices: 'Drafts, finalization and payment',
  pricing: 'Prices: flat, tiered, by usage',
  plans: 'Plans made of prices',
  products: 'What prices are for',
  keys: 'API keys of the embedded service',
  orgs: 'Organizations of the embedded service',
  webhooks: 'Events sent to endpoints of your own',
  clock: 'The time of a database, real or simulated',
  bill: 'What falls due: invoices, expiries, ends',
  events: 'How long usage events are kept',
} as const;
export type CommandGroup = keyof typeof commandGroups;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How a value is shown to a person; scripts always get it as it is on the wire. */
export type ColumnFormat =
  | 'text'
  | 'money'
  | 'usd'
  | 'number'
  | 'percent'
  | 'timestamp'
  | 'date'
  | 'boolean'
  | 'list'
  | 'count';

/** What a table shows of one member of a row. */
export interface Column {
  readonly header: string;
  /** Path inside a row: `metadata.externalCustomerId`. */
  readonly path: string;
  readonly format?: ColumnFormat;
  /** The path of the column that is left out together with it: neither tells the truth alone. */
  readonly beside?: string;
  /** The column was asked for, so it is not left out for lack of room, just as an id is not. */
  readonly isAsked?: boolean;
  /** A part of it would say something else, so it is never cut, just as an id is not. */
  readonly isWhole?: boolean;
}

/** What a person is shown instead of a table; each is a line of cli/views/layouts.ts. */
export type Layout = 'invoiceExplanation' | 'entryExplanation' | 'findings' | 'budgetBars';

/** Where the rows of a table stand in the answer (`data`, `data.entries`, '' for the answer itself), and what they show. */
export interface View {
  readonly rows: string;
  readonly columns: readonly Column[];
  /** Columns of the lists inside a record, by the path of the list. */
  readonly parts?: Readonly<Record<string, readonly Column[]>>;
  /** Columns of what the query member `include` adds to a row, by its name there. */
  readonly included?: Readonly<Record<string, readonly Column[]>>;
  readonly layout?: Layout;
}

/** Where an operation stands on the command line: `tally <group> <verb>`. */
export interface CommandDeclaration {
  readonly group: CommandGroup;
  readonly verb: string;
  /** Path parameters in the order in which they are given on the command line. */
  readonly positional?: readonly string[];
}

/** One call as data: shown in help as a command line, in OpenAPI as a request. */
export interface Example {
  readonly about: string;
  readonly input: CallInput;
}

/** What a caller sends. Query values are texts, as in a URL; the body is JSON (see exact-json.ts for its numbers). */
export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Version that the caller saw (`If-Match`); only where the operation takes part in it. */
  readonly ifMatch?: string;
}

/** Everything that is known of an operation except what it does. */
export interface Operation {
  /** `group.verb`, the name in code and the operationId in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Absent for administration, which is never offered over the API. */
  readonly route?: { readonly method: Method; readonly path: `/v1/${string}` };
  readonly scope: NeededScope;
  /** Status of success; a create that was repeated by its idempotency member answers `replayStatus`. */
  readonly status: 200 | 201 | 202;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** Absent where it takes none. */
  readonly body?: z.ZodObject;
  readonly response: z.ZodType;
  /** Kinds beyond 400, 401, 403, 429 and 5xx, which every operation can answer. */
  readonly errors: readonly ErrorKind[];
  readonly command: CommandDeclaration;
  readonly view: View;
  readonly examples: readonly Example[];
  /** The operation stands in the interface document; the rest are extensions. */
  readonly documented?: true;
  /** Whether it stands in published documentation of such services, so that a remote may offer it (semantics 3). */
  readonly published?: boolean;
  /** Writes that may be sent twice: always, or when the body, or each element of a list of it, has this member (reliability 10). */
  readonly repeatable?: 'always' | { readonly whenGiven: string; readonly inEach?: string };
  /** Moves money or takes something away: an operator's journal also notes it before it is sent, as the answer may get lost. */
  readonly movesMoney?: true;
  /** Answers carry an ETag and the input may carry `ifMatch`. */
  readonly versioned?: true;
  /** An answer tells, by the header of a replay, that what was asked for had been done before and nothing was changed now. */
  readonly tellsRepetition?: true;
  /** Bodies may be larger, and the rate limit counts their bytes alone (semantics 1); answers tell how many events were not new. */
  readonly recordsEvents?: true;
  /** Whether the call changes anything; GET never does, other methods do unless they say so. */
  readonly readOnly?: true;
  /** The answer shows a secret that is never shown again. */
  readonly secret?: true;
  /** Body member that has everything done and nothing kept: what `--dry-run` sets. */
  readonly rehearsal?: string;
  /** What it takes away cannot be restored: a person is asked first, and a script says `--yes`. */
  readonly destroys?: true;
  /** Path of the answer's list of what went wrong; a command ends with 10 if the list holds more than warnings. */
  readonly findings?: string;
}

/** An operation with its schemas as data (plain.ts), and without what is only for people. */
export interface Outline extends Omit<
  Operation,
  'summary' | 'description' | 'params' | 'query' | 'body' | 'response' | 'errors' | 'command' | 'view' | 'examples'
> {
  readonly command: Pick<CommandDeclaration, 'group' | 'verb'>;
  readonly params: Form;
  readonly query: Form;
  readonly body?: Form;
  readonly response: Form;
}

/** What an operation and its outline have in common. */
export type OperationFacts = Omit<Outline, 'params' | 'query' | 'body' | 'response'> & { readonly body?: unknown };

/** Status of a create that was done before and is only answered again (semantics 2). */
export const replayStatus = 200;

/** Whether answers may be such replays: those of creates that carry an idempotency member. */
export function mayReplay({ status, repeatable }: Pick<Operation, 'status' | 'repeatable'>): boolean {
  return status === 201 && typeof repeatable === 'object';
}

/** Whether calling the operation can change what is stored. */
export function changesState(operation: Pick<Operation, 'readOnly' | 'route'>): boolean {
  return operation.readOnly !== true && operation.route?.method !== 'GET';
}

/** Whether a call may name the version that it is based on. */
export function takesVersion(operation: Pick<Operation, 'readOnly' | 'route' | 'versioned'>): boolean {
  return operation.versioned === true && changesState(operation);
}

/** Whether a call asks for a rehearsal, which keeps nothing, by the `member` of its body that its operation has for that. */
export function asksForRehearsal(member: string | undefined, { body }: CallInput): boolean {
  return member !== undefined && (body as Readonly<Record<string, unknown>> | null | undefined)?.[member] === true;
}

/** Whether an answer could have this text as its version, and a header can carry it. */
export function isVersion(text: string): boolean {
  return /^[!#-~]{1,200}$/.test(text);
}

/** Throws BadRequestError for a text that no answer has as its version. */
export function checkVersionForm(version: string): void {
  if (isVersion(version)) return;
  throw new BadRequestError('the version to match must be one that an answer showed, without its quotes');
}

/** Names of the path parameters of a route, in order. */
export function pathParameters(path: string): string[] {
  if (!path.includes('{')) return [];
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}
