/** What an API key looks like (interface 5.2): for those who make keys, check them and send them. */

/** The bytes of the secret, which the key has in hexadecimal. */
export const apiKeySecretBytes = 24;

/** Of any organization. */
export const apiKeyForm = /^[A-Za-z0-9]{1,16}_live_[0-9a-f]{48}$/;

/** The form in words, to follow "an API key has" or the like. */
export const apiKeyFormWords = '<prefix>_live_ and 48 hexadecimal digits';

/** The key of an organization with this prefix. */
export function apiKeyOf(prefix: string, secret: Uint8Array): string {
  return `${prefix}_live_${Buffer.from(secret).toString('hex')}`;
}
