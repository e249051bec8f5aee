/** Removes keys and secrets from everything said about a failure (security 2, SEC-3). */

/** Forms of secrets. `sign` is in the lower-case text of each; looking for it is faster than making the expression. */
const secretForms = [
  { sign: '_live_', form: /[A-Za-z0-9]{1,16}_live_[0-9a-f]{8,}/g },
  { sign: 'bearer ', form: /(?<=Bearer )[^\s"']+/gi },
  { sign: 'whsec_', form: /whsec_[\w+/=-]+/g },
  // Database URLs, however odd the rest of the URL is. A web URL may have a port there, and an @ further on.
  { sign: '://', form: /(?<=(?<!https?):\/\/[^\s/:@]*:)[^\s"']{1,256}(?=@)/gi },
  { sign: 'password=', form: /(?<=[?&][a-z]*password=)(?!\*{3})[^\s&#"']+/gi },
  { sign: '://', form: /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g },
] as const;

/** The text without `secrets`, without their base64 and URL forms, and without anything that has the form of a secret. */
export function redact(text: string, secrets: Iterable<string> = []): string {
  const unnamed = withoutSecrets(text, secrets);
  const small = unnamed.toLowerCase();
  const forms = secretForms.filter(({ sign }) => small.includes(sign));
  return forms.reduce((rest, { form }) => rest.replaceAll(form, mask), unnamed);
}

/** The same, but leaves unknown secrets: some texts rightly show one, such as the answer that creates a key. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const known = [...secrets].filter((secret) => secret.length >= 8);
  const forms = known.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
    ...base64Cores(secret),
  ]);
  return forms.reduce((rest, form) => rest.replaceAll(form, mask), text);
}

/**
 * What a secret inside a longer text such as `Bearer KEY` becomes in base64, in either alphabet: the characters that encode
 * it alone, for each of the three alignments of its bytes to groups of three.
 */
export function base64Cores(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(start, end));
  });
}

/** `tally_live_…9f3a`: enough to tell keys apart. */
export function mask(secret: string): string {
  const prefix = /^[A-Za-z0-9]{1,16}_live_(?=[0-9a-f]{48}$)/.exec(secret)?.[0];
  return prefix === undefined ? '…' : `${prefix}…${secret.slice(-4)}`;
}
