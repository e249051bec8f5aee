import { describe, expect, test } from 'vitest';

import { helpTopics } from '../../../src/cli/help/topics.ts';
import { userDirectories } from '../../../src/cli/target/user-directories.ts';
import type { Surroundings } from '../../../src/cli/target/user-directories.ts';

const account = { platform: 'linux', accountHome: () => '/home/ada' };
const ofAda = { config: '/home/ada/.config/tallybook', data: '/home/ada/.local/share/tallybook' };

describe.skipIf(process.platform === 'win32')('the directories of a user', () => {
  const systems: [string, Surroundings['env'], ReturnType<typeof userDirectories>][] = [
    ['linux', { HOME: '/root' }, { config: '/root/.config/tallybook', data: '/root/.local/share/tallybook' }],
    ['linux', { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, { config: '/c/tallybook', data: '/d/tallybook' }],
    [
      'darwin',
      { XDG_CONFIG_HOME: '/c' },
      {
        config: '/home/ada/Library/Preferences/tallybook',
        data: '/home/ada/Library/Application Support/tallybook',
      },
    ],
    [
      'win32',
      { APPDATA: '/roaming', HOME: '/root' },
      { config: '/roaming/tallybook/Config', data: '/home/ada/AppData/Local/tallybook/Data' },
    ],
  ];
  test.each(systems)('on %s with %o they are where the system keeps such files', (platform, env, expected) => {
    expect(userDirectories({ ...account, platform, env })).toEqual(expected);
  });

  test.each(['linux', 'darwin', 'win32'])('are told by help as they are on %s', (platform) => {
    const env = { APPDATA: '/%APPDATA%', LOCALAPPDATA: '/%LOCALAPPDATA%' };
    for (const path of Object.values(userDirectories({ ...account, platform, env }))) {
      const shown = path.replace('/home/ada', '~').replace(/^\/%/, '%');
      expect(helpTopics.environment).toContain(platform === 'win32' ? shown.replaceAll('/', '\\') : shown);
    }
  });

  test.each([
    {},
    { HOME: '' },
    { HOME: '.' },
    { HOME: 'ada' },
    { HOME: '/home/ada', XDG_DATA_HOME: 'data', XDG_CONFIG_HOME: './config' },
    { HOME: '/home/ada', XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' },
  ])('never lie below the directory in which a command is given: %o', (env) => {
    expect(userDirectories({ ...account, env })).toEqual(ofAda);
  });

  test('are the ones that were named, also for a user without a home', () => {
    const env = { TALLY_CONFIG_DIR: '/etc/tally', TALLY_DATA_DIR: '/var/lib/tally' };
    expect(userDirectories({ ...account, env, accountHome: () => undefined })).toEqual({
      config: '/etc/tally',
      data: '/var/lib/tally',
    });
  });

  test.each([{}, { HOME: '' }, { TALLY_DATA_DIR: '/var/lib/tally' }])(
    'of a user without a home have to be named: %o',
    (env) => {
      expect(() => userDirectories({ ...account, env, accountHome: () => undefined })).toThrow(
        expect.objectContaining({ kind: 'usage', hint: 'set HOME, or TALLY_CONFIG_DIR and TALLY_DATA_DIR' }),
      );
    },
  );
});
