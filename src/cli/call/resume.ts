/** `tally credits grant --resume`: sends the grants again whose outcome is unknown. */

import { BillingError } from '../../errors.ts';
import { exactNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import type { Billing } from '../../operations/index.ts';
import type { CallInput, View } from '../../operations/operation.ts';
import type { Invocation } from '../command-line/invocation.ts';
import { grantOperation } from '../operator/grant-history.ts';
import type { KnownGrant, Place } from '../operator/grant-history.ts';
import { openJournal, openForWriting } from '../session/open-billing.ts';
import { placeOf } from '../operator/journal-context.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { confirmWrite } from '../session/prompts.ts';
import { outcomeOf } from '../operator/replay.ts';
import { moneyText } from '../wire/rows.ts';
import { counted, safeLines, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { refusalsOf } from './judge-first.ts';

const view: View = {
  rows: 'data',
  columns: [
    { header: 'BEGUN', path: 'begunAt', format: 'timestamp' },
    { header: 'CONTRACT', path: 'contractId' },
    { header: 'EXTERNAL ID', path: 'externalId' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'STATUS', path: 'status' },
    { header: 'ID', path: 'id' },
    { header: 'ERROR', path: 'error' },
  ],
};

interface Resumed {
  readonly begunAt: string;
  readonly contractId: string;
  readonly externalId: string;
  readonly amountCents: ExactNumber;
  readonly status: 'done' | 'repeated' | 'failed' | 'pending';
  readonly id: string;
  readonly error: string;
}

/**
 * Sends each with its old external id, so that a completed grant is found, not made again. Nobody is asked about one that the
 * policy forbids by now. Exit code 10 if one failed.
 */
export async function resumeGrants(invocation: Invocation, session: Session): Promise<void> {
  const { given, local, inputPath } = invocation;
  if (given.positionals.length > 0 || Object.keys(given.flags).length > 0 || inputPath !== undefined) {
    throw new BillingError('usage', '--resume takes no contract and no fields: they are in the journal');
  }
  const { flags } = session;
  checkFields(session.output, columnPaths(view), view);
  const target = await session.target();
  const history = await (await openJournal(session)).history();
  const unfinished = history.unfinished(placeOf(target));
  const refusals = unfinished.length === 0 ? [] : await refusalsOf(unfinished.map(inputOf), { session, target, local });
  const resumed = unfinished.map((grant, index) => {
    const refusal = refusals[index];
    return refusal === undefined ? resultOf(grant, 'pending') : resultOf(grant, 'failed', { error: refusal.message });
  });
  const permitted = unfinished.filter((_grant, index) => refusals[index] === undefined);
  if (flags.dryRun !== true && permitted.length > 0) {
    await confirmWrite(session, target, safeLines(permitted.map(wordsOf).join('\n')));
    const opened = await openForWriting(session, target, local);
    try {
      for (const [index, grant] of unfinished.entries()) {
        if (refusals[index] === undefined) resumed[index] = await sendAgain(grant, opened.billing);
      }
    } finally {
      await opened.close();
    }
  }
  await printBody({ data: resumed }, { view }, session);
  if (flags.dryRun === true) tell(session, say`dry run on ${target.environment}: nothing was sent`);
  if (unfinished.length === 0) tellNone(session, history.unfinishedElsewhere(placeOf(target)));
  const failed = resumed.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return;
  throw new BillingError(
    'checkFailed',
    `${failed.length} of ${counted(resumed.length, 'grant')} could not be finished`,
    {
      hint: 'see their errors with: -o json',
    },
  );
}

/** Names the other places: a grant interrupted on another service is not finished by looking here. */
function tellNone(session: Session, elsewhere: readonly Place[]): void {
  const places = elsewhere.map(({ target, profile }) => (profile === undefined ? target : `${target} (${profile})`));
  tell(
    session,
    places.length === 0
      ? say`no grant is unfinished`
      : say`no grant is unfinished here, but some are on ${places.join(', ')}`,
  );
}

async function sendAgain(grant: KnownGrant, billing: Billing): Promise<Resumed> {
  const input = inputOf(grant);
  try {
    const { id, status, differing } = await outcomeOf(input, await billing.call(grantOperation, input));
    return resultOf(grant, status, { id, error: status === 'failed' ? `differs in ${differing}` : '' });
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return resultOf(grant, 'failed', { error: error.message });
  }
}

function inputOf({ contractId, externalId, body }: KnownGrant): CallInput {
  return { params: { contractId }, body: { ...(body as Record<string, unknown>), externalId } };
}

function resultOf(
  { at, contractId, externalId, amountCents }: KnownGrant,
  status: Resumed['status'],
  { id = '', error = '' }: { readonly id?: string; readonly error?: string } = {},
): Resumed {
  return { begunAt: at, contractId, externalId, amountCents: exactNumber(amountCents.toString()), status, id, error };
}

function wordsOf({ contractId, externalId, amountCents, at }: KnownGrant): string {
  return `Finish the grant of ${moneyText(amountCents)} to ${contractId} begun at ${at} (${externalId})`;
}
