/** Names in a scenario that stand for ids: `$contracts.acme`, `$plans.Standard`, `$steps.refund.data.id`. */

import { BillingError } from '../../errors.ts';
import { isJsonObject } from '../../exact-json.ts';
import type { Billing } from '../../operations/index.ts';
import { nounOf } from '../call/kinds-of-id.ts';
import { didYouMean } from '../did-you-mean.ts';
import { valueAt } from '../wire/rows.ts';

const referenceKinds = ['customers', 'contracts', 'products', 'meters', 'pricing', 'plans', 'steps'] as const;
type ReferenceKind = (typeof referenceKinds)[number];

/** What names stand for, as far as the simulation has come: ids, and for steps whole answers. */
export type Names = Readonly<Record<ReferenceKind, Map<string, unknown>>>;

/** What a scenario is played on, and what it has made there. */
export interface Playing {
  readonly billing: Billing;
  readonly names: Names;
}

/** The value of a name that several things have. */
export const several = Symbol('several');

export function createNames(): Names {
  return Object.fromEntries(referenceKinds.map((kind) => [kind, new Map<string, unknown>()])) as unknown as Names;
}

/** The id that a name stands for. Throws BillingError `invalidInput` for a name that stands for nothing, or for nothing yet. */
export function idOf(names: Names, kind: Exclude<ReferenceKind, 'steps'>, name: string): string {
  const id = names[kind].get(name);
  if (typeof id === 'string') return id;
  if (id === several) {
    throw new BillingError('invalidInput', `several ${nounOf(kind)}s are called ${name}`, {
      hint: 'say which by its externalId',
    });
  }
  const known = [...names[kind].keys()];
  throw new BillingError('invalidInput', `there is no ${nounOf(kind)} ${name} at that time`, {
    hint: didYouMean(name, known, `known at that time: ${known.join(', ') || 'none'}`),
  });
}

/** The value with every text that begins with `$` replaced by what it stands for; `$$` is a dollar sign. */
export function resolved(value: unknown, names: Names): unknown {
  if (typeof value === 'string') return value.startsWith('$') ? resolvedText(value, names) : value;
  if (Array.isArray(value)) return value.map((each) => resolved(each, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, names)]));
}

function resolvedText(text: string, names: Names): unknown {
  if (text.startsWith('$$')) return text.slice(1);
  const [, kind = '', name = ''] = /^\$([a-z]+)\.(.+)$/s.exec(text) ?? [];
  const known = referenceKinds.find((each) => each === kind);
  if (known === undefined) {
    throw new BillingError('invalidInput', `${text} refers to nothing`, {
      hint: `a reference is one of ${referenceKinds.map((each) => `$${each}.NAME`).join(', ')}; $$ is a dollar sign`,
    });
  }
  return known === 'steps' ? answerPart(text, name, names) : idOf(names, known, name);
}

function answerPart(text: string, path: string, names: Names): unknown {
  const [step = '', ...rest] = path.split('.');
  const part = names.steps.has(step) ? valueAt(names.steps.get(step), rest.join('.')) : undefined;
  if (part !== undefined) return part;
  const hint = names.steps.has(step) ? 'see the whole answer with the same command' : 'name an earlier step with as:';
  throw new BillingError('invalidInput', `${text} refers to nothing at that time`, { hint });
}
