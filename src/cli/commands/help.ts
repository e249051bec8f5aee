/** `tally help TOPIC`; the commands themselves print their help. */

import type { Command } from 'commander';

import { BillingError } from '../../errors.ts';
import { didYouMean } from '../did-you-mean.ts';
import { helpTopics, isTopic } from '../help/topics.ts';
import { allowFormats } from '../output/output.ts';
import { vouch } from '../terminal/safe-text.ts';
import type { CommandModule } from './command.ts';

export const declare: CommandModule['declare'] = (command: Command, { runAction }) => {
  const topics = Object.keys(helpTopics).join(', ');
  command
    .argument('[topic]', `a command, or one of ${topics}`)
    .usage('[topic]')
    .addHelpText(
      'after',
      `
Examples:
  # What the exit codes mean
  tally help exit-codes
  # A command
  tally help credits grant
`,
    )
    .action(async (topic: string | undefined) => {
      if (topic === undefined) return command.parent?.help();
      await runAction(({ terminal, flags }) => {
        allowFormats(flags, []);
        if (!isTopic(topic)) {
          const known = [...(command.parent?.commands.map((each) => each.name()) ?? []), ...Object.keys(helpTopics)];
          throw new BillingError('usage', `there is no help on "${topic}"`, {
            hint: didYouMean(topic, known, `the topics are ${topics}; every command has help too`),
          });
        }
        terminal.out(vouch(helpTopics[topic]));
        return Promise.resolve();
      });
    });
};
