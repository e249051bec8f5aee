/** A backup that is refused, of whichever database. */

import { BillingError } from '../errors.ts';

/** What a backup is refused with that is not what it was; `reason` is a sentence without its end. */
export function damagedBackup(path: string, reason: string): BillingError {
  return new BillingError('checkFailed', `the backup ${path} is damaged: ${reason}; nothing was restored`, {
    hint: 'use another backup, or copy this one again from where it was kept',
  });
}
