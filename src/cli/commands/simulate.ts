/** `tally simulate`: billing as it would come, on a service in memory that is discarded afterwards. */

import type { CompareFlags } from '../simulation/compare.ts';
import { reportPartNames } from '../simulation/report-parts.ts';
import type { RunFlags } from '../simulation/run.ts';
import { type CommandModule, repeated } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .usage('<verb> [flags]')
    .description(
      'Billing as it would come: a scenario, or real usage under other prices. Nothing that exists is changed.',
    )
    .addHelpText(
      'after',
      `
The files of the examples come with the package: they are in "$(npm root -g)/tallybook/examples".

Examples:
  # Play a scenario and check what it expects
  tally simulate run examples/price-change.yaml
  # What it billed, for a spreadsheet
  tally simulate run examples/price-change.yaml --show invoices -o csv
  # What everybody would be billed under another catalog
  tally simulate compare --catalog examples/new-prices.yaml
`,
    );

  command
    .command('run')
    .summary('Play a scenario from its start to its end')
    .description(
      'Plays customers, contracts, grants, budgets, usage and steps of a YAML file on a service in memory with a clock of its own, and prints the timeline, invoices, ledger, balances and budgets. The same file and seed give the same bytes. Exit code 10 when an expectation of the file is not met; each one is named with its line.',
    )
    .usage('<file> [flags]')
    .argument('<file>', 'the scenario, or - for standard input')
    .option('--seed <number>', "seed of made-up usage; another seed makes other usage (the file's when not given)")
    .addOption(command.createOption('--show <part>', 'print only this part').choices(reportPartNames))
    .option(
      '--junit <path>',
      'write the expectations to this file as JUnit XML, for CI; replaces the report of an earlier run',
    )
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
    .command('compare')
    .summary('Real usage under another catalog, start date or grant')
    .description(
      "Plays the contracts, credits and usage of a database twice in memory, as they were and under other conditions, and prints for each customer what is billed before and after. The database is copied and only read. The catalog is applied as 'tally catalog apply' does, and contracts are created again on the plan of the same name; prices that a contract agreed on stay. A customer with a contract that cannot be repeated is left out of every amount, which is noted, and makes the exit code 10, as does a new grant that no contract gets. Before is the replay of the unchanged history; BILLED is what the invoices say; it differs where something cannot be repeated, which is noted. A database on a server is read as it is. A mirror that tally pull made (--database mirror.db) has no events: there the quantities on its invoices stand in for them, each at the end of its billing period, so whole periods give the same amounts. The days within a period are not known: where credits lapsed, as much usage as they paid is taken to come before, which is noted, and a new grant that lapses within a period pays nothing of the rest. Agreed prices and rates are read off the lines; meters of the other catalog count what was invoiced.",
    )
    .usage('[flags]')
    .option('--catalog <file>', 'with this catalog file')
    .option('--start-date <date>', 'with this first day of service for every contract; not on a mirror')
    .option(
      '--grant <fields>',
      'with a promotional grant: amount-cents=…,customer=…,at=…,expires-at=…; to every customer, at the start of the contract and for good where these are left out; repeatable',
      repeated,
    )
    .option('--customer <id>', 'only this customer, by id or your own id; repeatable', repeated)
    .option('--from <date>', 'count billing periods that begin from this date on')
    .option(
      '--to <date>',
      'count billing periods that begin before this date, and usage before it (now when not given)',
    )
    .option('--chart', 'draw what each customer is billed before and after')
    .option('--ascii', 'with --chart: in plain ASCII')
    .addHelpText(
      'after',
      `
Examples:
  # What new prices would have meant
  tally simulate compare --catalog examples/new-prices.yaml
  # The same as a picture
  tally simulate compare --catalog examples/new-prices.yaml --chart
  # What 10.00 USD for everybody would cost
  tally simulate compare --grant amount-cents=1000
`,
    )
    .action(
      async (flags: CompareFlags) =>
        await runAction(
          async (session) => await (await import('../simulation/compare.ts')).runComparison(flags, session),
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
        await runAction(async (session) => {
          const { scenarioJsonSchema } = await import('../simulation/scenario-schema.ts');
          const { printSchema } = await import('../output/output.ts');
          await printSchema(scenarioJsonSchema(), session);
        }),
    );
};
