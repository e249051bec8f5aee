/**
 * The program as it is installed, for the tests that start it hundreds of times: the sources of the checkout take ten times as
 * long to load as the bundle that is made of them.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { TestProject } from 'vitest/node';

import { makeOnDemand } from './on-demand.ts';
import { root } from './sources.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the program. */
    bundle: string;
  }
}

/** Gives what ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, end } = await makeOnDemand({
    make: bundle,
    tell: (folder) => ({ launcher: join(folder, 'bin/tally.js') }),
    end: async (folder) => await Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  });
  project.provide('bundle', url);
  return end;
}

async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-bundle-'));
  await promisify(execFile)(process.execPath, [join(root, 'tools/build.ts'), join(folder, 'dist')]);
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  return folder;
}
