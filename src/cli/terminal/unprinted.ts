/** The failure to print what a command found or did. */

import { BillingError } from '../../errors.ts';

/** The answer exists but cannot be printed as asked. Whatever was to be changed has been changed by then. */
export class UnprintedError extends BillingError {}
