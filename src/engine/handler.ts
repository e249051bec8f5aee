/** What a handler takes and returns. Every room exports one handler for each operation that it declares. */

import type * as z from 'zod';

import type { AnswerFacts } from '../answer-facts.ts';
import type { Caller } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { Transaction } from '../store/database.ts';
import type { EventStore } from '../store/event-store.ts';
import type { Organization } from '../store/records/organizations.ts';
import type { EngineParts } from './dependencies.ts';
import type { KnownLedgers } from './known-ledgers.ts';
import type { SqlReadings } from './usage-sql.ts';

/** One call: its transaction, its caller, its one instant. */
export interface CallContext {
  readonly tx: Transaction;
  readonly events: EventStore;
  readonly ledgers: KnownLedgers;
  /** What SQL meters read; a handler that asks for more is called again. */
  readonly sqlReadings: SqlReadings;
  readonly caller: Caller;
  readonly organization: Organization;
  /** `organization.id`: the first condition of every query. */
  readonly orgId: string;
  /** Read once, when first asked for; never before the newest `createdAt` of the organization (reliability 4.4). */
  readonly now: Temporal.Instant;
  /** `now` as it stands in rows and on the wire. */
  readonly timestamp: string;
  /** The newest `createdAt` of the organization after this write; undefined in a reading. */
  keptTime?: string | undefined;
  /** The newest `createdAt`, where that is `now` and the real clock is far behind it. */
  readonly aheadOfClock: string | undefined;
  /** The clock of the machine, even where `now` is simulated: for comparing with the clocks of others. */
  readonly machineTime: Temporal.Instant;
  /** A new UUIDv7. */
  readonly newId: () => string;
  /** Unpredictable bytes for secrets. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Hours between an invoice's date and its finalization (semantics 7). */
  readonly finalizationGraceHours: number;
}

/** What a handler answers; the body is not yet checked against the declaration. */
export interface Result<O extends Operation> extends Omit<AnswerFacts, 'followsOpenTry'> {
  readonly body: z.output<O['response']>;
  /**
   * What a reading found worth recording, run in a write of its own after the answer was built. It may be lost (the
   * database may be read-only), so only what the next reading would find again belongs here.
   */
  readonly followUp?: (context: CallContext) => Promise<void>;
}

/** Runs inside the transaction of its call; refuses by throwing a BillingError. */
export type Handler<O extends Operation> = (context: CallContext, input: ParsedInput<O>) => Promise<Result<O>>;

/** The handlers of a room: one for each of its declarations, or it does not compile. */
export type HandlersOf<Declarations extends readonly Operation[]> = {
  readonly [O in Declarations[number] as O['name']]: Handler<O>;
};

/** An operation on the whole database, which begins its own transactions, one after another. */
export type Undertaking<O extends Operation> = (
  dependencies: EngineParts,
  caller: Caller,
  input: ParsedInput<O>,
) => Promise<Result<O>>;

/** Like `HandlersOf`, for a room of undertakings. */
export type UndertakingsOf<Declarations extends readonly Operation[]> = {
  readonly [O in Declarations[number] as O['name']]: Undertaking<O>;
};
