/** The file beside a backup by which a restored book is known to be the one that was backed up. */

/** What the backup must be, byte for byte, and what it held. */
export interface BackupManifest {
  /** Version of this form. */
  readonly manifestVersion: 1;
  readonly createdAt: string;
  readonly schemaVersion: number;
  readonly bytes: number;
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
  readonly organizations: readonly BackedUpOrganization[];
  /** Present where events live in a database of their own, of which the backup holds nothing. */
  readonly hasEventsElsewhere?: true;
}

/** The part of a manifest that is read from the database. */
export type BackedUp = Pick<BackupManifest, 'schemaVersion' | 'organizations' | 'hasEventsElsewhere'>;

/** What an organization held when it was backed up. */
export interface BackedUpOrganization {
  readonly id: string;
  readonly name: string;
  readonly customerCount: number;
  readonly contractCount: number;
  readonly invoiceCount: number;
  readonly entryCount: number;
  readonly eventCount: number;
  /** One seal over all ledgers, as `tally doctor` shows it; empty in a database from before the seals. */
  readonly ledgerHead: string;
}
