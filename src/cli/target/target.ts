/** Which service or database a command works on: flag, then environment variable, then profile, then default. */

import { join } from 'node:path';

import { withoutFileScheme, withoutPassword } from '../../database-url.ts';
import { BillingError, UnauthorizedError } from '../../errors.ts';
import { type Environment, environments } from '../command-line/global-flags.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { Profile, ProfileStore } from './profiles.ts';

export type Target = EmbeddedTarget | RemoteTarget;

export interface EmbeddedTarget {
  readonly kind: 'embedded';
  /** The environment of its profile; `embedded` without a profile. */
  readonly environment: Environment;
  readonly profile: string | undefined;
  readonly database: string;
  /** The database of its usage events, if that is a separate one. */
  readonly events: string | undefined;
  /** By name or id. */
  readonly organization: string | undefined;
  readonly sources: Sources;
}

export interface RemoteTarget {
  readonly kind: 'remote';
  readonly environment: Environment;
  readonly profile: string | undefined;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly key: string;
  /** Path of a PEM file with authorities that are trusted besides those of the system. */
  readonly caFile?: string | undefined;
  readonly sources: Sources;
}

/** Where each value came from, for `profile show`; the default where there is no entry. */
export type Sources = Readonly<Record<string, string>>;

export type TargetFlags = Pick<GlobalFlags, 'profile' | 'database' | 'events' | 'org' | 'caFile'>;

export interface TargetOptions {
  readonly flags: TargetFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profiles: ProfileStore;
  readonly dataDirectory: string;
}

interface Choice {
  readonly kind: 'profile' | 'database' | 'address' | 'default';
  readonly name: string;
  readonly source: string;
}

/** Throws a usage error if two sources name different targets, or a key has no address to go to. */
export async function resolveTarget(options: TargetOptions): Promise<Target> {
  const choice = choose(options);
  const database = embeddedOf(choice, options);
  if (database !== undefined) return database;
  refuseOrg(options.flags);
  return choice.kind === 'address' ? addressTarget(choice, options) : await remoteProfile(choice, options);
}

/** The same, but undefined for a remote service, whose key may take long to read. */
export function resolveEmbedded(options: TargetOptions): EmbeddedTarget | undefined {
  return embeddedOf(choose(options), options);
}

function choose({ flags, env, profiles, dataDirectory }: TargetOptions): Choice {
  if (flags.profile !== undefined && flags.database !== undefined) throw conflict('--profile', '--database');
  if (flags.profile !== undefined) return { kind: 'profile', name: flags.profile, source: '--profile' };
  if (flags.database !== undefined) return { kind: 'database', name: flags.database, source: '--database' };
  const variables = [
    ['profile', 'TALLY_PROFILE'],
    ['database', 'TALLY_DATABASE'],
    ['address', 'TALLY_BASE_URL'],
  ] as const;
  const [first, second] = variables.filter(([, variable]) => isSet(env[variable]));
  if (first !== undefined && second !== undefined) throw conflict(first[1], second[1]);
  if (first !== undefined) return { kind: first[0], name: env[first[1]] ?? '', source: first[1] };
  const current = profiles.current();
  if (current !== undefined) return { kind: 'profile', name: current, source: 'tally profile use' };
  if (isSet(env['TALLY_API_KEY'])) {
    throw new BillingError('usage', 'TALLY_API_KEY is set, but nothing says which service the key is for', {
      hint: 'set TALLY_BASE_URL, choose --profile, or unset TALLY_API_KEY to work on the default database',
    });
  }
  return { kind: 'default', name: usualDatabase(dataDirectory), source: 'default' };
}

function usualDatabase(dataDirectory: string): string {
  return join(dataDirectory, 'tallybook.db');
}

function embeddedOf({ kind, name, source }: Choice, options: TargetOptions): EmbeddedTarget | undefined {
  if (kind === 'address') return undefined;
  const profile: Profile =
    kind === 'profile' ? options.profiles.get(name) : { environment: 'embedded', database: name };
  if (profile.environment !== 'embedded' && profile.database === undefined) return undefined;
  const organization = settingOf('org', options, profile.organization);
  const events = settingOf('events', options, profile.events);
  const ofDatabase = profile.database === undefined ? 'default' : 'profile';
  return {
    kind: 'embedded',
    environment: profile.environment,
    profile: kind === 'profile' ? name : undefined,
    // In the form in which the journal, warnings and completions know it, too.
    database: withoutFileScheme(profile.database ?? usualDatabase(options.dataDirectory)),
    events: events.value,
    organization: organization.value,
    sources: {
      ...(kind === 'profile'
        ? { profile: source, environment: 'profile', database: ofDatabase }
        : { database: source }),
      organization: organization.source,
      events: events.source,
    },
  };
}

async function remoteProfile({ name, source }: Choice, options: TargetOptions): Promise<RemoteTarget> {
  const profile = options.profiles.get(name);
  const given = options.env['TALLY_API_KEY'];
  const stored = isSet(given) ? { key: given, place: 'TALLY_API_KEY' } : await options.profiles.keyOf(name);
  if (stored === undefined) {
    throw new UnauthorizedError(`profile "${name}" has no key`, {
      // The address is for the person to type: the key would go wherever somebody may have changed it to.
      hint: `store one with: tally profile add ${name} --environment ${profile.environment} --base-url URL --key-stdin, or set TALLY_API_KEY`,
    });
  }
  return remote(
    {
      environment: profile.environment,
      profile: name,
      baseUrl: profile.baseUrl ?? '',
      key: stored.key,
      sources: { profile: source, environment: 'profile', baseUrl: 'profile', key: stored.place },
    },
    settingOf('caFile', options, profile.caFile),
  );
}

/** An address without a profile counts as production unless it is http, so this machine, or TALLY_ENVIRONMENT says otherwise. */
function addressTarget({ name: baseUrl, source }: Choice, options: TargetOptions): RemoteTarget {
  const { env } = options;
  const key = env['TALLY_API_KEY'];
  if (!isSet(key)) {
    throw new UnauthorizedError('TALLY_BASE_URL is set, but there is no key for it', { hint: 'set TALLY_API_KEY' });
  }
  const named = env['TALLY_ENVIRONMENT'];
  const guessed = baseUrl.startsWith('http:') ? 'sandbox' : 'production';
  if (isSet(named) && (!environments.includes(named as Environment) || named === 'embedded')) {
    throw new BillingError('usage', 'TALLY_ENVIRONMENT must be production or sandbox');
  }
  return remote(
    {
      environment: isSet(named) ? (named as Environment) : guessed,
      profile: undefined,
      baseUrl,
      key,
      sources: {
        baseUrl: source,
        key: 'TALLY_API_KEY',
        environment: isSet(named) ? 'TALLY_ENVIRONMENT' : 'default',
      },
    },
    settingOf('caFile', options, undefined),
  );
}

function remote(target: Omit<RemoteTarget, 'kind' | 'caFile'>, caFile: Setting): RemoteTarget {
  return {
    kind: 'remote',
    ...target,
    baseUrl: withoutLastSlash(target.baseUrl),
    // A variable that is made of a file often has its line end.
    key: target.key.trim(),
    caFile: caFile.value,
    sources: { ...target.sources, caFile: caFile.source },
  };
}

/** A service has one address, with or without slashes at its end. */
export function withoutLastSlash(baseUrl: string): string {
  return baseUrl.endsWith('/') ? baseUrl.replace(/\/+$/, '') : baseUrl;
}

interface Setting {
  readonly value: string | undefined;
  readonly source: string;
}

const givenBy = {
  org: ['--org', 'TALLY_ORG'],
  events: ['--events', 'TALLY_EVENTS'],
  caFile: ['--ca-file', 'TALLY_CA_FILE'],
} as const;

/** What a flag says, else its environment variable, else the profile. */
function settingOf(name: keyof typeof givenBy, { flags, env }: TargetOptions, ofProfile: string | undefined): Setting {
  const [flag, variable] = givenBy[name];
  if (flags[name] !== undefined) return { value: flags[name], source: flag };
  if (isSet(env[variable])) return { value: env[variable], source: variable };
  return { value: ofProfile, source: ofProfile === undefined ? 'default' : 'profile' };
}

function refuseOrg(flags: TargetFlags): void {
  if (flags.events !== undefined)
    throw new BillingError('usage', '--events is for databases, and this is a remote service');
  if (flags.org === undefined) return;
  throw new BillingError('usage', '--org is for databases: the key of a remote service decides the organization');
}

/** Whether what is written lies behind a network, and may be back a moment after it is away; a file's lock is waited for anyway. */
export function isElsewhere(target: Target): boolean {
  return target.kind === 'remote' || target.events !== undefined || target.database.includes('://');
}

/** The address or database, without a password. */
export function whereOf(target: Target): string {
  return target.kind === 'remote' ? target.baseUrl : withoutPassword(target.database);
}

/** The database that a command works on. Throws a notOffered error for a remote service, with what else may be done. */
export function requireEmbedded(target: Target, command: string, orElse = ''): EmbeddedTarget {
  if (target.kind === 'embedded') return target;
  throw new BillingError('notOffered', `${command} needs a database, and ${target.baseUrl} is a remote service`, {
    hint: `give it where the service runs, on its own database: --database, or a --profile of one${orElse}`,
  });
}

function conflict(one: string, other: string): BillingError {
  return new BillingError('usage', `${one} and ${other} both say what to work on`, { hint: 'give one of them' });
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
