/** Takes keys and secrets out of whatever is said about a failure (security 2, SEC-3). */

/** With what every text that has one of the form holds in small letters: most hold none, and making a form takes longer. */
const secretForms = [
  { sign: '_live_', form: /[A-Za-z0-9]{1,16}_live_[0-9a-f]{8,}/g },
  { sign: 'bearer ', form: /(?<=Bearer )[^\s"']+/gi },
  { sign: 'whsec_', form: /whsec_[\w+/=-]+/g },
  // Of databases however odd the rest of the URL is; one of the web may have a port there, and an @ further on.
  { sign: '://', form: /(?<=(?<!https?):\/\/[^\s/:@]*:)[^\s"']{1,256}(?=@)/gi },
  { sign: 'password=', form: /(?<=[?&][a-z]*password=)(?!\*{3})[^\s&#"']+/gi },
  { sign: '://', form: /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g },
] as const;

/** The text without `secrets`, without their base64 and URL forms, and without anything of the form of a secret. */
export function redact(text: string, secrets: Iterable<string> = []): string {
  const unnamed = withoutSecrets(text, secrets);
  const small = unnamed.toLowerCase();
  const forms = secretForms.filter(({ sign }) => small.includes(sign));
  return forms.reduce((rest, { form }) => rest.replaceAll(form, mask), unnamed);
}

/** The same for what may rightly show a secret that is not known yet, such as the answer that makes a key. */
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
 * What base64, of either alphabet, makes of the secret inside a longer text, such as `Bearer KEY`: the characters that
 * stand for it alone, for each of the three ways in which its bytes can fall into groups of three.
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
