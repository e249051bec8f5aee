/** What somebody told Node that would show keys to others, whatever the program itself takes care of (security 2, SEC-7). */

import { BillingError } from '../../errors.ts';

/** The flag that permits it. */
export const allowInspect = '--allow-inspect';

// A debugger's port is open to everybody on this machine, the others write a file: what is in memory, or how to read what
// was sent. Node takes an underscore for a hyphen.
const revealing =
  /(?:^|[\s"'])(--(?:inspect(?:[-_](?:brk|wait|port))?|debug[-_]port|heapsnapshot[-_]\S+?|heap[-_]prof\S*?|tls[-_]keylog))(?=[\s"'=]|$)/;

// Section `net` of Node prints each connection with what is to be sent on it; with a star any section may be meant.
const printingConnections = /(?:^|,)net(?:,|$)|\*/i;

/** Throws a usage error that names it. `nodeFlags` are those that Node itself was started with. */
export function refuseRevealing(env: Readonly<Record<string, string | undefined>>, nodeFlags: readonly string[]): void {
  const { NODE_OPTIONS: options, NODE_DEBUG: sections } = env;
  const told = [options, ...nodeFlags].join(' ');
  // Most people tell Node nothing, and a pattern is made when it is first asked.
  const flag = told === '' ? undefined : revealing.exec(told)?.[1];
  if (flag !== undefined) throw refusal(`start with ${flag}`, 'NODE_OPTIONS');
  if (sections !== undefined && printingConnections.test(sections)) {
    throw refusal('print what goes over connections', 'NODE_DEBUG');
  }
}

function refusal(what: string, variable: string): BillingError {
  return new BillingError('usage', `Node is told to ${what}, by which others could read keys: nothing was done`, {
    hint: `unset ${variable}, or give ${allowInspect}`,
  });
}
