/**
 * The commands of all operations as data, so that help and version load neither zod nor the declarations. `npm run generate`
 * writes a file for each group from the declarations; a test fails if one is stale.
 */

import type { ErrorKind } from '../../errors.ts';
import { commandGroups } from '../../operations/operation.ts';
import type { CommandGroup, View } from '../../operations/operation.ts';
import type { ReferenceKind } from '../../operations/references.ts';
import type { GlobalFlag } from './global-flags.ts';

/**
 * How the texts of a flag become a value. `any`: a number, true or false if it reads as one, else a text. `texts`: a text, or a
 * list of texts as JSON. `members`: an object whose names the caller chooses.
 */
export type ValueKind =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'any'
  | 'texts'
  | 'list'
  | 'object'
  | 'objects'
  | 'members';

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
  /** The plural, accepted besides a singular flag. */
  readonly alias?: string;
  readonly in: 'query' | 'body';
  /** Name of the member on the wire: `amountCents`. */
  readonly name: string;
  /** What stands for the value in help: `cents`. */
  readonly placeholder: string;
  readonly description: string;
  /** The kind of resource that the flag's ids name. */
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
  /** Whether it answers in pages, which `--all` walks. */
  readonly isPaged: boolean;
  readonly isVersioned: boolean;
  /** Whether it records events, of which one body may have many. */
  readonly isBulk: boolean;
  readonly isSecret: boolean;
  /** Flags that act on this machine and are not fields of the operation. */
  readonly localFlags?: readonly GlobalFlag[];
  readonly localExamples?: readonly ExampleLine[];
  /** Body member that makes a repeated write safe. */
  readonly idempotencyMember?: string;
  /** Body member with which everything is done and nothing kept. */
  readonly rehearsalMember?: string;
  /** What it removes cannot be restored. */
  readonly destroys?: true;
  /** Path of the answer's list of what went wrong. */
  readonly findingsPath?: string;
}

/** Whether `--clear` may set a field to null. */
export function isClearable(spec: FlagSpec): boolean {
  return spec.isNullable === true && spec.in === 'body';
}

/** The flags of all fields that may be cleared. */
export function clearableFlags({ flags }: CommandSpec): readonly string[] {
  return flags.filter(isClearable).map(({ flag }) => flag);
}

export interface Manifest {
  readonly groups: Readonly<Record<string, string>>;
  readonly commands: readonly CommandSpec[];
}

/** Loads the commands of all operations or of one group; of one verb, if the group has it. */
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

/** The generated manifest, loaded when a command needs it: the root's help and the version do not. */
export const loadManifest: LoadManifest = async (group, verb) => {
  const wanted = Object.entries(written).filter(([name]) => group === undefined || name === group);
  const modules = await Promise.all(wanted.map(async ([, load]) => await load()));
  const commands = modules.flatMap((module) =>
    commandsOf(module.default as Readonly<Record<string, CommandSpec>>, verb),
  );
  return { groups: commandGroups, commands };
};

/** The commands of a group, keyed by verb; the bundle reads each only when it is accessed. */
function commandsOf(group: Readonly<Record<string, CommandSpec>>, verb: string | undefined): readonly CommandSpec[] {
  const named = verb !== undefined && Object.hasOwn(group, verb) ? group[verb] : undefined;
  return named === undefined ? Object.values(group) : [named];
}
