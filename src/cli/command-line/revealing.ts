/** Settings of Node that would show keys to others, whatever the program itself does (security 2, SEC-7). */

import { BillingError } from '../../errors.ts';

/** The flag that permits such settings. */
export const allowInspect = '--allow-inspect';

// A debugger's port is open to everybody on this machine. The others write a file with the contents of memory, or with what
// decrypts the traffic. Node accepts an underscore for a hyphen.
const revealing =
  /(?:^|[\s"'])(--(?:inspect(?:[-_](?:brk|wait|port))?|debug[-_]port|heapsnapshot[-_]\S+?|heap[-_]prof\S*?|tls[-_]keylog))(?=[\s"'=]|$)/;

// Node's section `net` prints each connection with what is to be sent on it, and `https` the headers of each request; a star may
// match any section.
const printingConnections = /(?:^|,)(?:net|https)(?:,|$)|\*/i;

/** Throws a usage error that names the setting. `nodeFlags` are those that Node itself was started with. */
export function refuseRevealing(env: Readonly<Record<string, string | undefined>>, nodeFlags: readonly string[]): void {
  const { NODE_OPTIONS: options, NODE_DEBUG: sections } = env;
  const told = [options, ...nodeFlags].join(' ');
  // Most people give Node no flags, and an expression is only compiled when first used.
  const flag = told === '' ? undefined : revealing.exec(told)?.[1];
  if (flag !== undefined) throw refusal(`start with ${flag}`, 'NODE_OPTIONS');
  if (sections !== undefined && printingConnections.test(sections)) {
    throw refusal('print what goes over connections', 'NODE_DEBUG');
  }
}

function refusal(what: string, variable: string): BillingError {
  return new BillingError('usage', `Node is told to ${what}, which would let others read keys: nothing was done`, {
    hint: `unset ${variable}, or give ${allowInspect}`,
  });
}
