/**
 * The policy file: caps on promotional grants, and what a grant must say, checked on this machine before a request. It
 * protects against mistakes, not against somebody who may edit the file.
 */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { BillingError } from '../../errors.ts';
import { isJsonObject } from '../../exact-json.ts';
import { type Moment, timestampOf } from '../../operations/field-rules.ts';
import { type Environment, environments } from '../command-line/global-flags.ts';
import { readOptionalTextFile } from '../files/files.ts';
import { isOpen } from './grant-history.ts';
import type { GrantHistory, KnownGrant, Place } from './grant-history.ts';
import { creditsText, microsOfText } from '../../whole-amounts.ts';
import type { GrantRequest } from './grant-request.ts';
import { moneyText } from '../wire/rows.ts';

export interface Policy {
  readonly path: string;
  /** Environments to which the rules apply; all when not given. */
  readonly environments?: readonly string[];
  readonly perGrantCents?: bigint;
  readonly perCustomerAndMonthCents?: bigint;
  readonly perOperatorAndDayCents?: bigint;
  /** Free credits, in millionths. */
  readonly freeCreditsPerGrantMicros?: bigint;
  readonly isReasonRequired: boolean;
  /** What the reason or external id must contain. */
  readonly ticket?: RegExp;
}

const grantRules = [
  'per-grant',
  'per-customer-and-month',
  'per-operator-and-day',
  'free-credits-per-grant',
  'reason',
  'ticket',
] as const;
type GrantRule = (typeof grantRules)[number];

export interface Violation {
  /** Name in the file: `per-grant`. */
  readonly rule: GrantRule;
  readonly message: string;
}

/** The policy in force; undefined if there is none. Throws a usage error that names what is wrong in the file. */
export async function readPolicy(
  env: Readonly<Record<string, string | undefined>>,
  configDirectory: string,
): Promise<Policy | undefined> {
  const named = env['TALLY_POLICY'];
  const isNamed = named !== undefined && named !== '';
  const path = isNamed ? named : join(configDirectory, 'policy.yaml');
  const text = readOptionalTextFile(path);
  if (text !== undefined) return await parsePolicy(text, path);
  if (!isNamed && !isLink(path)) return undefined;
  const words = isNamed ? `TALLY_POLICY names ${path}` : `${path} is a link`;
  throw new BillingError('usage', `${words}, and that file does not exist: nothing was sent`);
}

/** A link to a missing file, for instance on a disk that is not mounted, is still a policy that somebody meant to apply. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Reads every scalar as text, so that 500.00 is exactly five hundred dollars. */
async function parsePolicy(text: string, path: string): Promise<Policy> {
  // An empty file is left over from a failed write; a policy without rules yet says so in a comment.
  if (text.trim() === '') throw invalid(path, 'the file is empty');
  const { parse } = await import('yaml');
  let read: unknown;
  try {
    read = parse(text, { schema: 'failsafe', logLevel: 'error' });
  } catch (cause) {
    throw invalid(path, `is not valid YAML: ${(cause as Error).message.split(':\n')[0] ?? ''}`, cause);
  }
  const file = membersOf(read ?? {}, { path, at: '', known: ['environments', 'grants'] });
  const rules = membersOf(file['grants'] ?? {}, { path, at: 'grants.', known: grantRules });
  const cents = (rule: GrantRule) => optional(rules[rule], (value) => centsOf(value, { path, rule }));
  const optionalRules = {
    environments: optional(file['environments'], (value) => environmentsOf(value, path)),
    perGrantCents: cents('per-grant'),
    perCustomerAndMonthCents: cents('per-customer-and-month'),
    perOperatorAndDayCents: cents('per-operator-and-day'),
    freeCreditsPerGrantMicros: optional(rules['free-credits-per-grant'], (value) => creditsIn(value, path)),
    ticket: optional(rules['ticket'], (value) => patternOf(value, path)),
  };
  const given = Object.fromEntries(Object.entries(optionalRules).filter(([, value]) => value !== undefined));
  return { path, isReasonRequired: isRequired(rules['reason'], path), ...given };
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function membersOf(
  value: unknown,
  { path, at, known }: { readonly path: string; readonly at: string; readonly known: readonly string[] },
): Readonly<Record<string, unknown>> {
  if (value === '') return {};
  if (!isJsonObject(value)) {
    throw invalid(path, `${at === '' ? 'the file' : at.slice(0, -1)} must consist of names with values`);
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(path, `${at}${unknown} is not a rule; the rules are ${known.join(', ')}`);
  return value;
}

function centsOf(value: unknown, { path, rule }: { readonly path: string; readonly rule: GrantRule }): bigint {
  const match = typeof value === 'string' ? /^(\d{1,13})(?:\.(\d{2}))?(?: USD)?$/.exec(value) : null;
  if (match === null) throw invalid(path, `grants.${rule} must be an amount such as 500.00`);
  return BigInt(match[1] ?? 0) * 100n + BigInt(match[2] ?? 0);
}

function creditsIn(value: unknown, path: string): bigint {
  if (typeof value === 'string' && /^\d{1,13}(?:\.\d{1,6})?$/.test(value)) return microsOfText(value);
  throw invalid(path, 'grants.free-credits-per-grant must be a number of credits such as 1000');
}

function environmentsOf(value: unknown, path: string): string[] {
  const isList = Array.isArray(value) && value.every((name) => environments.includes(name as Environment));
  // An empty one would keep every rule from applying anywhere.
  if (isList && value.length > 0) return value as string[];
  throw invalid(path, `environments must be a list of ${environments.join(', ')}`);
}

function isRequired(value: unknown, path: string): boolean {
  if (value === undefined || value === 'optional') return false;
  if (value === 'required') return true;
  throw invalid(path, 'grants.reason must be required or optional');
}

function patternOf(value: unknown, path: string): RegExp {
  try {
    if (typeof value === 'string' && value !== '') return new RegExp(value, 'u');
  } catch (cause) {
    throw invalid(path, `grants.ticket is not a valid pattern: ${(cause as Error).message}`, cause);
  }
  throw invalid(path, "grants.ticket must be a pattern such as 'SUP-[0-9]+'");
}

function invalid(path: string, words: string, cause?: unknown): BillingError {
  return new BillingError('usage', `${path}: ${words}`, { cause, hint: 'nothing was sent; see: tally help policy' });
}

/** What a grant is judged by, besides itself. */
export interface PolicyContext {
  readonly history: GrantHistory;
  readonly place: Place;
  readonly operator: string;
  readonly now: Moment;
  /** All contracts of the customer that the grant is for. */
  readonly contractIds: readonly string[];
  /** The history has grants that stand before this one in a file and are not sent yet. */
  readonly hasUnsent?: boolean;
}

/** The rules that a grant breaks; days and months are UTC. A grant sent again with its external id counts once. */
export function violations(policy: Policy, grant: GrantRequest, context: PolicyContext): Violation[] {
  const { place } = context;
  if (policy.environments?.includes(place.environment) === false) return [];
  return [...wordingViolations(policy, grant), ...capViolations(policy, grant, context)];
}

/** `per-grant: 900.00 USD is more than 500.00 USD; reason: …`. */
export function violationWords(broken: readonly Violation[]): string {
  return broken.map(({ rule, message }) => `${rule}: ${message}`).join('; ');
}

/** The refusal of `what`, exit code 11. */
export function refusedByPolicy({ path }: Policy, what: string): BillingError {
  return new BillingError('refused', `the policy forbids ${what}: nothing was sent`, {
    hint: `the rules are in ${path}; credits grant --override-policy REASON overrides them, and is journaled`,
  });
}

function wordingViolations(policy: Policy, { description, externalId, isGeneratedId }: GrantRequest): Violation[] {
  const found: Violation[] = [];
  if (policy.isReasonRequired && (description === undefined || description.trim() === '')) {
    found.push({ rule: 'reason', message: 'a grant needs a --reason' });
  }
  const { ticket } = policy;
  const said = [description, isGeneratedId === true ? undefined : externalId];
  if (ticket !== undefined && !said.some((text) => text !== undefined && ticket.test(text))) {
    found.push({
      rule: 'ticket',
      message: `reason or external id must contain a ticket that matches ${ticket.source}`,
    });
  }
  return found;
}

function capViolations(policy: Policy, grant: GrantRequest, context: PolicyContext): Violation[] {
  const found: Violation[] = [];
  const { perGrantCents, freeCreditsPerGrantMicros } = policy;
  if (perGrantCents !== undefined && grant.amountCents > perGrantCents) {
    found.push({
      rule: 'per-grant',
      message: `${moneyText(grant.amountCents)} is more than ${moneyText(perGrantCents)}`,
    });
  }
  const isFree = grant.amountCents === 0n;
  if (isFree && freeCreditsPerGrantMicros !== undefined && grant.creditMicros > freeCreditsPerGrantMicros) {
    const words = `${creditsText(grant.creditMicros)} credits are more than ${creditsText(freeCreditsPerGrantMicros)}`;
    found.push({ rule: 'free-credits-per-grant', message: words });
  }
  const { externalId, contractId } = grant;
  const { history, place, now } = context;
  const earlier = externalId === undefined ? undefined : history.find(place, contractId, externalId);
  const day = timestampOf(now).slice(0, 10);
  const month = day.slice(0, 7);
  const sums: readonly [GrantRule, bigint | undefined, (known: KnownGrant) => boolean, string, () => bigint][] = [
    [
      'per-customer-and-month',
      policy.perCustomerAndMonthCents,
      ({ at }) => at.startsWith(month),
      `granted to this customer in ${month}`,
      () => history.grantedTo(place, context.contractIds, month),
    ],
    [
      'per-operator-and-day',
      policy.perOperatorAndDayCents,
      ({ at, operator }) => at.startsWith(day) && operator === context.operator,
      `granted by ${context.operator} on ${day}`,
      () => history.grantedBy(place, context.operator, day),
    ],
  ];
  for (const [rule, cap, holds, words, sum] of sums) {
    const more = notYetCounted(grant.amountCents, earlier, holds);
    if (cap === undefined || more === 0n) continue;
    const before = sum();
    if (before + more > cap) {
      const what = context.hasUnsent === true ? `${words}, the rows before this one included` : words;
      const message = `${moneyText(before)} were ${what}, and ${moneyText(more)} more exceed ${moneyText(cap)}`;
      found.push({ rule, message });
    }
  }
  return found;
}

/** Cents of a grant that a sum lacks: one sent again counts once, unless it has grown. `holds` tells whether the sum has it. */
function notYetCounted(
  amountCents: bigint,
  earlier: KnownGrant | undefined,
  holds: (known: KnownGrant) => boolean,
): bigint {
  if (earlier === undefined || earlier.state === 'refused') return amountCents;
  if (!isOpen(earlier.state) || amountCents <= earlier.amountCents) return 0n;
  return holds(earlier) ? amountCents - earlier.amountCents : amountCents;
}
