/** One command line after another against a service made for the test, in a home of its own. */

import { join } from 'node:path';

import { commandManifest } from '../../tools/command-manifest.ts';
import type { CommandSpec } from '../../src/cli/command-line/manifest.ts';
import { run } from '../../src/cli/program.ts';
import type { Dependencies } from '../../src/cli/session/session.ts';
import type { Target } from '../../src/cli/target/target.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { testTerminal } from '../support/test-terminal.ts';
import type { TestTerminalOptions } from '../support/test-terminal.ts';
import { allOperations } from '../../src/operations/all.ts';
import type { Answer, Billing } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { countedIds } from '../support/world.ts';

export const manifest = commandManifest(allOperations);

export interface Call {
  readonly name: string;
  readonly input: CallInput;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly string[];
}

export type Reply = (call: Call) => Partial<Answer> | Promise<Partial<Answer>>;

export interface ShellOptions {
  /** What the service answers; an empty page when not given. May throw. */
  readonly reply?: Reply;
  readonly env?: Readonly<Record<string, string>>;
  readonly dependencies?: Partial<Dependencies>;
}

export interface Shell {
  readonly home: string;
  readonly calls: readonly Call[];
  readonly targets: readonly Target[];
  /** A command line without the program's name, as words or as a line for a shell. */
  run(line: string | readonly string[], terminal?: TestTerminalOptions): Promise<Outcome>;
}

const emptyPage = { status: 200, body: { data: [], hasMore: false, total: 0 } } as unknown as Answer;

export function createShell(options: ShellOptions = {}): Shell {
  const home = newDirectory();
  const calls: Call[] = [];
  const targets: Target[] = [];
  const newId = countedIds();
  const billing = {
    call: async (name: string, input: CallInput = {}) => {
      calls.push({ name, input });
      return { ...emptyPage, ...(await options.reply?.({ name, input })) };
    },
  } as unknown as Billing;
  return {
    home,
    calls,
    targets,
    async run(line, terminalOptions = {}) {
      const terminal = testTerminal(terminalOptions);
      const dependencies: Dependencies = {
        terminal,
        env: options.env ?? {},
        version: '9.9.9',
        newId,
        leaveInterrupts: () => undefined,
        atInterrupt: () => undefined,
        openKeyring: () => Promise.reject(new Error('this shell has no keyring')),
        operator: () => 'ada',
        machine: { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() },
        directories: () => Promise.resolve({ config: join(home, 'config'), data: join(home, 'data') }),
        openBilling: (target) => {
          targets.push(target);
          return Promise.resolve({ billing, close: () => Promise.resolve() });
        },
        openEngine: () => Promise.reject(new Error('this shell has no engine')),
        serve: () => Promise.reject(new Error('this shell has no server')),
        openApiDocument: () => Promise.resolve({ openapi: '3.1.0' }),
        openMaintenance: () => Promise.reject(new Error('this shell has no database')),
        watchValues: () => Promise.resolve(undefined),
        checkAddress: () => Promise.resolve(),
        untilStopped: () => Promise.resolve(),
        ...options.dependencies,
      };
      const argv = typeof line === 'string' ? shellWords(line) : line;
      const code = await run(argv, dependencies, () => Promise.resolve(manifest));
      return { code, ...terminal.written, asked: terminal.asked.map(({ message }) => message) };
    },
  };
}

/** The words of a line, by the shell's rules for single quotes and spaces. */
export function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'\\]|\\.|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|\\(.)/g,
      (_match, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
    ),
  );
}

/** The first example of a command that is carried out. */
export function exampleLineOf({ examples }: Pick<CommandSpec, 'examples'>): string {
  return examples.find(({ line }) => !line.endsWith(' --dry-run'))?.line ?? '';
}
