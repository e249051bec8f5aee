/**
 * The commands of all operations as data, so that help and version load neither zod nor the declarations.
 * A file for each group is written by `npm run generate` from the declarations; a test fails when one is stale.
 */

import type { ErrorKind } from '../../errors.ts';
import { commandGroups } from '../../operations/operation.ts';
import type { CommandGroup, View } from '../../operations/operation.ts';
import type { ReferenceKind } from '../../operations/references.ts';
import type { GlobalFlag } from './global-flags.ts';

/**
 * How the texts of a flag become a value. `any`: a number, true or false when it reads as one, else a text.
 * `members`: an object whose names the caller chooses.
 */
export type ValueKind = 'text' | 'integer' | 'number' | 'boolean' | 'any' | 'list' | 'object' | 'objects' | 'members';

export interface Shape {
  readonly kind: ValueKind;
  /** Allowed texts. */
  readonly choices?: readonly string[];
  /** Members of an object, or of each object of a list. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** Elements of a list, values of members. */
  readonly element?: Shape;
  readonly isRequired?: true;
  readonly isNullable?: true;
}

export interface FlagSpec extends Shape {
  /** Without dashes: `amount-cents`. */
  readonly flag: string;
  /** The plural that is understood besides a singular flag. */
  readonly alias?: string;
  readonly in: 'query' | 'body';
  /** Name of the member on the wire: `amountCents`. */
  readonly name: string;
  /** What stands for the value in help: `cents`. */
  readonly placeholder: string;
  readonly description: string;
  /** What the ids of the flag are of. */
  readonly reference?: ReferenceKind;
  /** What the service takes when the flag is not given. */
  readonly default?: unknown;
}

export interface ExampleLine {
  readonly about: string;
  readonly line: string;
}

export interface CommandSpec {
  /** Name of the operation: `credits.grant`. */
  readonly operation: string;
  readonly group: string;
  readonly verb: string;
  readonly summary: string;
  readonly description?: string;
  readonly method?: string;
  readonly path?: string;
  readonly scope: string;
  /** Kinds of failure beyond those of every command. */
  readonly errors: readonly ErrorKind[];
  readonly positionals: readonly {
    readonly name: string;
    readonly placeholder: string;
    readonly description: string;
    readonly reference?: ReferenceKind;
    readonly choices?: readonly string[];
  }[];
  readonly flags: readonly FlagSpec[];
  readonly view: View;
  /** Names of the members of a row, for `--json` and `--columns`. */
  readonly fields: readonly string[];
  readonly examples: readonly ExampleLine[];
  readonly hasBody: boolean;
  readonly isWrite: boolean;
  /** Answers in pages, which `--all` walks. */
  readonly isPaged: boolean;
  readonly isVersioned: boolean;
  readonly isBulk: boolean;
  readonly isSecret: boolean;
  /** Flags that are about this machine and no field of the operation. */
  readonly localFlags?: readonly GlobalFlag[];
  readonly localExamples?: readonly ExampleLine[];
  /** Body member that makes a repeated write safe. */
  readonly idempotencyMember?: string;
  /** Body member that has everything done and nothing kept. */
  readonly rehearsalMember?: string;
  /** What it takes away cannot be had back. */
  readonly destroys?: true;
  /** Path of a list in the answer of what went wrong. */
  readonly findingsPath?: string;
}

/** Whether a field may be set to null, by `--clear`. */
export function isClearable(spec: FlagSpec): boolean {
  return spec.isNullable === true && spec.in === 'body';
}

/** The flags of all such fields. */
export function clearableFlags({ flags }: CommandSpec): readonly string[] {
  return flags.filter(isClearable).map(({ flag }) => flag);
}

export interface Manifest {
  readonly groups: Readonly<Record<string, string>>;
  readonly commands: readonly CommandSpec[];
}

/** Gives the commands of the operations, or of one group; where that has the verb, of the verb alone. */
export type LoadManifest = (group?: string, verb?: string) => Promise<Manifest>;

const written: Readonly<Record<CommandGroup, () => Promise<{ readonly default: unknown }>>> = {
  customers: () => import('./manifest/customers.json', { with: { type: 'json' } }),
  contracts: () => import('./manifest/contracts.json', { with: { type: 'json' } }),
  credits: () => import('./manifest/credits.json', { with: { type: 'json' } }),
  budgets: () => import('./manifest/budgets.json', { with: { type: 'json' } }),
  meters: () => import('./manifest/meters.json', { with: { type: 'json' } }),
  usage: () => import('./manifest/usage.json', { with: { type: 'json' } }),
  invoices: () => import('./manifest/invoices.json', { with: { type: 'json' } }),
  pricing: () => import('./manifest/pricing.json', { with: { type: 'json' } }),
  plans: () => import('./manifest/plans.json', { with: { type: 'json' } }),
  products: () => import('./manifest/products.json', { with: { type: 'json' } }),
  keys: () => import('./manifest/keys.json', { with: { type: 'json' } }),
  orgs: () => import('./manifest/orgs.json', { with: { type: 'json' } }),
  webhooks: () => import('./manifest/webhooks.json', { with: { type: 'json' } }),
  clock: () => import('./manifest/clock.json', { with: { type: 'json' } }),
  bill: () => import('./manifest/bill.json', { with: { type: 'json' } }),
  events: () => import('./manifest/events.json', { with: { type: 'json' } }),
};

/** The manifest as it was generated; loaded when a command needs it, since the root's help and the version do not. */
export const loadManifest: LoadManifest = async (group, verb) => {
  const wanted = Object.entries(written).filter(([name]) => group === undefined || name === group);
  const modules = await Promise.all(wanted.map(async ([, load]) => await load()));
  const commands = modules.flatMap((module) =>
    commandsOf(module.default as Readonly<Record<string, CommandSpec>>, verb),
  );
  return { groups: commandGroups, commands };
};

/** By their verbs. In the bundle each is read when it is asked for. */
function commandsOf(group: Readonly<Record<string, CommandSpec>>, verb: string | undefined): readonly CommandSpec[] {
  const named = verb !== undefined && Object.hasOwn(group, verb) ? group[verb] : undefined;
  return named === undefined ? Object.values(group) : [named];
}
