/** Takes keys and secrets out of whatever is said about a failure (security 2, SEC-3). */

/** The form of a key (interface 5.2); checked before a request, since a malformed header would show its value. */
export const keyForm = /^[A-Za-z0-9]{1,16}_live_[0-9a-f]{48}$/;

const secretForms = [/[A-Za-z0-9]{1,16}_live_[0-9a-f]{8,}/g, /(?<=Bearer )[^\s"']+/gi, /whsec_[\w+/=-]+/g] as const;

/** The text without `secrets`, without their base64 and URL forms, and without anything of the form of a secret. */
export function redact(text: string, secrets: Iterable<string> = []): string {
  const known = [...secrets].filter((secret) => secret.length >= 8);
  const forms = known.flatMap((secret) => [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)]);
  const withoutKnown = forms.reduce((rest, form) => rest.replaceAll(form, mask(form)), text);
  return secretForms.reduce((rest, form) => rest.replaceAll(form, mask), withoutKnown);
}

/** `tally_live_…9f3a`: enough to tell keys apart. */
export function mask(secret: string): string {
  const prefix = /^[A-Za-z0-9]{1,16}_live_(?=[0-9a-f]{48}$)/.exec(secret)?.[0];
  return prefix === undefined ? '…' : `${prefix}…${secret.slice(-4)}`;
}
