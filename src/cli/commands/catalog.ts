/** `tally catalog`: products, meters, rate cards, prices and plans as one file for version control. */

import type { ChangeFlags, ExportFlags } from '../catalog/run.ts';
import type { CommandModule } from './command.ts';

const pruneFlag = ['--prune', 'archive what the file leaves out, in the sections that it has'] as const;
const fileArgument = ['<file>', 'the catalog file, or - for standard input'] as const;

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .usage('<verb> [file] [flags]')
    .description('Products, meters, rate cards, prices and plans as one YAML file, by name.')
    .addHelpText(
      'after',
      `
Examples:
  # Write the file, and the schema that editors check it by
  tally catalog export --file catalog.yaml
  tally catalog schema > catalog.schema.json
  # What the file would change; then do it
  tally catalog diff catalog.yaml
  tally catalog apply catalog.yaml
`,
    );

  command
    .command('export')
    .summary('Print the catalog as a file')
    .description('Prints what is in use as YAML, by name, sorted; with -o json as JSON, which can be applied too.')
    .usage('[flags]')
    .option('--file <path>', 'write it here instead')
    .option('--force', 'with --file: replace a file with other content')
    .addHelpText(
      'after',
      `
Examples:
  # On standard output
  tally catalog export
  # Into a file
  tally catalog export --file catalog.yaml
  # From one service to another
  tally catalog export --profile sandbox | tally catalog apply - --profile live --yes --expect-env production
`,
    )
    .action(
      async (flags: ExportFlags) =>
        await runAction(async (session) => await (await import('../catalog/run.ts')).exportCatalog(flags, session)),
    );

  command
    .command('diff')
    .summary('Show what a file would change')
    .description('Compares a file with what is in use. Changes nothing.')
    .usage('<file> [flags]')
    .argument(...fileArgument)
    .option(...pruneFlag)
    .option('--exit-code', 'exit code 10 when there is a difference')
    .addHelpText(
      'after',
      `
Examples:
  # What would be made, replaced and archived
  tally catalog diff catalog.yaml
  # In CI: fail on drift, in either direction
  tally catalog diff catalog.yaml --prune --exit-code
`,
    )
    .action(
      async (file: string, flags: ChangeFlags) =>
        await runAction(async (session) => await (await import('../catalog/run.ts')).diffCatalog(file, flags, session)),
    );

  command
    .command('apply')
    .summary('Change the catalog to what a file says')
    .description(
      'Shows what would change, asks, and does it. A price never changes: another takes its place, and plans that contain it are created again. Contracts keep what they were made with. Applying twice changes nothing the second time; after a failure, repeat the command to go on.',
    )
    .usage('<file> [flags]')
    .argument(...fileArgument)
    .option(...pruneFlag)
    .addHelpText(
      'after',
      `
Examples:
  # Look first
  tally catalog apply catalog.yaml --dry-run
  # In a script
  tally catalog apply catalog.yaml --yes
`,
    )
    .action(
      async (file: string, flags: ChangeFlags) =>
        await runAction(
          async (session) => await (await import('../catalog/run.ts')).applyCatalog(file, flags, session),
        ),
    );

  command
    .command('schema')
    .summary('Print the JSON Schema of the file')
    .description('Prints the JSON Schema that editors check a catalog file by.')
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # Beside the file, where its first line looks for it
  tally catalog schema > catalog.schema.json
  # What a price can be
  tally catalog schema --jq '.properties.pricing.items | keys'
`,
    )
    .action(
      async () =>
        await runAction(async (session) => {
          const { catalogJsonSchema } = await import('../catalog/file-schema.ts');
          const { printSchema } = await import('../output/output.ts');
          await printSchema(catalogJsonSchema(), session);
        }),
    );
};
