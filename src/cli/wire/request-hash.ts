/** How the journal identifies a request: the same text for the same request, however it is sent. */

import { canonicalJson } from '../../canonical-json.ts';
import { sha256Of } from '../../digest.ts';
import type { CallInput } from '../../operations/operation.ts';

const known = new WeakMap<CallInput, string>();

/** The input, whose `hash` is already known: `requestHash` calculated it in the thread that read the file. */
export function withKnownHash(input: CallInput, hash: string): CallInput {
  known.set(input, hash);
  return input;
}

/** SHA-256 of a request: the same for the same operation, ids and body, whatever its external id. */
export function requestHash(operation: string, input: CallInput): string {
  const { params, query, body, ifMatch } = input;
  const found = known.get(input);
  if (found !== undefined) return found;
  const { externalId: _externalId, ...rest } = (body ?? {}) as Record<string, unknown>;
  const request = {
    operation,
    params: unlessEmpty(params),
    query: unlessEmpty(query),
    ifMatch,
    body: unlessEmpty(rest),
  };
  return sha256Of(canonicalJson(request));
}

/** A request by method and path has each of its parts, even an empty one. */
function unlessEmpty<T extends object>(part: T | undefined): T | undefined {
  return Object.keys(part ?? {}).length === 0 ? undefined : part;
}
