/**
 * Named services and databases, each with its settings and its key, which is never sent to another address. A key is kept in a
 * file that only its owner may read or, if so chosen, in the system's keyring.
 */

import { join } from 'node:path';

import { BillingError } from '../../errors.ts';
import { apiKeyForm, apiKeyFormWords } from '../../operations/api-key.ts';
import { type Environment, environments } from '../command-line/global-flags.ts';
import { changePrivateFile, damaged, readPrivateFile, recordsOf } from './private-file.ts';
import type { Machine, Members } from './private-file.ts';

export interface Profile {
  readonly environment: Environment;
  /** Only for a remote service. */
  readonly baseUrl?: string;
  /** Only for a remote service: path of a PEM file with authorities that are trusted besides those of the system. */
  readonly caFile?: string;
  /** Only for a database; an embedded profile without it uses the default one. */
  readonly database?: string;
  readonly events?: string;
  readonly organization?: string;
}

/** The name under which keyrings file the keys of every profile. */
export const keyringService = 'tallybook';

/** Where keys may be kept instead of the file. */
export interface Keyring {
  /** Undefined if there is no such entry. All three throw an unavailable error if the keyring does not answer. */
  read(account: string): Promise<string | undefined>;
  write(account: string, key: string): Promise<void>;
  remove(account: string): Promise<void>;
}

export interface ProfileStore {
  list(): Readonly<Record<string, Profile>>;
  /** The profile that commands use when they name none. */
  current(): string | undefined;
  /** Throws a usage error if there is no profile of that name. */
  get(name: string): Profile;
  /** The key stored for a profile; refused when it was stored for another address or environment. */
  keyOf(name: string): Promise<StoredKey | undefined>;
  save(name: string, profile: Profile, key: NewKey | undefined): Promise<Saved>;
  use(name: string): Promise<void>;
  remove(name: string): Promise<Removed>;
}

export interface StoredKey {
  readonly key: string;
  /** A file, or the entry of the keyring, in words. */
  readonly place: string;
}

export interface NewKey {
  readonly key: string;
  readonly inKeyring: boolean;
}

export interface Saved {
  /** Where the key is kept now. */
  readonly place?: string;
  /** Why it is not in the keyring, if that was asked for. */
  readonly fallback?: string;
}

export interface Removed {
  /** What was left in the keyring, and why. */
  readonly leftInKeyring?: string;
}

/** Holds either the key or the name of its account in the keyring. */
interface Credential {
  readonly key?: string;
  readonly keyring?: string;
  readonly baseUrl: string;
  /** Undefined for keys that were stored before it was noted. */
  readonly environment?: Environment;
}

export interface ProfileStoreDependencies {
  readonly machine: Machine;
  /** Opened only to read, write or remove a key. */
  openKeyring(): Promise<Keyring>;
  newId(): string;
}

/** Profiles in `config.json` and keys in `credentials.json` of a directory. */
export function createProfileStore(directory: string, dependencies: ProfileStoreDependencies): ProfileStore {
  const { machine } = dependencies;
  const path = join(directory, 'config.json');
  const keysPath = join(directory, 'credentials.json');
  const read = (): Members => readPrivateFile(path, machine) ?? {};
  const profilesOf = (members: Members) =>
    recordsOf(members['profiles'] ?? {}, path) as unknown as Readonly<Record<string, Profile>>;
  const list = () => profilesOf(read());
  const credentialOf = (name: string): Credential | undefined => {
    const credentials = recordsOf(readPrivateFile(keysPath, machine) ?? {}, keysPath);
    return Object.hasOwn(credentials, name) ? (credentials[name] as unknown as Credential) : undefined;
  };
  const store = async (
    name: string,
    { key, inKeyring }: NewKey,
  ): Promise<Saved & { readonly member: Pick<Credential, 'key' | 'keyring'> }> => {
    const inFile = { place: keysPath, member: { key } };
    if (!inKeyring) return inFile;
    // Never the same twice: another profile directory may have a profile of this name.
    const account = `${name} ${dependencies.newId()}`;
    try {
      await (await dependencies.openKeyring()).write(account, key);
      return { place: placeOf(account), member: { keyring: account } };
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return { ...inFile, fallback: error.message };
    }
  };
  const forget = async (account: string | undefined): Promise<Removed> => {
    try {
      if (account !== undefined) await (await dependencies.openKeyring()).remove(account);
      return {};
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return { leftInKeyring: `${placeOf(account ?? '')}: ${error.message}` };
    }
  };
  const get = (name: string): Profile => {
    const profiles = list();
    const profile = Object.hasOwn(profiles, checkedName(name)) ? profiles[name] : undefined;
    if (profile !== undefined) {
      if (environments.includes(profile.environment)) return profile;
      throw damaged(path, `the environment of profile "${name}" is none of ${environments.join(', ')}`);
    }
    const known = Object.keys(profiles);
    throw new BillingError('usage', `there is no profile "${name}"`, {
      hint: known.length > 0 ? `the profiles are ${known.join(', ')}` : 'make one with: tally profile add NAME',
    });
  };
  return {
    list,
    get,
    current() {
      const name = read()['currentProfile'];
      // Without it a command would write to the default database.
      if (name !== undefined && typeof name !== 'string') throw damaged(path, 'currentProfile is not a text');
      return name;
    },
    async keyOf(name) {
      const credential = credentialOf(name);
      if (credential === undefined) return undefined;
      const { key, keyring: account, ...storedFor } = credential;
      const other = otherThan(storedFor, get(name));
      if (other !== undefined) {
        throw new BillingError('usage', `the key of profile "${name}" was stored for ${other}`, {
          hint: `store the key again: tally profile add ${name} --environment ${get(name).environment} --base-url URL`,
        });
      }
      if (account === undefined) return key === undefined ? undefined : { key, place: keysPath };
      const found = await (await dependencies.openKeyring()).read(account);
      return found === undefined ? undefined : { key: found, place: placeOf(account) };
    },
    async save(name, profile, key) {
      checkedName(name);
      const before = credentialOf(name)?.keyring;
      const { baseUrl, environment } = profile;
      const { member, ...saved } = key === undefined ? {} : await store(name, key);
      try {
        await changePrivateFile(path, machine, (members) => ({
          ...members,
          profiles: { ...profilesOf(members), [name]: profile },
        }));
        await changePrivateFile(keysPath, machine, (members) =>
          member === undefined || baseUrl === undefined
            ? without(members, name)
            : { ...members, [name]: { ...member, baseUrl, environment } },
        );
      } catch (error) {
        // No file names this entry, so nothing would ever find or remove it.
        await forget(member?.keyring);
        throw error;
      }
      await forget(before);
      return saved;
    },
    async use(name) {
      get(name);
      await changePrivateFile(path, machine, (members) => ({ ...members, currentProfile: name }));
    },
    async remove(name) {
      get(name);
      const removed = await forget(credentialOf(name)?.keyring);
      await changePrivateFile(keysPath, machine, (members) => without(members, name));
      await changePrivateFile(path, machine, (members) => ({
        ...(members['currentProfile'] === name ? without(members, 'currentProfile') : members),
        profiles: without(profilesOf(members), name),
      }));
      return removed;
    },
  };
}

function placeOf(account: string): string {
  return `keyring: ${keyringService}, ${account}`;
}

/**
 * What a key was stored for, where that is not what its profile says now; a change of either makes a key of production one
 * that is sent elsewhere, or whose writes do not ask (security 2, SEC-4).
 */
function otherThan({ baseUrl, environment }: Omit<Credential, 'key' | 'keyring'>, now: Profile): string | undefined {
  if (baseUrl !== now.baseUrl) return 'another address';
  return environment === now.environment ? undefined : environment;
}

/** Throws a usage error for a name that a file or a shell could misread (security 2, SEC-4). */
export function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return name;
  throw new BillingError(
    'usage',
    'a profile name has 1 to 32 lowercase letters, digits, - and _, and begins with a letter or digit',
  );
}

/** Throws a usage error, without repeating the value, for anything but a key. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (apiKeyForm.test(key)) return key;
  throw new BillingError('usage', `this is not an API key: a key is ${apiKeyFormWords}`);
}

function without(members: Members, name: string): Members {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}
