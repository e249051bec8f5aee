/** Turns the rows of a file into requests: a column is a field by the name of its flag, and a cell what the flag would take. */

import { BillingError, InvalidInputError } from '../../errors.ts';
import type { CallInput } from '../../operations/operation.ts';
import { delimiterHint, otherWidth } from '../files/csv-file.ts';
import type { CsvFile, CsvRow } from '../files/csv-file.ts';
import type { Given } from '../command-line/flags.ts';
import { inputOf, member } from '../command-line/flags.ts';
import type { CommandSpec, FlagSpec, Shape } from '../command-line/manifest.ts';
import { folded } from '../wire/rows.ts';

export interface BulkRow {
  /** Line of the file on which the row begins. */
  readonly line: number;
  readonly input: CallInput;
  /** Members of the body that its cells give; flags give the others, for every row. */
  readonly ownMembers: ReadonlySet<string>;
}

/** A row that must not be sent. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

/**
 * What is wrong with a row. Throws any other error, and what is wrong with a value that a flag gives every row: no line of the
 * file can be corrected for it.
 */
export function problemOf(error: unknown, { line, input, ownMembers }: BulkRow): Problem {
  if (!(error instanceof BillingError)) throw error;
  const ofFlags = (error instanceof InvalidInputError ? error.issues : []).filter(({ path }) => {
    const [name = ''] = path.split(/[.[]/);
    return Object.hasOwn(input.body ?? {}, name) && !ownMembers.has(name);
  });
  if (ofFlags.length > 0) throw new InvalidInputError(ofFlags, { cause: error });
  return { line, message: error.message };
}

/** What a column means. */
type Column =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'positional'; readonly index: number }
  | { readonly kind: 'flag'; readonly spec: FlagSpec }
  | { readonly kind: 'member'; readonly spec: FlagSpec; readonly name: string };

export interface ReadRows {
  readonly rows: readonly BulkRow[];
  readonly problems: readonly Problem[];
}

/**
 * A flag on the command line gives every row what no cell gives. Throws a usage error for a column that is not a field: a
 * misspelt one would be left out of every request.
 */
export async function readRows(
  file: CsvFile,
  command: CommandSpec,
  { given, ignored }: { readonly given: Given; readonly ignored: readonly string[] },
): Promise<ReadRows> {
  const columns = columnsOf(file.header, command, ignored);
  refuseTwoSubjects(file.header, columns, given);
  refuseUnused(command, given);
  refuseTwoValues(file, columns, given);
  if (file.rows.length > 0) refuseMissing(columns, command, given);
  const rows: BulkRow[] = [];
  const problems: Problem[] = [];
  for (const row of file.rows) {
    try {
      rows.push({ line: row.line, ...(await readRow(row, { columns, command, given })) });
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      problems.push({ line: row.line, message: error.message });
    }
  }
  return { rows, problems };
}

function columnsOf(header: readonly string[], command: CommandSpec, ignored: readonly string[]): Column[] {
  const skipped = new Set(ignored.map(folded));
  const taken = new Set<string>();
  return header.map((name, index) => {
    if (skipped.has(folded(name))) return { kind: 'ignored' };
    // Spreadsheets leave empty columns behind.
    if (name === '') {
      throw new BillingError('usage', `column ${index + 1} has no name`, {
        hint: "name it in the header, or skip all without a name with --ignore ''",
      });
    }
    const column = columnOf(name, command);
    if (column === undefined) {
      throw new BillingError('usage', `the column "${name}" is not a field of ${command.group} ${command.verb}`, {
        hint: hintOn(header, command),
      });
    }
    const meaning = JSON.stringify(column);
    if (taken.has(meaning)) throw new BillingError('usage', `two columns mean the same: "${name}"`);
    taken.add(meaning);
    return column;
  });
}

/** Refuses one id for all rows besides a column of ids: the money could go to the wrong place. */
function refuseTwoSubjects(header: readonly string[], columns: readonly Column[], { positionals }: Given): void {
  const index = columns.findIndex(({ kind }) => kind === 'positional');
  if (index === -1 || positionals.length === 0) return;
  throw new BillingError(
    'usage',
    `${positionals.join(' ')} and the column "${header[index]}" both say what the rows are for`,
    {
      hint: 'leave out one of them',
    },
  );
}

/** Refuses flags that rows do not have: a row may be only a part of what such a flag gives. */
function refuseUnused({ flags }: CommandSpec, given: Given): void {
  const unused = Object.keys(given.flags).find((name) => flags.every(({ flag }) => flag !== name));
  if (unused !== undefined) throw new BillingError('usage', `--${unused} cannot be used with --from`);
}

/** Refuses two values: nobody can tell which was meant, and it may be an amount. */
function refuseTwoValues({ header, rows }: CsvFile, columns: readonly Column[], { flags }: Given): void {
  for (const [index, column] of columns.entries()) {
    if (!('spec' in column) || flags[column.spec.flag] === undefined) continue;
    const row = rows.find(({ cells }) => (cells[index]?.trim() ?? '') !== '');
    if (row === undefined) continue;
    const { flag, alias } = column.spec;
    const names = [flag, alias].flatMap((name) => (name === undefined ? [] : [`--${name}`])).join(' or ');
    throw new BillingError(
      'usage',
      `line ${row.line}: the column "${header[index]}" and ${names} both give the value`,
      {
        hint: 'leave out one of them: a flag is for a field that has no column',
      },
    );
  }
}

/** Refuses once, and not for each row, what every row needs and nothing gives. */
function refuseMissing(columns: readonly Column[], { positionals, flags }: CommandSpec, given: Given): void {
  const hasId = (index: number) =>
    (given.positionals[index] ?? '') !== '' ||
    columns.some((column) => column.kind === 'positional' && column.index === index);
  const isGiven = (spec: FlagSpec) =>
    given.flags[spec.flag] !== undefined || columns.some((column) => 'spec' in column && column.spec === spec);
  const ids = positionals.filter((_, index) => !hasId(index));
  const specs = flags.filter((spec) => spec.in === 'body' && spec.isRequired === true && !isGiven(spec));
  const missing = [
    ...ids.map(({ name }) => name),
    ...specs.flatMap((spec) => columnNames(spec, ({ isRequired }) => isRequired === true)),
  ];
  if (missing.length === 0) return;
  const words = [...ids.map(({ placeholder }) => `<${placeholder}>`), ...specs.map(({ flag }) => `--${flag}`)];
  throw new BillingError('usage', `missing ${missing.join(', ')}`, {
    hint: `add a column of ${missing.length === 1 ? 'this name' : 'each name'}, or give every row the same with ${words.join(', ')}`,
  });
}

/** The names of a field's columns: for a record those of its members that are meant. */
function columnNames({ name, flag, kind, fields = {} }: FlagSpec, isMeant: (shape: Shape) => boolean): string[] {
  if (kind === 'members') return [`${flag}.NAME`];
  const members = Object.entries(fields).filter(([, shape]) => isMeant(shape));
  return members.length === 0 ? [name] : members.map(([inner]) => `${flag}.${inner}`);
}

function hintOn(header: readonly string[], command: CommandSpec): string {
  return delimiterHint(header) ?? `the fields are ${knownColumns(command).join(', ')}; --ignore skips columns`;
}

function columnOf(name: string, { positionals, flags }: CommandSpec): Column | undefined {
  const wanted = folded(name);
  const index = positionals.findIndex((each) => folded(each.name) === wanted);
  if (index !== -1) return { kind: 'positional', index };
  const isNamed = (spec: FlagSpec, word: string) =>
    [spec.flag, spec.name, spec.alias ?? spec.flag].some((each) => folded(each) === word);
  const spec = flags.find((each) => each.in === 'body' && isNamed(each, wanted));
  if (spec !== undefined) return { kind: 'flag', spec };
  const [outer = '', ...inner] = name.split('.');
  const parent = flags.find((each) => each.in === 'body' && isNamed(each, folded(outer)));
  const own = inner.join('.');
  // Names of the caller's own are taken as they are written.
  if (parent?.kind === 'members') return /^[^=]+$/.test(own) ? { kind: 'member', spec: parent, name: own } : undefined;
  const known = Object.keys(parent?.fields ?? {}).find((each) => folded(each) === folded(own));
  return parent === undefined || known === undefined ? undefined : { kind: 'member', spec: parent, name: known };
}

function knownColumns({ positionals, flags }: CommandSpec): string[] {
  return [
    ...positionals.map(({ name }) => name),
    ...flags.filter((spec) => spec.in === 'body').flatMap((spec) => columnNames(spec, () => true)),
  ];
}

async function readRow(
  { cells }: CsvRow,
  {
    columns,
    command,
    given,
  }: { readonly columns: readonly Column[]; readonly command: CommandSpec; readonly given: Given },
): Promise<Omit<BulkRow, 'line'>> {
  if (cells.length !== columns.length) throw new BillingError('usage', otherWidth(cells, columns));
  const positionals = command.positionals.map((_, index) => given.positionals[index] ?? '');
  const flags: Record<string, readonly string[]> = { ...given.flags };
  const members = new Map<FlagSpec, [string, unknown][]>();
  const ownMembers = new Set<string>();
  for (const [index, column] of columns.entries()) {
    const text = cells[index]?.trim() ?? '';
    if (text === '' || column.kind === 'ignored') continue;
    if (column.kind !== 'positional') ownMembers.add(column.spec.name);
    if (column.kind === 'positional') positionals[column.index] = text;
    else if (column.kind === 'flag') flags[column.spec.flag] = [text];
    else members.set(column.spec, [...(members.get(column.spec) ?? []), member(column.spec, `${column.name}=${text}`)]);
  }
  for (const [spec, values] of members) {
    if (flags[spec.flag] !== undefined) {
      const words = 'a column for all of it and one for a member both give the value';
      throw new BillingError('usage', `${spec.name}: ${words}`);
    }
    flags[spec.flag] = [JSON.stringify(Object.fromEntries(values))];
  }
  const missing = command.positionals.find((_, index) => positionals[index] === '');
  if (missing !== undefined) throw new BillingError('usage', `${missing.name}: is required`);
  const input = await inputOf(command, { ...given, positionals, flags }, { readText: refuseFile });
  return { input, ownMembers };
}

/** A cell may come from somebody else, so it must not name files of this machine. */
async function refuseFile(path: string): Promise<string> {
  return await Promise.reject(new BillingError('usage', `@${path}: a cell cannot name a file`));
}
