/** Private certificate authorities, which are trusted in addition to the system's. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { BillingError } from '../errors.ts';

/** The PEM text of a file. Throws a usage error if the file cannot be read or holds no certificate. */
export function readAuthorities(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    void new X509Certificate(pem);
    return pem;
  } catch (cause) {
    throw new BillingError('usage', `${path} has no certificate that can be read`, {
      cause,
      hint: 'give a PEM file with --ca-file, TALLY_CA_FILE or in the profile',
    });
  }
}
