/**
 * The tables as Kysely types, and what a transaction on them promises.
 *
 * How values are stored, in every table:
 * - integers (cents, millionths of a credit, positions, counts) are read as `bigint`. Where a column also takes a `number`,
 *   one that is not a safe integer is refused, so that money never becomes a float;
 * - booleans are written as `boolean` and read as `1n` or `0n`;
 * - instants are texts `YYYY-MM-DDTHH:mm:ss.sssZ`, calendar dates `YYYY-MM-DD`, so that text order is time order;
 * - decimals (prices, quantities, credit caps) are texts; lists and objects are JSON texts;
 * - `seq` rises with every row of its table and settles ties of `createdAt`;
 * - every key and every reference includes `orgId`, so that a row can never point into another organization.
 */

import type { ColumnType, Generated, Transaction as KyselyTransaction } from 'kysely';

import type { LineKind } from '../calculation/invoice-draft.ts';
import type { LedgerSourceType } from '../calculation/ledger.ts';
import type { InvoiceStatus } from '../operations/invoices.ts';
import type { Environment } from '../operations/keys.ts';
import type { LedgerEntryType } from '../operations/ledger-entry.ts';
import type { DeliveryStatus } from '../operations/webhooks.ts';
import type {
  AggregationType,
  BillingMode,
  PriceInterval,
  PricingModelName,
  Tiering,
  WebhookEventType,
} from '../operations/wire-values.ts';

type Integer = ColumnType<bigint, bigint | number, bigint | number>;
type NullableInteger = ColumnType<bigint | null, bigint | number | null | undefined, bigint | number | null>;
type Flag = ColumnType<bigint, boolean, boolean>;
/** A SHA-256 in hexadecimal, empty if nothing is sealed (see records/hash-chain.ts). */
type Seal<Update> = ColumnType<string, string | undefined, Update>;
/** A column that is written once, when the row is made. */
type Fixed<T> = ColumnType<T, T, never>;

/** Tenants: their settings and counters. */
export interface OrganizationsTable {
  readonly seq: Generated<bigint>;
  id: Fixed<string>;
  name: string;
  /** Stands before `_live_` in the organization's keys. */
  keyPrefix: string;
  salesTaxEnabled: Flag;
  paymentProcessor: string | null;
  /** The next legal invoice number: 1, 2, 3, without gaps (semantics 7). */
  nextInvoiceNumber: Integer;
  /** The latest `createdAt` given out; it keeps stored time from going backwards (reliability 4.4). */
  lastCreatedAt: string;
  environment: ColumnType<Environment, Environment | undefined>;
  /** Events from before this instant are dropped; 0 if none are. */
  eventsDroppedBeforeEpochMs: ColumnType<bigint, bigint | number | undefined, bigint | number>;
  createdAt: string;
}

/** At most one row: the instant at which a simulated clock stands. Without a row the clock is the real one. */
export interface ClockTable {
  id: ColumnType<bigint, 1, never>;
  now: string;
}

/** API keys by digest; the key itself is stored nowhere. */
export interface ApiKeysTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  name: string;
  /** SHA-256 of the whole key in hexadecimal; unique over all organizations, because a key names its organization. */
  digest: Fixed<string>;
  suffix: Fixed<string>;
  /** JSON: string[] */
  scopes: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  createdAt: Fixed<string>;
}

/** Links to other systems are unique in the organization (semantics 4). */
export interface CustomersTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  name: string;
  legalName: string | null;
  externalCustomerId: string | null;
  paymentProvider: string | null;
  paymentProviderId: string | null;
  /** JSON: string[] */
  tags: string;
  /** JSON: the address as given */
  billingAddress: string | null;
  paymentMethodId: string | null;
  paymentMethodType: string | null;
  pausedAt: string | null;
  /** Calendar date on which sending resumes. */
  pausedUntil: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** The contacts of a customer are ordered by `position`. */
export interface ContactsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  customerId: Fixed<string>;
  position: Integer;
  name: string;
  email: string;
  phone: string | null;
  /** JSON: string[] */
  roles: string;
  emailRecipientType: 'to' | 'cc' | 'bcc';
  status: 'Active' | 'Unreachable';
  source: 'imported' | 'manual';
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** What prices are for. An archived product stays, because prices name it. */
export interface ProductsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  name: string;
  description: string | null;
  archivedAt: string | null;
  createdAt: Fixed<string>;
}

/** Prices. Their amounts and terms never change (semantics 3). */
export interface PricingsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  productId: Fixed<string>;
  name: Fixed<string>;
  description: string | null;
  model: Fixed<PricingModelName>;
  billingMode: Fixed<BillingMode>;
  tiering: Fixed<Tiering>;
  unitAmount: Fixed<string | null>;
  flatAmount: Fixed<string | null>;
  priceInterval: Fixed<PriceInterval | null>;
  priceIntervalCount: ColumnType<bigint | null, bigint | number | null | undefined, never>;
  meterId: Fixed<string | null>;
  /** JSON: tiers, `[]` if there are none */
  pricingTiers: Fixed<string>;
  archivedAt: string | null;
  createdAt: Fixed<string>;
}

/** What contracts made from a plan begin with. */
export interface PlansTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  name: string;
  description: string | null;
  currency: Fixed<string>;
  /** Whole days as text, `30`. */
  netTerms: string;
  externalId: string | null;
  defaultAutoPayEnabled: Flag;
  invoiceSendMethod: string;
  onDepletion: string | null;
  defaultCreditGrantCents: NullableInteger;
  archivedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** The items of a plan are ordered by `position`. */
export interface PlanItemsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  planId: Fixed<string>;
  position: Integer;
  pricingId: Fixed<string>;
  /** Decimal text. */
  defaultQuantity: string;
}

/** A meter with `sql` has no other rules: its filters are empty, and it has no aggregation key (interface 4.17). */
export interface MetersTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  /** Unique among the unarchived meters of an organization. */
  code: Fixed<string>;
  displayName: string;
  description: string | null;
  aggregationType: Fixed<AggregationType>;
  /** JSON: {include, exclude} */
  eventTypeFilter: string;
  /** JSON: property filters */
  propertyFilters: string;
  aggregationKey: string | null;
  /** JSON: string[] */
  groupKeys: string;
  sql: string | null;
  status: 'active' | 'inactive';
  archivedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** At most one per meter. A contract keeps the prices that the card had when the contract was made (semantics 6). */
export interface RateCardsTable {
  orgId: Fixed<string>;
  meterId: Fixed<string>;
  /** JSON: prices per combination of group values */
  rates: string;
  fallbackUnitAmount: string | null;
  updatedAt: string;
}

/** Contracts with the prices frozen into them; their budgets are rows of `budgets`. */
export interface ContractsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  customerId: Fixed<string>;
  planId: Fixed<string>;
  name: string;
  startDate: Fixed<string>;
  /** Exclusive; null for a rolling contract. */
  endDate: string | null;
  netTermsDays: Integer;
  /** JSON: the caller's own keys */
  metadata: string;
  /** JSON: credit settings */
  creditSettings: string;
  /** JSON: the prices as they were when the contract was made (semantics 6) */
  items: Fixed<string>;
  creditGrantCents: NullableInteger;
  cancelledAt: string | null;
  /** Calendar date on which service stops after a cancellation, exclusive. */
  effectiveEndDate: string | null;
  /** Rises with every change of the budgets; what If-Match compares. */
  budgetsVersion: Integer;
  /** Calendar date on which drafts have to be made; null once no more drafts will ever be needed. */
  draftsDueOn: string | null;
  /** The earliest expiry of a grant that is still to be settled. */
  nextExpiryAt: string | null;
  /** When the end of the contract was announced. */
  terminatedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** Once `finalizedAt` is set, the database refuses to change number, amount, dates and owner. */
export interface InvoicesTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  /** `DRAFT-<8 hex>` until finalization gives the legal number; unique in the organization. */
  number: string;
  customerId: Fixed<string>;
  contractId: Fixed<string>;
  periodIndex: Integer;
  periodStart: string;
  /** Exclusive. */
  periodEnd: string;
  status: InvoiceStatus;
  invoiceDate: string;
  dueDate: string;
  totalCents: Integer;
  memo: string | null;
  latestPaymentDate: string | null;
  paymentLink: string | null;
  finalizedAt: string | null;
  sentAt: string | null;
  isHeld: Flag;
  createdAt: Fixed<string>;
  updatedAt: string;
  /** Seals what finalization froze, including the lines. */
  contentHash: Seal<string>;
}

/** The lines of finalized invoices, written once and never changed. Drafts have none: they are computed when read. */
export interface InvoiceLinesTable {
  orgId: Fixed<string>;
  invoiceId: Fixed<string>;
  position: ColumnType<bigint, bigint | number, never>;
  id: Fixed<string>;
  lineKey: Fixed<string>;
  kind: Fixed<LineKind>;
  name: Fixed<string>;
  description: Fixed<string>;
  /** Decimal text. */
  quantity: Fixed<string>;
  /** Decimal text, exact. */
  unitPrice: Fixed<string>;
  /** For display: `unitPrice` rounded half-up. */
  unitPriceCents: Fixed<bigint>;
  /** Decimal text, exact. */
  totalAmount: Fixed<string>;
  totalCents: Fixed<bigint>;
  serviceStart: Fixed<string>;
  /** Exclusive. */
  serviceEnd: Fixed<string>;
  pricingId: Fixed<string | null>;
  meterId: Fixed<string | null>;
  productId: Fixed<string | null>;
  /** JSON: group key to value */
  groupValues: Fixed<string | null>;
  /** The grant that a credit line draws on. */
  grantId: Fixed<string | null>;
}

/** Movements of credits, written once and never changed. */
export interface LedgerEntriesTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  contractId: Fixed<string>;
  type: Fixed<LedgerEntryType>;
  amountCents: Fixed<bigint>;
  creditMicros: Fixed<bigint>;
  /** Cents per credit. */
  creditRateCents: Fixed<bigint>;
  /** Cents per credit that were paid; 0 for promotional grants. */
  purchaseRateCents: Fixed<bigint>;
  currency: Fixed<string>;
  description: Fixed<string>;
  sourceType: Fixed<LedgerSourceType>;
  invoiceId: Fixed<string | null>;
  lineKey: Fixed<string | null>;
  /** The grant of the same contract that this entry draws on. */
  grantEntryId: Fixed<string | null>;
  /** The entry of the same contract that this one undoes; an entry is undone at most once. */
  reversesEntryId: Fixed<string | null>;
  expiresAt: Fixed<string | null>;
  isPromotional: ColumnType<bigint, boolean, never>;
  /** The caller's idempotency key, unique in the contract. */
  externalId: Fixed<string | null>;
  /** JSON: the request, to notice the same `externalId` with another body. */
  fingerprint: Fixed<string | null>;
  /** JSON: which usage the grant pays for */
  specifiers: Fixed<string | null>;
  /** JSON: the caller's own keys */
  metadata: Fixed<string | null>;
  /** What the entry takes off an invoice; negative for the reversal of a usage entry. */
  appliedCents: Fixed<bigint>;
  balanceAfterCents: Fixed<bigint>;
  creditBalanceAfterMicros: Fixed<bigint>;
  createdAt: Fixed<string>;
  /** Seals this entry and the seal of the contract's entry before it. */
  hash: Seal<never>;
}

/** The array of a contract's budgets, by `position` from 0 without gaps. */
export interface BudgetsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  contractId: Fixed<string>;
  id: Fixed<string>;
  /** The index in the contract's array of budgets; shifts when an earlier one is removed. */
  position: Integer;
  label: string;
  eventPropertyKey: Fixed<string>;
  eventPropertyValue: Fixed<string>;
  meterId: string | null;
  /** Decimal text. */
  maxCredits: string | null;
  maxCreditsCents: NullableInteger;
  isExhausted: Flag;
  createdAt: Fixed<string>;
}

/** A removed endpoint keeps its row, without its secrets, because deliveries name it. */
export interface WebhookEndpointsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  url: string;
  description: string | null;
  /** JSON: string[]; null for every kind of event, including future ones */
  eventTypes: string | null;
  isEnabled: Flag;
  disabledReason: string | null;
  /** Registered as allowed to have a private address. */
  allowPrivate: Flag;
  /** Null once the endpoint is removed. */
  secret: string | null;
  previousSecret: string | null;
  previousSecretValidUntil: string | null;
  removedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** Webhook events: each is written with the change that it reports, and never changed. */
export interface WebhookEventsTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  type: Fixed<WebhookEventType>;
  /** The JSON text that is sent, byte for byte. */
  body: Fixed<string>;
  createdAt: Fixed<string>;
}

/** One per event and endpoint, with the outcome of its latest attempt. */
export interface WebhookDeliveriesTable {
  readonly seq: Generated<bigint>;
  orgId: Fixed<string>;
  id: Fixed<string>;
  eventId: Fixed<string>;
  endpointId: Fixed<string>;
  status: DeliveryStatus;
  attempts: Integer;
  /** Null on a pending delivery that is due at once. */
  nextAttemptAt: string | null;
  /** A sender holds the delivery until then. */
  leaseUntil: string | null;
  lastAttemptAt: string | null;
  responseStatus: NullableInteger;
  responseBody: string | null;
  error: string | null;
  createdAt: Fixed<string>;
}

/** Facts about the book as a whole, by name: see records/book-facts.ts. */
export interface BookFactsTable {
  name: Fixed<string>;
  /** JSON: an object. */
  content: string;
}

/** Of each organization whose events live in another database: see records/staged-events.ts. */
export interface EventHeadsTable {
  orgId: Fixed<string>;
  lastPlace: Integer;
  lastBatch: Integer;
  movedBatch: Integer;
}

/** Events on their way to the other database: see records/staged-events.ts. */
export interface StagedEventsTable {
  orgId: Fixed<string>;
  batch: ColumnType<bigint, bigint | number, never>;
  /** JSON: a list of lists. */
  events: Fixed<string>;
}

/** What a meter read in one usage window, kept because its events are dropped. */
export interface FrozenUsageTable {
  orgId: Fixed<string>;
  contractId: Fixed<string>;
  itemId: Fixed<string>;
  startEpochMs: ColumnType<bigint, bigint | number, never>;
  /** JSON: what `FrozenUsage` says. */
  content: string;
}

/** The tables that records and rooms query. Events are not among them: `EventStore` keeps those. */
export interface Database {
  organizations: OrganizationsTable;
  clock: ClockTable;
  apiKeys: ApiKeysTable;
  customers: CustomersTable;
  contacts: ContactsTable;
  products: ProductsTable;
  pricings: PricingsTable;
  plans: PlansTable;
  planItems: PlanItemsTable;
  meters: MetersTable;
  rateCards: RateCardsTable;
  contracts: ContractsTable;
  invoices: InvoicesTable;
  invoiceLines: InvoiceLinesTable;
  ledgerEntries: LedgerEntriesTable;
  budgets: BudgetsTable;
  frozenUsage: FrozenUsageTable;
  webhookEndpoints: WebhookEndpointsTable;
  webhookEvents: WebhookEventsTable;
  webhookDeliveries: WebhookDeliveriesTable;
  bookFacts: BookFactsTable;
  eventHeads: EventHeadsTable;
  stagedEvents: StagedEventsTable;
}

/**
 * What a query runs on. It lives as long as the function that it was passed to.
 *
 * Promises of a transaction:
 * - a write is complete or absent, and durable (also against power loss) once `write` has resolved;
 * - writes happen one after another, across all processes on the same database, except that writes of different turns may run
 *   side by side (`WriteOptions`);
 * - a read sees one state of the database from its first query to its last, whatever is written meanwhile.
 */
export type Transaction = KyselyTransaction<Database>;
