/** What an answer tells beside its body, and the headers that carry it: for the engine, server, client and library. */

/** What became of recorded events that were not new. */
export interface KnownEvents {
  /** Recorded before with the same content. */
  readonly unchanged: number;
  /** Took the place of an earlier version, under the same idempotency key. */
  readonly replaced: number;
}

export interface AnswerFacts {
  /** Version of what was read or written, to be given as `ifMatch`; where the operation is versioned. */
  readonly etag?: string;
  /** An earlier request with the same externalId made this entry, or the invoice was so already: nothing was done now. */
  readonly isReplay?: boolean;
  /** A try of this write before the one that was answered may have been carried out; what `isReplay` found may be its work. */
  readonly followsOpenTry?: true;
  /** Members in which a replayed request differs from the first one. */
  readonly mismatches?: readonly string[];
  /** Present where events were recorded; a service that is not ours does not tell. */
  readonly knownEvents?: KnownEvents;
  /** How many of them name a contract that does not serve at their time, so that nobody is billed; absent where none does. */
  readonly outsideContractCount?: number;
  /** How many came after their period was finalized, so that nobody is billed; absent where none did. */
  readonly lateCount?: number;
  /**
   * When the newest row was recorded, where the clock of the machine is far behind that: new rows then get that time, and
   * nothing falls due. Only for writes in this process.
   */
  readonly aheadOfClock?: string;
}

/** Headers that tell of the service and of failures. All names are in lower case, as Node gives the headers of an answer. */
export const serviceHeaders = {
  /** Version of the service; a client recognises an instance of ours by it (semantics 3). */
  version: 'tallybook-version',
  requestId: 'x-request-id',
  /** The hint of a failure, percent-encoded. */
  hint: 'tallybook-hint',
} as const;

/** What goes over the wire: each count of known events has a header of its own. */
type SentFacts = Omit<AnswerFacts, 'knownEvents' | 'followsOpenTry' | 'aheadOfClock'> & Partial<KnownEvents>;

interface FactHeader<T> {
  readonly name: string;
  /** For the OpenAPI document. */
  readonly about: string;
  /** Undefined where the header is left out. */
  write(value: T): string | undefined;
  /** Undefined for a text that says nothing. */
  read(text: string): T | undefined;
}

const count = {
  write: String,
  read: (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
};

export const factHeaders: { readonly [F in keyof SentFacts]-?: FactHeader<Required<SentFacts>[F]> } = {
  etag: {
    name: 'etag',
    about: 'Version of the answer.',
    write: (etag) => `"${etag}"`,
    read: (text) => /^(?:W\/)?"(.*)"$/.exec(text)?.[1],
  },
  isReplay: {
    name: 'idempotency-replayed',
    about: 'true where it had been done before and nothing was changed now, and absent from other answers.',
    write: (isReplay) => (isReplay ? 'true' : undefined),
    read: (text) => (text === 'true' ? true : undefined),
  },
  mismatches: {
    name: 'idempotency-mismatch',
    about: 'Members in which this request differs from the earlier one, separated by commas.',
    write: (names) => names.filter((name) => /^[\w.[\]-]{1,100}$/.test(name)).join(',') || undefined,
    read: (text) => text.split(',').map((name) => name.trim()),
  },
  unchanged: {
    name: 'tallybook-events-unchanged',
    about: 'How many events were recorded before just as they are.',
    ...count,
  },
  replaced: {
    name: 'tallybook-events-replaced',
    about: 'How many took the place of an earlier version, under the same key.',
    ...count,
  },
  outsideContractCount: {
    name: 'tallybook-events-outside-contract',
    about: 'How many name a contract that does not cover their time: nobody is billed. Absent when none does.',
    ...count,
  },
  lateCount: {
    name: 'tallybook-events-late',
    about: 'How many came after their period was finalized: nobody is billed. Absent when none did.',
    ...count,
  },
};

const factEntries = Object.entries(factHeaders) as [keyof SentFacts, FactHeader<unknown>][];

/** The headers that carry the facts of an answer. */
export function headersOf(facts: AnswerFacts): Record<string, string> {
  const sent: SentFacts = { ...facts, ...facts.knownEvents };
  const headers: Record<string, string> = {};
  for (const [fact, header] of factEntries) {
    const text = sent[fact] === undefined ? undefined : header.write(sent[fact]);
    if (text !== undefined) headers[header.name] = text;
  }
  return headers;
}

/** The facts that headers carry, as the answer had them. */
export function factsOf(headers: Readonly<Record<string, string | undefined>>): AnswerFacts {
  const sent: Record<string, unknown> = {};
  for (const [fact, header] of factEntries) {
    const text = headers[header.name];
    const value = text === undefined ? undefined : header.read(text);
    if (value !== undefined) sent[fact] = value;
  }
  const { unchanged, replaced, ...facts }: SentFacts = sent;
  return unchanged === undefined || replaced === undefined ? facts : { ...facts, knownEvents: { unchanged, replaced } };
}
