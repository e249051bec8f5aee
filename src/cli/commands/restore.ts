/** `tally restore`: makes a database from a backup, where there is none. */

import { printManifest, refuseOtherFields } from './backup-answer.ts';
import { withoutPassword } from '../../database-url.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { say } from '../terminal/safe-text.ts';
import { confirmWrite } from '../session/prompts.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { requireEmbedded } from '../target/target.ts';
import type { CommandModule } from './command.ts';

interface RestoreFlags {
  readonly to?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Makes a database from a backup and its manifest, which must belong together. Never overwrites: move a damaged database and its -wal file away first.',
    )
    .usage('<file> [flags]')
    .argument('<file>', 'path of the backup')
    .option('--to <database>', 'database to make (the one in use when not given)')
    .addHelpText(
      'after',
      `
Examples:
  # Beside the damaged one
  tally restore ./demo-backup.db --to ./restored.db
  # Whether it would work, and what is in it
  tally restore ./demo-backup.db --to ./another.db --dry-run
`,
    )
    .action(
      async (file: string, flags: RestoreFlags) =>
        await runAction(async (session) => await restore(file, flags, session)),
    );
};

async function restore(file: string, flags: RestoreFlags, session: Session): Promise<void> {
  refuseOtherFields(session);
  const { dependencies } = session;
  const isDryRun = session.flags.dryRun === true;
  const to = flags.to ?? (await databaseInUse(file, session));
  const maintenance = await dependencies.openMaintenance();
  const data = await maintenance.restore({ from: file, to, isDryRun });
  await printManifest(data, session);
  if (isDryRun) return tell(session, say`dry run: the backup of ${data.createdAt} is whole, and nothing was made`);
  const shown = withoutPassword(to);
  const check = say`tally doctor --database ${shellWord(shown)}`;
  const next =
    data.hasEventsElsewhere === true
      ? say`its events are in a separate database: restore that as of the same time, and check both with: ${check} --full --events URL`
      : say`check it with: ${check}`;
  tell(session, say`${shown} is the database of ${data.createdAt}; ${next}`);
}

async function databaseInUse(file: string, session: Session): Promise<string> {
  const target = requireEmbedded(await session.target(), 'restore');
  if (session.flags.dryRun !== true) await confirmWrite(session, target, say`Make the database from ${file}`);
  return target.database;
}
