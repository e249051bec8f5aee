/** A key or a secret that flags point at. It is never a flag itself, where others could read it (security 2, SEC-2). */

import { BillingError } from '../../errors.ts';
import { readTextFile } from '../files/files.ts';
import type { Session } from './session.ts';

/** The text that `--key-file` or `--key-stdin` names; undefined if neither is given. Throws a usage error for both. */
export async function secretGiven(
  noun: 'key' | 'secret',
  { file, stdin }: { readonly file: string | undefined; readonly stdin: true | undefined },
  { terminal }: Session,
): Promise<string | undefined> {
  if (file !== undefined && stdin === true) {
    throw new BillingError('usage', `--${noun}-file and --${noun}-stdin both say where the ${noun} is`, {
      hint: 'give one of them',
    });
  }
  const path = stdin === true ? '-' : file;
  return path === undefined ? undefined : await readTextFile(path, terminal);
}
