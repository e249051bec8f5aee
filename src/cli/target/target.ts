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

/** Where each value came from, for `profile show`. */
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
  if (choice.kind === 'address') return addressTarget(choice, options);
  return embeddedOf(choice, options) ?? (await remoteProfile(choice, options.profiles.get(choice.name), options));
}

/** The same, but undefined for a remote service, whose key may take long to read. */
export function resolveEmbedded(options: TargetOptions): EmbeddedTarget | undefined {
  const choice = choose(options);
  return choice.kind === 'address' ? undefined : embeddedOf(choice, options);
}

function embeddedOf(choice: Choice, options: TargetOptions): EmbeddedTarget | undefined {
  if (choice.kind !== 'profile') {
    return embedded(choice.name, { database: choice.source }, { environment: 'embedded' }, { choice, options });
  }
  const profile = options.profiles.get(choice.name);
  const isEmbedded = profile.environment === 'embedded' || profile.database !== undefined;
  return isEmbedded ? embeddedProfile(choice, profile, options) : undefined;
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
      hint: 'set TALLY_BASE_URL, choose --profile, or unset TALLY_API_KEY to work on the local database',
    });
  }
  return { kind: 'default', name: usualDatabase(dataDirectory), source: 'default' };
}

function usualDatabase(dataDirectory: string): string {
  return join(dataDirectory, 'tallybook.db');
}

function embeddedProfile(choice: Choice, profile: Profile, options: TargetOptions): EmbeddedTarget {
  const isOwn = profile.database !== undefined;
  const database = profile.database ?? usualDatabase(options.dataDirectory);
  const sources = { profile: choice.source, database: isOwn ? 'profile' : 'default' };
  return embedded(database, sources, profile, { choice, options });
}

function embedded(
  database: string,
  sources: Sources,
  ofProfile: Pick<Profile, 'environment' | 'organization' | 'events'>,
  { choice, options }: { readonly choice: Choice; readonly options: TargetOptions },
): EmbeddedTarget {
  const { flags, env } = options;
  const firstOf = (flag: 'org' | 'events', given: string | undefined) => {
    const variable = flag === 'org' ? 'TALLY_ORG' : 'TALLY_EVENTS';
    const places = [
      [flags[flag], `--${flag}`] as const,
      [isSet(env[variable]) ? env[variable] : undefined, variable] as const,
      [given, 'profile'] as const,
    ];
    return places.find(([value]) => value !== undefined) ?? ([undefined, 'default'] as const);
  };
  const [organization, source] = firstOf('org', ofProfile.organization);
  const [events, eventsSource] = firstOf('events', ofProfile.events);
  return {
    kind: 'embedded',
    environment: ofProfile.environment,
    profile: choice.kind === 'profile' ? choice.name : undefined,
    // In the form in which the journal, warnings and completions know it, too.
    database: withoutFileScheme(database),
    events,
    organization,
    sources: { ...sources, organization: source, ...(events === undefined ? {} : { events: eventsSource }) },
  };
}

async function remoteProfile(choice: Choice, profile: Profile, options: TargetOptions): Promise<RemoteTarget> {
  refuseOrg(options.flags);
  const caFile = caFileOf(options, profile.caFile);
  const given = options.env['TALLY_API_KEY'];
  const stored = isSet(given) ? { key: given, place: 'TALLY_API_KEY' } : await options.profiles.keyOf(choice.name);
  if (stored === undefined) {
    throw new UnauthorizedError(`profile "${choice.name}" has no key`, {
      // The address is for the person to type: the key would go wherever somebody may have changed it to.
      hint: `store one with: tally profile add ${choice.name} --environment ${profile.environment} --base-url URL --key-stdin, or set TALLY_API_KEY`,
    });
  }
  return {
    kind: 'remote',
    environment: profile.environment,
    profile: choice.name,
    baseUrl: withoutLastSlash(profile.baseUrl ?? ''),
    key: stored.key,
    caFile: caFile?.path,
    sources: {
      ...(caFile === undefined ? {} : { caFile: caFile.source }),
      profile: choice.source,
      environment: 'profile',
      baseUrl: 'profile',
      key: stored.place,
    },
  };
}

/** An address without a profile counts as production unless it is http, so this machine, or TALLY_ENVIRONMENT says otherwise. */
function addressTarget(choice: Choice, options: TargetOptions): RemoteTarget {
  const { flags, env } = options;
  refuseOrg(flags);
  const caFile = caFileOf(options, undefined);
  const baseUrl = withoutLastSlash(choice.name);
  const key = env['TALLY_API_KEY'];
  if (!isSet(key)) {
    throw new UnauthorizedError('TALLY_BASE_URL is set, but there is no key for it', { hint: 'set TALLY_API_KEY' });
  }
  const named = env['TALLY_ENVIRONMENT'];
  const guessed = baseUrl.startsWith('http:') ? 'sandbox' : 'production';
  if (isSet(named) && (!environments.includes(named as Environment) || named === 'embedded')) {
    throw new BillingError('usage', 'TALLY_ENVIRONMENT must be production or sandbox');
  }
  return {
    kind: 'remote',
    environment: isSet(named) ? (named as Environment) : guessed,
    profile: undefined,
    baseUrl,
    key,
    caFile: caFile?.path,
    sources: {
      ...(caFile === undefined ? {} : { caFile: caFile.source }),
      baseUrl: choice.source,
      key: 'TALLY_API_KEY',
      environment: isSet(named) ? 'TALLY_ENVIRONMENT' : 'default',
    },
  };
}

/** A service has one address, with or without slashes at its end. */
export function withoutLastSlash(baseUrl: string): string {
  return baseUrl.endsWith('/') ? baseUrl.replace(/\/+$/, '') : baseUrl;
}

function caFileOf({ flags, env }: TargetOptions, ofProfile: string | undefined) {
  if (flags.caFile !== undefined) return { path: flags.caFile, source: '--ca-file' };
  const ofEnvironment = env['TALLY_CA_FILE'];
  if (isSet(ofEnvironment)) return { path: ofEnvironment, source: 'TALLY_CA_FILE' };
  return ofProfile === undefined ? undefined : { path: ofProfile, source: 'profile' };
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
