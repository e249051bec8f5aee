/** `tally profile`: named services and databases. Adding one does not put it in use: that could be production, unasked. */

import type { Command } from 'commander';

import { withoutPassword } from '../../database-url.ts';
import { BillingError } from '../../errors.ts';
import { readTextFile } from '../files.ts';
import { openSession, timeoutOf } from '../open-session.ts';
import { render } from '../output.ts';
import { checkedKey, checkedName, environments } from '../profiles.ts';
import type { Environment, Profile } from '../profiles.ts';
import { mayAsk } from '../prompts.ts';
import { mask } from '../redact.ts';
import { say } from '../safe-text.ts';
import { checkService, clockWords } from '../service-check.ts';
import type { ServiceFacts } from '../service-check.ts';
import type { Session } from '../session.ts';
import type { Target } from '../target.ts';
import type { CommandModule, Run } from './index.ts';

interface AddFlags {
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyring?: true;
  /** False after `--no-check`. */
  readonly check: boolean;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command.usage('<verb> [name] [flags]').addHelpText(
    'after',
    `
Examples:
  # A database of its own, used from now on
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
    .option('--environment <environment>', environments.join(', '))
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
  # A database of its own
  tally profile add local --environment embedded --database ./demo.db
`,
    )
    .action(
      async (name: string | undefined, flags: AddFlags) =>
        await runAction(async (session) => await add(name, flags, session)),
    );
  declareVerb(command, 'list', {
    summary: 'List the profiles',
    examples: [
      ['All of them', 'tally profile list'],
      ['Their names', 'tally profile list -o name'],
    ],
    runAction,
    action: list,
  });
  declareVerb(command, 'use', {
    summary: 'Use a profile from now on',
    examples: [addLocal, ['From now on', 'tally profile use local']],
    takesName: true,
    runAction,
    action: use,
  });
  declareVerb(command, 'show', {
    summary: 'Show what commands work on, and where each value came from',
    examples: [
      ['What is in use', 'tally profile show'],
      ['For a program', 'tally profile show -o json'],
    ],
    mayTakeName: true,
    runAction,
    action: async (session, name) => await show(onProfile(session, name)),
  });
  declareVerb(command, 'remove', {
    summary: 'Remove a profile and its key',
    examples: [addLocal, ['And away with it', 'tally profile remove local']],
    takesName: true,
    runAction,
    action: remove,
  });
  declareVerb(command, 'check', {
    summary: 'Check the key and the service, or the database',
    examples: [
      ['What is in use', 'tally profile check'],
      ['Another database', 'tally profile check --database ./demo.db'],
    ],
    mayTakeName: true,
    runAction,
    action: async (session, name) => await check(onProfile(session, name)),
  }).alias('whoami');
};

/** A remark and a command line, in the form of help. */
type Example = readonly [about: string, line: string];

const addLocal: Example = ['A profile', 'tally profile add local --environment embedded --database ./demo.db'];

interface Verb {
  readonly summary: string;
  readonly examples: readonly Example[];
  readonly takesName?: true;
  /** A name stands for `--profile`. */
  readonly mayTakeName?: true;
  readonly runAction: Run;
  readonly action: (session: Session, name: string) => Promise<void>;
}

function declareVerb(command: Command, name: string, verb: Verb): Command {
  const { summary, examples, takesName, mayTakeName, runAction, action } = verb;
  const lines = examples.map(([about, line]) => `  # ${about}\n  ${line}\n`).join('');
  const declared = command.command(name).summary(summary).description(`${summary}.`);
  declared.addHelpText('after', `\nExamples:\n${lines}`);
  if (takesName !== true && mayTakeName !== true) {
    return declared.usage('[flags]').action(async () => await runAction(async (session) => await action(session, '')));
  }
  return declared
    .argument('[name]')
    .usage(takesName === true ? '<name>' : '[name] [flags]')
    .action(
      async (given: string | undefined) =>
        await runAction(
          async (session) => await action(session, mayTakeName === true && given === undefined ? '' : required(given)),
        ),
    );
}

function onProfile(session: Session, name: string): Session {
  return name === '' ? session : openSession(session.dependencies, { ...session.flags, profile: name });
}

function required(name: string | undefined): string {
  if (name === undefined) throw new BillingError('usage', 'missing <name> of the profile');
  return checkedName(name);
}

async function add(given: string | undefined, flags: AddFlags, session: Session): Promise<void> {
  const name = required(given);
  const environment = flags.environment as Environment | undefined;
  if (environment === undefined || !environments.includes(environment)) {
    throw new BillingError('usage', `--environment takes one of ${environments.join(', ')}`);
  }
  const profiles = await session.profiles();
  const { profile, key } =
    environment === 'embedded' ? embeddedProfile(flags, session) : await remoteProfile(environment, flags, session);
  if (key !== undefined && flags.check) await tryKey(name, { profile, key }, session);
  const newKey = key === undefined ? undefined : { key, inKeyring: flags.keyring === true };
  const { place, fallback } = await profiles.save(name, profile, newKey);
  if (fallback !== undefined) {
    session.terminal.err(say`${fallback}; the key is in ${place ?? ''}, which only you can read\n`);
  }
  tell(session, say`profile ${name} added; use it with --profile ${name}, or always: tally profile use ${name}`);
}

/** What the key opens, on standard error. Throws what keeps it from being stored. */
async function tryKey(name: string, { profile, key }: TriedKey, session: Session): Promise<void> {
  const { environment, baseUrl = '' } = profile;
  const target = { kind: 'remote', environment, profile: name, baseUrl, key, sources: {} } as const;
  const facts = await factsOf(target, session).catch((error: unknown) => {
    throw error instanceof BillingError ? notStored(error) : error;
  });
  if (facts.environment === 'production' && environment !== 'production') {
    throw new BillingError('refused', `this service is production, not ${environment}: nothing was stored`, {
      hint: 'give --environment production, so that every write asks first',
    });
  }
  const words = [facts.organization ?? 'an organization that it does not name', facts.environment ?? environment];
  const scopes = facts.scopes.join(', ');
  tell(
    session,
    say`the key works: ${words.join(', ')}; ${facts.knowsAllScopes ? 'scopes' : 'it may at least'} ${scopes}`,
  );
}

interface TriedKey {
  readonly profile: Profile;
  readonly key: string;
}

function notStored(error: BillingError): BillingError {
  const { kind, message, requestId, retryAfterSeconds } = error;
  const isRefusal = kind === 'unauthorized' || kind === 'forbidden';
  const hint = isRefusal
    ? 'give a key of this service as it was shown when it was created; --no-check stores it all the same'
    : 'check --base-url and the network; --no-check stores the key without asking';
  return new BillingError(kind, `${message}: nothing was stored`, {
    hint,
    cause: error,
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

async function factsOf(target: Target, session: Session): Promise<ServiceFacts> {
  const opened = await session.dependencies.openBilling(target, { timeoutMilliseconds: timeoutOf(session.flags) });
  try {
    return await checkService(opened);
  } finally {
    await opened.close();
  }
}

function embeddedProfile(flags: AddFlags, { flags: { database, org } }: Session): { profile: Profile; key: undefined } {
  if (flags.baseUrl !== undefined || flags.keyStdin === true || flags.keyFile !== undefined || flags.keyring === true) {
    throw new BillingError('usage', 'an embedded profile has no address and no key', { hint: 'give --database' });
  }
  const profile = {
    environment: 'embedded' as const,
    ...(database === undefined ? {} : { database }),
    ...(org === undefined ? {} : { organization: org }),
  };
  return { profile, key: undefined };
}

async function remoteProfile(
  environment: Environment,
  flags: AddFlags,
  session: Session,
): Promise<{ profile: Profile; key: string | undefined }> {
  if (flags.baseUrl === undefined) throw new BillingError('usage', `a ${environment} profile needs --base-url`);
  await session.dependencies.checkAddress(flags.baseUrl);
  const key = await readKey(flags, session);
  session.terminal.conceal(key);
  return { profile: { environment, baseUrl: flags.baseUrl.replace(/\/+$/, '') }, key: checkedKey(key) };
}

async function readKey(flags: AddFlags, session: Session): Promise<string> {
  if (flags.keyFile !== undefined) return await readTextFile(flags.keyFile, session.terminal);
  if (flags.keyStdin === true) return await session.terminal.readInput();
  if (!mayAsk(session))
    throw new BillingError('usage', 'there is nobody to ask for the key', { hint: 'give --key-stdin or --key-file' });
  const key = await session.terminal.ask({ kind: 'secret', message: say`API key` });
  if (key === undefined || key === '') throw new BillingError('refused', 'no key was entered: nothing was stored');
  return key;
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
  const { terminal, output } = session;
  const store = await session.profiles();
  const current = store.current();
  const data = Object.entries(store.list()).map(([name, profile]) => ({
    name,
    environment: profile.environment,
    where: profile.baseUrl ?? withoutPassword(profile.database ?? 'the local database'),
    isCurrent: name === current,
  }));
  const fields = listView.columns.map(({ path }) => path);
  terminal.out(await render({ data }, listView, { choice: output, fields, stdout: terminal.stdout }));
}

async function use(session: Session, name: string): Promise<void> {
  const profiles = await session.profiles();
  await profiles.use(name);
  tell(session, say`profile ${name} is in use now: ${profiles.get(name).environment}`);
}

async function remove(session: Session, name: string): Promise<void> {
  const { leftInKeyring } = await (await session.profiles()).remove(name);
  if (leftInKeyring !== undefined) session.terminal.err(say`its key is still in the ${leftInKeyring}\n`);
  tell(session, say`profile ${name} and its key are removed`);
}

const showView = {
  rows: 'data',
  columns: [
    { header: 'SETTING', path: 'setting' },
    { header: 'VALUE', path: 'value' },
    { header: 'FROM', path: 'source' },
  ],
} as const;

async function show(session: Session): Promise<void> {
  const target = await session.target();
  const values: readonly (readonly [string, string | undefined])[] =
    target.kind === 'remote'
      ? [
          ['profile', target.profile],
          ['environment', target.environment],
          ['baseUrl', target.baseUrl],
          ['key', mask(target.key)],
        ]
      : [
          ['profile', target.profile],
          ['environment', target.environment],
          ['database', withoutPassword(target.database)],
          ['organization', target.organization],
        ];
  const data = values.map(([setting, value]) => ({
    setting,
    value: value ?? null,
    source: target.sources[setting] ?? (value === undefined || target.profile === undefined ? 'default' : 'profile'),
  }));
  const { terminal, output } = session;
  terminal.out(
    await render({ data }, showView, {
      choice: output,
      fields: ['setting', 'value', 'source'],
      stdout: terminal.stdout,
    }),
  );
}

const checkView = {
  rows: 'data',
  columns: [
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'WHERE', path: 'where' },
    { header: 'KEY', path: 'key' },
    { header: 'STATUS', path: 'status' },
    { header: 'ORGANIZATION', path: 'organization' },
    { header: 'SCOPES', path: 'scopes', format: 'list' },
    { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
    { header: 'CLOCK', path: 'clock' },
    { header: 'LATENCY (ms)', path: 'latencyMilliseconds', format: 'number' },
    { header: 'VERSION', path: 'version' },
  ],
} as const;

async function check(session: Session): Promise<void> {
  const target = await session.target();
  const facts = await factsOf(target, session);
  const isRemote = target.kind === 'remote';
  const isOther = isRemote && facts.environment !== undefined && facts.environment !== target.environment;
  const { connection } = facts;
  const data = {
    environment: target.environment,
    where: isRemote ? target.baseUrl : withoutPassword(target.database),
    key: isRemote ? mask(target.key) : null,
    status: isOther ? `the service says ${facts.environment}` : 'ok',
    organization: facts.organization ?? null,
    scopes: facts.scopes,
    knowsAllScopes: facts.knowsAllScopes,
    expiresAt: facts.expiresAt ?? null,
    clock: (connection && clockWords(connection)) ?? null,
    clockAheadMilliseconds: connection?.clockAheadMilliseconds ?? null,
    latencyMilliseconds: connection?.latencyMilliseconds ?? null,
    version: connection?.version ?? null,
  };
  const { terminal, output } = session;
  const choice = { choice: output, fields: Object.keys(data), stdout: terminal.stdout };
  terminal.out(await render({ data }, checkView, choice));
  if (!facts.knowsAllScopes) {
    tell(session, say`this service does not tell the scopes of a key: these are the reading ones that it lets pass`);
  }
  // Taken for a sandbox, production would not ask before a write.
  if (isOther && facts.environment === 'production') {
    throw new BillingError('checkFailed', `the profile says ${target.environment}, and the service is production`, {
      hint: `add it again: tally profile add ${target.profile ?? 'NAME'} --environment production`,
    });
  }
}

function tell(session: Session, sentence: ReturnType<typeof say>): void {
  if (session.flags.quiet !== true) session.terminal.err(say`${sentence}\n`);
}
