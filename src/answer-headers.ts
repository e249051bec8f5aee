/** What an answer says beside its body, by the names of the headers that carry it; for server and client. */

/** In lower case, as Node gives the headers of an answer. */
export const answerHeaders = {
  /** Version of the service; a client recognises an instance of ours by it (semantics 3). */
  version: 'tallybook-version',
  requestId: 'x-request-id',
  /** The hint of a failure, percent-encoded. */
  hint: 'tallybook-hint',
  /** `true` on a replay, and absent elsewhere (semantics 9). */
  replayed: 'idempotency-replayed',
  /** Members in which a replayed request differs from the first one, separated by commas. */
  mismatches: 'idempotency-mismatch',
  unchangedEvents: 'tallybook-events-unchanged',
  replacedEvents: 'tallybook-events-replaced',
  eventsOutsideContract: 'tallybook-events-outside-contract',
  lateEvents: 'tallybook-events-late',
} as const;
