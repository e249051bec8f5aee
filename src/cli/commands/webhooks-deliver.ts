/** `tally webhooks deliver`: attempts the deliveries due now and ends, for cron and scripts. */

import { BillingError } from '../../errors.ts';
import type { Engine } from '../../operations/index.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { tellOfOpening } from '../session/open-session.ts';
import { confirmWrite } from '../session/prompts.ts';
import type { OpenEngine, Session } from '../session/session.ts';
import { requireEmbedded } from '../target/target.ts';
import { tell } from '../session/tell.ts';
import { say } from '../terminal/safe-text.ts';
import type { CommandModule } from './command.ts';

interface DeliverFlags {
  readonly allowPrivateWebhooks?: true;
}

/** The flag that lets a sender reach private addresses, for every command that sends. */
export const allowPrivateFlag = [
  '--allow-private-webhooks',
  'send webhooks to private addresses too, for simulation',
] as const;

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Sends every webhook that is due now and counts them, as serve does: of all organizations of the database, whatever --org says. Each organization sees its own with tally webhooks deliveries.',
    )
    .usage('[flags]')
    .option(...allowPrivateFlag)
    .addHelpText(
      'after',
      `
Examples:
  # Everything that is due now
  tally webhooks deliver --allow-private-webhooks
  # For a program
  tally webhooks deliver -o json
`,
    )
    .action(async (flags: DeliverFlags) => await runAction(async (session) => await deliver(flags, session)));
};

const view = {
  rows: 'data',
  columns: [
    { header: 'DELIVERED', path: 'delivered', format: 'number' },
    { header: 'TO RETRY', path: 'retrying', format: 'number' },
    { header: 'FAILED', path: 'failed', format: 'number' },
  ],
} as const;

async function deliver(flags: DeliverFlags, session: Session): Promise<void> {
  checkFields(session.output, columnPaths(view), view);
  const target = requireEmbedded(await session.target(), 'webhooks deliver');
  await confirmWrite(session, target, say`Send every webhook that is due, of all organizations of this database`);
  const opened = await session.dependencies.openEngine(target);
  tellOfOpening(session, target, opened);
  const { data, waiting } = await deliverFrom(opened, flags);
  await printBody({ data }, { view }, session);
  // As JSON: a table has no room for the reason, and cuts it.
  const why = (status: string) => say`tally webhooks deliveries --status ${status} --json url,nextAttemptAt,error`;
  if (data.retrying > 0) tell(session, say`sent again later: ${data.retrying}; see why with: ${why('pending')}`);
  if (waiting !== undefined && waiting.nextDueAt !== null) {
    const { count, nextDueAt } = waiting;
    tell(session, say`waiting: ${count}, the next is due at ${nextDueAt}; see why with: ${why('pending')}`);
  }
  if (data.failed === 0) return;
  throw new BillingError('checkFailed', `deliveries that failed for good: ${data.failed}`, {
    hint: `see why with: ${why('failed')}`,
  });
}

async function deliverFrom(opened: OpenEngine, flags: DeliverFlags) {
  try {
    const sender = await opened.openWebhookSender({
      allowPrivate: flags.allowPrivateWebhooks === true,
      onFailure: () => undefined,
    });
    try {
      const data = await sender.deliverDue();
      if (data.delivered + data.retrying + data.failed === 0) await refuseIfOnlyRead(opened.engine);
      return { data, waiting: data.retrying > 0 ? undefined : await sender.waiting() };
    } finally {
      await sender.close();
    }
  } finally {
    await opened.close();
  }
}

/** From a database that can only be read a sender takes nothing, and says nothing of it: that of `serve` looks every second. */
async function refuseIfOnlyRead(engine: Engine): Promise<void> {
  const { dueDeliveries } = await engine.vitals();
  if (dueDeliveries > 0) await engine.checkWritable();
}
