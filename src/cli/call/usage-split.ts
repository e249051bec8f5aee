/**
 * `tally usage cost --by`: the cost in parts that add up to it. Days and months are differences between the costs up to each
 * of their ends, one request each, so tiers continue across them, and rounding is that of the whole. A group key takes one
 * request.
 */

import { Big } from 'big.js';

import { BillingError, InvalidInputError } from '../../errors.ts';
import { exactNumber } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput, View } from '../../operations/operation.ts';
import type { UsagePart, UsageSplit } from '../charts/usage.ts';
import type { Invocation } from '../command-line/invocation.ts';
import { reading } from '../session/open-session.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { wireText } from '../wire/rows.ts';
import type { Session } from '../session/session.ts';
import { readInput } from './read-input.ts';
import { tellOfUnit } from './usage-unit.ts';

/** Prints the cost of usage in parts, as rows or as bars. */
export async function splitUsage(invocation: Invocation, session: Session): Promise<void> {
  const { local } = invocation;
  const by = local['by'];
  if (typeof by !== 'string') {
    throw new BillingError('usage', '--chart works only with --by', { hint: 'such as: --by day --chart' });
  }
  const style = await chartStyleOf(local, session);
  const view = viewOf(by);
  checkFields(session.output, columnPaths(view), view);
  const { terminal } = session;
  const { asked: input } = await readInput(invocation, session);
  await reading(session, await session.target(), async ({ billing }) => {
    const isSpan = Object.hasOwn(spans, by);
    const data = isSpan ? await byTime(billing, input, by as Span) : await byKey(billing, input, by);
    tellOfUnit(input, data, session);
    if (style !== undefined) {
      const { drawUsage } = await import('../charts/usage.ts');
      return terminal.out(drawUsage(data, style));
    }
    const shown = session.output.format === 'table' ? { ...data, rows: await inWords(data.rows, by) } : data;
    await printBody({ data: shown }, { view: viewOf(by, data.unit) }, session);
  });
}

async function chartStyleOf(local: Invocation['local'], { flags, terminal }: Session) {
  if (local['chart'] === undefined) return undefined;
  const { chartStyle, checkChart } = await import('../charts/chart.ts');
  checkChart(flags);
  return chartStyle(terminal.stdout, local['ascii'] === true);
}

/** Rows without a value can mean two things, which a program tells apart in JSON. */
async function inWords(rows: readonly UsagePart[], by: string): Promise<readonly UsagePart[]> {
  const { labelOf } = await import('../charts/usage.ts');
  return rows.map((row) => ({ ...row, value: labelOf(row, by) }));
}

function viewOf(by: string, unit: UsageSplit['unit'] = 'currency'): View {
  return {
    rows: 'data.rows',
    columns: [
      { header: by.toUpperCase(), path: 'value' },
      { header: 'TOTAL', path: 'totalAmount', format: unit === 'currency' ? 'usd' : 'number' },
    ],
  };
}

const spans = {
  day: { next: { days: 1 }, written: 10 },
  month: { next: { months: 1 }, written: 7 },
} as const;
type Span = keyof typeof spans;

/** As many parts as a service takes requests per minute (interface 5.4), less one for the whole. */
const mostParts = limits.requestsPerMinute - 1;

async function byTime(billing: Billing, input: CallInput, by: Span): Promise<UsageSplit> {
  const { body: whole } = await billing.call('usage.cost', input);
  const { startDate, endDate, unit } = whole;
  const ends = endsOf(startDate, endDate, by);
  const rows: UsagePart[] = [];
  let [start, before] = [startDate, new Big(0)];
  for (const end of ends) {
    const dates = { startDate, endDate: end };
    const { body } = await billing.call('usage.cost', { ...input, body: { ...(input.body as object), ...dates } });
    const upTo = new Big(wireText(body.totalAmount));
    rows.push({ value: start.slice(0, spans[by].written), totalAmount: exactNumber(upTo.minus(before).toFixed()) });
    [start, before] = [end, upTo];
  }
  return { by, totalAmount: exactNumber(before.toFixed()), unit, startDate, endDate, rows };
}

/** The end of each part, in UTC; the last one is the end of the whole. */
function endsOf(startDate: string, endDate: string, by: Span): string[] {
  const end = Temporal.Instant.from(endDate);
  const ends: string[] = [];
  const first = Temporal.Instant.from(startDate).toZonedDateTimeISO('UTC').startOfDay();
  for (let next = by === 'month' ? first.with({ day: 1 }) : first; ;) {
    next = next.add(spans[by].next);
    if (Temporal.Instant.compare(next.toInstant(), end) >= 0) break;
    ends.push(next.toInstant().toString());
    if (ends.length < mostParts) continue;
    throw new BillingError(
      'usage',
      `--by ${by} shows each ${by}, and ${startDate} to ${endDate} has more than ${mostParts}`,
      {
        hint: `shorten it with --start-date and --end-date${by === 'day' ? ', or give --by month' : ''}`,
      },
    );
  }
  return startDate === endDate ? [] : [...ends, endDate];
}

async function byKey(billing: Billing, input: CallInput, groupKey: string): Promise<UsageSplit> {
  const { unit = 'currency', ...question } = (input.body ?? {}) as { readonly unit?: string };
  if (unit === 'credits') {
    throw new BillingError('usage', '--unit credits works only with --by day and --by month');
  }
  const asked = { ...input, body: { ...question, groupKey } };
  const { body } = await billing.call('usage.breakdown', asked).catch((error: unknown) => {
    throw namingFlag(error, groupKey);
  });
  const { totalAmount, startDate, endDate, rows } = body.data;
  return { by: groupKey, totalAmount, unit: 'currency', startDate, endDate, rows };
}

/** The service does not know the flag, nor days and months as parts. */
function namingFlag(error: unknown, by: string): unknown {
  if (!(error instanceof InvalidInputError)) return error;
  const [issue, ...others] = error.issues;
  if (issue?.path !== 'groupKey' || others.length > 0) return error;
  return new InvalidInputError(
    [{ path: '', message: `--by ${by}: ${issue.message}; --by also takes ${Object.keys(spans).join(', ')}` }],
    {
      cause: error,
    },
  );
}
