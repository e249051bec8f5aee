/** What a command found or did, and cannot print. */

import { BillingError } from '../../errors.ts';

/** The answer is there and cannot be printed as it was asked for: what was to be changed is changed by then. */
export class UnprintedError extends BillingError {}
