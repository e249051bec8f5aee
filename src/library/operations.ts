/** What each operation takes and answers. Written by npm run generate: do not edit. */

import type { ExactNumber } from '../exact-json.ts';

export interface Operations {
  /** Create a customer. */
  readonly 'customers.create': {
    readonly input: {
      readonly body: {
        /** Display name. */
        readonly name: string;
        /** Contacts; at least one. */
        readonly contacts: readonly ({
          /** Full name. */
          readonly name: string;
          readonly email: string;
          /** What the contact is for. */
          readonly roles: readonly ("accounts_payable" | "primary" | "signatory" | "csm" | "account_manager" | "other")[];
          /** How invoice emails reach the contact. */
          readonly emailRecipientType?: "to" | "cc" | "bcc";
        })[];
        /** Registered business name. */
        readonly legalName?: string;
        /** Your own id of the customer. */
        readonly externalCustomerId?: string;
        /** The payment processor's id of the customer. */
        readonly paymentProviderId?: string;
        /** Payment processor; goes with paymentProviderId. */
        readonly provider?: "stripe";
        /** Labels. */
        readonly tags?: readonly (string)[];
        /** Billing address; required where the organization collects sales tax. */
        readonly billingAddress?: {
          readonly address1: string;
          readonly address2?: string;
          readonly city: string;
          /** State, province or region code. */
          readonly region: string;
          readonly postalCode: string;
          /** ISO 3166-1 alpha-2 code. */
          readonly country: string;
        };
        /** Default payment method at the processor. */
        readonly paymentMethodId?: string;
        /** Kind of the payment method; goes with paymentMethodId. */
        readonly paymentMethodType?: "card" | "us_bank_account";
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Show one customer. */
  readonly 'customers.get': {
    readonly input: {
      readonly params: {
        /** Customer id. */
        readonly customerId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** List customers, newest first. */
  readonly 'customers.list': {
    readonly input: {
      readonly query?: {
        /** Only the customer with this id of yours. */
        readonly externalCustomerId?: string;
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Show the billing address of a customer. Null where there is none. */
  readonly 'customers.billingAddress': {
    readonly input: {
      readonly params: {
        /** Customer id. */
        readonly customerId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly address1: string;
        readonly address2?: string;
        readonly city: string;
        readonly region: string;
        readonly postalCode: string;
        readonly country: string;
      } | null;
    };
  };
  /** Change a customer. Only the given fields change. Null clears legalName, externalCustomerId, paymentProviderId with provider, and paymentMethodId. */
  readonly 'customers.update': {
    readonly input: {
      readonly params: {
        /** Customer id. */
        readonly customerId: string;
      };
      readonly body: {
        /** Display name. */
        readonly name?: string;
        /** Registered business name. */
        readonly legalName?: string | null;
        /** Labels; they replace the existing ones. */
        readonly tags?: readonly (string)[];
        /** Your own id of the customer. */
        readonly externalCustomerId?: string | null;
        /** The payment processor's id of the customer. */
        readonly paymentProviderId?: string | null;
        readonly provider?: "stripe" | null;
        /** Default payment method at the processor. */
        readonly paymentMethodId?: string | null;
        readonly paymentMethodType?: "card" | "us_bank_account" | null;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Stop sending invoices to a customer. Drafts, finalization and credits go on. Pausing again only changes the end date. */
  readonly 'customers.pause': {
    readonly input: {
      readonly params: {
        /** Customer id. */
        readonly customerId: string;
      };
      readonly body?: {
        /** Sending resumes at 00:00 UTC of this date; without one it waits for resume. */
        readonly until?: string | null;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Send invoices to a customer again. */
  readonly 'customers.resume': {
    readonly input: {
      readonly params: {
        /** Customer id. */
        readonly customerId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly legalName: string | null;
        readonly tags: readonly (string)[];
        readonly isPaused: boolean;
        readonly pausedAt: string | null;
        readonly pausedUntil: string | null;
        readonly metadata: {
          readonly externalCustomerId: string | null;
          readonly externalCompanyIds: readonly (string)[];
        };
        readonly externalIds?: readonly ({
          readonly provider: "salesforce" | "quickbooks" | "stripe" | "hubspot" | "netsuite";
          readonly entityType: "customer";
          readonly id: string;
        })[];
        readonly billingContacts?: readonly ({
          readonly name: string;
          readonly email: string;
          readonly phone: string | null;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Assign customer success managers by processor customer id. Other imported managers of a matched customer become unreachable; contacts made by hand are kept. Unknown ids are reported as not_found. */
  readonly 'customers.assignCsm': {
    readonly input: {
      readonly body: {
        /** 1 to 100 assignments, applied in order. */
        readonly assignments: readonly ({
          /** The payment processor's id of the customer. */
          readonly stripeCustomerId: string;
          readonly csm: {
            readonly email: string;
            /** The part of the email before @ when not given. */
            readonly name?: string;
          };
        })[];
      };
    };
    readonly answer: {
      readonly data: {
        readonly updated: number;
        readonly notFound: number;
        readonly results: readonly ({
          readonly stripeCustomerId: string;
          readonly status: "updated" | "not_found";
          readonly customerId?: string;
          readonly csmContactId?: string;
          readonly demotedCount?: number;
        })[];
      };
    };
  };
  /** Create a contract and its draft invoices. Prices are frozen into the contract: a later change of the catalog leaves it as it is. endDate is exclusive. */
  readonly 'contracts.create': {
    readonly input: {
      readonly body: {
        /** Plan of the contract. */
        readonly planId: string;
        /** Customer of the contract. */
        readonly customerId: string;
        /** First day of service. */
        readonly startDate: string;
        /** First day without service; omit for a rolling contract. */
        readonly endDate?: string;
        /** Days until an invoice is due; the plan's when not given. */
        readonly netTerms?: ExactNumber;
        /** Other prices for this contract, by basePricingId, or by meterId and dimensions. */
        readonly overrides?: readonly ({
          /** Price of the plan that is overridden. */
          readonly basePricingId: string;
          readonly unitAmount?: string;
          readonly flatAmount?: string;
          readonly pricingTiers?: readonly ({
            /** First quantity of the tier; follows from the previous tier when not given. */
            readonly minQty?: string;
            /** Last quantity of the tier, included; empty in the last one. */
            readonly maxQty?: string;
            /** Price of one unit in USD. */
            readonly unitAmount?: string;
            /** Amount owed once when the tier is used, in USD. */
            readonly flatAmount?: string;
          })[];
          readonly quantity?: string;
        } | {
          /** Meter whose rate is overridden. */
          readonly meterId: string;
          readonly dimensions: Readonly<Record<string, string>>;
          readonly unitAmount: string;
        })[];
        /** Paid credits to begin with; the plan's when not given, 0 for none. */
        readonly creditGrantCents?: number | null;
        /** How credits and budgets of the contract behave. */
        readonly creditSettings?: {
          /** auto_invoice: overage is invoiced; alert_only: the invoice is held. */
          readonly onDepletion?: "auto_invoice" | "alert_only";
          /** Cents that a free credit is worth. */
          readonly creditRateCents?: ExactNumber;
          /** Expiry of the contract's own credit grant. */
          readonly expiresAt?: string;
          readonly alertThresholdsCents?: readonly (number)[];
          readonly budgets?: readonly ({
            /** Display name; key and value when not given. */
            readonly label?: string;
            /** Event property that is the dimension. */
            readonly eventPropertyKey: string;
            /** Value of the property that the budget is for. */
            readonly eventPropertyValue: string;
            /** Only usage of this meter. */
            readonly meterId?: string | null;
            /** Cap in credits. */
            readonly maxCredits?: number | null;
            /** Cap in cents. */
            readonly maxCreditsCents?: number | null;
          })[];
        };
        /** Up to 10 values of your own. */
        readonly metadata?: Readonly<Record<string, string | number | boolean>>;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly customerId: string;
        readonly planId: string;
        readonly name: string;
        readonly startDate: string;
        readonly endDate?: string;
        readonly isActive: boolean;
        readonly createdAt: string;
        readonly metadata: Readonly<Record<string, string | ExactNumber | boolean>>;
        readonly terms?: {
          readonly netTerms: number;
          readonly effectiveEndDate: string | null;
          readonly creditGrantCents: ExactNumber | null;
          readonly creditSettings: {
            readonly onDepletion?: "auto_invoice" | "alert_only";
            readonly creditRateCents?: ExactNumber;
            readonly expiresAt?: string;
            readonly alertThresholdsCents?: readonly (ExactNumber)[];
          };
          readonly items: readonly ({
            readonly pricingId: string;
            readonly quantity: string;
            readonly unitAmount: string | null;
            readonly flatAmount: string | null;
            readonly pricingTiers: readonly ({
              readonly minQty: string;
              readonly maxQty: string;
              readonly unitAmount: string;
              readonly flatAmount: string;
            })[];
            readonly meterId: string | null;
            readonly rates: readonly ({
              readonly dimensions: Readonly<Record<string, string>>;
              readonly unitAmount: string;
            })[];
            readonly fallbackUnitAmount: string | null;
          })[];
        };
      };
    };
  };
  /** Show one contract. */
  readonly 'contracts.get': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly query?: {
        /** terms: also what was frozen when it was made. */
        readonly include?: "terms";
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly customerId: string;
        readonly planId: string;
        readonly name: string;
        readonly startDate: string;
        readonly endDate?: string;
        readonly isActive: boolean;
        readonly createdAt: string;
        readonly metadata: Readonly<Record<string, string | ExactNumber | boolean>>;
        readonly terms?: {
          readonly netTerms: number;
          readonly effectiveEndDate: string | null;
          readonly creditGrantCents: ExactNumber | null;
          readonly creditSettings: {
            readonly onDepletion?: "auto_invoice" | "alert_only";
            readonly creditRateCents?: ExactNumber;
            readonly expiresAt?: string;
            readonly alertThresholdsCents?: readonly (ExactNumber)[];
          };
          readonly items: readonly ({
            readonly pricingId: string;
            readonly quantity: string;
            readonly unitAmount: string | null;
            readonly flatAmount: string | null;
            readonly pricingTiers: readonly ({
              readonly minQty: string;
              readonly maxQty: string;
              readonly unitAmount: string;
              readonly flatAmount: string;
            })[];
            readonly meterId: string | null;
            readonly rates: readonly ({
              readonly dimensions: Readonly<Record<string, string>>;
              readonly unitAmount: string;
            })[];
            readonly fallbackUnitAmount: string | null;
          })[];
        };
      };
    };
  };
  /** List contracts, newest first. */
  readonly 'contracts.list': {
    readonly input: {
      readonly query?: {
        /** Only contracts of this customer. */
        readonly customerId?: string;
        /** Only contracts of the customer with this id of yours. */
        readonly externalCustomerId?: string;
        /** Only contracts on this plan. */
        readonly planId?: string;
        /** Only active ones, or only ended ones. */
        readonly isActive?: "true" | "false";
        /** terms: also what was frozen when it was made. */
        readonly include?: "terms";
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly customerId: string;
        readonly planId: string;
        readonly name: string;
        readonly startDate: string;
        readonly endDate?: string;
        readonly isActive: boolean;
        readonly createdAt: string;
        readonly metadata: Readonly<Record<string, string | ExactNumber | boolean>>;
        readonly terms?: {
          readonly netTerms: number;
          readonly effectiveEndDate: string | null;
          readonly creditGrantCents: ExactNumber | null;
          readonly creditSettings: {
            readonly onDepletion?: "auto_invoice" | "alert_only";
            readonly creditRateCents?: ExactNumber;
            readonly expiresAt?: string;
            readonly alertThresholdsCents?: readonly (ExactNumber)[];
          };
          readonly items: readonly ({
            readonly pricingId: string;
            readonly quantity: string;
            readonly unitAmount: string | null;
            readonly flatAmount: string | null;
            readonly pricingTiers: readonly ({
              readonly minQty: string;
              readonly maxQty: string;
              readonly unitAmount: string;
              readonly flatAmount: string;
            })[];
            readonly meterId: string | null;
            readonly rates: readonly ({
              readonly dimensions: Readonly<Record<string, string>>;
              readonly unitAmount: string;
            })[];
            readonly fallbackUnitAmount: string | null;
          })[];
        };
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Replace or clear the metadata of a contract. Plan, prices, dates and net terms stay as agreed. For others, cancel the contract, which ends with its current billing period, and create a new one from then on. */
  readonly 'contracts.update': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body: {
        /** Values of your own; null clears all. */
        readonly metadata: Readonly<Record<string, string | number | boolean>> | null;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly customerId: string;
        readonly planId: string;
        readonly name: string;
        readonly startDate: string;
        readonly endDate?: string;
        readonly isActive: boolean;
        readonly createdAt: string;
        readonly metadata: Readonly<Record<string, string | ExactNumber | boolean>>;
        readonly terms?: {
          readonly netTerms: number;
          readonly effectiveEndDate: string | null;
          readonly creditGrantCents: ExactNumber | null;
          readonly creditSettings: {
            readonly onDepletion?: "auto_invoice" | "alert_only";
            readonly creditRateCents?: ExactNumber;
            readonly expiresAt?: string;
            readonly alertThresholdsCents?: readonly (ExactNumber)[];
          };
          readonly items: readonly ({
            readonly pricingId: string;
            readonly quantity: string;
            readonly unitAmount: string | null;
            readonly flatAmount: string | null;
            readonly pricingTiers: readonly ({
              readonly minQty: string;
              readonly maxQty: string;
              readonly unitAmount: string;
              readonly flatAmount: string;
            })[];
            readonly meterId: string | null;
            readonly rates: readonly ({
              readonly dimensions: Readonly<Record<string, string>>;
              readonly unitAmount: string;
            })[];
            readonly fallbackUnitAmount: string | null;
          })[];
        };
      };
    };
  };
  /** End a contract with its current billing period. The current period's invoice is kept, later drafts are cancelled. */
  readonly 'contracts.cancel': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body?: {
        /** When the contract ends. */
        readonly cancelAt?: "end_of_period";
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly isActive: boolean;
        readonly effectiveCancellationDate: string;
        readonly cancelledInvoiceCount: number;
      };
    };
  };
  /** Grant promotional credits to a contract. Dollar-only with amountCents, or rated with creditRateCents and creditAmount. The wallet is made when there is none. */
  readonly 'credits.grant': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body: {
        /** Instant at which unused credits lapse. */
        readonly expiresAt: string;
        /** Dollar-only grant: its amount in cents. */
        readonly amountCents?: number;
        /** Cents per credit, 0 for free credits; goes with creditAmount. */
        readonly creditRateCents?: ExactNumber;
        /** Credits to grant; goes with creditRateCents. */
        readonly creditAmount?: number;
        /** Why; kept in the ledger. */
        readonly description?: string;
        /** Idempotency key: the same key never grants twice. */
        readonly externalId?: string;
        /** Which usage the grant pays for; all when not given. */
        readonly specifiers?: {
          readonly meterIds?: readonly (string)[];
          readonly productIds?: readonly (string)[];
          readonly pricingIds?: readonly (string)[];
          readonly eventNames?: readonly (string)[];
          readonly properties?: Readonly<Record<string, string | readonly (string)[]>>;
        };
        /** Anything of your own. */
        readonly metadata?: Readonly<Record<string, unknown>>;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
        readonly amountCents: ExactNumber;
        readonly creditAmount: ExactNumber;
        readonly creditRateCents: ExactNumber;
        readonly currency: string;
        readonly description: string;
        readonly sourceType: string;
        readonly invoiceId: string | null;
        readonly grantEntryId: string | null;
        readonly expiresAt: string | null;
        readonly isPromotional: boolean;
        readonly createdAt: string;
        readonly purchaseRateCents: ExactNumber;
        readonly balanceAfterCents: ExactNumber;
        readonly creditBalanceAfter: ExactNumber;
        readonly metadata: Readonly<Record<string, unknown>> | null;
      };
    };
  };
  /** List the ledger entries of a contract, newest first. */
  readonly 'credits.ledger': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly query?: {
        /** Only entries of this type. */
        readonly type?: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
        /** From this instant, included. */
        readonly createdAfter?: string;
        /** Up to this instant, excluded. */
        readonly createdBefore?: string;
        /** Maximum number of entries, 1 to 100; all when not given. */
        readonly limit?: number;
        /** Entries to skip; 0 when not given. */
        readonly offset?: number;
        /** origin: also what each grant pays for, and which entry a reversal undoes. */
        readonly include?: "origin";
      };
    };
    readonly answer: {
      readonly data: {
        readonly totalCount: number;
        readonly entries: readonly ({
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
          readonly paysFor?: Readonly<Record<string, unknown>>;
          readonly reversesEntryId?: string;
        })[];
      };
    };
  };
  /** Show the credit balance of a contract and its grants in burn order. */
  readonly 'credits.balance': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly query?: {
        /** projected: also what is left after usage that is not settled yet. */
        readonly include?: "projected";
      };
    };
    readonly answer: {
      readonly data: {
        readonly balance: {
          readonly balanceCents: ExactNumber;
          readonly creditBalance: ExactNumber;
          readonly currency: string;
          readonly blockCount: number;
          readonly asOf: string;
        };
        readonly blocks: readonly ({
          readonly id: string;
          readonly status: "active" | "depleted" | "expired";
          readonly priority: number;
          readonly daysUntilExpiry: number | null;
          readonly originalCents: ExactNumber;
          readonly originalCredits: ExactNumber;
          readonly remainingCents: ExactNumber;
          readonly remainingCredits: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly isPromotional: boolean;
          readonly expiresAt: string | null;
          readonly createdAt: string;
        })[];
        readonly projected?: {
          readonly balanceCents: ExactNumber;
          readonly creditBalance: ExactNumber;
        };
      };
    };
  };
  /** List grants of all contracts that expire soon with something left, earliest expiry first. Projected is what usage up to now leaves of a grant, settled or not; a grant of which it leaves nothing is not listed. JSON also has what remains by the ledger, as the balance of the contract shows it. */
  readonly 'credits.expiring': {
    readonly input: {
      readonly query?: {
        /** Expiring up to this instant, excluded; 30 days from now when not given. */
        readonly expiresBefore?: string;
        /** Only contracts of this customer. */
        readonly customerId?: string;
        /** Only contracts of the customer with this id of yours. */
        readonly externalCustomerId?: string;
        /** Maximum number of grants, 1 to 100; all when not given. */
        readonly limit?: number;
        /** Grants to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: {
        readonly expiresBefore: string;
        readonly asOf: string;
        readonly totalCount: number;
        readonly grants: readonly ({
          readonly contractId: string;
          readonly customerId: string;
          readonly grantEntryId: string;
          readonly daysUntilExpiry: number | null;
          readonly originalCents: ExactNumber;
          readonly originalCredits: ExactNumber;
          readonly remainingCents: ExactNumber;
          readonly remainingCredits: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly isPromotional: boolean;
          readonly expiresAt: string | null;
          readonly createdAt: string;
          readonly projected: {
            readonly remainingCents: ExactNumber;
            readonly remainingCredits: ExactNumber;
          };
        })[];
      };
    };
  };
  /** Record a paid grant (embedded only). Paid credits are not part of the API. The grant is not invoiced: it records a purchase made elsewhere. */
  readonly 'credits.grantPaid': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body: {
        /** Instant at which unused credits lapse; never when not given. */
        readonly expiresAt?: string | null;
        /** Dollar-only grant: its amount in cents. */
        readonly amountCents?: number;
        /** Cents per credit, 0 for free credits; goes with creditAmount. */
        readonly creditRateCents?: ExactNumber;
        /** Credits to grant; goes with creditRateCents. */
        readonly creditAmount?: number;
        /** Why; kept in the ledger. */
        readonly description?: string;
        /** Idempotency key: the same key never grants twice. */
        readonly externalId?: string;
        /** Which usage the grant pays for; all when not given. */
        readonly specifiers?: {
          readonly meterIds?: readonly (string)[];
          readonly productIds?: readonly (string)[];
          readonly pricingIds?: readonly (string)[];
          readonly eventNames?: readonly (string)[];
          readonly properties?: Readonly<Record<string, string | readonly (string)[]>>;
        };
        /** Anything of your own. */
        readonly metadata?: Readonly<Record<string, unknown>>;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
        readonly amountCents: ExactNumber;
        readonly creditAmount: ExactNumber;
        readonly creditRateCents: ExactNumber;
        readonly currency: string;
        readonly description: string;
        readonly sourceType: string;
        readonly invoiceId: string | null;
        readonly grantEntryId: string | null;
        readonly expiresAt: string | null;
        readonly isPromotional: boolean;
        readonly createdAt: string;
        readonly purchaseRateCents: ExactNumber;
        readonly balanceAfterCents: ExactNumber;
        readonly creditBalanceAfter: ExactNumber;
        readonly metadata: Readonly<Record<string, unknown>> | null;
      };
    };
  };
  /** Correct the balance of one grant (embedded only). */
  readonly 'credits.adjust': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body: {
        /** Grant that is corrected. */
        readonly grantEntryId: string;
        /** Cents to add, or to take away with a minus sign. */
        readonly amountCents?: number;
        /** Credits to add or take away, for a grant that has credits. */
        readonly creditAmount?: number;
        /** Why; kept in the ledger. */
        readonly description: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
        readonly amountCents: ExactNumber;
        readonly creditAmount: ExactNumber;
        readonly creditRateCents: ExactNumber;
        readonly currency: string;
        readonly description: string;
        readonly sourceType: string;
        readonly invoiceId: string | null;
        readonly grantEntryId: string | null;
        readonly expiresAt: string | null;
        readonly isPromotional: boolean;
        readonly createdAt: string;
      };
    };
  };
  /** Undo one ledger entry (embedded only). Prepaid credits whose grant is undone before their invoice is finalized are not billed. */
  readonly 'credits.reverse': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
        /** Ledger entry id. */
        readonly entryId: string;
      };
      readonly body?: {
        /** Why; kept in the ledger. */
        readonly description?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
        readonly amountCents: ExactNumber;
        readonly creditAmount: ExactNumber;
        readonly creditRateCents: ExactNumber;
        readonly currency: string;
        readonly description: string;
        readonly sourceType: string;
        readonly invoiceId: string | null;
        readonly grantEntryId: string | null;
        readonly expiresAt: string | null;
        readonly isPromotional: boolean;
        readonly createdAt: string;
      };
    };
  };
  /** Write the credit movements that usage owes up to now (embedded only). Idempotent: a second settlement without new usage writes nothing. Also writes what has expired. */
  readonly 'credits.settle': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly totalCount: number;
        readonly entries: readonly ({
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
        })[];
      };
    };
  };
  /** Explain one ledger entry: what it did, to which grant, and why. A usage entry down to its invoice line and events, a grant with what was drawn from it, others with what they undo or correct. */
  readonly 'credits.explain': {
    readonly input: {
      readonly params: {
        /** Ledger entry id. */
        readonly entryId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly contractId: string;
        readonly entry: {
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
          readonly appliedCents: ExactNumber;
          readonly balanceBeforeCents: ExactNumber;
          readonly balanceAfterCents: ExactNumber;
          readonly creditBalanceBefore: ExactNumber;
          readonly creditBalanceAfter: ExactNumber;
          readonly reversesEntryId: string | null;
          readonly reversedByEntryId: string | null;
        };
        readonly reason: string;
        readonly grant: {
          readonly grantId: string;
          readonly description: string;
          readonly isPromotional: boolean;
          readonly status: "active" | "depleted" | "expired";
          readonly expiresAt: string | null;
          readonly paysFor: Readonly<Record<string, unknown>>;
          readonly originalCents: ExactNumber;
          readonly originalCredits: ExactNumber;
          readonly beforeCents: ExactNumber;
          readonly beforeCredits: ExactNumber;
          readonly afterCents: ExactNumber;
          readonly afterCredits: ExactNumber;
        };
        readonly invoice?: {
          readonly invoiceId: string;
          readonly invoiceNumber: string;
          readonly status: string;
        };
        readonly line?: {
          readonly id: string;
          readonly kind: "fixed" | "metered" | "prepaid" | "credit";
          readonly name: string;
          readonly description: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
          readonly dimensions?: Readonly<Record<string, string>>;
          readonly usage?: {
            readonly meterId: string;
            readonly meterCode: string;
            readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN" | "SQL";
            readonly aggregationKey?: string;
            readonly eventCount: number;
            readonly skippedCount: number;
            readonly withoutKeyCount: number;
            readonly firstAt?: string;
            readonly lastAt?: string;
            readonly decidedBy?: {
              readonly idempotencyKey: string;
              readonly eventName: string;
              readonly timestamp: string;
              readonly value?: string | boolean | null | ExactNumber;
            };
            readonly sample: readonly ({
              readonly idempotencyKey: string;
              readonly eventName: string;
              readonly timestamp: string;
              readonly value?: string | boolean | null | ExactNumber;
            })[];
          };
          readonly meteredQuantity?: ExactNumber;
          readonly quantity: ExactNumber;
          readonly price?: {
            readonly pricingId: string;
            readonly source: "price" | "agreed" | "rate" | "fallback";
            readonly dimensions?: Readonly<Record<string, string>>;
            readonly model: "FLAT" | "TIER" | "USAGE";
            readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
            readonly unitAmount?: string;
            readonly flatAmount?: string;
          };
          readonly breakdown: readonly ({
            readonly from: ExactNumber;
            readonly to: ExactNumber | null;
            readonly quantity: ExactNumber;
            readonly unitAmount: string;
            readonly flatAmount: string;
            readonly amount: string;
          })[];
          readonly proration?: {
            readonly daysUsed: number;
            readonly daysWhole: number;
          };
          readonly unitPrice: string;
          readonly exactAmount: string;
          readonly roundingAmount: string;
          readonly totalAmountCents: ExactNumber;
          readonly creditCents?: ExactNumber;
          readonly overageCents?: ExactNumber;
          readonly grants: readonly ({
            readonly grantId: string;
            readonly rank: number;
            readonly appliedCents: ExactNumber;
            readonly creditAmount: ExactNumber;
            readonly why: string;
            readonly entryIds: readonly (string)[];
          })[];
          readonly unusedGrants?: readonly ({
            readonly why: string;
            readonly ranks: readonly ({
              readonly from: number;
              readonly to: number;
            })[];
          })[];
          readonly grantId?: string;
        };
        readonly order: readonly ({
          readonly grantId: string;
          readonly rank: number;
          readonly reason: string;
          readonly description: string;
          readonly isPromotional: boolean;
          readonly purchaseRateCents: ExactNumber;
          readonly expiresAt: string | null;
          readonly paysFor: Readonly<Record<string, unknown>>;
          readonly availableCents: ExactNumber;
          readonly availableCredits: ExactNumber;
          readonly appliedCents: ExactNumber;
          readonly appliedCredits: ExactNumber;
        })[];
        readonly target?: {
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
        };
        readonly movements: readonly ({
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
        })[];
      };
    };
  };
  /** Verify the books of a contract: every balance, invoice and seal, computed again. Balances come from entries, invoices from events and frozen prices. Exit code 10 when anything is wrong; what is only worth a look is a warning. */
  readonly 'credits.verify': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly contractId: string;
        readonly checkedAt: string;
        readonly entryCount: number;
        readonly invoiceCount: number;
        readonly ledgerHead: string;
        readonly findings: readonly ({
          readonly check: string;
          readonly severity: "error" | "warning";
          readonly objectId: string;
          readonly problem: string;
          readonly fix: string;
        })[];
      };
    };
  };
  /** List the budgets of a contract, without their consumption. */
  readonly 'budgets.list': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly budgets: readonly ({
          readonly index: number;
          readonly label: string;
          readonly eventPropertyKey: string;
          readonly eventPropertyValue: string;
          readonly meterId: string | null;
          readonly maxCredits: ExactNumber | null;
          readonly maxCreditsCents: ExactNumber | null;
          readonly isExhausted: boolean;
        })[];
        readonly contractId: string;
        readonly walletMode: "credits" | "dollars";
      };
    };
  };
  /** Show what each budget of a contract has consumed, metered now. */
  readonly 'budgets.usage': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly budgets: readonly ({
          readonly index: number;
          readonly label: string;
          readonly eventPropertyKey: string;
          readonly eventPropertyValue: string;
          readonly meterId: string | null;
          readonly maxCredits: ExactNumber | null;
          readonly maxCreditsCents: ExactNumber | null;
          readonly isExhausted: boolean;
          readonly consumedUnits: ExactNumber;
          readonly consumedCents: ExactNumber;
          readonly percentConsumed: ExactNumber;
        })[];
        readonly contractId: string;
        readonly walletMode: "credits" | "dollars";
        readonly queriedAt: string;
      };
    };
  };
  /** Add a budget to a contract. */
  readonly 'budgets.add': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
      };
      readonly body: {
        /** Display name; key and value when not given. */
        readonly label?: string;
        /** Event property that is the dimension. */
        readonly eventPropertyKey: string;
        /** Value of the property that the budget is for. */
        readonly eventPropertyValue: string;
        /** Only usage of this meter. */
        readonly meterId?: string | null;
        /** Cap in credits. */
        readonly maxCredits?: number | null;
        /** Cap in cents. */
        readonly maxCreditsCents?: number | null;
      };
      /** Version that the caller saw: the call is refused when it is another now. */
      readonly ifMatch?: string;
    };
    readonly answer: {
      readonly data: {
        readonly index: number;
        readonly label: string;
        readonly eventPropertyKey: string;
        readonly eventPropertyValue: string;
        readonly meterId: string | null;
        readonly maxCredits: ExactNumber | null;
        readonly maxCreditsCents: ExactNumber | null;
        readonly isExhausted: boolean;
      };
    };
  };
  /** Change a budget; a new cap rearms its alert. */
  readonly 'budgets.update': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
        /** Place in the list, from 0. */
        readonly index: number;
      };
      readonly body?: {
        /** Display name. */
        readonly label?: string;
        /** Only usage of this meter. */
        readonly meterId?: string | null;
        /** Cap in credits. */
        readonly maxCredits?: number | null;
        /** Cap in cents. */
        readonly maxCreditsCents?: number | null;
      };
      /** Version that the caller saw: the call is refused when it is another now. */
      readonly ifMatch?: string;
    };
    readonly answer: {
      readonly data: {
        readonly index: number;
        readonly label: string;
        readonly eventPropertyKey: string;
        readonly eventPropertyValue: string;
        readonly meterId: string | null;
        readonly maxCredits: ExactNumber | null;
        readonly maxCreditsCents: ExactNumber | null;
        readonly isExhausted: boolean;
      };
    };
  };
  /** Remove a budget; the ones after it move up. */
  readonly 'budgets.remove': {
    readonly input: {
      readonly params: {
        /** Contract id. */
        readonly contractId: string;
        /** Place in the list, from 0. */
        readonly index: number;
      };
      /** Version that the caller saw: the call is refused when it is another now. */
      readonly ifMatch?: string;
    };
    readonly answer: {
      readonly data: {
        readonly removed: {
          readonly index: number;
          readonly label: string;
          readonly eventPropertyKey: string;
          readonly eventPropertyValue: string;
          readonly meterId: string | null;
          readonly maxCredits: ExactNumber | null;
          readonly maxCreditsCents: ExactNumber | null;
          readonly isExhausted: boolean;
        };
      };
    };
  };
  /** Create a meter. A meter reads events that came before it as well. */
  readonly 'meters.create': {
    readonly input: {
      readonly body: {
        /** Unique code: uppercase letters, digits, underscores. */
        readonly code: string;
        /** Display name. */
        readonly displayName: string;
        /** What is measured, in words. */
        readonly description?: string;
        /** How events become a quantity. */
        readonly aggregationType?: "SUM" | "COUNT" | "MAX" | "MIN";
        /** Event names to include (all when none is given) and to exclude; exclude wins. */
        readonly eventTypeFilter?: {
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        };
        /** Conditions on properties, all of which must hold. */
        readonly propertyFilters?: readonly ({
          readonly name: string;
          readonly exists?: boolean;
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        })[];
        /** Property that is aggregated; required for SUM, MAX and MIN. */
        readonly aggregationKey?: string;
        /** Properties to group by, for prices per dimension. */
        readonly groupKeys?: readonly (string)[];
        /** Query of events(event_name, timestamp, properties) that returns one number as value; overrides the rest. */
        readonly sql?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly code: string;
        readonly displayName: string;
        readonly description?: string;
        readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN";
        readonly eventTypeFilter: {
          readonly include: readonly (string)[];
          readonly exclude: readonly (string)[];
        };
        readonly propertyFilters: readonly ({
          readonly name: string;
          readonly exists?: boolean;
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        })[];
        readonly aggregationKey?: string;
        readonly groupKeys: readonly (string)[];
        readonly sql?: string;
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Show one meter. */
  readonly 'meters.get': {
    readonly input: {
      readonly params: {
        /** Meter id. */
        readonly meterId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly code: string;
        readonly displayName: string;
        readonly description?: string;
        readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN";
        readonly eventTypeFilter: {
          readonly include: readonly (string)[];
          readonly exclude: readonly (string)[];
        };
        readonly propertyFilters: readonly ({
          readonly name: string;
          readonly exists?: boolean;
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        })[];
        readonly aggregationKey?: string;
        readonly groupKeys: readonly (string)[];
        readonly sql?: string;
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly status: "active" | "inactive";
      };
    };
  };
  /** List meters, newest first. */
  readonly 'meters.list': {
    readonly input: {
      readonly query?: {
        /** active when not given; archived meters are inactive. */
        readonly status?: "active" | "inactive" | "all";
        /** Records per page, 1 to 100; 50 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly code: string;
        readonly displayName: string;
        readonly description?: string;
        readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN";
        readonly eventTypeFilter: {
          readonly include: readonly (string)[];
          readonly exclude: readonly (string)[];
        };
        readonly propertyFilters: readonly ({
          readonly name: string;
          readonly exists?: boolean;
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        })[];
        readonly aggregationKey?: string;
        readonly groupKeys: readonly (string)[];
        readonly sql?: string;
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly status: "active" | "inactive";
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Take a meter out of use. Refused while an unarchived price uses it. Its code may be used again. */
  readonly 'meters.archive': {
    readonly input: {
      readonly params: {
        /** Meter id. */
        readonly meterId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly code: string;
        readonly displayName: string;
        readonly description?: string;
        readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN";
        readonly eventTypeFilter: {
          readonly include: readonly (string)[];
          readonly exclude: readonly (string)[];
        };
        readonly propertyFilters: readonly ({
          readonly name: string;
          readonly exists?: boolean;
          readonly include?: readonly (string)[];
          readonly exclude?: readonly (string)[];
        })[];
        readonly aggregationKey?: string;
        readonly groupKeys: readonly (string)[];
        readonly sql?: string;
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly status: "active" | "inactive";
      };
    };
  };
  /** Show the prices per dimension of a meter. */
  readonly 'meters.rateCard': {
    readonly input: {
      readonly params: {
        /** Meter id. */
        readonly meterId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly meterId: string;
        readonly rates: readonly ({
          readonly dimensions: Readonly<Record<string, string>>;
          readonly unitAmount: string;
        })[];
        readonly fallbackUnitAmount: string | null;
        readonly updatedAt: string | null;
      };
    };
  };
  /** Replace the prices per dimension of a meter. The most specific rate wins, then the first listed, then the fallback, then the unit price. Existing contracts keep theirs. */
  readonly 'meters.setRateCard': {
    readonly input: {
      readonly params: {
        /** Meter id. */
        readonly meterId: string;
      };
      readonly body: {
        /** Rates in order. */
        readonly rates: readonly ({
          /** Values of group keys that the rate is for. */
          readonly dimensions: Readonly<Record<string, string>>;
          /** Price of one unit in USD. */
          readonly unitAmount: string;
        })[];
        /** Price of combinations that no rate matches. */
        readonly fallbackUnitAmount?: string | null;
      };
    };
    readonly answer: {
      readonly data: {
        readonly meterId: string;
        readonly rates: readonly ({
          readonly dimensions: Readonly<Record<string, string>>;
          readonly unitAmount: string;
        })[];
        readonly fallbackUnitAmount: string | null;
        readonly updatedAt: string | null;
      };
    };
  };
  /** Show what a meter reads for a customer, what it skips and why. With contractId, only the events that are billed on that contract: none when it has no price for the meter. */
  readonly 'meters.test': {
    readonly input: {
      readonly params: {
        /** Meter id. */
        readonly meterId: string;
      };
      readonly body: {
        /** From this instant, included. */
        readonly startDate: string;
        /** Up to this instant, excluded. */
        readonly endDate: string;
        /** Customer by id. */
        readonly customerId?: string;
        /** Customer by your own id. */
        readonly externalCustomerId?: string;
        /** Only events that are billed on this contract. */
        readonly contractId?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly meterId: string;
        readonly meterCode: string;
        readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN" | "SQL";
        readonly aggregationKey?: string;
        readonly customerId: string;
        readonly contractId?: string;
        readonly startDate: string;
        readonly endDate: string;
        readonly matchedCount: number;
        readonly unmatchedCount: number;
        readonly lateCount: number;
        readonly groups: readonly ({
          readonly dimensions: Readonly<Record<string, string>>;
          readonly quantity: ExactNumber;
          readonly eventCount: number;
          readonly skippedCount: number;
          readonly withoutKeyCount: number;
          readonly firstAt?: string;
          readonly lastAt?: string;
          readonly decidedBy?: {
            readonly idempotencyKey: string;
            readonly eventName: string;
            readonly timestamp: string;
            readonly value?: string | boolean | null | ExactNumber;
          };
        })[];
        readonly skipped: readonly ({
          readonly idempotencyKey: string;
          readonly eventName: string;
          readonly timestamp: string;
          readonly value?: string | boolean | null | ExactNumber;
          readonly reason: string;
        })[];
      };
    };
  };
  /** Calculate what usage costs. For a customer by the newest prices, or for a contract exactly as its invoices calculate it. */
  readonly 'usage.cost': {
    readonly input: {
      readonly body: {
        /** From this instant, included. */
        readonly startDate?: string;
        /** Up to this instant, excluded. */
        readonly endDate?: string;
        /** Customer by id. */
        readonly customerId?: string;
        /** Customer by your own id. */
        readonly externalCustomerId?: string;
        /** Contract: its prices, its dates. */
        readonly contractId?: string;
        /** Only meters of these events. */
        readonly eventNames?: readonly (string)[];
        /** Only events with these properties. */
        readonly propertyFilters?: readonly ({
          readonly key: string;
          readonly value: string;
        })[];
        /** credits: by the rate of the customer's newest grant. */
        readonly unit?: "currency" | "credits";
      };
    };
    readonly answer: {
      readonly totalAmount: ExactNumber;
      readonly currency?: "USD";
      readonly creditRateCents?: ExactNumber;
      readonly unit: "currency" | "credits";
      readonly startDate: string;
      readonly endDate: string;
      readonly queriedAt: string;
      readonly contractId?: string;
    };
  };
  /** Split what usage costs by a group key of the meters. The same lines as usage cost, added up for each value; the rows add up to the total. Most expensive first. */
  readonly 'usage.breakdown': {
    readonly input: {
      readonly body: {
        /** Group key of a meter, such as model. */
        readonly groupKey: string;
        /** From this instant, included. */
        readonly startDate?: string;
        /** Up to this instant, excluded. */
        readonly endDate?: string;
        /** Customer by id. */
        readonly customerId?: string;
        /** Customer by your own id. */
        readonly externalCustomerId?: string;
        /** Contract: its prices, its dates. */
        readonly contractId?: string;
        /** Only meters of these events. */
        readonly eventNames?: readonly (string)[];
        /** Only events with these properties. */
        readonly propertyFilters?: readonly ({
          readonly key: string;
          readonly value: string;
        })[];
      };
    };
    readonly answer: {
      readonly data: {
        readonly groupKey: string;
        readonly totalAmount: ExactNumber;
        readonly currency: "USD";
        readonly startDate: string;
        readonly endDate: string;
        readonly queriedAt: string;
        readonly contractId?: string;
        readonly rows: readonly ({
          readonly value: string | null;
          readonly totalAmount: ExactNumber;
        })[];
      };
    };
  };
  /** Send one event. Stored before it is acknowledged. The same idempotencyKey with other content replaces the event while its period is open. */
  readonly 'usage.ingest': {
    readonly input: {
      readonly body: {
        /** What happened, such as llm.request. */
        readonly eventName: string;
        /** Customer who used the service; or externalCustomerId. */
        readonly customerId?: string;
        /** The same, by your own id. */
        readonly externalCustomerId?: string;
        /** Contract to bill; found automatically when not given. */
        readonly contractId?: string;
        /** The same key counts once; the latest version wins. */
        readonly idempotencyKey?: string;
        /** When it happened; now when not given, at most an hour ahead. */
        readonly timestamp?: string;
        /** Facts to meter, filter and group by. */
        readonly properties?: Readonly<Record<string, string | number | boolean | null>>;
      };
    };
    readonly answer: {
      readonly status: "accepted";
      readonly idempotencyKey: string;
      readonly requestId: string;
    };
  };
  /** Send up to 10,000 events, all or none. */
  readonly 'usage.ingestBatch': {
    readonly input: {
      readonly body: {
        /** 1 to 10,000 events. */
        readonly events: readonly ({
          /** What happened, such as llm.request. */
          readonly eventName: string;
          /** Customer who used the service; or externalCustomerId. */
          readonly customerId?: string;
          /** The same, by your own id. */
          readonly externalCustomerId?: string;
          /** Contract to bill; found automatically when not given. */
          readonly contractId?: string;
          /** The same key counts once; the latest version wins. */
          readonly idempotencyKey?: string;
          /** When it happened; now when not given, at most an hour ahead. */
          readonly timestamp?: string;
          /** Facts to meter, filter and group by. */
          readonly properties?: Readonly<Record<string, string | number | boolean | null>>;
        })[];
      };
    };
    readonly answer: {
      readonly status: "accepted";
      readonly count: number;
      readonly requestId: string;
    };
  };
  /** List events, newest first. */
  readonly 'usage.events': {
    readonly input: {
      readonly query?: {
        /** Only events of this name. */
        readonly eventName?: string;
        /** Only events of this customer. */
        readonly customerId?: string;
        /** From this instant, included. */
        readonly start?: string;
        /** Up to this instant, excluded. */
        readonly end?: string;
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly eventName: string;
        readonly customerId: string;
        readonly contractId: string | null;
        readonly idempotencyKey: string;
        readonly timestamp: string;
        readonly properties: Readonly<Record<string, string | boolean | null | ExactNumber>>;
        readonly version: number;
        readonly isLate: boolean;
        readonly receivedAt: string;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** List events that came after their period was finalized, newest first. They are kept, but never billed. */
  readonly 'usage.late': {
    readonly input: {
      readonly query?: {
        /** Only events of this name. */
        readonly eventName?: string;
        /** Only events of this customer. */
        readonly customerId?: string;
        /** From this instant, included. */
        readonly start?: string;
        /** Up to this instant, excluded. */
        readonly end?: string;
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly eventName: string;
        readonly customerId: string;
        readonly contractId: string | null;
        readonly idempotencyKey: string;
        readonly timestamp: string;
        readonly properties: Readonly<Record<string, string | boolean | null | ExactNumber>>;
        readonly version: number;
        readonly isLate: boolean;
        readonly receivedAt: string;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Estimate what events would cost, without storing them. By the prices of a contract, or by the newest price of each meter. Totals are exact, also below a cent. */
  readonly 'pricing.estimate': {
    readonly input: {
      readonly body: {
        /** Prices of this contract. */
        readonly contractId?: string;
        /** 1 to 500 events. */
        readonly events: readonly ({
          /** What happened, such as llm.request. */
          readonly eventName: string;
          /** Facts to meter, filter and group by. */
          readonly properties?: Readonly<Record<string, string | number | boolean | null>>;
        })[];
      };
    };
    readonly answer: {
      readonly data: {
        readonly totalAmount: ExactNumber;
        readonly currency: "USD";
        readonly lines: readonly ({
          readonly meterId: string;
          readonly meterCode: string;
          readonly pricingId: string;
          readonly name: string;
          readonly dimensions: Readonly<Record<string, string>>;
          readonly quantity: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
        })[];
      };
    };
  };
  /** List invoices, newest first. Amounts of drafts are calculated when they are read. */
  readonly 'invoices.list': {
    readonly input: {
      readonly query?: {
        /** Only invoices of this customer. */
        readonly customerId?: string;
        /** Only invoices of this status. */
        readonly status?: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        /** Created from this instant, included. */
        readonly createdAfter?: string;
        /** Created up to this instant, excluded. */
        readonly createdBefore?: string;
        /** lineItems: also the lines. period: also the dates that it covers. */
        readonly include?: "lineItems" | "period" | `${string},${string}`;
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Show one invoice. */
  readonly 'invoices.get': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
      readonly query?: {
        /** lineItems: also the lines. period: also the dates that it covers. */
        readonly include?: "lineItems" | "period" | `${string},${string}`;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Finalize a draft: meter, rate, apply credits, number and freeze it. Refused before 12:00 UTC of the invoice date; where time is simulated, before that date. An invoice of 0.00 is paid at once. */
  readonly 'invoices.finalize': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Send a finalized invoice that waits to be sent. */
  readonly 'invoices.send': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Record a payment: begun, failed or paid. */
  readonly 'invoices.pay': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
      readonly body?: {
        /** What happened. */
        readonly status?: "initiated" | "failed" | "paid";
        /** Day of the payment; today when not given. */
        readonly date?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Cancel a draft, or void an invoice that is not paid. Credits that were taken for it go back to their grants; what is left of prepaid credits that it bills is taken back. What it billed, usage included, goes on no other invoice. */
  readonly 'invoices.cancel': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Refund a paid invoice in full. */
  readonly 'invoices.refund': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
      readonly body?: {
        /** Day of the refund, not before the invoice date; checked, but not kept. */
        readonly date?: string;
        /** Also give the credits back to their grants. */
        readonly restoreCredits?: boolean;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly invoiceNumber: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly status: "Drafted" | "In Progress" | "In Transit" | "Paid" | "Cancelled" | "Refunded";
        readonly invoiceDate: string;
        readonly dueDate: string;
        readonly totalCents: ExactNumber;
        readonly memo?: string;
        readonly latestPaymentDate?: string;
        readonly paymentLink?: string;
        readonly externalIds: readonly ({
          readonly provider: string;
          readonly entityType: "invoice";
          readonly id: string;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
        readonly lineItems?: readonly ({
          readonly id: string;
          readonly name: string;
          readonly description: string;
          readonly quantity: ExactNumber;
          readonly unitPriceCents: ExactNumber;
          readonly totalAmountCents: ExactNumber;
          readonly unitPrice: string;
          readonly totalAmount: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
        })[];
        readonly period?: {
          readonly start: string;
          readonly end: string;
        };
      };
    };
  };
  /** Show the credits that were applied to an invoice. */
  readonly 'invoices.creditReport': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly invoiceId: string;
        readonly entries: readonly ({
          readonly id: string;
          readonly type: "grant" | "usage" | "adjustment" | "reversal" | "expiration";
          readonly amountCents: ExactNumber;
          readonly creditAmount: ExactNumber;
          readonly creditRateCents: ExactNumber;
          readonly currency: string;
          readonly description: string;
          readonly sourceType: string;
          readonly invoiceId: string | null;
          readonly grantEntryId: string | null;
          readonly expiresAt: string | null;
          readonly isPromotional: boolean;
          readonly createdAt: string;
        })[];
        readonly summary: {
          readonly totalCredits: ExactNumber;
          readonly totalCents: ExactNumber;
          readonly entryCount: number;
        };
      };
    };
  };
  /** Trace each cent of an invoice: events, quantity, price, rounding, credits. Drafts are explained as they stand now, finalized invoices as they were frozen, compared with what events and prices give. */
  readonly 'invoices.explain': {
    readonly input: {
      readonly params: {
        /** Invoice id. */
        readonly invoiceId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly invoiceId: string;
        readonly invoiceNumber: string;
        readonly status: string;
        readonly customerId: string;
        readonly contractId: string;
        readonly basis: "live" | "frozen" | "none";
        readonly asOf: string;
        readonly period: {
          readonly start: string;
          readonly end: string;
        };
        readonly totalCents: ExactNumber;
        readonly lines: readonly ({
          readonly id: string;
          readonly kind: "fixed" | "metered" | "prepaid" | "credit";
          readonly name: string;
          readonly description: string;
          readonly servicePeriod: {
            readonly start: string;
            readonly end: string;
          };
          readonly dimensions?: Readonly<Record<string, string>>;
          readonly usage?: {
            readonly meterId: string;
            readonly meterCode: string;
            readonly aggregationType: "SUM" | "COUNT" | "MAX" | "MIN" | "SQL";
            readonly aggregationKey?: string;
            readonly eventCount: number;
            readonly skippedCount: number;
            readonly withoutKeyCount: number;
            readonly firstAt?: string;
            readonly lastAt?: string;
            readonly decidedBy?: {
              readonly idempotencyKey: string;
              readonly eventName: string;
              readonly timestamp: string;
              readonly value?: string | boolean | null | ExactNumber;
            };
            readonly sample: readonly ({
              readonly idempotencyKey: string;
              readonly eventName: string;
              readonly timestamp: string;
              readonly value?: string | boolean | null | ExactNumber;
            })[];
          };
          readonly meteredQuantity?: ExactNumber;
          readonly quantity: ExactNumber;
          readonly price?: {
            readonly pricingId: string;
            readonly source: "price" | "agreed" | "rate" | "fallback";
            readonly dimensions?: Readonly<Record<string, string>>;
            readonly model: "FLAT" | "TIER" | "USAGE";
            readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
            readonly unitAmount?: string;
            readonly flatAmount?: string;
          };
          readonly breakdown: readonly ({
            readonly from: ExactNumber;
            readonly to: ExactNumber | null;
            readonly quantity: ExactNumber;
            readonly unitAmount: string;
            readonly flatAmount: string;
            readonly amount: string;
          })[];
          readonly proration?: {
            readonly daysUsed: number;
            readonly daysWhole: number;
          };
          readonly unitPrice: string;
          readonly exactAmount: string;
          readonly roundingAmount: string;
          readonly totalAmountCents: ExactNumber;
          readonly creditCents?: ExactNumber;
          readonly overageCents?: ExactNumber;
          readonly grants: readonly ({
            readonly grantId: string;
            readonly rank: number;
            readonly appliedCents: ExactNumber;
            readonly creditAmount: ExactNumber;
            readonly why: string;
            readonly entryIds: readonly (string)[];
          })[];
          readonly unusedGrants?: readonly ({
            readonly why: string;
            readonly ranks: readonly ({
              readonly from: number;
              readonly to: number;
            })[];
          })[];
          readonly grantId?: string;
        })[];
        readonly grants: readonly ({
          readonly grantId: string;
          readonly rank: number;
          readonly reason: string;
          readonly description: string;
          readonly isPromotional: boolean;
          readonly purchaseRateCents: ExactNumber;
          readonly expiresAt: string | null;
          readonly paysFor: Readonly<Record<string, unknown>>;
          readonly availableCents: ExactNumber;
          readonly availableCredits: ExactNumber;
          readonly appliedCents: ExactNumber;
          readonly appliedCredits: ExactNumber;
        })[];
        readonly lateEventCount?: number;
        readonly eventsDroppedBefore?: string;
        readonly disagreements: readonly (string)[];
      };
    };
  };
  /** Create a price of a product. A price never changes once it exists: archive it and create another. */
  readonly 'pricing.create': {
    readonly input: {
      readonly body: {
        /** Product that the price is for; or give productName. */
        readonly productId?: string;
        /** Product by name; it is created when there is none. */
        readonly productName?: string;
        /** Description of a product created by this call. */
        readonly productDescription?: string;
        /** Name of the price. */
        readonly name: string;
        /** What the price is for. */
        readonly description?: string;
        /** FLAT: quantity x unit; TIER: tiers on the plan quantity; USAGE: a meter. */
        readonly model: "FLAT" | "TIER" | "USAGE";
        /** How often it is billed. */
        readonly billingMode?: "RECURRING" | "ONE_TIME";
        /** When not given: GRADUATED with tiers, NONE without. */
        readonly tiering?: "NONE" | "VOLUME" | "GRADUATED";
        /** Price of one unit in USD; required for FLAT. USAGE may leave it to the rate card of its meter. */
        readonly unitAmount?: string;
        /** Amount owed each period, in USD. */
        readonly flatAmount?: string;
        /** Required when RECURRING. */
        readonly priceInterval?: "WEEK" | "MONTH" | "YEAR";
        /** Intervals in a period; 1 when not given. */
        readonly priceIntervalCount?: ExactNumber;
        /** Meter whose quantity is priced; required for USAGE. */
        readonly meterId?: string;
        /** Tiers, ascending; the upper bound is included. */
        readonly pricingTiers?: readonly ({
          /** First quantity of the tier; follows from the previous tier when not given. */
          readonly minQty?: string;
          /** Last quantity of the tier, included; empty in the last one. */
          readonly maxQty?: string;
          /** Price of one unit in USD. */
          readonly unitAmount?: string;
          /** Amount owed once when the tier is used, in USD. */
          readonly flatAmount?: string;
        })[];
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly productId: string;
        readonly productName: string;
        readonly name: string;
        readonly model: "FLAT" | "TIER" | "USAGE";
        readonly billingMode: "RECURRING" | "ONE_TIME";
        readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
        readonly createdAt: string;
        readonly description?: string;
        readonly unitAmount?: string;
        readonly flatAmount?: string;
        readonly priceInterval?: "WEEK" | "MONTH" | "YEAR";
        readonly priceIntervalCount?: number;
        readonly meterId?: string;
        readonly pricingTiers?: readonly ({
          readonly unitAmount: string;
          readonly minQty: string;
          readonly maxQty: string;
          readonly flatAmount: string;
        })[];
      };
    };
  };
  /** Show one price. */
  readonly 'pricing.get': {
    readonly input: {
      readonly params: {
        /** Pricing id. */
        readonly pricingId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly productId: string;
        readonly productName: string;
        readonly name: string;
        readonly model: "FLAT" | "TIER" | "USAGE";
        readonly billingMode: "RECURRING" | "ONE_TIME";
        readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
        readonly createdAt: string;
        readonly description?: string;
        readonly unitAmount?: string;
        readonly flatAmount?: string;
        readonly priceInterval?: "WEEK" | "MONTH" | "YEAR";
        readonly priceIntervalCount?: number;
        readonly meterId?: string;
        readonly pricingTiers?: readonly ({
          readonly unitAmount: string;
          readonly minQty: string;
          readonly maxQty: string;
          readonly flatAmount: string;
        })[];
      };
    };
  };
  /** List prices, newest first. */
  readonly 'pricing.list': {
    readonly input: {
      readonly query?: {
        /** Only prices of this product. */
        readonly productId?: string;
        /** Only prices of this model. */
        readonly model?: "FLAT" | "TIER" | "USAGE";
        /** Records per page, 1 to 100; 50 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly productId: string;
        readonly productName: string;
        readonly name: string;
        readonly model: "FLAT" | "TIER" | "USAGE";
        readonly billingMode: "RECURRING" | "ONE_TIME";
        readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
        readonly createdAt: string;
        readonly description?: string;
        readonly unitAmount?: string;
        readonly flatAmount?: string;
        readonly priceInterval?: "WEEK" | "MONTH" | "YEAR";
        readonly priceIntervalCount?: number;
        readonly meterId?: string;
        readonly pricingTiers?: readonly ({
          readonly unitAmount: string;
          readonly minQty: string;
          readonly maxQty: string;
          readonly flatAmount: string;
        })[];
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Take a price out of use. Refused while a plan has it. Contracts keep the prices that they were made with. */
  readonly 'pricing.archive': {
    readonly input: {
      readonly params: {
        /** Pricing id. */
        readonly pricingId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly productId: string;
        readonly productName: string;
        readonly name: string;
        readonly model: "FLAT" | "TIER" | "USAGE";
        readonly billingMode: "RECURRING" | "ONE_TIME";
        readonly tiering: "NONE" | "VOLUME" | "GRADUATED";
        readonly createdAt: string;
        readonly description?: string;
        readonly unitAmount?: string;
        readonly flatAmount?: string;
        readonly priceInterval?: "WEEK" | "MONTH" | "YEAR";
        readonly priceIntervalCount?: number;
        readonly meterId?: string;
        readonly pricingTiers?: readonly ({
          readonly unitAmount: string;
          readonly minQty: string;
          readonly maxQty: string;
          readonly flatAmount: string;
        })[];
      };
    };
  };
  /** Create a plan from prices. A plan never changes once it exists: archive it and create another. */
  readonly 'plans.create': {
    readonly input: {
      readonly body: {
        /** Name of the plan. */
        readonly name: string;
        /** What the plan is for. */
        readonly description?: string;
        /** Currency of its prices. */
        readonly currency?: "USD";
        /** Whole days between invoice date and due date; "Net 30" is understood. */
        readonly netTerms?: string;
        /** Your own id of the plan. */
        readonly externalId?: string;
        /** Defaults for contracts of the plan. */
        readonly metadata?: {
          readonly defaultAutoPayEnabled?: boolean;
          /** auto: sent when finalized; manual: sent by command. */
          readonly invoiceSendMethod?: "auto" | "manual";
          readonly defaultCreditSettings?: {
            readonly onDepletion: "auto_invoice" | "alert_only";
          };
          /** Paid credits that a new contract begins with. */
          readonly defaultCreditGrantCents?: number;
        };
        /** Prices of the plan. */
        readonly items: readonly ({
          readonly pricingId: string;
          /** Quantity of a price that is not metered. */
          readonly defaultQuantity?: string;
        })[];
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly currency: string;
        readonly netTerms: string;
        readonly externalId?: string;
        readonly metadata: {
          readonly defaultAutoPayEnabled: boolean;
          readonly invoiceSendMethod: string;
          readonly defaultCreditSettings?: {
            readonly onDepletion: string;
          };
          readonly defaultCreditGrantCents?: ExactNumber;
        };
        readonly items: readonly ({
          readonly id: string;
          readonly pricingId: string;
          readonly productId: string;
          readonly productName: string;
          readonly pricingName: string;
          readonly pricingModel: string;
          readonly billingMode: string;
          readonly defaultQuantity: string;
          readonly isMetered: boolean;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Show one plan. */
  readonly 'plans.get': {
    readonly input: {
      readonly params: {
        /** Plan id. */
        readonly planId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly currency: string;
        readonly netTerms: string;
        readonly externalId?: string;
        readonly metadata: {
          readonly defaultAutoPayEnabled: boolean;
          readonly invoiceSendMethod: string;
          readonly defaultCreditSettings?: {
            readonly onDepletion: string;
          };
          readonly defaultCreditGrantCents?: ExactNumber;
        };
        readonly items: readonly ({
          readonly id: string;
          readonly pricingId: string;
          readonly productId: string;
          readonly productName: string;
          readonly pricingName: string;
          readonly pricingModel: string;
          readonly billingMode: string;
          readonly defaultQuantity: string;
          readonly isMetered: boolean;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** List plans, newest first. */
  readonly 'plans.list': {
    readonly input: {
      readonly query?: {
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly currency: string;
        readonly netTerms: string;
        readonly externalId?: string;
        readonly metadata: {
          readonly defaultAutoPayEnabled: boolean;
          readonly invoiceSendMethod: string;
          readonly defaultCreditSettings?: {
            readonly onDepletion: string;
          };
          readonly defaultCreditGrantCents?: ExactNumber;
        };
        readonly items: readonly ({
          readonly id: string;
          readonly pricingId: string;
          readonly productId: string;
          readonly productName: string;
          readonly pricingName: string;
          readonly pricingModel: string;
          readonly billingMode: string;
          readonly defaultQuantity: string;
          readonly isMetered: boolean;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Take a plan out of use. Contracts on it go on; new ones cannot be made. */
  readonly 'plans.archive': {
    readonly input: {
      readonly params: {
        /** Plan id. */
        readonly planId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly currency: string;
        readonly netTerms: string;
        readonly externalId?: string;
        readonly metadata: {
          readonly defaultAutoPayEnabled: boolean;
          readonly invoiceSendMethod: string;
          readonly defaultCreditSettings?: {
            readonly onDepletion: string;
          };
          readonly defaultCreditGrantCents?: ExactNumber;
        };
        readonly items: readonly ({
          readonly id: string;
          readonly pricingId: string;
          readonly productId: string;
          readonly productName: string;
          readonly pricingName: string;
          readonly pricingModel: string;
          readonly billingMode: string;
          readonly defaultQuantity: string;
          readonly isMetered: boolean;
        })[];
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Create a product. */
  readonly 'products.create': {
    readonly input: {
      readonly body: {
        /** Name of the product. */
        readonly name: string;
        /** What the product is. */
        readonly description?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly createdAt: string;
      };
    };
  };
  /** Show one product. */
  readonly 'products.get': {
    readonly input: {
      readonly params: {
        /** Product id. */
        readonly productId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly createdAt: string;
      };
    };
  };
  /** List products, newest first. */
  readonly 'products.list': {
    readonly input: {
      readonly query?: {
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly createdAt: string;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Take a product out of use. Refused while it has an unarchived price. Its name may be used again. */
  readonly 'products.archive': {
    readonly input: {
      readonly params: {
        /** Product id. */
        readonly productId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly description?: string;
        readonly createdAt: string;
      };
    };
  };
  /** Create an API key; it is shown only once. */
  readonly 'keys.create': {
    readonly input: {
      readonly body: {
        /** What the key is for. */
        readonly name: string;
        /** What the key may do; * is everything. */
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        /** Instant from which on the key is refused; never when not given. */
        readonly expiresAt?: string | null;
      };
    };
    readonly answer: {
      readonly data: {
        readonly key: string;
        readonly id: string;
        readonly name: string;
        readonly suffix: string;
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        readonly expiresAt: string | null;
        readonly revokedAt: string | null;
        readonly lastUsedAt: string | null;
        readonly createdAt: string;
      };
    };
  };
  /** List API keys, newest first. */
  readonly 'keys.list': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        readonly suffix: string;
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        readonly expiresAt: string | null;
        readonly revokedAt: string | null;
        readonly lastUsedAt: string | null;
        readonly createdAt: string;
      })[];
    };
  };
  /** Show whose key is in use, and what it may do. Any key may ask. */
  readonly 'keys.whoami': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: {
        readonly organization: {
          readonly id: string;
          readonly name: string;
        };
        readonly environment: "sandbox" | "production";
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        readonly key: {
          readonly id: string;
          readonly name: string;
          readonly suffix: string;
          readonly expiresAt: string | null;
        } | null;
      };
    };
  };
  /** Revoke an API key at once. */
  readonly 'keys.revoke': {
    readonly input: {
      readonly params: {
        /** Key id. */
        readonly keyId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly suffix: string;
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        readonly expiresAt: string | null;
        readonly revokedAt: string | null;
        readonly lastUsedAt: string | null;
        readonly createdAt: string;
      };
    };
  };
  /** Replace an API key by a new one of the same scopes. The old key is revoked at once, or stays valid until the given instant. */
  readonly 'keys.rotate': {
    readonly input: {
      readonly params: {
        /** Key id. */
        readonly keyId: string;
      };
      readonly body?: {
        /** The old key works until then. */
        readonly validUntil?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly key: string;
        readonly id: string;
        readonly name: string;
        readonly suffix: string;
        readonly scopes: readonly ("*" | "customers:read" | "customers:write" | "invoices:read" | "invoices:write" | "contracts:read" | "contracts:write" | "plans:read" | "plans:write" | "pricing:read" | "pricing:write" | "meters:read" | "meters:write" | "usage:read" | "usage:write")[];
        readonly expiresAt: string | null;
        readonly revokedAt: string | null;
        readonly lastUsedAt: string | null;
        readonly createdAt: string;
      };
    };
  };
  /** Create an organization in this database. */
  readonly 'orgs.create': {
    readonly input: {
      readonly body: {
        /** Unique name, used with --org. */
        readonly name: string;
        /** What its keys begin with. */
        readonly keyPrefix?: string;
        /** Customers need a billing address. */
        readonly salesTaxEnabled?: boolean;
        /** Payment processor that keeps payment methods; null for none. */
        readonly paymentProcessor?: "stripe" | null;
        /** In production the clock of this database can no longer be simulated. Sandbox when not given. */
        readonly environment?: "sandbox" | "production";
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly keyPrefix: string;
        readonly salesTaxEnabled: boolean;
        readonly paymentProcessor: string | null;
        readonly environment: "sandbox" | "production";
        readonly createdAt: string;
      };
    };
  };
  /** List the organizations of this database. */
  readonly 'orgs.list': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        readonly keyPrefix: string;
        readonly salesTaxEnabled: boolean;
        readonly paymentProcessor: string | null;
        readonly environment: "sandbox" | "production";
        readonly createdAt: string;
      })[];
    };
  };
  /** Change the settings of an organization. */
  readonly 'orgs.update': {
    readonly input: {
      readonly params: {
        /** Organization id or name. */
        readonly organizationId: string;
      };
      readonly body: {
        /** Unique name. */
        readonly name?: string;
        /** Customers need a billing address. */
        readonly salesTaxEnabled?: boolean;
        /** Payment processor that keeps payment methods; null for none. */
        readonly paymentProcessor?: "stripe" | null;
        /** In production the clock of this database can no longer be simulated. */
        readonly environment?: "sandbox" | "production";
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly name: string;
        readonly keyPrefix: string;
        readonly salesTaxEnabled: boolean;
        readonly paymentProcessor: string | null;
        readonly environment: "sandbox" | "production";
        readonly createdAt: string;
      };
    };
  };
  /** Register an endpoint; its secret is shown only once. */
  readonly 'webhooks.create': {
    readonly input: {
      readonly body: {
        /** Where events are posted to: https, on port 443 or 8443. */
        readonly url: string;
        /** Kinds of events to send. All when not given. */
        readonly eventTypes?: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        /** What the endpoint is for. */
        readonly description?: string | null;
        /** For simulation: the address may be private. Whoever sends the webhooks must allow it too (serve --allow-private-webhooks). */
        readonly allowPrivate?: boolean;
      };
    };
    readonly answer: {
      readonly data: {
        readonly secret: string;
        readonly id: string;
        readonly url: string;
        readonly description: string | null;
        readonly eventTypes: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        readonly isEnabled: boolean;
        readonly disabledReason: string | null;
        readonly previousSecretValidUntil: string | null;
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** List endpoints, newest first. */
  readonly 'webhooks.list': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly url: string;
        readonly description: string | null;
        readonly eventTypes: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        readonly isEnabled: boolean;
        readonly disabledReason: string | null;
        readonly previousSecretValidUntil: string | null;
        readonly createdAt: string;
        readonly updatedAt: string;
      })[];
    };
  };
  /** Change, disable or enable an endpoint. Nothing is sent to a disabled endpoint; what was waiting for it goes out when it is enabled again. */
  readonly 'webhooks.update': {
    readonly input: {
      readonly params: {
        /** Endpoint id. */
        readonly endpointId: string;
      };
      readonly body: {
        /** Where events are posted to: https, on port 443 or 8443. */
        readonly url?: string;
        /** Kinds of events to send. */
        readonly eventTypes?: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        /** What the endpoint is for. */
        readonly description?: string | null;
        /** Whether events are sent to it. */
        readonly isEnabled?: boolean;
        /** For simulation: the address may be private. Whoever sends the webhooks must allow it too (serve --allow-private-webhooks). */
        readonly allowPrivate?: boolean;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly url: string;
        readonly description: string | null;
        readonly eventTypes: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        readonly isEnabled: boolean;
        readonly disabledReason: string | null;
        readonly previousSecretValidUntil: string | null;
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** Remove an endpoint; what was waiting for it fails. */
  readonly 'webhooks.remove': {
    readonly input: {
      readonly params: {
        /** Endpoint id. */
        readonly endpointId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly removed: {
          readonly id: string;
          readonly url: string;
          readonly description: string | null;
          readonly eventTypes: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
          readonly isEnabled: boolean;
          readonly disabledReason: string | null;
          readonly previousSecretValidUntil: string | null;
          readonly createdAt: string;
          readonly updatedAt: string;
        };
      };
    };
  };
  /** Give an endpoint a new secret; it is shown only once. Both secrets sign until the old one ends: after 24 hours, or at the given instant. */
  readonly 'webhooks.rotate': {
    readonly input: {
      readonly params: {
        /** Endpoint id. */
        readonly endpointId: string;
      };
      readonly body?: {
        /** The old secret signs too until then. */
        readonly validUntil?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly secret: string;
        readonly id: string;
        readonly url: string;
        readonly description: string | null;
        readonly eventTypes: readonly ("invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted")[];
        readonly isEnabled: boolean;
        readonly disabledReason: string | null;
        readonly previousSecretValidUntil: string | null;
        readonly createdAt: string;
        readonly updatedAt: string;
      };
    };
  };
  /** List deliveries, newest first. */
  readonly 'webhooks.deliveries': {
    readonly input: {
      readonly query?: {
        /** Deliveries of this status. */
        readonly status?: "pending" | "delivered" | "failed";
        /** Deliveries to this endpoint. */
        readonly endpointId?: string;
        /** payload: also the event as it is sent. */
        readonly include?: "payload";
        /** Records per page, 1 to 100; 10 when not given. */
        readonly limit?: number;
        /** Records to skip; 0 when not given. */
        readonly offset?: number;
      };
    };
    readonly answer: {
      readonly data: readonly ({
        readonly id: string;
        readonly eventId: string;
        readonly eventType: "invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted";
        readonly endpointId: string;
        readonly url: string;
        readonly status: "pending" | "delivered" | "failed";
        readonly attempts: number;
        readonly nextAttemptAt: string | null;
        readonly lastAttemptAt: string | null;
        readonly responseStatus: number | null;
        readonly responseBody: string | null;
        readonly error: string | null;
        readonly createdAt: string;
        readonly payload?: Readonly<Record<string, unknown>>;
      })[];
      readonly hasMore: boolean;
      readonly total: number;
    };
  };
  /** Send a delivery again, with a new set of attempts. */
  readonly 'webhooks.resend': {
    readonly input: {
      readonly params: {
        /** Delivery id. */
        readonly deliveryId: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly id: string;
        readonly eventId: string;
        readonly eventType: "invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted";
        readonly endpointId: string;
        readonly url: string;
        readonly status: "pending" | "delivered" | "failed";
        readonly attempts: number;
        readonly nextAttemptAt: string | null;
        readonly lastAttemptAt: string | null;
        readonly responseStatus: number | null;
        readonly responseBody: string | null;
        readonly error: string | null;
        readonly createdAt: string;
        readonly payload?: Readonly<Record<string, unknown>>;
      };
    };
  };
  /** Send a sample event of a kind to the endpoints that take it. */
  readonly 'webhooks.trigger': {
    readonly input: {
      readonly params: {
        /** Kind of event, such as invoice.created. */
        readonly eventType: "invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted";
      };
    };
    readonly answer: {
      readonly data: {
        readonly eventId: string;
        readonly type: "invoice.created" | "invoice.updated" | "contract.created" | "contract.updated" | "contract.terminated" | "customer.created" | "customer.updated" | "credit.threshold_crossed" | "credit.balance_depleted" | "credit.budget.exhausted";
        readonly deliveryCount: number;
      };
    };
  };
  /** Show the time of this database, and when something falls due next. */
  readonly 'clock.show': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: {
        readonly now: string;
        readonly isSimulated: boolean;
        readonly nextDueAt: string | null;
      };
    };
  };
  /** Let time pass, and do everything that falls due on the way, each at its instant. The clock is simulated from then on. One step of a year gives the same books as 365 steps of a day. When interrupted, the clock stands at the instant that was reached: go on with --to. */
  readonly 'clock.advance': {
    readonly input: {
      readonly body: {
        /** For how long, in calendar time of UTC: P1M, 30d, 12h, 2w, 1y. */
        readonly by?: string;
        /** Until when instead: a date (00:00 UTC) or a date-time. */
        readonly to?: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly now: string;
        readonly isSimulated: boolean;
        readonly finalizedCount: number;
        readonly totalCents: ExactNumber;
        readonly draftedCount: number;
        readonly expiredGrantCount: number;
        readonly resumedCustomerCount: number;
        readonly endedContractCount: number;
        readonly failedCount: number;
        readonly invoices: readonly ({
          readonly organizationId: string;
          readonly id: string;
          readonly invoiceNumber: string;
          readonly contractId: string;
          readonly customerId: string;
          readonly invoiceDate: string;
          readonly totalCents: ExactNumber;
        })[];
        readonly failures: readonly ({
          readonly organizationId: string;
          readonly contractId?: string;
          readonly customerId?: string;
          readonly message: string;
        })[];
      };
    };
  };
  /** Simulate the time of this database, from an instant on. An empty database can begin at any instant. Once it has records, time only goes forward, and what falls due on the way is done, as by clock advance. */
  readonly 'clock.set': {
    readonly input: {
      readonly body: {
        /** The instant: a date (00:00 UTC) or a date-time. */
        readonly to: string;
      };
    };
    readonly answer: {
      readonly data: {
        readonly now: string;
        readonly isSimulated: boolean;
        readonly finalizedCount: number;
        readonly totalCents: ExactNumber;
        readonly draftedCount: number;
        readonly expiredGrantCount: number;
        readonly resumedCustomerCount: number;
        readonly endedContractCount: number;
        readonly failedCount: number;
        readonly invoices: readonly ({
          readonly organizationId: string;
          readonly id: string;
          readonly invoiceNumber: string;
          readonly contractId: string;
          readonly customerId: string;
          readonly invoiceDate: string;
          readonly totalCents: ExactNumber;
        })[];
        readonly failures: readonly ({
          readonly organizationId: string;
          readonly contractId?: string;
          readonly customerId?: string;
          readonly message: string;
        })[];
      };
    };
  };
  /** Go back to the real clock, once it has caught up. */
  readonly 'clock.reset': {
    readonly input: Readonly<Record<string, never>>;
    readonly answer: {
      readonly data: {
        readonly now: string;
        readonly isSimulated: boolean;
        readonly nextDueAt: string | null;
      };
    };
  };
  /** Do what has fallen due: finalize invoices, expire grants, draft periods, end pauses and contracts. Invoices are finalized from 12:00 UTC of their date on; where time is simulated, from that date on. Can be repeated and interrupted at any time: what was done stays done, the rest is done by the next run. With --dry-run everything is done and nothing is kept. */
  readonly 'bill.run': {
    readonly input: {
      readonly body?: {
        /** Only what was due by then; now when not given. */
        readonly until?: string;
        /** For every organization of this database. */
        readonly allOrganizations?: boolean;
        /** Show what would be done, and keep none of it. */
        readonly rehearse?: boolean;
      };
    };
    readonly answer: {
      readonly data: {
        readonly until: string;
        readonly isRehearsal: boolean;
        readonly finalizedCount: number;
        readonly totalCents: ExactNumber;
        readonly draftedCount: number;
        readonly expiredGrantCount: number;
        readonly resumedCustomerCount: number;
        readonly endedContractCount: number;
        readonly failedCount: number;
        readonly invoices: readonly ({
          readonly organizationId: string;
          readonly id: string;
          readonly invoiceNumber: string;
          readonly contractId: string;
          readonly customerId: string;
          readonly invoiceDate: string;
          readonly totalCents: ExactNumber;
        })[];
        readonly failures: readonly ({
          readonly organizationId: string;
          readonly contractId?: string;
          readonly customerId?: string;
          readonly message: string;
        })[];
      };
    };
  };
  /** Drop events that are billed, for good. For events in a separate database (--events). Refused while an invoice that is not finalized needs one of them. What meters read of billed periods is kept: invoices, budgets, costs of whole periods and doctor say the same as before; events behind it cannot be shown any more, and what comes from before that time is refused. Events that no contract bills go as well. After an interruption, repeat the command to go on. */
  readonly 'events.drop': {
    readonly input: {
      readonly body: {
        /** Events from before this instant: a date (00:00 UTC) or a date-time. */
        readonly before: string;
        /** Show how much would be dropped, and drop nothing. */
        readonly rehearse?: boolean;
      };
    };
    readonly answer: {
      readonly data: {
        readonly before: string;
        readonly isRehearsal: boolean;
        readonly eventCount: number;
        readonly contractCount: number;
        readonly windowCount: number;
      };
    };
  };
}
