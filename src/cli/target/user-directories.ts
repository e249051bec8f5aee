/** Where a system keeps what belongs to one of its users. */

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
 * what the system has for it. A relative one of the system is passed over, as the XDG base directory specification says, and
 * so is a relative HOME: the books would be others in each directory where a command is given. Throws BillingError `usage`
 * where a directory is not named and there is no home. Our own, since env-paths reads the home when it is loaded, as it is.
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
