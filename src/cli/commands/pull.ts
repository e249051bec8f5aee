/** `tally pull`: mirrors contracts of a remote service into a file that is read like a database. */

import type { CommandModule } from './command.ts';
import type { PullFlags } from '../pull/run.ts';

const several = (value: string, before: readonly string[] = []) => [...before, ...value.split(',')];

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Mirrors contracts of a remote service with their customers, plans, prices, invoices, ledgers and budgets into a file, under the same ids. The file is read like a database (--database FILE) and answers as the service did when it was pulled; it cannot be written to, billed or served. Only documented operations are used, which show no events, meters and rate cards, and of a contract only its dates and customer: name its plan with --plan or a column planId, or read it with --published. Pulling again refreshes what changed; after an interruption, repeat the command to go on. The key needs to read contracts, customers, invoices, plans, pricing and usage.',
    )
    .usage('--to FILE [flags]')
    .requiredOption('--to <file>', 'the mirror; created when it does not exist')
    .option('--contract <ids...>', 'contracts to pull (all that the mirror has when none is given)', several)
    .option('--from <file>', 'one id per line, or CSV with contractId, customerId and planId; - for standard input')
    .option('--customer <id>', 'customer of contracts that name none (found by their invoices when not given)')
    .option('--plan <id>', 'plan of contracts that name none')
    .option('--published', 'also read contracts at their path, which not every service has')
    .option('--check', 'compare only: exit code 10 when mirror and service differ')
    .addHelpText(
      'after',
      `
Examples:
  # One contract, then a look at it without the service
  tally pull --contract 01900000-0000-7000-8000-000000000006 --to mirror.db --profile live
  tally credits ledger 01900000-0000-7000-8000-000000000006 --database mirror.db
  # Many, from a file
  tally pull --from contracts.csv --to mirror.db --profile live
  # What changed since, and then the changes
  tally pull --to mirror.db --profile live --check
  tally pull --to mirror.db --profile live
`,
    )
    .action(
      async (flags: PullFlags) =>
        await runAction(async (session) => await (await import('../pull/run.ts')).pull(flags, session)),
    );
};
