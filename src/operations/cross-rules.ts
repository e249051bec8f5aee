/** Rules across the fields of an object, both for its schema and for the readers that do without one (plain.ts). */

/** Where a rule reports what is wrong. */
interface Report {
  addIssue(issue: RuleIssue): void;
}

type Given<Name extends string, Value> = { readonly [N in Name]?: Value | undefined };

type Link = Given<'provider' | 'paymentProviderId' | 'paymentMethodId' | 'paymentMethodType', string | null>;

type Modes = Given<'amountCents', bigint> & Given<'creditRateCents', number> & Given<'creditAmount', string>;

type TierAmounts = Given<'unitAmount' | 'flatAmount', string>;

type CostQuestion = Given<'customerId' | 'externalCustomerId' | 'contractId' | 'startDate' | 'endDate', string>;

/** Each reports every issue that it finds; an object that keeps to the rule has none. */
export const crossRules = {
  /** A change names at least one field. */
  change(input: object, report: Report): void {
    if (Object.keys(input).length === 0) report.addIssue(ruleIssue([], 'at least one field is required'));
  },

  /** The processor goes with its id of the customer, a payment method with its kind. */
  links(input: Link, report: Report): void {
    const hasId = typeof input.paymentProviderId === 'string';
    if (hasId && typeof input.provider !== 'string') {
      report.addIssue(ruleIssue(['provider'], 'is required together with paymentProviderId'));
    }
    if (typeof input.provider === 'string' && !hasId) {
      report.addIssue(ruleIssue(['paymentProviderId'], 'is required together with provider'));
    }
    if (typeof input.paymentMethodId === 'string' && typeof input.paymentMethodType !== 'string') {
      report.addIssue(ruleIssue(['paymentMethodType'], 'is required together with paymentMethodId'));
    }
    if (typeof input.paymentMethodType === 'string' && typeof input.paymentMethodId !== 'string') {
      report.addIssue(ruleIssue(['paymentMethodId'], 'is required together with paymentMethodType'));
    }
    // Only the id can be cleared (semantics 2), which clears the type with it.
    if (input.paymentMethodType === null && input.paymentMethodId !== null) {
      report.addIssue(ruleIssue(['paymentMethodType'], 'is cleared by paymentMethodId: null'));
    }
  },

  /** A grant is of dollars, or of credits that have a rate. */
  modes(input: Modes, report: Report): void {
    if (input.creditRateCents !== undefined && input.creditAmount === undefined) {
      report.addIssue(ruleIssue(['creditAmount'], 'is required together with creditRateCents'));
    }
    if (input.creditAmount !== undefined && input.creditRateCents === undefined) {
      report.addIssue(ruleIssue(['creditRateCents'], 'is required together with creditAmount'));
    }
    if (input.amountCents === undefined && input.creditAmount === undefined && input.creditRateCents === undefined) {
      report.addIssue(ruleIssue(['amountCents'], 'is required, or creditRateCents with creditAmount'));
    }
  },

  /** A tier says what it costs: one whose amount was forgotten would give its units away. */
  tier(input: TierAmounts, report: Report): void {
    if (input.unitAmount !== undefined || input.flatAmount !== undefined) return;
    report.addIssue(ruleIssue(['unitAmount'], 'is required, or flatAmount: give 0 where the tier is free'));
  },

  /** A correction is of dollars or of credits, and changes something. */
  adjustment(input: Given<'amountCents', bigint> & Given<'creditAmount', string>, report: Report): void {
    if ((input.amountCents === undefined) === (input.creditAmount === undefined)) {
      report.addIssue(ruleIssue(['amountCents'], 'exactly one of amountCents and creditAmount is required'));
    }
    if (input.amountCents === 0n) report.addIssue(ruleIssue(['amountCents'], 'must not be 0'));
  },

  /** A customer or contract is named, and dates are given unless a contract is named. */
  costQuestion(input: CostQuestion, report: Report): void {
    if (input.customerId === undefined && input.externalCustomerId === undefined && input.contractId === undefined) {
      report.addIssue(ruleIssue(['customerId'], 'one of customerId, externalCustomerId and contractId is required'));
    }
    if (input.contractId === undefined && input.startDate === undefined) {
      report.addIssue(ruleIssue(['startDate'], 'is required unless contractId is given'));
    }
    if (input.contractId === undefined && input.endDate === undefined) {
      report.addIssue(ruleIssue(['endDate'], 'is required unless contractId is given'));
    }
    if (input.startDate !== undefined && input.endDate !== undefined && input.startDate >= input.endDate) {
      report.addIssue(ruleIssue(['endDate'], 'must be after startDate'));
    }
  },
} as const;
export type CrossRule = keyof typeof crossRules;

/** An issue of a rule across fields, for `superRefine`: its words stand even where the field is absent. */
export function ruleIssue(path: PropertyKey[], message: string): RuleIssue {
  return { code: 'custom', path, message, params: { rule: true } };
}

/** An alias, not an interface: zod asks for an open record, which only an alias can be. */
export type RuleIssue = { code: 'custom'; path: PropertyKey[]; message: string; params: { rule: true } };
