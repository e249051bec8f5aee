/** The refusal of a damaged backup, for every kind of database. */

import { BillingError } from '../errors.ts';

/** The error for a backup that is not what it was; `reason` is a clause without a full stop. */
export function damagedBackup(path: string, reason: string): BillingError {
  return new BillingError('checkFailed', `the backup ${path} is damaged: ${reason}; nothing was restored`, {
    hint: 'use another backup, or copy this one again from where it is kept',
  });
}
