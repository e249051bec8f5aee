/** The flags that every command understands, as data for the parser, the help, the completions and the reference. */

export interface GlobalFlag {
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help; `[…]` when it may be left out, nothing for a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The flag without which it means nothing. */
  readonly goesWith?: string;
  /** It only says how to print: the last of several values counts, as scripts and aliases expect. */
  readonly lastCounts?: true;
}

/** What each format prints of an answer: all of it, its rows, or columns of its rows. In the order of help. */
export const printedBy = {
  table: 'columns',
  json: 'all',
  jsonl: 'rows',
  csv: 'columns',
  tsv: 'columns',
  yaml: 'all',
  name: 'rows',
} as const;

export type OutputFormat = keyof typeof printedBy;
export const outputFormats = Object.keys(printedBy) as readonly OutputFormat[];

/** The kinds of service or database. Writes to production ask first. */
export const environments = ['production', 'sandbox', 'embedded'] as const;
export type Environment = (typeof environments)[number];

/** In the order of help. */
export const globalFlags: readonly GlobalFlag[] = [
  { name: 'profile', value: '<name>', description: 'use a named service or database (env TALLY_PROFILE)' },
  { name: 'database', value: '<url>', description: 'use this database (env TALLY_DATABASE)' },
  { name: 'events', value: '<url>', description: 'usage events are in this separate database (env TALLY_EVENTS)' },
  { name: 'org', value: '<name>', description: 'organization inside the database, by name or id (env TALLY_ORG)' },
  {
    name: 'output',
    short: 'o',
    value: '<format>',
    description: 'how to print: table on a terminal and tsv elsewhere when not given',
    choices: outputFormats,
    lastCounts: true,
  },
  {
    name: 'json',
    value: '[fields]',
    description: 'JSON: the whole answer, or these fields of each row',
    lastCounts: true,
  },
  { name: 'jq', value: '<expression>', description: 'JSON through jq: each result on a line', lastCounts: true },
  { name: 'columns', value: '<fields>', description: 'show these fields of each row', lastCounts: true },
  { name: 'raw', description: 'with -o csv: no apostrophe before what a spreadsheet would run as a formula' },
  { name: 'dry-run', description: 'check a write and print its request; change nothing' },
  { name: 'yes', short: 'y', description: 'do not ask for confirmation; production also needs --expect-env' },
  {
    name: 'expect-env',
    value: '<environment>',
    description: 'refuse to run on any other environment',
    choices: environments,
  },
  { name: 'no-input', description: 'never ask for anything' },
  { name: 'quiet', short: 'q', description: 'print the answer alone, without notes' },
  { name: 'debug', description: 'print more detail when something fails' },
  { name: 'no-color', description: 'plain text' },
  {
    name: 'ca-file',
    value: '<file>',
    description: 'also trust the certificate authorities in this PEM file (env TALLY_CA_FILE)',
  },
  { name: 'timeout', value: '<seconds>', description: 'give up on a remote service after this long' },
];

/** Flags of commands made from operations, besides those of their fields. */
export const operationFlags = [
  {
    name: 'input',
    value: '<file>',
    description: 'the whole body as JSON from a file, or - for standard input; flags override its fields',
  },
  { name: 'clear', value: '<fields>', description: 'set these fields to null' },
  { name: 'all', description: 'every page, as one document' },
  {
    name: 'if-match',
    value: '<version>',
    description: 'only if it is still at this version (when not given, the one read just before; * for any)',
  },
  { name: 'help', short: 'h', description: 'help' },
] as const satisfies readonly GlobalFlag[];

/** Whether the next word is the flag's value, whatever it is. */
export function needsValue({ value }: Pick<GlobalFlag, 'value'>): boolean {
  return value?.startsWith('<') === true;
}

/** What a flag looks like to the parser: `-o, --output <format>`. */
export function flagForm(flag: GlobalFlag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const value = flag.value === undefined ? '' : ` ${flag.value}`;
  return `${short}--${flag.name}${value}`;
}

/** Global flags as they were given. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly database?: string;
  readonly events?: string;
  readonly org?: string;
  readonly output?: string;
  readonly json?: string | true;
  readonly columns?: string;
  readonly jq?: string;
  readonly raw?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly expectEnv?: string;
  /** False after `--no-input`. */
  readonly input?: boolean;
  readonly quiet?: true;
  readonly debug?: true;
  /** False after `--no-color`. */
  readonly color?: boolean;
  readonly caFile?: string;
  readonly timeout?: string;
}
