/** A server that a whole run of tests shares, or a test that is skipped in its place. */

import { test } from 'vitest';

import { askFor } from './on-demand.ts';

/** The port of the server; undefined where it cannot run here: then the file that asks has one skipped test, which says why. */
export async function portOrSkip(server: string, door: string): Promise<number | undefined> {
  const answer = await askFor<{ readonly port: number }>(door);
  if (!('reason' in answer)) return answer.port;
  process.stderr.write(`${server} is not tested: ${answer.reason}\n`);
  // oxlint-disable-next-line vitest/no-disabled-tests -- so that a report says what was not tested, and why
  test.skip(`${server} cannot run on this machine: ${answer.reason}`, () => undefined);
  return undefined;
}
