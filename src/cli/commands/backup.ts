/** `tally backup`: writes a database to one file, while others write to the database. */

import { printManifest, refuseOtherFields } from './backup-answer.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { requireEmbedded } from '../target/target.ts';
import type { CommandModule } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Writes the database as it stands at one instant to a new file, with FILE.manifest.json beside it. Others may write to the database meanwhile. A copy of the file alone lacks what is still in its log: use this command.',
    )
    .usage('<file> [flags]')
    .argument('<file>', 'path of the backup; no such file may exist yet')
    .addHelpText(
      'after',
      `
Examples:
  # The database in use
  tally backup ./today.db
  # Another one
  tally backup ./other.db --database ./demo.db
`,
    )
    .action(async (file: string) => await runAction(async (session) => await backUp(file, session)));
};

async function backUp(file: string, session: Session): Promise<void> {
  refuseOtherFields(session);
  const { database } = requireEmbedded(await session.target(), 'backup');
  const maintenance = await session.dependencies.openMaintenance();
  const data = await maintenance.backUp({ from: database, to: file });
  await printManifest(data, session);
  for (const directory of await maintenance.passingBeside(file)) {
    tell(
      session,
      say`${directory} holds what another backup is making, or was making when it was killed: remove it unless one is running`,
    );
  }
  if (data.hasEventsElsewhere !== true) return;
  tell(
    session,
    say`events are in a separate database and not in this backup: back that database up with its own tools, right after this`,
  );
}
