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
  /** our choice: values of each member of what a grant pays for */
  grantSpecifierValues: 100,
  /** our choice: as much as of metadata, since every reading of a ledger reads both */
  grantSpecifiersBytes: 16 * 1024,
  /** semantics 9: credits have at most six decimals and stay at or below 1e12 */
  creditFractionDigits: 6,
  creditMaximum: 1_000_000_000_000n,
  /** security 8 (SEC-70): every amount in cents, either sign */
  centsMaximum: 1_000_000_000_000_000n,
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
  /** semantics 1 */
  estimateEvents: 500,
  /** our choice: a JSON document of events is held in memory as a whole */
  importDocumentCharacters: 128 * 1024 * 1024,
  /** our choice: a row of a table that is to be imported is read so far to see where the next one begins */
  rowBytes: 8 * 1024 * 1024,
  /** semantics 1 and 8: how far ahead an event may be */
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
   * our choice: bytes of JSON of one rate card, and of all prices of one contract with their rate cards: a contract is read with
   * them wherever it is read
   */
  contractPricesBytes: 1024 * 1024,
  meterGroupKeys: 10,
  meterFilters: 50,
  /** our choice: bytes of JSON of the property filters of one meter, with which it is read by whoever meters */
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
  /** our choice: contracts of one transaction, which hold up everybody else for a tenth of a second, and its invoices */
  billRunBatch: 100,
  /** our choice: lines of invoices behind which such a transaction ends before that, as long as it takes */
  billRunBatchLines: 1_000,
  /** our choice: the part of the open lines of a contract that such a transaction does at least, having metered all of them */
  billRunOpenPart: 4,
  /** our choice: ledger entries that are held at once for the contracts of such a transaction, some 20 MB */
  entriesReadAhead: 10_000,
  /** our choice: readings that are held at once for contracts of a customer that are billed together, some 10 MB */
  readingsReadAhead: 10_000,
  /** our choice: seconds between the bill runs of a server */
  billEverySeconds: 60,
  /** semantics 7: hours between an invoice's date and its finalization */
  finalizationGraceHours: 12,
  /** security 8 (SEC-74): calendar years that are accepted, inclusive */
  firstYear: 2000,
  lastYear: 2100,
  /** our choice: characters of JSON that `--jq` takes; printed as they came, that many took 6 seconds and 1 GB of memory */
  jqCharacters: 32 * 1024 * 1024,
  /** security 5 (SEC-36) */
  bodyBytes: 1024 * 1024,
  eventsBodyBytes: 16 * 1024 * 1024,
  jsonDepth: 32,
  jsonKeys: 10_000,
  /** our choice: keys of an events batch, which has a larger body; one object has no more there than elsewhere */
  eventsJsonKeys: 2_000_000,
  /** our choice: elements of all lists of a body, far more than any may have */
  jsonElements: 100_000,
  headersTimeoutMilliseconds: 10_000,
  requestTimeoutMilliseconds: 30_000,
  socketIdleMilliseconds: 30_000,
  /** our choice: for the answer to arrive before a connection that is refused is cut */
  hangUpMilliseconds: 1_000,
  maxHeaders: 64,
  headerBytes: 16 * 1024,
  maxSockets: 1_000,
  socketsPerAddress: 20,
  /** How many the system keeps that are not taken yet; what Node has it keep. */
  waitingConnections: 511,
  drainMilliseconds: 10_000,
  /** semantics 1 */
  requestsPerMinute: 100,
  /** our choice (SEC-35 gives no number): some four times what one process takes in */
  eventBytesPerMinute: 2 * 1024 ** 3,
  /** security 5 (SEC-35) */
  failedAuthenticationsPerMinute: 10,
  rateLimitedAddresses: 100_000,
  /** security 5 (SEC-31) */
  lastUsedResolutionSeconds: 60,
  /** security 3 (SEC-12), reliability 10 */
  connectTimeoutMilliseconds: 5_000,
  /** our choice: fewer than a service of ours takes from one address, so that more requests at a time wait here */
  socketsPerClient: 16,
  responseHeadersTimeoutMilliseconds: 30_000,
  totalTimeoutMilliseconds: 120_000,
  /** 24 days: a timer of Node that is set to more goes off at once */
  timerMilliseconds: 2 ** 31 - 1,
  responseBytes: 32 * 1024 * 1024,
  responseHeaderBytes: 16 * 1024,
  responseJsonDepth: 64,
  /** our choice: more names than 32 MiB of records ever hold */
  responseJsonKeys: 4_000_000,
  /** reliability 10: characters shown of an answer that is no valid response */
  responseExcerptCharacters: 200,
  /** reliability 10: with so few, pauses come nowhere near its cap of 20 s */
  requestAttempts: 4,
  retryBaseMilliseconds: 200,
  /** our choice: how long the keyring of the system may take, a person who unlocks it included */
  keyringMilliseconds: 10_000,
  /** reliability 4 */
  busyTimeoutMilliseconds: 5_000,
  /** our choice: how long a service that says it is ready waits for the writer's lock */
  readinessMilliseconds: 500,
  /** our choice: how far apart the looks begin that answer whether a service is ready */
  readinessPauseMilliseconds: 100,
  /** our choice: how long a look at the database by those who watch a service may take; Prometheus waits for 10 s in all */
  probeMilliseconds: 5_000,
  /** our choice: sessions of one process on a database server, and how long an idle one is kept */
  databaseSessions: 10,
  databaseIdleMilliseconds: 30_000,
  /** our choice: after how long a database server asks a session that says nothing, how far apart, and how often */
  silentSessionSeconds: 60,
  silentSessionRepeatSeconds: 10,
  silentSessionRepeats: 3,
  /** our choice: for how long no further session is asked of a server that takes no more */
  crowdedServerMilliseconds: 1_000,
  /** our choice: one statement, and one pause inside a transaction; the making of tables waits longer for its turn */
  statementMilliseconds: 60_000,
  migrationMilliseconds: 60_000,
  /**
   * our choice: events that are recorded beside the books wait for a move to their own database until there are so many of an
   * organization, or so many characters of their properties, or the oldest has waited so long when the next one comes
   */
  stagedEvents: 5_000,
  stagedCharacters: 8 * 1024 * 1024,
  stagedMilliseconds: 10_000,
  /** our choice: one question to a database of events */
  eventQueryMilliseconds: 60_000,
  /**
   * our choice: an answer that takes longer has the database of events pinged; how long each of two pings may take; and how
   * far apart it is pinged while it answers nobody, until when nobody waits for it
   */
  eventAnswerMilliseconds: 1_000,
  eventPingMilliseconds: 1_000,
  eventPauseMilliseconds: 5_000,
  /** our choice: how often a transaction that met another is done again, and the pauses between */
  transactionAttempts: 12,
  transactionAttemptsBesideOthers: 8,
  transactionPauseMilliseconds: 2,
  transactionPauseCapMilliseconds: 250,
  /** our choice: so many grants and reversals of ledgers a process keeps in mind; about 1 KiB each */
  knownLedgerGrants: 50_000,
  /** our choice: after so many answers of an operation its schema is loaded, which reads long lists twice as quickly */
  plainAnswers: 50,
  /** our choice: so many writes share one commit at most; what reads waits for that commit */
  writesPerCommit: 64,
  /** our choice: so many reads share one snapshot at most; each waits for the others */
  readsPerSnapshot: 32,
  /** semantics 13: seconds between the attempts of a delivery, so that there are six of them; each may be 20 % off */
  webhookRetrySeconds: [15, 30, 60, 120, 300],
  webhookRetrySpread: 0.2,
  /** semantics 1 */
  webhookTimeoutMilliseconds: 10_000,
  /** security 7 (SEC-61) */
  webhookBodyBytes: 64 * 1024,
  webhookResponseBytes: 4 * 1024,
  /** our choice: how long a sender keeps what it took; far longer than an attempt */
  webhookLeaseSeconds: 60,
  /** our choice: how long the old secret signs too after a rotation */
  webhookRotationHours: 24,
  /** our choice */
  webhookUrlCharacters: 2_000,
  webhookEndpoints: 20,
  /**
   * our choice: attempts of a sender at once, and those of them that go to one endpoint; an organization takes no more of them
   * than it leaves to others. And how often a server looks for what is due
   */
  webhookConcurrency: 50,
  webhookConcurrencyPerEndpoint: 2,
  webhookPollMilliseconds: 1_000,
  /** our choice: so many times that pause at most, where one look after another fails: each failure is a line of the log. */
  webhookLongestPause: 32,
  /** our choice: how many findings of one check doctor lists */
  findingsPerCheck: 100,
  /** our choice: a delivery that has been due for longer says that nothing sends */
  outboxDelaySeconds: 900,
  /** reliability 9: how far a wall clock may be behind stored time */
  clockLagSeconds: 300,
  /** security 2, SEC-10: the version of TLS below which nobody is spoken to */
  oldestTls: 'TLSv1.2',
} as const;
