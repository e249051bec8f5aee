/** The demo's database with its files: made once, and copied for each command line, so that none sees another. */

import { randomUUIDv7 } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Dependencies } from '../../src/cli/session.ts';
import type { TestTerminalOptions } from '../../src/cli/terminal.ts';
import { createStage } from './stage.ts';
import type { CommandResult } from './stage.ts';

const scenarios = fileURLToPath(new URL('../../examples', import.meta.url));

export interface Playground {
  /** A directory with the database and the files, as after `tally demo --into`. */
  readonly copy: () => string;
  /** Runs a command line on a copy of its own, or in the given directory. */
  readonly tally: (
    words: readonly string[],
    options?: {
      readonly terminal?: TestTerminalOptions;
      readonly directory?: string;
      readonly instead?: Partial<Dependencies>;
    },
  ) => Promise<CommandResult>;
  readonly close: () => Promise<void>;
}

export async function createPlayground(): Promise<Playground> {
  const stage = await createStage('embedded', { start: '2026-11-21T12:00:00Z', newId: randomUUIDv7 });
  const home = mkdtempSync(join(tmpdir(), 'tallybook-playground-'));
  const original = join(home, 'original');
  const made = await stage.tally(['demo', '--into', original, '--quiet']);
  if (made.exitCode !== 0) throw new Error(`the demo failed: ${made.stdout}${made.stderr}`);
  let copies = 0;
  const copy = () => {
    copies += 1;
    const directory = join(home, `copy-${copies}`);
    mkdirSync(directory);
    for (const name of readdirSync(original)) {
      if (statSync(join(original, name)).isFile()) copyFileSync(join(original, name), join(directory, name));
    }
    if (existsSync(scenarios)) symlinkSync(scenarios, join(directory, 'examples'));
    return directory;
  };
  return {
    copy,
    tally: async (words, options = {}) => {
      const directory = options.directory ?? copy();
      const before = process.cwd();
      process.chdir(directory);
      try {
        return await stage.tally(words, options.terminal, {
          env: { TALLY_DATABASE: join(directory, 'demo.db') },
          directories: async () => await Promise.resolve({ config: join(directory, 'config'), data: directory }),
          serve: async () =>
            await Promise.resolve({ url: 'http://127.0.0.1:0', close: async () => await Promise.resolve() }),
          ...options.instead,
        });
      } finally {
        process.chdir(before);
        if (options.directory === undefined) rmSync(directory, { recursive: true });
      }
    },
    close: async () => {
      await stage.close();
      rmSync(home, { recursive: true });
    },
  };
}
