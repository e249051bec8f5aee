/** Where a system keeps the files of a user. */

import { isAbsolute, join } from 'node:path';

import { BillingError } from '../../errors.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** The home directory of the account, whatever HOME says; undefined for a user id without an account. */
  readonly accountHome: () => string | undefined;
}

/**
 * The directory of profiles and keys, and that of the journal and the usual database: TALLY_CONFIG_DIR and TALLY_DATA_DIR, or
 * the system's usual places. A relative path in a variable of the system is ignored, as the XDG base directory specification
 * says, and so is a relative HOME: otherwise each working directory would have its own books. Throws BillingError `usage` if a
 * directory is not named and there is no home. Our own, because env-paths reads the home when it is loaded, unchecked.
 */
export function userDirectories({ env, platform, accountHome }: Surroundings): { config: string; data: string } {
  const homeVariable = platform === 'win32' ? 'USERPROFILE' : 'HOME';
  const below = (variable: string | undefined, ...path: readonly string[]): string => {
    const named = variable === undefined ? undefined : absolute(env[variable]);
    if (named !== undefined) return join(named, 'tallybook');
    const home = absolute(env[homeVariable]) ?? absolute(accountHome());
    if (home === undefined) {
      throw new BillingError('usage', 'there is no home directory for profiles, the journal and the database', {
        hint: `set ${homeVariable}, or TALLY_CONFIG_DIR and TALLY_DATA_DIR`,
      });
    }
    return join(home, ...path, 'tallybook');
  };
  const usual = {
    darwin: {
      config: () => below(undefined, 'Library', 'Preferences'),
      data: () => below(undefined, 'Library', 'Application Support'),
    },
    win32: {
      config: () => join(below('APPDATA', 'AppData', 'Roaming'), 'Config'),
      data: () => join(below('LOCALAPPDATA', 'AppData', 'Local'), 'Data'),
    },
  }[platform] ?? {
    config: () => below('XDG_CONFIG_HOME', '.config'),
    data: () => below('XDG_DATA_HOME', '.local', 'share'),
  };
  return { config: env['TALLY_CONFIG_DIR'] || usual.config(), data: env['TALLY_DATA_DIR'] || usual.data() };
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
