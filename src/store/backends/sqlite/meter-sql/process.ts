/** The process that reads SQL meters, from outside: started with nothing, watched, and killed when it takes too much. */

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
  /** Sends all requests; the last one is answered. Rejects with the reason if the process ends first. */
  ask(requests: Iterable<ChildRequest>): Promise<ChildAnswer>;
  /** Kills the process when its time is over or it grows too large, unless the returned function was called before. */
  limit(bounds: { readonly milliseconds: number; readonly residentMebibytes: number }): () => void;
  stop(): void;
}

const memoryCheckMilliseconds = 20;

/**
 * The process can reach no environment of ours, no file and no network, and can start no process; its one extra thread is its
 * own watchdog. All of this guards against a query that escapes from SQLite; inside SQLite the rules hold it.
 */
const confinement = [
  '--permission',
  '--allow-worker',
  '--no-warnings',
  `--max-old-space-size=${limits.meterSqlHeapMebibytes}`,
];

/** The program of the process, if it was started by the executable's own arguments instead of a text; see main.ts. */
export function serveMeterSqlIn(host: NodeJS.Process): void {
  serveMeterSql(host, childRules);
}

/** `ownWords` make this executable call `serveMeterSqlIn`, if it is one that takes no program as text. */
export function startMeterSqlProcess(ownWords?: readonly string[]): MeterSqlProcess {
  const { words, env } = isSea() ? ownProgram(ownWords) : programAsText();
  const child = spawn(process.execPath, words, {
    env,
    // A directory that surely exists; ours may have been removed.
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
  child.once('exit', () => end(new MeterSqlError('the process that read it crashed')));
  // Node then gives no pipes, and reports the error only later.
  const { stdin }: { readonly stdin?: unknown } = child;
  if (stdin === undefined) throw notStarted(new Error('too many open files in this program'));
  // What is written to an ended process is lost; only its end matters.
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
  const text = `(${serveMeterSql.toString()})(process, ${JSON.stringify(childRules)})`;
  return { words: [...confinement, '--input-type=commonjs', '--eval', text], env: {} };
}

/**
 * A self-contained executable takes Node's options from the environment alone. The confinement is the same, except that the
 * process can read its own executable.
 */
function ownProgram(words: readonly string[] | undefined): Program {
  if (words === undefined) throw new UnavailableError('SQL meters cannot be read by this executable');
  return { words, env: { NODE_OPTIONS: confinement.join(' ') } };
}

function notStarted(cause: Error): UnavailableError {
  return new UnavailableError(`no process could be started to read an SQL meter: ${cause.message}`, { cause });
}

/** 0 if the system does not tell: then the deadline is the only protection. */
function residentMebibytesOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
