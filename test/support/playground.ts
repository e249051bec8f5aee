/** The demo's database with its files: made once, and copied for each command line, so that none sees another. */

import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Dependencies } from '../../src/cli/session/session.ts';
import { createEngine } from '../../src/engine/engine.ts';
import type { Answer, Billing, OperationName } from '../../src/operations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { newDirectory } from './temporary-files.ts';
import type { TestTerminalOptions } from './test-terminal.ts';
import { createStage } from './stage.ts';
import type { CommandResult } from './stage.ts';

const today = '2026-11-21T12:00:00Z';

export interface NamedAnswer {
  readonly name: OperationName;
  readonly body: Answer['body'];
}

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
  ) => Promise<CommandResult & { readonly answers: readonly NamedAnswer[] }>;
  readonly close: () => Promise<void>;
}

export async function createPlayground(): Promise<Playground> {
  const stage = await createStage('embedded', { start: today, newId: randomUUIDv7 });
  const home = newDirectory();
  const original = join(home, 'original');
  const made = await stage.tally(['demo', '--into', original, '--quiet']);
  if (made.exitCode !== 0) throw new Error(`the demo failed: ${made.stdout}${made.stderr}`);
  const now = () => Temporal.Instant.from(today);
  const openRecorded =
    (answers: NamedAnswer[]): Dependencies['openBilling'] =>
    async (target) => {
      if (target.kind !== 'embedded') throw new TypeError('a playground has its own database alone');
      const store = await openStore(target.database);
      const engine = createEngine({
        store,
        now,
        newId: randomUUIDv7,
        randomBytes,
        finalizationGraceHours: 0,
        checkWebhookUrl: async () => await Promise.resolve(undefined),
      });
      const owner = await engine.owner(target.organization);
      const billing = engine.as(owner);
      const call = async (...given: Parameters<Billing['call']>) => {
        const answer = await billing.call(...given);
        answers.push({ name: given[0], body: answer.body });
        return answer;
      };
      return {
        billing: { ...billing, call },
        rehearsal: engine.rehearsal(owner),
        close: async () => await engine.close(),
      };
    };
  let copies = 0;
  const copy = () => {
    copies += 1;
    const directory = join(home, `copy-${copies}`);
    mkdirSync(directory);
    for (const name of readdirSync(original)) {
      if (statSync(join(original, name)).isFile()) copyFileSync(join(original, name), join(directory, name));
    }
    cpSync(join(original, 'examples'), join(directory, 'examples'), { recursive: true });
    return directory;
  };
  return {
    copy,
    tally: async (words, options = {}) => {
      const directory = options.directory ?? copy();
      const answers: NamedAnswer[] = [];
      const before = process.cwd();
      process.chdir(directory);
      try {
        const result = await stage.tally(words, options.terminal, {
          openBilling: openRecorded(answers),
          env: { TALLY_DATABASE: join(directory, 'demo.db') },
          directories: async () => await Promise.resolve({ config: join(directory, 'config'), data: directory }),
          serve: async () =>
            await Promise.resolve({
              url: 'http://127.0.0.1:0',
              tellFailure: () => undefined,
              close: async () => await Promise.resolve(),
            }),
          ...options.instead,
        });
        return { ...result, answers };
      } finally {
        process.chdir(before);
        if (options.directory === undefined) rmSync(directory, { recursive: true });
      }
    },
    close: stage.close,
  };
}
