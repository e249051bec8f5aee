/** The policy's judgement of a grant, before a person is asked to agree to it. */

import { BillingError } from '../../errors.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { LocalValues } from '../command-line/invocation.ts';
import { judgeGrant } from '../operator/granting.ts';
import { journalContext } from '../session/open-billing.ts';
import type { Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { patienceMilliseconds } from './subject.ts';

/** A write that needs agreement. */
export interface Asking {
  readonly session: Session;
  readonly target: Target;
  /** Flags that are not fields; one may override the policy. */
  readonly local?: LocalValues;
}

/** Throws BillingError `refused` if the policy forbids the grant. Other errors are ignored: sending it reports them better. */
export async function judgeFirst(input: CallInput, { session, target, local }: Asking): Promise<void> {
  const context = await journalContext(session, target, local);
  if (context.policy === undefined) return;
  const options = { timeoutMilliseconds: patienceMilliseconds, isRehearsal: true };
  const opened = await session.dependencies.openBilling(target, options);
  try {
    await judgeGrant(input, opened.billing, context);
  } catch (error) {
    if (!(error instanceof BillingError) || error.kind === 'refused') throw error;
  } finally {
    await opened.close();
  }
}
