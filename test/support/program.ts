/** The real program in processes of its own, with a home that holds nothing. */

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { inject } from 'vitest';

import { askFor } from './on-demand.ts';

/** Path of the program, as it is installed. */
export const launcher = await bundled();

async function bundled(): Promise<string> {
  const answer = await askFor<{ readonly launcher: string }>(inject('bundle'));
  if ('reason' in answer) throw new Error(`the program cannot be bundled: ${answer.reason}`);
  return answer.launcher;
}

export interface ProgramOptions {
  /** Where it finds settings and data; nothing of the person's own is read. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Hold the superuser, too, to the modes of files. */
  readonly isOrdinary?: boolean;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly pid: number;
  readonly url: string;
  /** Resolves with what it wrote on standard error. */
  readonly stop: () => Promise<string>;
}

/** Runs a command to its end. */
export async function runProgram(words: readonly string[], options: ProgramOptions): Promise<Outcome> {
  const child = start(words, options);
  // A command that ends without reading its input closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Starts `tally serve` on any free port; resolves when it is ready, throws with its words when it ends instead. */
export async function serveProgram(words: readonly string[], options: ProgramOptions): Promise<Serving> {
  const usual = { '--port': '0', '--rate-limit': '0', '--bill-every': '0' };
  const flags = Object.entries(usual).filter(([flag]) => !words.includes(flag));
  const child = start(['serve', ...flags.flat(), ...words], options);
  const ended = once(child, 'close');
  const errors = text(child.stderr);
  const line = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), ended]);
  const url = /listening on (\S+)/.exec(String(line[0]))?.[1];
  if (url === undefined) throw new Error(`serve ended: ${await errors}`);
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      return await errors;
    },
  };
}

function start(words: readonly string[], options: ProgramOptions): ChildProcessWithoutNullStreams {
  const { home, environment } = options;
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^TALLY_|^NODE_|^VITEST|COLOR/.test(name)),
  );
  const env = {
    ...inherited,
    TALLY_CONFIG_DIR: join(home, 'config'),
    TALLY_DATA_DIR: join(home, 'data'),
    ...environment,
  };
  const program = [process.execPath, launcher, ...words];
  const [command = '', ...rest] = options.isOrdinary === true ? asOrdinary(program) : program;
  return spawn(command, rest, { env });
}

/** The superuser reads and writes whatever the mode says, unless the rights to do so are given up. */
function asOrdinary(program: readonly string[]): readonly string[] {
  if (process.geteuid?.() !== 0) return program;
  const rights = '-dac_override,-dac_read_search';
  return ['setpriv', '--bounding-set', rights, '--inh-caps', rights, ...program];
}
