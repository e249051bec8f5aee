/** `tally simulate`: billing as it would come, on a service in memory that is gone afterwards. */

import { vouch } from '../safe-text.ts';
import type { CommandModule } from './index.ts';

export interface RunFlags {
  readonly seed?: string;
  readonly show?: string;
  readonly junit?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .usage('<verb> [flags]')
    .description(
      'Billing as it would come: a scenario, or real usage under other prices. Nothing that exists is changed.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Play a scenario and hold it to what it expects
  tally simulate run examples/price-change.yaml
  # What it billed, for a spreadsheet
  tally simulate run examples/price-change.yaml --show invoices -o csv
`,
    );

  command
    .command('run')
    .summary('Play a scenario from its start to its end')
    .description(
      'Plays customers, contracts, grants, budgets, usage and steps of a YAML file on a service in memory with a clock of its own, and prints the timeline, invoices, ledger, balances and budgets. The same file and seed give the same bytes. Ends with 10 when what the file expects is not met, each with its line.',
    )
    .usage('<file> [flags]')
    .argument('<file>', 'the scenario, or - for standard input')
    .option('--seed <number>', "other made-up usage (the file's when not given)")
    .option('--show <part>', 'timeline, invoices, ledger, balances, budgets or expectations alone')
    .option('--junit <path>', 'write the expectations to this file as JUnit XML, for CI')
    .addHelpText(
      'after',
      `
Examples:
  # Everything, as tables
  tally simulate run examples/price-change.yaml
  # The invoices for a spreadsheet
  tally simulate run examples/price-change.yaml --show invoices -o csv
  # In CI: what must hold, with a report
  tally simulate run examples/price-change.yaml --show expectations --junit report.xml
`,
    )
    .action(
      async (file: string, flags: RunFlags) =>
        await runAction(
          async (session) => await (await import('../simulation/run.ts')).runScenario(file, flags, session),
        ),
    );

  command
    .command('schema')
    .summary('Print the JSON Schema of a scenario')
    .description('Prints the JSON Schema that editors check a scenario by.')
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # Beside the file, where its first line looks for it
  tally simulate schema > scenario.schema.json
  # What a scenario can have
  tally simulate schema | grep description
`,
    )
    .action(
      async () =>
        await runAction(async ({ terminal }) => {
          const { scenarioJsonSchema } = await import('../simulation/scenario-schema.ts');
          terminal.out(vouch(scenarioJsonSchema()));
        }),
    );
};
