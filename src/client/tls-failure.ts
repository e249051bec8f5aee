/** Why there is no TLS connection, and what a person can do about it. */

export interface TlsFailure {
  /** To follow "HOST: ". */
  readonly reason: string;
  readonly hint: string;
}

const unknownAuthority = {
  words: 'nobody whom this machine trusts has signed it',
  hint: 'if that is an authority of your own, name its certificate: --ca-file FILE, or TALLY_CA_FILE; the check cannot be turned off',
};
const otherHost = {
  words: 'it is for another host',
  hint: 'the base URL has to name the service as its certificate does',
};
const otherTime = {
  words: 'it is not valid now',
  hint: 'the certificate of the service has to be renewed, if the clock of this machine is right',
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
      hint: 'the certificate of the service has to be replaced',
    };
  }
  if (!/^ERR_SSL|^EPROTO$/.test(code)) return undefined;
  return { reason: `it does not speak TLS 1.2 or later (${code})`, hint: 'check the port of the base URL' };
}
