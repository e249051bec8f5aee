/** What a write would be refused for, before a person is asked to agree to it: by the policy, or by the service itself. */

import { BillingError } from '../../errors.ts';
import type { Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { LocalValues } from '../command-line/invocation.ts';
import { judgeGrant } from '../operator/granting.ts';
import type { JournalContext } from '../operator/journal-context.ts';
import { journalContext } from '../session/open-billing.ts';
import { reading } from '../session/open-session.ts';
import { patienceMilliseconds } from '../session/prompts.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';

/** Where a write is to go, before anybody has agreed to it. */
export interface Asking {
  readonly session: Session;
  readonly target: Target;
  /** Flags that are not fields; one may override the policy. */
  readonly local?: LocalValues;
}

/** Throws BillingError `refused` if the policy forbids the grant. */
export async function judgeFirst(input: CallInput, asking: Asking): Promise<void> {
  const [refusal] = await refusalsOf([input], asking);
  if (refusal !== undefined) throw refusal;
}

/** Throws what the service would refuse an operation for; `rehearsal` is its input with the member that keeps nothing. */
export async function rehearseFirst(
  operation: OperationName,
  rehearsal: CallInput,
  { session, target }: Asking,
): Promise<void> {
  await reading(session, target, async ({ billing }) => await billing.call(operation, rehearsal), {
    isRehearsal: true,
  });
}

/** The policy's refusal of each grant, undefined if it permits it. Other errors are ignored: sending reports them better. */
export async function refusalsOf(
  inputs: readonly CallInput[],
  { session, target, local }: Asking,
): Promise<readonly (BillingError | undefined)[]> {
  const context = await journalContext(session, target, local);
  if (context.policy === undefined) return [];
  const refusals: (BillingError | undefined)[] = [];
  const judge = async ({ billing }: OpenBilling) => {
    for (const input of inputs) refusals.push(await refusalOf(input, billing, context));
  };
  await reading(session, target, judge, { timeoutMilliseconds: patienceMilliseconds, isRehearsal: true });
  return refusals;
}

async function refusalOf(
  input: CallInput,
  billing: Billing,
  context: JournalContext,
): Promise<BillingError | undefined> {
  try {
    await judgeGrant(input, billing, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return error.kind === 'refused' ? error : undefined;
  }
}
