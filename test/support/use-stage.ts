/** A stage for each test of a file, or one for all of them. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, onTestFinished } from 'vitest';

import { createStage } from './stage.ts';
import type { ServedStage } from './stage.ts';

/** That of the running test. */
export let stage: ServedStage;

/** Opens one for the running test; in a `beforeEach`, for each. */
export async function openStage(...how: Parameters<typeof createStage>): Promise<void> {
  stage = await createStage(...how);
  onTestFinished(stage.close);
}

/** Call at the top of a test file or of a `describe`, whose tests share it. */
export function useStage(...how: Parameters<typeof createStage>): void {
  beforeAll(async () => {
    stage = await createStage(...how);
    return stage.close;
  });
}

/** Runs a command that has to succeed without a word; gives the id that it prints, or one a line. */
export async function made(...words: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await stage.tally([...words, '-o', 'name', '--quiet']);
  if (exitCode !== 0 || stderr !== '') throw new Error(`${words.join(' ')} ended with ${exitCode}: ${stderr}`);
  return stdout.trim();
}

/** The same for a command line whose words have no spaces. */
export async function named(line: string): Promise<string> {
  return await made(...line.split(' '));
}

/** Saves a file in the directory of the stage; gives its path. */
export function saved(name: string, content: string | Uint8Array): string {
  const path = join(stage.directory, name);
  writeFileSync(path, content);
  return path;
}
