/** From the bytes of a request to the input of an operation. */

import type { IncomingMessage } from 'node:http';

import { BadRequestError, BillingError } from '../errors.ts';
import { bulkBounds, parseExactJson, requestBounds } from '../exact-json.ts';
import { bytesOf } from '../gathered-bytes.ts';
import { isVersion } from '../operations/operation.ts';
import type { Operation } from '../operations/operation.ts';

const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Refuses a body that is not plain JSON in UTF-8, before any byte of it is read (security 5, SEC-36). */
export function checkBodyHeaders(message: IncomingMessage): void {
  if (!hasBody(message)) return;
  const encoding = message.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new BillingError('unsupportedMediaType', 'the body must be sent without a Content-Encoding');
  }
  // Node decodes chunks, and leaves any coding beneath them as it is.
  if ((message.headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    throw new BillingError(
      'unsupportedMediaType',
      'the body must be sent without a Transfer-Encoding other than chunked',
    );
  }
  if (!jsonType.test(message.headers['content-type'] ?? '')) {
    throw new BillingError('unsupportedMediaType', 'the body must have the Content-Type application/json, in UTF-8');
  }
}

function hasBody(message: IncomingMessage): boolean {
  const length = message.headers['content-length'];
  return message.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/**
 * The bytes of a body, however it was cut into chunks: Fastify's own way keeps an object for each. Throws BillingError
 * `payloadTooLarge` as soon as there are more than `most`, and BadRequestError if they end early.
 */
export async function readBody(message: IncomingMessage, most: number): Promise<Uint8Array> {
  const announced = Number(message.headers['content-length'] ?? 0);
  const bytes = announced > most ? undefined : await bytesOf(message, most).catch(refuseCutOff);
  if (bytes === undefined) throw new BillingError('payloadTooLarge', `the body is larger than ${most} bytes`);
  return bytes;
}

function refuseCutOff(cause: unknown): never {
  throw new BadRequestError('the body did not arrive completely', { cause });
}

/** The JSON value of a body; undefined if it is empty. Throws BadRequestError. */
export function parseBody(bytes: Uint8Array | undefined, operation: Operation): unknown {
  if (bytes === undefined || bytes.length === 0) return undefined;
  return parseExactJson(textOf(bytes), operation.recordsEvents === true ? bulkBounds : requestBounds);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new BadRequestError('the body is not valid UTF-8', { cause: error });
  }
}

/** The version in an If-Match header, without quotes; undefined if there is no header or any version will do. */
export function parseIfMatch(header: string | undefined): string | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const version = /^"(.*)"$/.exec(header.trim())?.[1];
  if (version === undefined || !isVersion(version))
    throw new BadRequestError('If-Match must be one ETag as it was given, in double quotes');
  return version;
}
