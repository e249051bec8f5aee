/** Opens the service or database of a command; for a write with the operator journal and the policy around it. */

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { LocalValues } from '../command-line/invocation.ts';
import { onSameTarget } from '../command-line/same-target.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { readPolicy } from '../operator/policy.ts';
import { createJournal, journalPath } from '../operator/journal.ts';
import type { Journal } from '../operator/journal.ts';
import { placeOf } from '../operator/journal-context.ts';
import type { JournalContext } from '../operator/journal-context.ts';
import { journaledBilling } from '../operator/journaled-billing.ts';
import { tellingOfClock } from './ahead-of-clock.ts';
import { networkDiskOf } from '../target/network-disk.ts';
import { isOpenToOthers } from '../target/private-file.ts';
import { safeLines, say } from '../terminal/safe-text.ts';
import type { OpenBilling, Session } from './session.ts';
import type { Target } from '../target/target.ts';
import { tell } from './tell.ts';

export interface OpenForWriting extends OpenBilling {
  /** The service without journal and policy, to read from. */
  readonly plain: Billing;
  readonly context: JournalContext;
  /** Call when the answer has been shown: until then, repeating the command finishes a grant without an id of its own. */
  readonly conclude: () => Promise<void>;
}

/** The journal of this user. */
export async function openJournal({ dependencies }: Session, secrets: readonly string[] = []): Promise<Journal> {
  return createJournal(journalPath((await dependencies.directories()).data), dependencies.machine, secrets);
}

/** What a command's writes are journaled with and judged by. Throws a usage error if the policy file is damaged. */
export async function journalContext(
  session: Session,
  target: Target,
  local: LocalValues = {},
): Promise<JournalContext> {
  const { dependencies, flags } = session;
  const { config } = await dependencies.directories();
  return {
    journal: await openJournal(session, target.kind === 'remote' ? [target.key] : []),
    place: placeOf(target),
    isHere: target.kind === 'embedded',
    operator: dependencies.operator(),
    policy: await readPolicy(dependencies.env, config),
    overrideReason: overrideReasonOf(local),
    now: () => ({ epochMilliseconds: dependencies.machine.now() }),
    newId: () => dependencies.newId(),
    tell: (note) => tell(session, say`${note}`),
    atInterrupt: (words) => dependencies.atInterrupt(words && safeLines(`${onSameTarget(words, flags)}\n`)),
  };
}

/** Throws a usage error if the policy file is damaged, before anything is opened. */
export async function openForWriting(
  session: Session,
  target: Target,
  local: LocalValues = {},
  own: Pick<JournalContext, 'isResumable'> = {},
): Promise<OpenForWriting> {
  const { dependencies, flags } = session;
  const shown: (() => Promise<void>)[] = [];
  const onceShown = (work: () => Promise<void>): void => void shown.push(work);
  const context = { ...(await journalContext(session, target, local)), ...own, onceShown };
  const conclude = async (): Promise<void> => {
    for (const work of shown.splice(0)) await work();
  };
  const opened = await dependencies.openBilling(target, { isRehearsal: flags.dryRun === true });
  warnOfPlace(session, target);
  const plain = tellingOfClock(opened.billing, session);
  return {
    ...opened,
    billing: journaledBilling(plain, context),
    plain,
    conclude,
    close: async () => {
      await conclude();
      await opened.close();
    },
    context,
  };
}

/**
 * Warns, once the database is open, if other users of this machine may read or write its file (SEC-42), or if it is on another
 * machine's disk (reliability 4.1).
 */
export function warnOfPlace(session: Session, target: Target): void {
  if (target.kind !== 'embedded') return;
  const { database } = target;
  const { machine } = session.dependencies;
  const disk = networkDiskOf(database, machine);
  if (disk !== undefined) {
    tell(
      session,
      say`warning: ${database} is on a network disk (${disk}): writes from another machine at the same time would damage it; keep it on a local disk, or on a database server`,
    );
  }
  if (!isOpenToOthers(database, machine)) return;
  tell(
    session,
    say`warning: ${database} is open to other users of this machine; run: chmod 600 ${shellWord(database)}`,
  );
}

/** Throws a usage error for an empty reason. */
function overrideReasonOf({ 'override-policy': reason }: LocalValues): string | undefined {
  if (reason === undefined) return undefined;
  if (typeof reason === 'string' && reason.trim() !== '') return reason;
  throw new BillingError('usage', '--override-policy needs a reason');
}
