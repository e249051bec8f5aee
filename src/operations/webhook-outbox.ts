/** What stands between the engine, which keeps the events to be sent, and the sender, which sends them. */

/** What an attempt delivers, where it goes, and whose it is. */
export interface SentTo {
  readonly organizationId: string;
  readonly deliveryId: string;
  readonly endpointId: string;
}

/** A delivery that the holder of the lease is to attempt now. */
export interface DueDelivery extends SentTo {
  /** `webhook-id`: the same for every attempt and every endpoint. */
  readonly eventId: string;
  readonly url: string;
  /** Whether the endpoint was registered for an address that may be private. */
  readonly allowPrivate: boolean;
  /** The bytes to send, the same for every attempt. */
  readonly body: string;
  /** `whsec_…`, newest first; two while a rotation lasts. */
  readonly secrets: readonly string[];
  /** Attempts made before this one. */
  readonly attempts: number;
}

/** How an attempt ended. */
export interface DeliveryOutcome {
  /** Status of the answer; absent when there was none. */
  readonly responseStatus?: number;
  /** The beginning of the answer, made harmless. */
  readonly responseBody?: string;
  /** Why it counts as failed; absent when it was delivered. */
  readonly error?: string;
}

/** How many deliveries wait for an attempt, and when the first of them is due; null if none waits. */
export interface WaitingDeliveries {
  readonly count: number;
  readonly nextDueAt: string | null;
}

/** The events to be sent, of every organization of a database. */
export interface WebhookOutbox {
  /**
   * Takes up to `count` deliveries that are due; no other sender gets them while the lease lasts. A sender
   * that dies loses its lease with time, so that a delivery may be sent twice and is never lost (reliability 8).
   * Those `underWay` are never taken again, though by the clock of another machine their lease may be over. Those
   * included, an endpoint gets at most `limits.webhookConcurrencyPerEndpoint`, and an organization at most
   * `count`, so that some are always left to others.
   */
  lease(count: number, underWay?: Iterable<SentTo>): Promise<readonly DueDelivery[]>;
  /** Keeps how an attempt ended, and when the next one is due; disables an endpoint whose address is gone (410). */
  record(delivery: DueDelivery, outcome: DeliveryOutcome): Promise<DeliveryState>;
  waiting(): Promise<WaitingDeliveries>;
}

/** What an attempt makes of a delivery. */
type DeliveryState = 'delivered' | 'retrying' | 'failed';

/** What sends the events of a database. */
export interface WebhookSender {
  /** Attempts everything that is due by now, and counts how the attempts ended; rejects if the outbox cannot be read. */
  deliverDue(): Promise<Readonly<Record<DeliveryState, number>>>;
  waiting(): Promise<WaitingDeliveries>;
  /** Keeps delivering what falls due, until it is closed. */
  start(): void;
  /** Begins no more attempts and waits for those in progress. */
  close(): Promise<void>;
}

/** Why events are not sent to an address, to follow its name in a sentence; undefined when they are. */
export type CheckWebhookUrl = (url: string, options: { readonly allowPrivate: boolean }) => Promise<string | undefined>;
