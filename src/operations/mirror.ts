/** A mirror: what the documented interface of a service showed of some contracts, kept in a file of its own and only read. */

/** What a service shows of a contract, its customer and its plan. */
export const mirroredKinds = ['customer', 'plan', 'pricing', 'contract', 'invoice', 'ledger', 'budgets'] as const;
export type MirroredKind = (typeof mirroredKinds)[number];

/** The `data` of an answer, as it came. */
export type MirroredBody = Readonly<Record<string, unknown>>;

/** One record of the service under its own id; a ledger, or the budgets, under the id of the contract. */
export interface Mirrored {
  readonly kind: MirroredKind;
  readonly id: string;
  /** The contract that alone has it, for invoices, ledger and budgets. */
  readonly contractId?: string | undefined;
  /** Settles the order of what was created at the same instant: the higher, the newer. Below 0 it is in no list. */
  readonly rank: number;
  readonly body: MirroredBody;
}

/** A record with the time at which it was last read from the service. */
export interface StoredMirrored extends Mirrored {
  /** RFC 3339. */
  readonly pulledAt: string;
}

/** Where everything in a mirror comes from. */
export interface MirrorSource {
  readonly environment: string;
  readonly address: string;
  readonly profile?: string | undefined;
  /** Whether contracts were read by the path that is published beside the documented interface. */
  readonly hasContracts: boolean;
}

/** A pull that has not finished. */
export interface MirrorRun {
  /** Stands for the contracts that are pulled. */
  readonly digest: string;
  readonly startedAt: string;
}

/** An absent member asks nothing; all others must hold. */
export interface MirrorFilter {
  /** Values by the path of a member; one that is undefined asks nothing. */
  readonly where?: Readonly<Record<string, string | boolean | undefined>> | undefined;
  readonly contractId?: string | undefined;
  /** Inclusive. */
  readonly createdAfter?: string | undefined;
  /** Exclusive. */
  readonly createdBefore?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** What was pulled from one service, and how far a pull that was cut off had come. */
export interface Mirror {
  readonly location: string;
  source(): Promise<MirrorSource>;
  find(kind: MirroredKind, id: string): Promise<StoredMirrored | undefined>;
  /** Newest first. */
  list(
    kind: MirroredKind,
    filter: MirrorFilter,
  ): Promise<{ readonly rows: readonly StoredMirrored[]; readonly total: number }>;
  /** Writes all records or none; where a contract is named, its invoices that are not given are removed. */
  keep(records: readonly Mirrored[], facts: { readonly pulledAt: string; readonly contractId?: string }): Promise<void>;
  unfinishedRun(): Promise<MirrorRun | undefined>;
  /** Undefined once the pull has finished. */
  noteRun(run: MirrorRun | undefined): Promise<void>;
  noteSource(source: MirrorSource): Promise<void>;
  close(): Promise<void>;
}
