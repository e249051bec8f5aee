/** Why there is no TLS connection, and what a person can do about it. */

export interface TlsFailure {
  /** To follow "HOST: ". */
  readonly reason: string;
  readonly hint: string;
}

const unknownAuthority = {
  words: 'it is not signed by an authority that this machine trusts',
  hint: 'if an authority of your own signed it, give its certificate with --ca-file FILE or TALLY_CA_FILE; the check cannot be turned off',
};
const otherHost = {
  words: 'it is for another host',
  hint: 'the base URL must use a host name that is in the certificate',
};
const otherTime = {
  words: 'it has expired, or is not valid yet',
  hint: 'check the clock of this machine; if it is right, the service needs a new certificate',
};

const knownRefusals: Readonly<Record<string, { readonly words: string; readonly hint: string }>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: otherHost,
  CERT_HAS_EXPIRED: otherTime,
  CERT_NOT_YET_VALID: otherTime,
};

/** The meaning of a connection's error code; undefined if it has nothing to do with TLS. */
export function tlsFailure(code: string): TlsFailure | undefined {
  const known = knownRefusals[code];
  if (known !== undefined) return { reason: `its certificate is refused: ${known.words} (${code})`, hint: known.hint };
  if (/CERT|^ERR_TLS|UNABLE_TO_VERIFY|SELF_SIGNED/.test(code)) {
    return {
      reason: `its certificate is refused (${code})`,
      hint: 'the service needs another certificate',
    };
  }
  if (!/^ERR_SSL|^EPROTO$/.test(code)) return undefined;
  return { reason: `it does not speak TLS 1.2 or later (${code})`, hint: 'check the port of the base URL' };
}
