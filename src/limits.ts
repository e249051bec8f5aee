/** Every number that the interface fixes or that we chose, with its unit and source. */

export const limits = {
  /** interface 8 */
  assignmentsPerRequest: 100,
  pageSize: 100,
  /** semantics 1: page size when `limit` is not given */
  defaultPageSize: 10,
  defaultPricingPageSize: 50,
  defaultMeterPageSize: 50,
  /** interface 8 */
  usageEventNames: 50,
  usagePropertyFilters: 20,
  contractMetadataKeys: 10,
  contractMetadataKeyCharacters: 40,
  contractMetadataValueCharacters: 500,
  grantDescriptionCharacters: 500,
  grantExternalIdCharacters: 255,
  /** semantics 9 */
  grantMetadataKeys: 50,
  grantMetadataBytes: 16 * 1024,
  /** our choice: values of each member of a grant's specifiers */
  grantSpecifierValues: 100,
  /** our choice: as much as for metadata, because every reading of a ledger reads both */
  grantSpecifiersBytes: 16 * 1024,
  /** semantics 9: credits have at most six decimals and stay at or below 1e12 */
  creditFractionDigits: 6,
  creditMaximum: 1_000_000_000_000n,
  /** our choice: cents that a credit is worth */
  creditRateCents: 1_000_000_000,
  /** security 8 (SEC-70): every amount in cents, either sign */
  centsMaximum: 1_000_000_000_000_000n,
  /** our choice: what a wallet holds, in cents and in millionths of a credit; databases keep whole numbers up to 9.2e18 */
  walletMaximum: 9_000_000_000_000_000_000n,
  /** semantics 5: decimal strings for prices and quantities */
  decimalIntegerDigits: 15,
  decimalFractionDigits: 12,
  /** our choice: digits before and after the point of a number inside an event (ids of 64 bits and everyday doubles fit) */
  eventIntegerDigits: 40,
  eventFractionDigits: 40,
  /** semantics 1 */
  eventsPerBatch: 10_000,
  /** our choice: events of a simulation, which are held in memory, and values that one of their properties may have */
  simulatedEvents: 1_000_000,
  simulatedValues: 1_000_000_000,
  /** our choice: keys that the rehearsal of an import holds in memory */
  rehearsedKeys: 1_000_000,
  /** semantics 1 */
  estimateEvents: 500,
  /** our choice: a JSON document of events is held in memory as a whole */
  importDocumentCharacters: 128 * 1024 * 1024,
  /** our choice: how much of a table to be imported is read to find the end of one row */
  rowBytes: 8 * 1024 * 1024,
  /** semantics 1 and 8: how far in the future an event may be */
  eventFutureSeconds: 60 * 60,
  /** our choice: events shown as a sample of those behind a quantity */
  sampledEvents: 5,
  /** our choice: issues that a refusal lists */
  listedIssues: 100,
  /** Unicode UAX 15, Stream-Safe Text Format: combining marks in a row */
  combiningMarks: 30,
  /** our choice: bounds of one event */
  eventPropertyKeys: 100,
  eventPropertyKeyCharacters: 128,
  eventPropertyValueCharacters: 4_096,
  idempotencyKeyCharacters: 255,
  /** semantics 6 */
  draftPeriods: 120,
  alertThresholds: 10,
  /** our choice: tiers of one price, items of one plan, budgets of one contract, entries of one rate card */
  pricingTiers: 100,
  planItems: 100,
  budgetsPerContract: 100,
  rateCardRates: 1_000,
  /**
   * our choice: bytes of JSON of one rate card, and of all prices of one contract with their rate cards: every reading of a
   * contract reads them
   */
  contractPricesBytes: 1024 * 1024,
  meterGroupKeys: 10,
  meterFilters: 50,
  /** our choice: bytes of JSON of the property filters of one meter, which every reading of the meter reads */
  meterFiltersBytes: 64 * 1024,
  priceIntervalCount: 120,
  netTermsDays: 365,
  /** our choice: stored texts, in code points */
  nameCharacters: 200,
  descriptionCharacters: 1_000,
  emailCharacters: 254,
  timestampCharacters: 64,
  tagCharacters: 100,
  tags: 100,
  contacts: 100,
  externalIdCharacters: 255,
  sqlCharacters: 20_000,
  /** security 6: what one SQL meter may take; a bill run waits longer */
  meterSqlMilliseconds: 2_000,
  meterSqlBillRunMilliseconds: 10_000,
  meterSqlProcesses: 2,
  meterSqlHeapMebibytes: 256,
  meterSqlResidentMebibytes: 512,
  meterSqlValueMaximum: 10 ** 15,
  /** our choice: invoices and failures that the answer of a bill run lists */
  billRunListed: 1_000,
  /** our choice: contracts (and their invoices) per transaction, which blocks other writers for a tenth of a second */
  billRunBatch: 100,
  /** our choice: lines of invoices after which such a transaction ends early, because of the time they take */
  billRunBatchLines: 1_000,
  /** our choice: such a transaction does at least this fraction (1/n) of a contract's open lines, having metered all of them */
  billRunOpenPart: 4,
  /** our choice: ledger entries held at once for the contracts of such a transaction, some 20 MB */
  entriesReadAhead: 10_000,
  /** our choice: readings held at once for contracts of one customer that are billed together, some 10 MB */
  readingsReadAhead: 10_000,
  /** our choice: how far ahead credits that expire are listed, where nobody says until when */
  expiringDays: 30,
  /** our choice: contracts that are metered for such a list, whose order nobody knows before all of them are */
  expiringContracts: 5_000,
  /** our choice: events held at once for queries of SQL meters, some 50 MB */
  sqlEventsHeld: 200_000,
  /** our choice: seconds between the bill runs of a server */
  billEverySeconds: 60,
  /** semantics 7: hours between an invoice's date and its finalization */
  finalizationGraceHours: 12,
  /** security 8 (SEC-74): calendar years that are accepted, inclusive */
  firstYear: 2000,
  lastYear: 2100,
  /** our choice: characters of JSON that `--jq` takes; printing that many unchanged took 6 seconds and 1 GB of memory */
  jqCharacters: 32 * 1024 * 1024,
  /** security 5 (SEC-36) */
  bodyBytes: 1024 * 1024,
  eventsBodyBytes: 16 * 1024 * 1024,
  jsonDepth: 32,
  jsonKeys: 10_000,
  /** our choice: keys of an events batch, which has a larger body; one object has no more there than elsewhere */
  eventsJsonKeys: 2_000_000,
  /** our choice: elements of all lists of a body, far more than any single limit allows */
  jsonElements: 100_000,
  headersTimeoutMilliseconds: 10_000,
  requestTimeoutMilliseconds: 30_000,
  socketIdleMilliseconds: 30_000,
  /** our choice: time for the answer to arrive before a refused connection is cut */
  hangUpMilliseconds: 1_000,
  maxHeaders: 64,
  headerBytes: 16 * 1024,
  maxSockets: 1_000,
  socketsPerAddress: 20,
  /** How many connections the system holds until they are accepted; Node's own default. */
  waitingConnections: 511,
  drainMilliseconds: 10_000,
  /** our choice: bytes of a log that wait for its reader, beyond which lines are dropped, and how long a service that ends waits */
  unreadLogBytes: 8 * 1024 * 1024,
  unreadLogMilliseconds: 1_000,
  /** semantics 1 */
  requestsPerMinute: 100,
  /** our choice (SEC-35 gives no number): some four times what one process can ingest */
  eventBytesPerMinute: 2 * 1024 ** 3,
  /** security 5 (SEC-35) */
  failedAuthenticationsPerMinute: 10,
  rateLimitedAddresses: 100_000,
  /** security 5 (SEC-31) */
  lastUsedResolutionSeconds: 60,
  /** our choice: how long a request waits for the note of when its key was used */
  lastUsedMilliseconds: 500,
  /** security 3 (SEC-12), reliability 10 */
  connectTimeoutMilliseconds: 5_000,
  /** our choice: fewer than our service takes from one address, so that excess requests wait here */
  socketsPerClient: 16,
  responseHeadersTimeoutMilliseconds: 30_000,
  totalTimeoutMilliseconds: 120_000,
  /** 24 days: a Node timer with a longer time fires at once */
  timerMilliseconds: 2 ** 31 - 1,
  responseBytes: 32 * 1024 * 1024,
  responseHeaderBytes: 16 * 1024,
  responseJsonDepth: 64,
  /** our choice: more names than 32 MiB of records ever hold */
  responseJsonKeys: 4_000_000,
  /** reliability 10: characters shown of an answer that is not a valid response */
  responseExcerptCharacters: 200,
  /** our choice: characters kept of a service's error message; more than a hundred issues ever take */
  responseMessageCharacters: 100_000,
  /** reliability 10: with so few tries, pauses come nowhere near its cap of 20 s */
  requestAttempts: 4,
  retryBaseMilliseconds: 200,
  /** our choice: how long the system's keyring may take, including a person who unlocks it */
  keyringMilliseconds: 10_000,
  /** reliability 4 */
  busyTimeoutMilliseconds: 5_000,
  /** reliability 11: what a file's log keeps between checkpoints */
  logBytes: 64 * 1024 * 1024,
  /** our choice: how long a readiness check waits for the writer's lock */
  readinessMilliseconds: 500,
  /** our choice: the time between the beginnings of two readiness checks */
  readinessPauseMilliseconds: 100,
  /** our choice: how long a probe's look at the database may take; Prometheus waits for 10 s in all */
  probeMilliseconds: 5_000,
  /** our choice: sessions of one process on a database server, and how long an idle one is kept */
  databaseSessions: 10,
  databaseIdleMilliseconds: 30_000,
  /** our choice: when a database server ends a session whose process has stopped, and how often a working one shows life */
  idleSessionMilliseconds: 60_000,
  sessionLifeMilliseconds: 15_000,
  /** our choice: when a database server probes a silent session, how far apart, and how often */
  silentSessionSeconds: 60,
  silentSessionRepeatSeconds: 10,
  silentSessionRepeats: 3,
  /** our choice: how long no further session is requested from a server that takes no more */
  crowdedServerMilliseconds: 1_000,
  /** our choice: one statement, or one pause inside a transaction; making tables waits longer for its turn */
  statementMilliseconds: 60_000,
  migrationMilliseconds: 60_000,
  /**
   * our choice: events recorded beside the books move to their own database once an organization has so many of them, or so many
   * characters of their properties, or the oldest has waited so long when the next one comes
   */
  stagedEvents: 5_000,
  stagedCharacters: 8 * 1024 * 1024,
  stagedMilliseconds: 10_000,
  /** our choice: one question to a database of events */
  eventQueryMilliseconds: 60_000,
  /**
   * our choice: if an answer takes longer, the database of events is pinged; how long each of two pings may take; and the time
   * between pings while it answers nobody, during which nobody waits for it
   */
  eventAnswerMilliseconds: 1_000,
  eventPingMilliseconds: 1_000,
  eventPauseMilliseconds: 5_000,
  /** our choice: how often a transaction that met another is repeated, and the pauses in between */
  transactionAttempts: 12,
  transactionAttemptsBesideOthers: 8,
  transactionPauseMilliseconds: 2,
  transactionPauseCapMilliseconds: 250,
  /** our choice: grants and reversals of ledgers that a process remembers; about 1 KiB each */
  knownLedgerGrants: 50_000,
  /** our choice: answers of an operation after which its schema is loaded, which reads long lists twice as fast */
  plainAnswers: 50,
  /** our choice: writes that share one commit at most; readers wait for that commit */
  writesPerCommit: 64,
  /** our choice: a group of writes is complete after so many turns of the event loop without another one; a request takes two to its write */
  quietTurns: 3,
  /** our choice: reads that share one snapshot at most; each waits for the others */
  readsPerSnapshot: 32,
  /** semantics 13: seconds between the attempts of a delivery, so there are six attempts; each pause may be 20 % off */
  webhookRetrySeconds: [15, 30, 60, 120, 300],
  webhookRetrySpread: 0.2,
  /** semantics 1 */
  webhookTimeoutMilliseconds: 10_000,
  /** security 7 (SEC-61) */
  webhookBodyBytes: 64 * 1024,
  webhookResponseBytes: 4 * 1024,
  /** our choice: how long a sender holds a delivery; far longer than an attempt takes */
  webhookLeaseSeconds: 60,
  /** our choice: how long the old secret also signs after a rotation */
  webhookRotationHours: 24,
  /** our choice */
  webhookUrlCharacters: 2_000,
  webhookEndpoints: 20,
  /**
   * our choice: concurrent attempts of a sender, and how many of them go to one endpoint; an organization takes no more of them
   * than it leaves to others. And how often a server looks for due deliveries
   */
  webhookConcurrency: 50,
  webhookConcurrencyPerEndpoint: 2,
  webhookPollMilliseconds: 1_000,
  /** our choice: while one look after another fails, the pause grows to this many times at most: each failure is logged */
  webhookLongestPause: 32,
  /** our choice: how many findings of one check doctor lists */
  findingsPerCheck: 100,
  /** our choice: a delivery that has been due for longer shows that nothing is sending */
  outboxDelaySeconds: 900,
  /** reliability 9: how far a wall clock may be behind stored time */
  clockLagSeconds: 300,
  /** security 2, SEC-10: the oldest version of TLS that is used */
  oldestTls: 'TLSv1.2',
} as const;
