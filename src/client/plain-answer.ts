/** Answers in the plainest form of HTTP, which is what a service on the same machine mostly gives. */

import { limits } from '../limits.ts';

/** Of an answer whose body has a length that is told. */
export interface PlainHead {
  readonly status: number;
  /** Names in lower case; each was there once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the body begins and ends, in bytes from the first one of the answer. */
  readonly start: number;
  readonly end: number;
}

const statusLine = /^HTTP\/1\.1 ([2-5]\d\d) [\t -~]*$/;
const headerLine = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t -~]*?)[\t ]*$/;
/** Headers that say that the body is not simply so many bytes, and answers that have no body. */
const unusualHeaders = ['transfer-encoding', 'upgrade'];
const withoutBody = [204, 304];

/**
 * The head at the beginning of these bytes. Undefined if it is not there as a whole, or not in the plainest form, valid or not:
 * a parser of HTTP has to read such an answer.
 */
export function plainHeadOf(bytes: Buffer): PlainHead | undefined {
  const length = bytes.subarray(0, limits.responseHeaderBytes).indexOf('\r\n\r\n');
  if (length === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, length).split('\r\n');
  const status = Number(statusLine.exec(first)?.[1]);
  const headers = headersOf(lines);
  if (headers === undefined || Number.isNaN(status) || withoutBody.includes(status)) return undefined;
  const bodyLength = headers['content-length'] ?? '';
  if (!/^\d{1,9}$/.test(bodyLength) || Number(bodyLength) > limits.responseBytes) return undefined;
  const start = length + 4;
  return { status, headers, start, end: start + Number(bodyLength) };
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? [];
    const known = name.toLowerCase();
    if (name === '' || headers.has(known) || unusualHeaders.includes(known)) return undefined;
    headers.set(known, value);
  }
  return Object.fromEntries(headers);
}
