/** An event of a simulation, before the customer of the service is known. */

export interface UsageEvent {
  /** In UTC with milliseconds, so that texts are in the order of time. */
  readonly timestamp: string;
  readonly eventName: string;
  /** Ids of the scenario. */
  readonly customer: string;
  readonly contract: string | undefined;
  readonly idempotencyKey: string;
  readonly properties: Readonly<Record<string, unknown>>;
}
