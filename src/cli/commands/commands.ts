/** `tally commands`: every command with what it does; with JSON the whole manifest. */

import { jsonAnswer, render } from '../output.ts';
import type { CommandModule } from './index.ts';

const view = {
  rows: 'data',
  columns: [
    { header: 'COMMAND', path: 'command' },
    { header: 'WHAT IT DOES', path: 'summary' },
    { header: 'SCOPE', path: 'scope' },
  ],
} as const;

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest }) => {
  command
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # One a line
  tally commands
  # Everything there is to know of them: flags, types, choices, exit codes, scopes
  tally commands --json
  # What changes something
  tally commands --jq '.commands[] | select(.isWrite) | .operation'
`,
    )
    .action(
      async () =>
        await runAction(async ({ terminal, output }) => {
          const manifest = await loadManifest();
          if (output.format === 'json' && output.jsonFields === undefined)
            return terminal.out(await jsonAnswer(manifest, output));
          const data = manifest.commands.map(({ group, verb, positionals, summary, scope }) => ({
            command: ['tally', group, verb, ...positionals.map(({ placeholder }) => `<${placeholder}>`)].join(' '),
            summary,
            scope,
          }));
          const fields = ['command', 'summary', 'scope'];
          terminal.out(await render({ data }, view, { choice: output, fields, stdout: terminal.stdout }));
        }),
    );
};
