/** `tally profile`: named services and databases. Adding one does not select it: that could be production, unasked. */

import type { Command } from 'commander';

import { withoutPassword } from '../../database-url.ts';
import { BillingError } from '../../errors.ts';
import { columnPaths, printBody, render } from '../output/output.ts';
import type { AddFlags } from '../profile/add.ts';
import { environments } from '../command-line/global-flags.ts';
import type { ExampleLine } from '../command-line/manifest.ts';
import { examplesText } from '../help/examples.ts';
import { checkedName } from '../target/profiles.ts';
import type { Sources } from '../target/target.ts';
import { mask } from '../terminal/redact.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { CommandModule, Run } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command.usage('<verb> [name] [flags]').addHelpText(
    'after',
    `
Examples:
  # A database on this machine, used from now on
  tally profile add local --environment embedded --database ./demo.db
  tally profile use local
  # What commands work on
  tally profile show
`,
  );
  command
    .command('add')
    .summary('Add or replace a profile')
    .description(
      'Add or replace a profile. The key is asked for, or read from standard input or a file; never a flag. It is shown to the service before it is stored.',
    )
    .argument('[name]', 'lowercase letters, digits, - and _')
    .usage('<name> --environment <environment> [flags]')
    .addOption(
      command.createOption('--environment <environment>', 'what the service or database is').choices([...environments]),
    )
    .option('--base-url <url>', 'address of a remote service')
    .option('--key-stdin', 'read the key from standard input')
    .option('--key-file <file>', 'read the key from a file')
    .option('--no-check', 'store the key without asking the service about it')
    .option('--keyring', 'keep the key in the keyring of this system rather than in a file')
    .addHelpText(
      'after',
      `
Examples:
  # A sandbox; the key is asked for
  tally profile add sandbox --environment sandbox --base-url https://sandbox.billing.example.com
  # A database on this machine
  tally profile add local --environment embedded --database ./demo.db
  # The database of production itself: every write to it asks first
  tally profile add books --environment production --database /srv/billing/books.db
`,
    )
    .action(
      async (name: string | undefined, flags: AddFlags) =>
        await runAction(async (session) => {
          const { addProfile } = await import('../profile/add.ts');
          await addProfile(required(name), flags, session);
        }),
    );
  declareVerb(command, 'list', {
    summary: 'List the profiles',
    examples: [
      { about: 'All of them', line: 'tally profile list' },
      { about: 'Their names', line: 'tally profile list -o name' },
    ],
    runAction,
    action: list,
  });
  declareVerb(command, 'use', {
    summary: 'Use a profile from now on',
    examples: [addLocal, { about: 'From now on', line: 'tally profile use local' }],
    takes: 'name',
    runAction,
    action: use,
  });
  declareVerb(command, 'show', {
    summary: 'Show what commands work on, and where each value came from',
    examples: [
      { about: 'What is in use', line: 'tally profile show' },
      { about: 'For a program', line: 'tally profile show -o json' },
    ],
    takes: 'name or none',
    runAction,
    // Nobody gave --profile where the name stands behind the verb.
    action: async (session, name) => await show(onProfile(session, name), name === '' ? {} : { profile: 'argument' }),
  });
  declareVerb(command, 'remove', {
    summary: 'Remove a profile and its key',
    examples: [addLocal, { about: 'Remove it', line: 'tally profile remove local' }],
    takes: 'name',
    runAction,
    action: remove,
  });
  declareVerb(command, 'check', {
    summary: 'Check the key and the service, or the database',
    examples: [
      { about: 'What is in use', line: 'tally profile check' },
      { about: 'Another database', line: 'tally profile check --database ./demo.db' },
    ],
    takes: 'name or none',
    runAction,
    action: async (session, name) => {
      const { checkProfile } = await import('../profile/check.ts');
      await checkProfile(onProfile(session, name));
    },
  }).alias('whoami');
};

const addLocal = { about: 'A profile', line: 'tally profile add local --environment embedded --database ./demo.db' };

interface Verb {
  readonly summary: string;
  readonly examples: readonly ExampleLine[];
  /** What follows it; a name that may be left out means the same as `--profile`. */
  readonly takes?: 'name' | 'name or none';
  readonly runAction: Run;
  readonly action: (session: Session, name: string) => Promise<void>;
}

function declareVerb(command: Command, name: string, verb: Verb): Command {
  const { summary, examples, takes, runAction, action } = verb;
  const declared = command.command(name).summary(summary).description(`${summary}.`);
  declared.addHelpText('after', examplesText({ examples }));
  if (takes === undefined) {
    return declared.usage('[flags]').action(async () => await runAction(async (session) => await action(session, '')));
  }
  return declared
    .argument('[name]')
    .usage(takes === 'name' ? '<name>' : '[name] [flags]')
    .action(
      async (given: string | undefined) =>
        await runAction(
          async (session) =>
            await action(session, takes === 'name or none' && given === undefined ? '' : required(given)),
        ),
    );
}

function onProfile(session: Session, name: string): Session {
  const { profile } = session.flags;
  if (name !== '' && profile !== undefined && profile !== name) {
    throw new BillingError('usage', `${name} and --profile ${profile} both name a profile`, {
      hint: 'give one of them',
    });
  }
  return name === '' ? session : session.onProfile(name);
}

function required(name: string | undefined): string {
  if (name === undefined) throw new BillingError('usage', 'missing <name> of the profile');
  return checkedName(name);
}

const listView = {
  rows: 'data',
  columns: [
    { header: 'NAME', path: 'name' },
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'WHERE', path: 'where' },
    { header: 'IN USE', path: 'isCurrent', format: 'boolean' },
  ],
} as const;

async function list(session: Session): Promise<void> {
  const store = await session.profiles();
  const current = store.current();
  const data = Object.entries(store.list()).map(([name, profile]) => ({
    name,
    environment: profile.environment,
    where: profile.baseUrl ?? withoutPassword(profile.database ?? 'the default database'),
    isCurrent: name === current,
  }));
  await printBody({ data }, { view: listView }, session);
  if (session.output.format === 'table' && data.length === 0)
    tell(session, say`there are none; make one with: tally profile add NAME`);
}

async function use(session: Session, name: string): Promise<void> {
  const profiles = await session.profiles();
  await profiles.use(name);
  tell(session, say`profile ${name} is in use now: ${profiles.get(name).environment}`);
}

async function remove(session: Session, name: string): Promise<void> {
  const profiles = await session.profiles();
  const wasInUse = profiles.current() === name;
  const { leftInKeyring } = await profiles.remove(name);
  if (leftInKeyring !== undefined) session.terminal.err(say`its key is still in the ${leftInKeyring}\n`);
  // The next write goes to another database, and nobody would be asked.
  const now = wasInUse ? '; it was in use: commands work on the default database from now on' : '';
  tell(session, say`profile ${name} and its key are removed${now}`);
}

const showView = {
  rows: 'data',
  columns: [
    { header: 'SETTING', path: 'setting' },
    { header: 'VALUE', path: 'value' },
    { header: 'FROM', path: 'source' },
  ],
} as const;

async function show(session: Session, given: Sources): Promise<void> {
  const target = await session.target();
  const sources = { ...target.sources, ...given };
  const values: readonly (readonly [string, string | undefined])[] =
    target.kind === 'remote'
      ? [
          ['profile', target.profile],
          ['environment', target.environment],
          ['baseUrl', target.baseUrl],
          ['key', mask(target.key)],
          ...(target.caFile === undefined ? [] : [['caFile', target.caFile] as const]),
        ]
      : [
          ['profile', target.profile],
          ['environment', target.environment],
          ['database', withoutPassword(target.database)],
          // Rarely set, so not worth a line when it is not.
          ...(target.events === undefined ? [] : [['events', withoutPassword(target.events)] as const]),
          ['organization', target.organization],
        ];
  const data = values.map(([setting, value]) => ({
    setting,
    value: value ?? null,
    source: sources[setting] ?? 'default',
  }));
  const { terminal, output } = session;
  terminal.out(
    await render({ data }, showView, {
      choice: output,
      fields: columnPaths(showView),
      // The path of the database is what people look for here: a long one takes another line, and none of it is cut.
      stdout: { ...terminal.stdout, columns: undefined },
    }),
  );
}
