/** The process that reads SQL meters, seen from outside: started with nothing, watched, and killed when it takes too much. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { isSea } from 'node:sea';

import { UnavailableError } from '../../../../errors.ts';
import { limits } from '../../../../limits.ts';
import { MeterSqlError } from '../../../meter-sql.ts';
import { type ChildAnswer, type ChildRequest, serveMeterSql } from './child.ts';
import { childRules } from './rules.ts';

export interface MeterSqlProcess {
  readonly isRunning: boolean;
  /** Sends all requests, the last of which is answered; rejects with the reason when the process ends before. */
  ask(requests: Iterable<ChildRequest>): Promise<ChildAnswer>;
  /** Kills the process when the time is over or it grows too large, unless the function that it gives was called. */
  limit(bounds: { readonly milliseconds: number; readonly residentMebibytes: number }): () => void;
  stop(): void;
}

const memoryCheckMilliseconds = 20;
const rules = childRules({ sqlLength: limits.sqlCharacters, maximum: limits.meterSqlValueMaximum });

/**
 * No environment of ours, no file, no network and no process of its own are within its reach; the one thread more that it may
 * have is its own watchman. All of this is in case a query got out of SQLite: what holds it inside are the rules.
 */
const confinement = [
  '--permission',
  '--allow-worker',
  '--no-warnings',
  `--max-old-space-size=${limits.meterSqlHeapMebibytes}`,
];

/** What the process runs, where it was started by words of the program's own instead of as a text; see main.ts. */
export function serveMeterSqlIn(host: NodeJS.Process): void {
  serveMeterSql(host, rules);
}

/** `ownWords` have this executable call `serveMeterSqlIn`, where it is one that takes no program as text. */
export function startMeterSqlProcess(ownWords?: readonly string[]): MeterSqlProcess {
  const { words, env } = isSea() ? ownProgram(ownWords) : programAsText();
  const child = spawn(process.execPath, words, {
    env,
    // A directory that is there; ours may have been removed.
    cwd: dirname(process.execPath),
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  const ended = new AbortController();
  const { signal } = ended;
  const end = (reason: Error) => {
    ended.abort(reason);
    child.kill('SIGKILL');
  };
  child.once('error', (cause) => end(notStarted(cause)));
  child.once('exit', () => end(new MeterSqlError('the process that read it broke down')));
  // Node gives no pipes then, and tells the error of it later.
  const { stdin }: { readonly stdin?: unknown } = child;
  if (stdin === undefined) throw notStarted(new Error('this one may have no more files open'));
  // What is written to a process that ended is lost; its end is what counts.
  child.stdin.on('error', () => undefined);
  const answers = createInterface({ input: child.stdout });

  async function send(requests: Iterable<ChildRequest>): Promise<void> {
    for (const request of requests) {
      if (!child.stdin.write(`${JSON.stringify(request)}\n`)) await once(child.stdin, 'drain', { signal });
    }
  }

  return {
    get isRunning() {
      return !signal.aborted;
    },
    ask: async (requests) => {
      try {
        signal.throwIfAborted();
        const [[line]] = await Promise.all([once(answers, 'line', { signal }), send(requests)]);
        return JSON.parse(String(line)) as ChildAnswer;
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
    limit: ({ milliseconds, residentMebibytes }) => {
      const timer = setTimeout(
        () => end(new MeterSqlError(`it ran longer than ${milliseconds / 1000} s`)),
        milliseconds,
      );
      const watch = setInterval(() => {
        if (residentMebibytesOf(child.pid) <= residentMebibytes) return;
        end(new MeterSqlError(`it took more than ${residentMebibytes} MiB of memory`));
      }, memoryCheckMilliseconds);
      return () => {
        clearTimeout(timer);
        clearInterval(watch);
      };
    },
    stop: () => end(new MeterSqlError('it was stopped before it ended')),
  };
}

interface Program {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function programAsText(): Program {
  const text = `(${serveMeterSql.toString()})(process, ${JSON.stringify(rules)})`;
  return { words: [...confinement, '--input-type=commonjs', '--eval', text], env: {} };
}

/**
 * A self-contained executable takes Node's words from the environment alone. The confinement is the same but for one
 * thing: the process can read the executable that it is.
 */
function ownProgram(words: readonly string[] | undefined): Program {
  if (words === undefined) throw new UnavailableError('SQL meters cannot be read inside of this executable');
  return { words, env: { NODE_OPTIONS: confinement.join(' ') } };
}

function notStarted(cause: Error): UnavailableError {
  return new UnavailableError(`no process could be started to read an SQL meter: ${cause.message}`, { cause });
}

/** 0 where the system does not tell: there the deadline alone protects. */
function residentMebibytesOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
