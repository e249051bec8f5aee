// Verifies a webhook before it is believed, with nothing but Node. It follows https://www.standardwebhooks.com, whose libraries for
// other languages do the same. A webhook may come more than once, and in any order: remember the `webhook-id` of those handled.

import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/**
 * Whether a request was sent by whom the secret was given to, within five minutes of now (in milliseconds since 1970). `body` is
 * the text as it came, not parsed and written again; `headers` have names in lower case; `secret` begins with `whsec_`, as it was
 * shown when the endpoint was registered.
 */
export function isVerified({ headers, body, secret, now = Date.now() }) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const isRecent = /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds;
  if (!isRecent) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  // After a rotation both secrets sign for a while, each with a signature of its own.
  const signatures = (headers['webhook-signature'] ?? '').split(' ');
  return signatures.some((signature) => isSame(signature, expected));
}

/** Takes as long for a signature whose first byte is wrong as for one whose last byte is. */
function isSame(signature, expected) {
  const given = Buffer.from(/^v1,(.+)$/.exec(signature)?.[1] ?? '', 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
