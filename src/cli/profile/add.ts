/** `tally profile add`: the settings of a service or database, and its key, tried on the service before it is stored. */

import { resolve } from 'node:path';

import { inMemory, refuseUnmeant, withoutFileScheme, withoutPassword } from '../../database-url.ts';
import { BillingError, reworded } from '../../errors.ts';
import { type Environment, environments } from '../command-line/global-flags.ts';
import { checkedKey } from '../target/profiles.ts';
import type { Profile } from '../target/profiles.ts';
import { withoutLastSlash } from '../target/target.ts';
import { askForYes, isAgreed, mayAsk } from '../session/prompts.ts';
import { say } from '../terminal/safe-text.ts';
import { factsOf } from './service-check.ts';
import { secretGiven } from '../session/secret-flags.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';

export interface AddFlags {
  readonly environment?: Environment;
  readonly baseUrl?: string;
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyring?: true;
  /** False after `--no-check`. */
  readonly check: boolean;
}

export async function addProfile(name: string, flags: AddFlags, session: Session): Promise<void> {
  const { environment } = flags;
  if (environment === undefined) {
    throw new BillingError('usage', `--environment takes one of ${environments.join(', ')}`);
  }
  const profiles = await session.profiles();
  const before = Object.hasOwn(profiles.list(), name) ? profiles.list()[name] : undefined;
  if (before?.environment === 'production' && environment !== 'production') {
    await confirmLeaving(name, before, { environment, session });
  }
  const isEmbedded = environment === 'embedded' || session.flags.database !== undefined;
  const { profile, key } = isEmbedded
    ? embeddedProfile(environment, flags, session)
    : await remoteProfile(environment, flags, session);
  if (key !== undefined && flags.check) await tryKey(name, { profile, key }, session);
  const newKey = key === undefined ? undefined : { key, inKeyring: flags.keyring === true };
  const { place, fallback } = await profiles.save(name, profile, newKey);
  if (fallback !== undefined) {
    session.terminal.err(say`${fallback}; the key is in ${place ?? ''}, which only you can read\n`);
  }
  const what = before === undefined ? 'added' : `replaced (it was ${wordsOf(before)})`;
  tell(session, say`profile ${name} ${what}; use it with --profile ${name}, or always: tally profile use ${name}`);
}

/** What the replaced profile was, for a person who meant another name. */
function wordsOf({ environment, baseUrl, database }: Profile): string {
  const where = baseUrl ?? (database === undefined ? 'the default database' : withoutPassword(database));
  return `${environment}, ${where}`;
}

/** Requires a yes before a production profile becomes something else: from then on no write through it would ask. */
async function confirmLeaving(
  name: string,
  before: Profile,
  { environment, session }: { readonly environment: Environment; readonly session: Session },
): Promise<void> {
  if (isAgreed(session, before)) return;
  const what = `profile ${name} is ${wordsOf(before)}; as ${environment}, writes to it would no longer ask`;
  await askForYes(session, {
    message: say`${what}. Replace it?`,
    unasked: `${what}: nothing was changed`,
    hint: 'give another name; or, in a script, --yes together with --expect-env production',
    declined: 'not confirmed: nothing was changed',
  });
}

/** Writes what the key gives access to, on standard error. Throws whatever keeps it from being stored. */
async function tryKey(name: string, { profile, key }: TriedKey, session: Session): Promise<void> {
  const { environment, baseUrl = '', caFile } = profile;
  const target = { kind: 'remote', environment, profile: name, baseUrl, key, caFile, sources: {} } as const;
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
  const { kind, message } = error;
  const isRefusal = kind === 'unauthorized' || kind === 'forbidden';
  const hint = isRefusal
    ? 'give a key of this service as it was shown when it was created; --no-check stores it anyway'
    : `${error.hint ?? 'check --base-url and the network'}; --no-check stores the key without asking`;
  return reworded(error, `${message}: nothing was stored`, hint);
}

function embeddedProfile(
  environment: Environment,
  flags: AddFlags,
  { flags: { database, events, org } }: Session,
): { profile: Profile; key: undefined } {
  if (flags.baseUrl !== undefined || flags.keyStdin === true || flags.keyFile !== undefined || flags.keyring === true) {
    throw new BillingError('usage', 'a database has no address and no key', {
      hint: 'give either --database or --base-url',
    });
  }
  const profile = {
    environment,
    ...(database === undefined ? {} : { database: fromAnywhere(database) }),
    ...(events === undefined ? {} : { events }),
    ...(org === undefined ? {} : { organization: org }),
  };
  return { profile, key: undefined };
}

/** Makes the path absolute: a profile is also used in other directories than the one it was made in. */
function fromAnywhere(database: string): string {
  refuseUnmeant(database);
  const named = withoutFileScheme(database);
  return /^[a-z][a-z\d+.-]+:/i.test(named) || named === inMemory ? named : resolve(named);
}

async function remoteProfile(
  environment: Environment,
  flags: AddFlags,
  session: Session,
): Promise<{ profile: Profile; key: string | undefined }> {
  if (flags.baseUrl === undefined) {
    throw new BillingError('usage', `a ${environment} profile needs --base-url, or --database`);
  }
  await session.dependencies.checkAddress(flags.baseUrl);
  // Concealed without the line end of its file, because it is repeated without.
  const key = (await readKey(flags, session)).trim();
  session.terminal.conceal(key);
  const { caFile } = session.flags;
  const authorities = caFile === undefined ? {} : { caFile: resolve(caFile) };
  const profile = { environment, baseUrl: withoutLastSlash(flags.baseUrl), ...authorities };
  return { profile, key: checkedKey(key) };
}

async function readKey(flags: AddFlags, session: Session): Promise<string> {
  const given = await secretGiven('key', { file: flags.keyFile, stdin: flags.keyStdin }, session);
  if (given !== undefined) return given;
  if (!mayAsk(session))
    throw new BillingError('usage', 'the key cannot be asked for: there is no terminal, or --no-input or CI is set', {
      hint: 'give --key-stdin or --key-file',
    });
  const key = await session.terminal.ask({ kind: 'secret', message: say`API key` });
  if (key === undefined || key === '') throw new BillingError('refused', 'no key was entered: nothing was stored');
  return key;
}
