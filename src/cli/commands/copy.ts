/** `tally copy`: copies a whole book to another database, and compares the two at the end. */

import { statSync } from 'node:fs';

import { refuseInMemory, withoutFileScheme, withoutPassword } from '../../database-url.ts';
import { BillingError } from '../../errors.ts';
import type { CopyPlace, CopyRequest } from '../../operations/maintenance.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { type Progress, createProgress } from '../session/progress.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { requireEmbedded } from '../target/target.ts';
import type { CommandModule } from './command.ts';

interface CopyFlags {
  readonly from?: string;
  readonly fromEvents?: string;
  readonly to?: string;
  readonly toEvents?: string;
  readonly toProfile?: string;
}

const view = {
  rows: 'data.tables',
  columns: [
    { header: 'TABLE', path: 'table' },
    { header: 'ROWS', path: 'rowCount', format: 'number' },
  ],
} as const;

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Copies a whole book into an empty database of the same or another kind, as it stands at one instant, and compares every row, every event and the seals of the ledger at the end. The source is only read; let nobody write to it until the copy is used instead. After an interruption, repeat the command to go on. Exit code 10 when the two differ.',
    )
    .usage('(--to <url> | --to-profile <name>) [flags]')
    .option('--from <url>', 'database to copy (the one in use when not given)')
    .option('--from-events <url>', 'database of its events, when they are not in that one')
    .option('--to <url>', 'database to copy to')
    .option('--to-events <url>', 'database for its events, when they do not go into that one')
    .option('--to-profile <name>', 'profile that names both, to keep passwords out of the command')
    .addHelpText(
      'after',
      `
Examples:
  # How much there is
  tally copy --to ./copy.db --dry-run
  # A file into another one
  tally copy --from ./demo.db --to ./copy.db
`,
    )
    .action(async (flags: CopyFlags) => await runAction(async (session) => await copy(flags, session)));
};

async function copy(flags: CopyFlags, session: Session): Promise<void> {
  const { dependencies, output } = session;
  checkFields(output, columnPaths(view), view);
  const to = await targetOf(flags, session);
  const from = await sourceOf(flags, session);
  if (isSame(from.database, to.database))
    throw new BillingError('usage', 'the database to copy to is the one to copy from');
  refuseInMemory(withoutFileScheme(to.database), 'copy');
  const isDryRun = session.flags.dryRun === true;
  const maintenance = await dependencies.openMaintenance();
  const progress = createLateProgress(session);
  const data = await maintenance.copy({ from, to, isDryRun, onProgress: progress.update }).finally(progress.stop);
  await printBody({ data }, { view }, session);
  for (const { name, eventCount, ledgerHead } of data.organizations) {
    tell(session, say`${name}: ${counted(eventCount, 'event')}, ledger head ${ledgerHead}`);
  }
  if (isDryRun) return tell(session, say`dry run: nothing was copied, and the target was not looked at`);
  const { findings, findingCount } = await maintenance.examine(to.database, { isFull: true, events: to.events });
  const first = findings.find(({ severity }) => severity === 'error');
  if (first !== undefined) {
    throw new BillingError(
      'checkFailed',
      `the copy is equal, and doctor finds ${findingCount} in it: ${first.problem}`,
      {
        hint: `check the source with: tally doctor --full${flags.from === undefined ? '' : placeWords(from)}`,
      },
    );
  }
  const place = to.events === undefined ? '' : ` with --events ${withoutPassword(to.events)}`;
  tell(session, say`${withoutPassword(to.database)}${place} is the same book, and doctor finds nothing wrong with it`);
}

/** The flags by which another command looks there. */
function placeWords({ database, events }: CopyPlace): string {
  const beside = events === undefined ? '' : ` --events ${shellWord(withoutPassword(events))}`;
  return ` --database ${shellWord(withoutPassword(database))}${beside}`;
}

/** A file is the same under each of its names. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const file = fileOf(one);
  return file !== undefined && file === fileOf(other);
}

/** Undefined if it is not a file, or does not exist yet; opening it reports what is wrong. */
function fileOf(database: string): string | undefined {
  try {
    const { dev, ino } = statSync(withoutFileScheme(database), { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

/** Progress that starts late: the number of events is known when the first of them are copied. */
function createLateProgress(session: Session): Pick<Progress, 'stop'> & { readonly update: CopyRequest['onProgress'] } {
  let progress: Progress | undefined;
  let isStopped = false;
  let isStarted = false;
  return {
    update: ({ done, total }) => {
      progress?.update({ done, rows: done });
      if (isStarted) return;
      isStarted = true;
      void createProgress(session, total, 'events').then((made) => {
        if (isStopped) made.stop();
        else progress = made;
      });
    },
    stop: () => {
      isStopped = true;
      progress?.stop();
    },
  };
}

async function targetOf({ to, toEvents, toProfile }: CopyFlags, session: Session): Promise<CopyPlace> {
  if (toProfile === undefined) {
    if (to !== undefined) return { database: to, events: toEvents };
    throw new BillingError('usage', 'missing --to: the database to copy to');
  }
  if (to !== undefined || toEvents !== undefined) {
    throw new BillingError(
      'usage',
      '--to-profile already says where the book and its events go: leave out --to and --to-events',
    );
  }
  const { database, events } = (await session.profiles()).get(toProfile);
  if (database !== undefined) return { database: withoutFileScheme(database), events };
  throw new BillingError('usage', `profile "${toProfile}" names no database to copy to`, {
    hint: 'make one with: tally profile add NAME --environment embedded --database URL',
  });
}

async function sourceOf(flags: CopyFlags, session: Session): Promise<CopyPlace> {
  if (flags.from !== undefined) return { database: flags.from, events: flags.fromEvents };
  if (flags.fromEvents !== undefined) {
    throw new BillingError('usage', '--from-events works only with --from', {
      hint: 'for the database in use, give --events',
    });
  }
  const { database, events } = requireEmbedded(await session.target(), 'copy');
  return { database, events };
}
