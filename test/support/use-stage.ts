/** A stage for each test of a file, or one for all of them. */

import { beforeAll, onTestFinished } from 'vitest';

import { createStage, madeOn, savedOn } from './stage.ts';
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

export const made = async (...words: readonly string[]) => await madeOn(stage, ...words);
export const saved = (name: string, content: string) => savedOn(stage, name, content);
