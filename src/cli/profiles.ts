/** Named services and databases: what each is, and the key of each, which never leaves for another address. */

import { join } from 'node:path';

import { BillingError } from '../errors.ts';
import { changePrivateFile, readPrivateFile } from './private-file.ts';
import type { Machine, Members } from './private-file.ts';
import { keyForm } from './redact.ts';

export const environments = ['production', 'sandbox', 'embedded'] as const;
export type Environment = (typeof environments)[number];

export interface Profile {
  readonly environment: Environment;
  /** Remote ones alone. */
  readonly baseUrl?: string;
  /** Embedded ones alone. */
  readonly database?: string;
  readonly organization?: string;
}

export interface ProfileStore {
  readonly path: string;
  list(): Readonly<Record<string, Profile>>;
  /** The profile that commands use when they name none. */
  current(): string | undefined;
  /** Throws a usage error when there is none of that name. */
  get(name: string): Profile;
  /** The key stored for a profile; refused when it was stored for another address. */
  keyOf(name: string): string | undefined;
  save(name: string, profile: Profile, key: string | undefined): Promise<void>;
  use(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

interface Credential {
  readonly key: string;
  readonly baseUrl: string;
}

/** Profiles in `config.json` and keys in `credentials.json` of a directory. */
export function createProfileStore(directory: string, machine: Machine): ProfileStore {
  const path = join(directory, 'config.json');
  const keysPath = join(directory, 'credentials.json');
  const read = (): Members => readPrivateFile(path, machine) ?? {};
  const profilesOf = (members: Members) => (members['profiles'] ?? {}) as Readonly<Record<string, Profile>>;
  const list = () => profilesOf(read());
  const get = (name: string): Profile => {
    const profiles = list();
    const profile = Object.hasOwn(profiles, checkedName(name)) ? profiles[name] : undefined;
    if (profile !== undefined && environments.includes(profile.environment)) return profile;
    const known = Object.keys(profiles);
    throw new BillingError('usage', `there is no profile "${name}"`, {
      hint: known.length > 0 ? `there are ${known.join(', ')}` : 'make one with: tally profile add NAME',
    });
  };
  return {
    path,
    list,
    get,
    current() {
      const name = read()['currentProfile'];
      return typeof name === 'string' ? name : undefined;
    },
    keyOf(name) {
      const credentials = readPrivateFile(keysPath, machine) ?? {};
      const credential = Object.hasOwn(credentials, name) ? (credentials[name] as Credential) : undefined;
      if (credential === undefined) return undefined;
      if (credential.baseUrl === get(name).baseUrl) return credential.key;
      throw new BillingError('usage', `the key of profile "${name}" was stored for another address`, {
        hint: `store the key again: tally profile add ${name}`,
      });
    },
    async save(name, profile, key) {
      checkedName(name);
      await changePrivateFile(path, machine, (members) => ({
        ...members,
        profiles: { ...profilesOf(members), [name]: profile },
      }));
      const { baseUrl } = profile;
      await changePrivateFile(keysPath, machine, (members) =>
        key === undefined || baseUrl === undefined ? without(members, name) : { ...members, [name]: { key, baseUrl } },
      );
    },
    async use(name) {
      get(name);
      await changePrivateFile(path, machine, (members) => ({ ...members, currentProfile: name }));
    },
    async remove(name) {
      get(name);
      await changePrivateFile(keysPath, machine, (members) => without(members, name));
      await changePrivateFile(path, machine, (members) => ({
        ...(members['currentProfile'] === name ? without(members, 'currentProfile') : members),
        profiles: without(profilesOf(members), name),
      }));
    },
  };
}

/** Throws a usage error for a name that a file or a shell could misread (security 2, SEC-4). */
export function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return name;
  throw new BillingError(
    'usage',
    'a profile name has 1 to 32 lowercase letters, digits, - and _, and begins with a letter or digit',
  );
}

/** Throws a usage error, without repeating the value, for what is no key. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (keyForm.test(key)) return key;
  throw new BillingError('usage', 'this is not an API key: a key is a prefix, _live_ and 48 hexadecimal digits');
}

function without(members: Members, name: string): Members {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}
