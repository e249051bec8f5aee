/** Authorities of one's own, which are trusted beside those of the system. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { BillingError } from '../errors.ts';

/** The PEM of a file. Throws a usage error for one that cannot be read or holds no certificate. */
export function readAuthorities(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    void new X509Certificate(pem);
    return pem;
  } catch (cause) {
    throw new BillingError('usage', `${path} holds no certificate that can be read`, {
      cause,
      hint: 'give a PEM file with --ca-file, TALLY_CA_FILE or in the profile',
    });
  }
}
