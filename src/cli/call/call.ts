/** The action of every command that is an operation: flags become input, a person agrees, one call follows. */

import { BillingError } from '../../errors.ts';
import { isExactNumber } from '../../exact-json.ts';
import type { OperationName } from '../../operations/index.ts';
import { asksForRehearsal } from '../../operations/operation.ts';
import type { CallInput } from '../../operations/operation.ts';
import { centsOfCredits, creditsText, microsOfText } from '../../whole-amounts.ts';
import { refuseAlone } from '../command-line/goes-with.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { Invocation } from '../command-line/invocation.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { grantOperation, purchaseOperation } from '../operator/grant-history.ts';
import { checkFields } from '../output/output.ts';
import type { OutputChoice } from '../output/output.ts';
import type { OpenForWriting } from '../session/open-billing.ts';
import { confirmLoss, confirmWrite } from '../session/prompts.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { noteNothingSent } from '../session/tell.ts';
import { safe, safeJson, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { folded, moneyText, wireText } from '../wire/rows.ts';
import { type Picture, printAnswer } from './answer.ts';
import type { Asking } from './judge-first.ts';
import { readInput } from './read-input.ts';

/** Calls the operation and prints its answer. Nothing is printed on standard output when it throws. */
export async function callOperation(invocation: Invocation, session: Session): Promise<void> {
  const { command, local } = invocation;
  const { flags } = session;
  refuseAlone(command.localFlags ?? [], local);
  if (local['from'] !== undefined) return await (await import('../bulk/run.ts')).runBulk(invocation, session);
  if (local['resume'] === true) return await (await import('./resume.ts')).resumeGrants(invocation, session);
  refuseRehearsedRead(command, flags);
  if (command.operation === 'usage.cost' && Object.keys(local).length > 0) {
    return await (await import('./usage-split.ts')).splitUsage(invocation, session);
  }
  checkFields(session.output, command.fields, command.view);
  if (namesOf(session.output).some((name) => name.includes('.'))) {
    await (await import('./inner-fields.ts')).checkInner(session.output, command);
  }
  const picture = 'chart' in local ? await pictureOf(invocation, session) : undefined;
  const { given, asked } = await readInput(invocation, session);
  checkIncluded(command, asked, session);
  const { rehearsalMember } = command;
  const isRehearsal =
    (flags.dryRun === true && rehearsalMember !== undefined) || asksForRehearsal(rehearsalMember, asked);
  const unversioned = isRehearsal ? rehearsalOf(command, asked) : asked;
  const isGrant = command.operation === grantOperation || command.operation === purchaseOperation;
  if (isGrant && local['allow-zero'] !== true) refuseZero(unversioned);
  const target = await session.target();
  if (flags.dryRun === true && !isRehearsal) {
    const { printDryRun } = await import('./dry-run.ts');
    return await printDryRun(command, unversioned, { session, target, local });
  }
  // Also after a yes, while the wallet is still read.
  if (command.isWrite && !isRehearsal) noteNothingSent(session);
  const input = await versioned(command, unversioned, { session, target });
  if (!isRehearsal) await agreed(command, input, { session, target, local });
  const opened = await openFor(command, { session, target, local });
  const end = isRehearsal ? rehearsed(command, target) : undefined;
  const onShown = async (): Promise<void> => await opened.conclude?.();
  const request = { command, input, ids: given.positionals, isAll: invocation.isAll, picture, end, onShown };
  try {
    await printAnswer(request, opened.billing, session);
  } finally {
    await opened.close();
  }
}

/** Throws a usage error for `--dry-run` with what changes nothing. */
export function refuseRehearsedRead({ isWrite }: CommandSpec, { dryRun }: GlobalFlags): void {
  if (dryRun !== true || isWrite) return;
  throw new BillingError('usage', '--dry-run is for commands that change something; this one only reads');
}

function namesOf({ jsonFields = [], columns = [] }: OutputChoice): readonly string[] {
  return [...jsonFields, ...columns];
}

/** Refuses fields that were not included: they would be an empty column, or null, which a sum counts as nothing. */
function checkIncluded(command: CommandSpec, { query }: CallInput, { output }: Session): void {
  const { included = {} } = command.view;
  const asked = query?.['include']?.split(',') ?? [];
  // An unknown name is refused first, and by the service.
  if (asked.some((name) => !Object.hasOwn(included, name))) return;
  const shown = namesOf(output);
  const isOf = (field: string, name: string) =>
    field.split('.')[0] === name || included[name]?.some(({ header }) => folded(header) === folded(field));
  const missing = Object.keys(included).find((name) => !asked.includes(name) && shown.some((each) => isOf(each, name)));
  if (missing === undefined) return;
  const isTaken = command.flags.some(({ name }) => name === 'include');
  throw new BillingError('usage', `${missing} is only in the answer when it is asked for`, {
    hint: isTaken
      ? `give --include ${[...asked, missing].join(',')}`
      : `a command that reads it takes --include ${missing}`,
  });
}

/**
 * Asks for agreement to a write. Nobody is asked to agree to a write that the declaration or the policy refuses, nor to a loss
 * that the service refuses: they refuse it here, as a dry run does. An operation that no service offers is refused when it is
 * sent. Throws BillingError `refused` without a yes.
 */
export async function agreed(command: CommandSpec, input: CallInput, asking: Asking): Promise<void> {
  const { session, target } = asking;
  const isOffered = target.kind !== 'remote' || command.path !== undefined;
  if (!command.isWrite || !isOffered) return;
  const confirm = command.destroys === true ? confirmLoss : confirmWrite;
  await confirm(session, target, async () => {
    const [{ subjectOf }, { parseCall }] = await Promise.all([
      import('./subject.ts'),
      import('../../operations/parse.ts'),
    ]);
    const { body } = await parseCall(command.operation as OperationName, input);
    if (command.operation === grantOperation) {
      await (await import('./judge-first.ts')).judgeFirst(input, asking);
    }
    if (command.destroys === true && command.rehearsalMember !== undefined) {
      const { rehearseFirst } = await import('./judge-first.ts');
      await rehearseFirst(command.operation as OperationName, rehearsalOf(command, input), asking);
    }
    return vouch(
      [await subjectOf(command, input, { session, target }), effectOf(command, input), worthOf(body)].join(''),
    );
  });
}

/** Adds the version to be changed, if the command looks it up. */
async function versioned(
  command: CommandSpec,
  input: CallInput,
  context: { readonly session: Session; readonly target: Target },
): Promise<CallInput> {
  if (!command.isWrite || !command.isVersioned) return input;
  const { withVersionSeen } = await import('./version-seen.ts');
  return await withVersionSeen(command.operation as OperationName, input, context);
}

async function pictureOf({ command, local }: Invocation, { flags, terminal }: Session): Promise<Picture> {
  const [{ chartStyle }, { chosenChart }] = await Promise.all([
    import('../charts/chart.ts'),
    import('../charts/index.ts'),
  ]);
  const chart = await chosenChart(command.operation, flags);
  return { chart, style: chartStyle(terminal.stdout, local['ascii'] === true) };
}

type Opened = OpenBilling & Partial<Pick<OpenForWriting, 'conclude'>>;

/** Opens the service for a command, with journal and policy around it for a write. */
export async function openFor(command: CommandSpec, { session, target, local }: Asking): Promise<Opened> {
  if (!command.isWrite) return await session.dependencies.openBilling(target, {});
  const { openForWriting } = await import('../session/open-billing.ts');
  return await openForWriting(session, target, local);
}

/** Refuses a grant of nothing, which is usually a typing error (semantics 9, Grant validation). */
function refuseZero({ body }: CallInput): void {
  const { amountCents, creditAmount } = (body ?? {}) as Record<string, unknown>;
  if (amountCents !== 0 || creditAmount !== undefined) return;
  throw new BillingError('refused', 'this grants 0.00: nothing was sent', {
    hint: 'give --allow-zero if that is meant',
  });
}

/** The same input with the member that keeps nothing. */
function rehearsalOf({ rehearsalMember = '' }: CommandSpec, input: CallInput): CallInput {
  return { ...input, body: { ...(input.body as Record<string, unknown> | undefined), [rehearsalMember]: true } };
}

function rehearsed({ destroys }: CommandSpec, { environment }: Target): SafeText {
  const kept = destroys === true ? 'nothing was changed' : 'all of it was done, and nothing was kept';
  return say`dry run on ${environment}: ${kept}`;
}

/** What would be sent, a member per line: JSON keeps each text on the line of its name. Below, amounts as people write them. */
function effectOf(command: CommandSpec, input: CallInput): SafeText {
  const ids = Object.values(input.params ?? {}).join(' ');
  const version = input.ifMatch === undefined ? '' : ` (version ${input.ifMatch})`;
  const head = safe(`${command.summary}${ids === '' ? '' : `: ${ids}`}${version}`);
  if (Object.keys(input.body ?? {}).length === 0) return head;
  const body = safeJson(JSON.stringify(input.body, undefined, 2));
  const amounts = Object.entries(input.body ?? {})
    .filter(([name, value]) => name.endsWith('Cents') && isExactNumber(value))
    .map(([name, value]) => say`\n${name} is ${moneyText(wireText(value))}`);
  return vouch([head, '\n', body, ...amounts].join(''));
}

/** The value of credits at a rate, which no member of the body gives; `body` is parsed, so that any spelling can be computed with. */
function worthOf(body: unknown): SafeText {
  const { creditRateCents, creditAmount } = (body ?? {}) as Record<string, unknown>;
  if (typeof creditRateCents !== 'number' || typeof creditAmount !== 'string') return vouch('');
  const micros = microsOfText(creditAmount);
  const cents = centsOfCredits(micros, BigInt(creditRateCents));
  return say`\n${creditsText(micros)} credits are worth ${moneyText(cents)}`;
}
