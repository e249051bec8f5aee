/** What an import is rehearsed on: its rows are judged as far as possible from here, and nothing is kept. */

import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { parseCall } from '../../operations/parse.ts';
import { openForWriting } from '../session/open-billing.ts';
import type { Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { ifTold } from '../session/if-told.ts';
import { acrossBatches } from './across-batches.ts';

export interface ImportRehearsal {
  /** Refuses what the service would: in this process everything, else only what is wrong with an event in itself. */
  readonly billing: Billing;
  /** The service itself, to read from; undefined if it cannot be opened, and the rehearsal does without it. */
  readonly plain: Billing | undefined;
  close(): Promise<void>;
}

export async function openRehearsal(session: Session, target: Target): Promise<ImportRehearsal> {
  const opened = await ifTold(async () => await openForWriting(session, target));
  return {
    billing: opened?.rehearsal === undefined ? { call: judged } : acrossBatches(opened.rehearsal),
    plain: opened?.plain,
    close: async () => await opened?.close(),
  };
}

async function judged<N extends OperationName>(name: N, input: CallInput = {}): Promise<Answer<N>> {
  await parseCall(name, input);
  return { status: 202, body: {} } as Answer<N>;
}
