/** A headless browser for the pages that we make, where the machine has one; its profile is new and empty each time. */

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { BrowserContext } from 'playwright-core';

import { newDirectory } from './temporary-files.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

/** Path of a Chromium: `CHROME_PATH` where it is set, else the first one in a usual place; undefined where there is none. */
export function findBrowser(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const folders = ['/usr/bin', ...(env['PATH'] ?? '').split(delimiter)];
  const usual = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return (env['CHROME_PATH'] ? [env['CHROME_PATH']] : usual).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface TestBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

export async function openBrowser(executablePath: string): Promise<TestBrowser> {
  const { chromium } = await import('playwright-core');
  const profile = newDirectory();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    context,
    async close() {
      await context.close();
    },
  };
}
