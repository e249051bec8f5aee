/** Processes of their own, on the sources as they stand. */

import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Compiled sources, kept for the next child: reading them anew takes half of what a short one does. */
const compiled = join(import.meta.dirname, '../../node_modules/.cache/tallybook-tests');

export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Everything that it prints; resolves when it ends. */
  readonly output: Promise<string>;
  readonly errors: Promise<string>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Runs a script of this folder. */
export function startChild(
  script: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Child {
  const path = join(import.meta.dirname, script);
  const child = spawn(process.execPath, [path, ...words], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...environment },
  });
  const ended: Child['ended'] = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return { process: child, output: text(child.stdout), errors: text(child.stderr), ended };
}

/** What a child printed that ended well; throws with its own words otherwise. */
export async function outputOf(child: Child): Promise<string> {
  const [output, errors, { code }] = await Promise.all([child.output, child.errors, child.ended]);
  if (code !== 0 || errors !== '') throw new Error(`the child ended with ${code}: ${errors}`);
  return output;
}
