/** An event of a simulation, before its customer's id at the service is known. */

export interface UsageEvent {
  /** Where it comes from: the place of its entry among the usage of the scenario, and its line where that names a file. */
  readonly index: number;
  readonly line?: number | undefined;
  /** In UTC with milliseconds, so that texts sort in order of time. */
  readonly timestamp: string;
  readonly eventName: string;
  /** Ids of the scenario. */
  readonly customer: string;
  readonly contract: string | undefined;
  readonly idempotencyKey: string;
  readonly properties: Readonly<Record<string, unknown>>;
}
