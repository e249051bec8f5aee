/** `tally completion SHELL`: prints the completion script. */

import { BillingError } from '../../errors.ts';
import { completionScript, shells } from '../help/completions.ts';
import type { Shell } from '../help/completions.ts';
import { allowFormats } from '../output/output.ts';
import { vouch } from '../terminal/safe-text.ts';
import type { CommandModule } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction, allCommands }) => {
  command
    .usage('<shell>')
    .argument('[shell]', shells.join(', '))
    .addHelpText(
      'after',
      `
Examples:
  # For this session of bash
  source <(tally completion bash)
  # For every session of fish
  mkdir -p ~/.config/fish/completions && tally completion fish > ~/.config/fish/completions/tally.fish
`,
    )
    .action(
      async (shell: string | undefined) =>
        await runAction(async ({ terminal, flags }) => {
          allowFormats(flags, []);
          if (shell === undefined || !shells.includes(shell as Shell)) {
            throw new BillingError('usage', `completion takes one of ${shells.join(', ')}`);
          }
          terminal.out(vouch(completionScript(shell as Shell, await allCommands.completionPlaces())));
        }),
    );
};
