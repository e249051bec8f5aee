/** What an API key looks like (interface 5.2), for the code that makes keys, checks them and sends them. */

/** How many bytes the secret has; a key holds them in hexadecimal. */
export const apiKeySecretBytes = 24;

const prefixText = '[A-Za-z0-9]{1,16}';
const secretDigits = 2 * apiKeySecretBytes;

/** The form of the prefix of an organization. */
export const apiKeyPrefixForm = new RegExp(`^${prefixText}$`);

/** The form of a key of any organization. */
export const apiKeyForm = new RegExp(`^${prefixText}_live_[0-9a-f]{${secretDigits}}$`);

/** The form in words, to follow "an API key has" or the like. */
export const apiKeyFormWords = `<prefix>_live_ and ${secretDigits} hexadecimal digits`;

/** The key of an organization with this prefix. */
export function apiKeyOf(prefix: string, secret: Uint8Array): string {
  return `${prefix}_live_${Buffer.from(secret).toString('hex')}`;
}
