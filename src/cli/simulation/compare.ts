/** `tally simulate compare`: real usage under another catalog, start or grant, compared with the unchanged history. */

import * as z from 'zod';

import { BillingError, InvalidInputError } from '../../errors.ts';
import { midnightOf } from '../../operations/field-rules.ts';
import { centsInput, dateInput, dateOrTimestampInput, text } from '../../operations/fields.ts';
import type { View } from '../../operations/operation.ts';
import { issuesOf } from '../../operations/parse.ts';
import { readCatalogFile } from '../catalog/file.ts';
import { chartStyle, checkChart } from '../charts/chart.ts';
import { drawComparison } from './comparison-chart.ts';
import { nameOfFile, readTextFile } from '../files/files.ts';
import { structured } from '../command-line/flags.ts';
import { refuseAlone } from '../command-line/goes-with.ts';
import { spanOf } from '../command-line/instant-flag.ts';
import { chartFlags } from '../command-line/local-flags.ts';
import type { FlagSpec } from '../command-line/manifest.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { createProgress } from '../session/progress.ts';
import { money } from '../views/blocks.ts';
import { wireText } from '../wire/rows.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { requireEmbedded } from '../target/target.ts';
import { compare } from './comparison.ts';
import type { Comparison, CountedWindow } from './comparison.ts';
import { readSource } from './history-source.ts';
import type { HistorySource } from './history-source.ts';
import type { History } from './history.ts';
import { replay } from './replay.ts';
import type { ReplayOptions } from './replay.ts';
import { unchanged } from './scene.ts';
import type { Conditions, ExtraGrant } from './scene.ts';

export interface CompareFlags {
  readonly catalog?: string;
  readonly startDate?: string;
  readonly grant?: readonly string[];
  readonly customer?: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly chart?: true;
  readonly ascii?: true;
}

export async function runComparison(flags: CompareFlags, session: Session): Promise<void> {
  const { terminal, output } = session;
  checkFields(output, fields, view);
  refuseAlone(chartFlags, { ascii: flags.ascii, chart: flags.chart });
  if (flags.chart === true) checkChart(session.flags);
  const window = { from: dateOf('--from', flags.from), to: dateOf('--to', flags.to) };
  spanOf(window);
  const startDate = dateOf('--start-date', flags.startDate);
  const grants = (flags.grant ?? []).map(grantOf);
  if (flags.catalog === undefined && startDate === undefined && grants.length === 0) {
    throw new BillingError('usage', 'nothing would be different', {
      hint: 'give --catalog, --start-date or --grant',
    });
  }
  const catalog =
    flags.catalog === undefined
      ? undefined
      : readCatalogFile(await readTextFile(flags.catalog, terminal), nameOfFile(flags.catalog));
  const target = requireEmbedded(await session.target(), 'simulate compare', '; or on a mirror, made by tally pull');
  const source = await readSource(target, { only: flags.customer ?? [], to: window.to, catalog, startDate }, session);
  const { history } = source;
  const conditions = {
    catalog: source.catalog,
    startDate,
    grants: grants.map((grant) => forCustomer(grant, history)),
  };
  const until = window.to === undefined ? source.now : midnightOf(window.to);
  // A mirror plays whole periods, whatever --to says.
  const isShortened = window.to !== undefined && !source.isMirror && Date.parse(until) <= Date.parse(source.now);
  const comparison = await compared(source, conditions, { from: window.from, until, isShortened }, session);
  if (flags.chart === true)
    terminal.out(drawComparison(comparison.customers, chartStyle(terminal.stdout, flags.ascii === true)));
  else await printBody({ data: comparison }, { view, fields }, session);
  tellComparison(comparison, session);
  const { leftOutCount = 0, ungivenGrantCount = 0 } = comparison;
  if (leftOutCount > 0) {
    throw new BillingError(
      'checkFailed',
      `${counted(leftOutCount, 'customer')} left out of every amount: a contract cannot be repeated`,
      { hint: 'the notes say why; compare the others alone with: --customer' },
    );
  }
  if (ungivenGrantCount === 0) return;
  throw new BillingError(
    'checkFailed',
    `${counted(ungivenGrantCount, 'new grant')} given to no contract: no amount has anything of it`,
    { hint: `the notes say what was refused; nothing is given after the end, ${until}` },
  );
}

const view: View = {
  rows: 'data.customers',
  columns: [
    { header: 'CUSTOMER', path: 'customer' },
    { header: 'NAME', path: 'name' },
    { header: 'BILLED', path: 'billedCents', format: 'money' },
    { header: 'BEFORE', path: 'beforeCents', format: 'money' },
    { header: 'AFTER', path: 'afterCents', format: 'money' },
    { header: 'DIFFERENCE', path: 'differenceCents', format: 'money' },
    { header: '%', path: 'differencePercent', format: 'percent' },
  ],
};
const fields = [...columnPaths(view), 'customerId'];

async function compared(
  { history, notes, isMirror, until: last }: HistorySource,
  conditions: Conditions,
  window: CountedWindow,
  session: Session,
): Promise<Comparison> {
  const start = startOf(history, conditions, window.until);
  const progress = await createProgress(session, history.events.length * 2);
  try {
    const options = (done: number): ReplayOptions => ({
      dependencies: session.dependencies,
      start,
      until: last,
      onProgress: ({ events }) => progress.update({ rows: done + events, done: done + events }),
    });
    const before = await replay(history, unchanged, options(0));
    const after = await replay(history, conditions, options(history.events.length));
    const noted = { ...before, notes: [...notes, ...before.notes] };
    return compare(history, { before: noted, after }, { ...window, isMirror });
  } finally {
    progress.stop();
  }
}

/** The first instant at which anything in the history happens, or is to happen. */
function startOf({ contracts, events }: History, { startDate, grants }: Conditions, until: string): string {
  const dates = [
    ...contracts.map(({ contract }) => contract.startDate),
    ...(startDate === undefined ? [] : [startDate]),
  ];
  const instants = [
    ...dates.map(midnightOf),
    ...contracts.flatMap(({ movements }) => movements.map(({ at }) => at)),
    ...events.slice(0, 1).map(({ timestamp }) => timestamp),
    ...grants.flatMap(({ at }) => at ?? []),
  ].toSorted();
  const [first] = instants;
  if (first === undefined || first >= until) {
    throw new BillingError('invalidInput', `nothing happens before ${until}: there is nothing to compare`, {
      hint: 'give a later --to, or another database',
    });
  }
  return first;
}

function dateOf(flag: string, value: string | undefined): string | undefined {
  if (value === undefined) return value;
  const { error } = dateInput.safeParse(value);
  if (error === undefined) return value;
  const isForm = /^\d{4}-\d\d-\d\d$/.test(value);
  throw new BillingError('usage', `${flag} takes a date such as 2026-03-01, not ${value}`, {
    hint: isForm ? `it ${error.issues[0]?.message}` : undefined,
  });
}

const grantFlag: FlagSpec = {
  kind: 'object',
  flag: 'grant',
  in: 'body',
  name: 'grant',
  placeholder: 'amount-cents=…,customer=…,at=…,expires-at=…',
  description: '',
  fields: {
    customer: { kind: 'text' },
    amountCents: { kind: 'integer' },
    at: { kind: 'text' },
    expiresAt: { kind: 'text' },
  },
};
const grantForm = z.strictObject({
  customer: text().optional(),
  amountCents: centsInput(1n),
  at: dateOrTimestampInput.optional(),
  expiresAt: dateOrTimestampInput.default('2100-12-31T00:00:00.000Z'),
});
type Grant = z.output<typeof grantForm>;

function grantOf(given: string): Grant {
  const [value] = structured(grantFlag, given);
  const parsed = grantForm.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error.issues, value, 'unknown field');
  throw new InvalidInputError(
    issues.map(({ path, message }) => ({ path: path === '' ? '--grant' : `--grant: ${path}`, message })),
  );
}

function forCustomer({ customer, ...grant }: Grant, { customers }: History): ExtraGrant {
  if (customer === undefined) return { ...grant, customerId: undefined };
  const found = customers.find(({ id, label }) => id === customer || label === customer);
  if (found !== undefined) return { ...grant, customerId: found.id };
  throw new BillingError('notFound', `--grant: there is no customer ${customer} here`, {
    hint: 'see them with: tally customers list',
  });
}

function tellComparison({ total, eventCount, quantityCount, customers, notes }: Comparison, session: Session): void {
  for (const { customer, note } of notes) tell(session, say`${customer}: ${note}`);
  const usage =
    quantityCount === undefined
      ? counted(eventCount ?? 0, 'event')
      : say`${quantityCount} invoiced ${quantityCount === 1 ? 'quantity' : 'quantities'}`;
  const percent = total.differencePercent === null ? '' : ` (${wireText(total.differencePercent)} %)`;
  tell(
    session,
    say`${counted(customers.length, 'customer')}, ${usage}: ${money(total.beforeCents)} becomes ${money(total.afterCents)}, a difference of ${money(total.differenceCents)}${percent}`,
  );
}
