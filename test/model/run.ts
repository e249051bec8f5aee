/** One run: the same calls to model and engine, compared after each. */

import { BillingError } from '../../src/errors.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { listen } from '../support/outbox.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { instantOf, timestampOf } from './calendar.ts';
import { listNames, nextCall, nextInstant, opening } from './commands.ts';
import type { Step } from './commands.ts';
import { bind, comparable, createNames, differences, inOrderOf, isRecord, withIds } from './compare.ts';
import type { Names } from './compare.ts';
import { brokenInvariants, createSeen } from './invariants.ts';
import type { Seen } from './invariants.ts';
import { callModel, createState } from './model.ts';
import type { Outcome } from './model.ts';
import { booksOf, createRival } from './rival.ts';
import type { Rival } from './rival.ts';
import { createRandom } from './random.ts';
import type { Random } from './random.ts';
import type { Contract, State } from './state.ts';
import { untruths } from './told.ts';

/** Model and engine side by side. */
export interface Run {
  readonly world: World;
  readonly state: State;
  readonly names: Names;
  readonly seen: Seen;
  readonly rival: Rival;
}

export class Disagreement extends Error {
  readonly steps: readonly Step[];

  constructor(problems: readonly string[], steps: readonly Step[]) {
    super(problems.join('\n'));
    this.name = 'Disagreement';
    this.steps = steps;
  }
}

const begin = '2026-03-01T00:00:00.000Z';

async function createRun(database?: string): Promise<Run> {
  const world = await createWorld({ start: begin, ...(database === undefined ? {} : { database }) });
  // What is told has to be calculated as well, and only is where somebody listens.
  await listen(world);
  const rival = await createRival(world);
  return { world, state: createState(instantOf(begin)), names: createNames(), seen: createSeen(), rival };
}

/** Runs what a seed makes of the model, up to a number of steps, in memory or in a new database; rejects with a Disagreement. */
export async function runSeed(seed: number, length: number, database?: string): Promise<readonly Step[]> {
  const random = createRandom(seed);
  const run = await createRun(database);
  const steps: Step[] = [];
  try {
    for (const call of opening(random)) await take(run, steps, { at: timestampOf(run.state.now), ...call });
    for (let index = 0; index < length; index += 1) {
      const at = timestampOf(nextInstant(random, run.state));
      const again = random.chance(7) ? random.pick(steps) : undefined;
      setClock(run, at);
      const call = again ?? nextCall(random, run.state, index);
      await take(run, steps, { ...call, at }, random);
    }
    await checkAll(run);
    await checkBooks(run);
    await checkRival(run);
    return steps;
  } catch (error) {
    throw asDisagreement(error, steps);
  } finally {
    await run.world.close();
  }
}

/** Runs given steps, in memory or in a new database; rejects with a Disagreement. */
export async function runSteps(given: readonly Step[], database?: string): Promise<void> {
  const run = await createRun(database);
  const steps: Step[] = [];
  try {
    for (const step of given) {
      setClock(run, step.at);
      await take(run, steps, step);
      await checkAll(run);
    }
  } catch (error) {
    throw asDisagreement(error, steps);
  } finally {
    await run.world.close();
  }
}

function asDisagreement(error: unknown, steps: readonly Step[]): Error {
  if (error instanceof Disagreement) return new Disagreement([error.message], steps);
  return error as Error;
}

async function take(run: Run, steps: Step[], step: Step, random?: Random): Promise<void> {
  steps.push(step);
  setClock(run, step.at);
  const as = freshName(run, step);
  await bindNamed(run, step);
  const { latest } = run.state;
  const expected = callModel(run.state, step.name, { ...step.input, as });
  const input = withIds(step.input, run.names) as CallInput;
  const actual = isList(step.name)
    ? await walk(run.world, step.name, input)
    : await callEngine(run.world, step.name, input);
  if ('error' in expected || 'error' in actual) {
    const [wanted, got] = [expected, actual].map((each) => ('error' in each ? each.error : 'an answer'));
    if (wanted !== got)
      throw new Disagreement([`${step.name} gives ${got} (${wordsOf(actual)}), not ${wanted}`], steps);
    return;
  }
  // A bill run that finds nothing due writes nothing, not even when it was.
  if (step.name === 'bill.run' && !didSomething(actual.body)) run.state.latest = latest;
  if (run.rival.ids.some((id) => JSON.stringify(actual.body).includes(id))) {
    throw new Disagreement([`${step.name} shows what is another organization's`], steps);
  }
  bindMade(run, as, expected, actual);
  await bindInvoices(run);
  const made = run.state.contracts.find((contract) => contract.id === as);
  if (made !== undefined) await checkLedger(run, made);
  const problems = differences(
    sortedLines(comparable(expected.body, run.names)),
    sortedLines(comparable(actual.body, run.names)),
    step.name,
  );
  if (problems.length > 0) throw new Disagreement(problems, steps);
  if (random !== undefined && run.state.contracts.length > 0) {
    await checkContract(run, random.pick(run.state.contracts));
    if (random.chance(10)) await checkAll(run);
  }
}

function didSomething(report: unknown): boolean {
  const data = isRecord(report) && isRecord(report['data']) ? report['data'] : {};
  return Object.entries(data).some(([name, value]) => name.endsWith('Count') && String(value) !== '0');
}

/** Entries that settlement wrote have no names before they are read. */
async function bindNamed(run: Run, step: Step): Promise<void> {
  const contract = run.state.contracts.find((each) => each.id === step.input.params?.['contractId']);
  if (contract?.entries.some((entry) => !run.names.idOf.has(entry.id)) === true) await checkLedger(run, contract);
}

/** The clock of both; where it was set back, time stands still until it has caught up. */
function setClock({ world, state }: Run, at: string): void {
  world.clock.set(at);
  state.clock = instantOf(at);
  state.now = Math.max(state.clock, state.latest);
}

/** A step that is sent again makes something new, unless it replays. */
function freshName(run: Run, step: Step): string {
  const wanted = step.as ?? '';
  return wanted !== '' && run.names.idOf.has(wanted) ? `${wanted}+${run.names.idOf.size}` : wanted;
}

type EngineOutcome = Outcome & { readonly words?: string };

const wordsOf = (outcome: EngineOutcome): string =>
  outcome.words ?? JSON.stringify('body' in outcome ? outcome.body : '');

async function callEngine(world: World, name: OperationName, input: CallInput): Promise<EngineOutcome> {
  try {
    const answer = await world.billing.call(name, input);
    return {
      body: { ...(answer.body as object), isReplay: answer.isReplay === true },
    };
  } catch (error) {
    if (error instanceof BillingError) return { error: error.kind, words: error.message };
    return { error: 'internal', words: (error as Error).stack ?? String(error) };
  }
}

function isList(name: OperationName): boolean {
  return listNames.some((each) => each === name);
}

/** All pages of a list as one; each says truly how much there is, and whether more comes. */
async function walk(world: World, name: OperationName, input: CallInput): Promise<EngineOutcome> {
  const data: unknown[] = [];
  for (;;) {
    const page = await callEngine(world, name, { ...input, query: { ...input.query, offset: String(data.length) } });
    if ('error' in page) return page;
    const body = page.body as { data: unknown[]; hasMore: boolean; total: number };
    data.push(...body.data);
    const isTrue = body.hasMore === data.length < body.total && (body.hasMore || data.length === body.total);
    if (!isTrue)
      return { error: 'checkFailed', words: `hasMore ${body.hasMore}, total ${body.total}, ${data.length} read` };
    if (!body.hasMore) return { body: { data } };
  }
}

/** Ids that an answer brings: of what the call made. */
function bindMade(run: Run, as: string, expected: Outcome, actual: Outcome): void {
  if (as === '' || !('body' in actual) || !('body' in expected)) return;
  const data = isRecord(actual.body) ? actual.body['data'] : undefined;
  if (!isRecord(data) || typeof data['id'] !== 'string' || run.names.nameOf.has(data['id'])) return;
  bind(run.names, as, data['id']);
}

/** Every invoice of the engine, in pages of a hundred. */
async function allInvoices(run: Run): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let offset = 0; ; offset += 100) {
    const query = { limit: '100', offset: String(offset), include: 'lineItems' };
    const page = await run.world.call('invoices.list', { query });
    all.push(...(page.data as unknown as Record<string, unknown>[]));
    if (!page.hasMore) return all;
  }
}

/** Drafts have no names but their place in the contract. */
async function bindInvoices(run: Run): Promise<void> {
  const unbound = run.state.contracts.some((each) => each.invoices.some((invoice) => !run.names.idOf.has(invoice.id)));
  if (!unbound) return;
  const invoices = (await allInvoices(run)).reverse();
  for (const contract of run.state.contracts) {
    const own = invoices.filter((invoice) => run.names.nameOf.get(String(invoice['contractId'])) === contract.id);
    for (const [index, invoice] of own.entries()) {
      const name = `${contract.id}.invoice${index}`;
      if (!run.names.idOf.has(name)) bind(run.names, name, String(invoice['id']));
    }
  }
}

const lineKeys = ['totalAmountCents', 'quantity', 'unitPrice', 'totalAmount', 'unitPriceCents', 'servicePeriod'];
const entryKeys = [
  'createdAt',
  'type',
  'grantEntryId',
  'invoiceId',
  'amountCents',
  'creditAmount',
  'creditRateCents',
  'sourceType',
  'expiresAt',
  'isPromotional',
];

function sortedLines(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body['data']) || !Array.isArray(body['data']['lineItems'])) return body;
  return { ...body, data: { ...body['data'], lineItems: inOrderOf(lineKeys, body['data']['lineItems']) } };
}

async function read(run: Run, name: OperationName, input: CallInput): Promise<void> {
  const expected = callModel(run.state, name, input);
  const actual = await callEngine(run.world, name, withIds(input, run.names) as CallInput);
  if ('error' in expected || 'error' in actual) throw new Disagreement([`${name}: ${wordsOf(actual)}`], []);
  const problems = differences(comparable(expected.body, run.names), comparable(actual.body, run.names), name);
  if (problems.length > 0) throw new Disagreement(problems, []);
}

/** Everything that can be read of one contract. */
async function checkContract(run: Run, contract: Contract): Promise<void> {
  const params = { contractId: contract.id };
  await checkLedger(run, contract);
  await read(run, 'contracts.get', { params });
  await read(run, 'budgets.list', { params });
  await read(run, 'credits.balance', { params, query: { include: 'projected' } });
}

/** Entries of one instant have no order by the documents; between instants the newest come first. */
async function checkLedger(run: Run, contract: Contract): Promise<void> {
  const input = { params: { contractId: contract.id } };
  const expected = callModel(run.state, 'credits.ledger', input);
  const actual = await callEngine(run.world, 'credits.ledger', withIds(input, run.names) as CallInput);
  const wanted = inOrderOf(entryKeys, entriesOf('body' in expected ? expected.body : undefined));
  const got = inOrderOf(entryKeys, entriesOf('body' in actual ? comparable(actual.body, run.names) : undefined));
  const problems = differences(wanted, got, 'ledger');
  if (problems.length > 0) {
    const list = (entries: unknown[]) =>
      entries.map((entry) => `    ${JSON.stringify(isRecord(entry) ? entryKeys.map((key) => entry[key]) : entry)}`);
    throw new Disagreement([...problems, '  engine:', ...list(got), '  model:', ...list(wanted)], []);
  }
  bindEntries(run, contract, got);
}

function entriesOf(body: unknown): unknown[] {
  const data = isRecord(body) ? body['data'] : undefined;
  return isRecord(data) && Array.isArray(data['entries']) ? data['entries'] : [];
}

/** Pairs the entries of the model with equal ones of the engine. */
function bindEntries(run: Run, contract: Contract, got: readonly unknown[]): void {
  const mine = callModel(run.state, 'credits.ledger', { params: { contractId: contract.id } });
  const wires = entriesOf('body' in mine ? mine.body : undefined);
  const indexed = wires.map((wire, index) => ({ ...(wire as object), place: index }));
  for (const [index, wire] of inOrderOf(entryKeys, indexed).entries()) {
    const entry = contract.entries[(wire as { place: number }).place];
    const id = (got[index] as { id: string }).id;
    if (entry !== undefined && !run.names.idOf.has(entry.id) && !run.names.nameOf.has(id))
      bind(run.names, entry.id, id);
  }
}

/** Everything that can be read, and the invariants of it. */
/** What doctor says of sound books: that nothing is wrong with them. */
async function checkBooks({ world, names, state }: Run): Promise<void> {
  for (const { id } of state.contracts) {
    const { data } = await world.call('credits.verify', { params: { contractId: names.idOf.get(id) ?? '' } });
    const errors = data.findings.filter(({ severity }) => severity === 'error');
    if (errors.length > 0)
      throw new Disagreement(
        errors.map((finding) => `doctor ${JSON.stringify(finding)}`),
        [],
      );
  }
}

async function checkAll(run: Run): Promise<void> {
  const ids = run.state.contracts.flatMap((contract) => run.names.idOf.get(contract.id) ?? []);
  const broken = [...(await brokenInvariants(run.world, ids, run.seen)), ...(await untruths(run.world))];
  if (broken.length > 0)
    throw new Disagreement(
      broken.map((problem) => `invariant ${problem}`),
      [],
    );
  for (const contract of run.state.contracts) await checkContract(run, contract);
  const invoices = (await allInvoices(run)).map((invoice) => comparable(invoice, run.names));
  const model = run.state.contracts.flatMap((contract) => contract.invoices);
  if (invoices.length !== model.length)
    throw new Disagreement([`${invoices.length} invoices, not ${model.length}`], []);
  for (const invoice of model) {
    const expected = callModel(run.state, 'invoices.get', { params: { invoiceId: invoice.id } });
    const actual = invoices.find((each) => isRecord(each) && each['id'] === invoice.id);
    const wanted = sortedLines('body' in expected ? expected.body : undefined);
    const problems = differences(wanted, sortedLines({ data: actual }), `invoice ${invoice.id}`);
    if (problems.length > 0) {
      const text = (body: unknown) => JSON.stringify(body);
      throw new Disagreement(
        [...problems, `  engine: ${text(sortedLines({ data: actual }))}`, `  model: ${text(wanted)}`],
        [],
      );
    }
  }
}

async function checkRival({ rival }: Run): Promise<void> {
  if ((await booksOf(rival.billing, rival.ids)) === rival.books) return;
  throw new Disagreement(['the books of another organization have changed'], []);
}

export interface Shrunk {
  readonly steps: readonly Step[];
  readonly problem: string;
}

/** The fewest of the given steps that still disagree, found by leaving steps out. */
export async function shrink(steps: readonly Step[], original: string): Promise<Shrunk> {
  let best = steps;
  let problem = original;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = best.length - size; start > -size; start -= size) {
      const fewer = best.filter((_step, index) => index < start || index >= start + size);
      const found = fewer.length < best.length ? await problemOf(fewer) : undefined;
      if (found !== undefined && kindOf(found) === kindOf(original)) {
        best = fewer;
        problem = found;
      }
    }
  }
  return { steps: best, problem };
}

/** What kind of member differs, wherever it stands. */
const kindOf = (problem: string): string =>
  (problem.split(/ is | has | gives |, not /)[0] ?? '').split(/[.\d]/).at(-1) ?? '';

async function problemOf(steps: readonly Step[]): Promise<string | undefined> {
  try {
    await runSteps(steps);
    return undefined;
  } catch (error) {
    return error instanceof Disagreement ? error.message : String(error);
  }
}
