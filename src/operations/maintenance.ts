/** What an owner does to a database as a whole: not part of the service, so these are not operations. */

import type { BackupManifest } from './backup-manifest.ts';
import type { Examination } from './findings.ts';
import type { Mirror, MirrorSource } from './mirror.ts';
import type { Column } from './operation.ts';

/** A file that can be copied, a database that a server keeps, or what was pulled from another service. */
export type DatabaseKind = 'file' | 'server' | 'mirror';

/** A database is named by the path of its file or by its URL. */
export interface Maintenance {
  /** What kind of database a URL names; `file` where nothing exists yet. */
  kindOf(database: string): Promise<DatabaseKind>;
  /** Checks a database against every rule, and changes nothing. `isFull` also reads every index and event. */
  examine(database: string, options: ExamineOptions): Promise<Examination>;
  /**
   * Makes anew, from the events alone, what a database keeps to find and meter them quickly; `isRebuilt` is false where it keeps
   * nothing. Throws NotFoundError if there is no file. One of an older version is upgraded before, and `copyBefore` is its copy.
   */
  rebuild(
    database: string,
    options?: Pick<ExamineOptions, 'events'>,
  ): Promise<{ readonly isRebuilt: boolean; readonly copyBefore: string | undefined }>;
  /** Writes a database as it stands now to a new file, with its manifest beside it. */
  backUp(paths: { readonly from: string; readonly to: string }): Promise<BackupManifest>;
  /** Directories beside a backup with other copies that are being made, or were when their process was killed. */
  passingBeside(backup: string): Promise<readonly string[]>;
  /** Makes a database from a backup, where there is none; with `isDryRun` only says whether the backup is whole. */
  restore(request: {
    readonly from: string;
    readonly to: string;
    readonly isDryRun?: boolean;
  }): Promise<BackupManifest>;
  /** Copies a whole book into an empty database and compares the two; with `isDryRun` only says how much there is. */
  copy(options: CopyRequest): Promise<CopyReport>;
  /** Opens a mirror. With a source it is opened to write what is pulled from there, and made where there is no file. */
  openMirror(file: string, source?: MirrorSource): Promise<Mirror>;
}

/** How a database is examined; `isFull` also looks for what takes long to find. */
export interface ExamineOptions {
  readonly isFull: boolean;
  /** Where its events are, when not in it. */
  readonly events?: string | undefined;
}

/** A book: its database, and where its events are when not in it. */
export interface CopyPlace {
  readonly database: string;
  readonly events?: string | undefined;
}

/** What is copied where, or with `isDryRun` only counted. */
export interface CopyRequest {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  readonly isDryRun: boolean;
  /** Called with counts of events. */
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
}

/** Rows by table, and by organization what shows that nothing was lost; with `isDryRun` what there is to copy. */
export interface CopyReport {
  readonly tables: readonly { readonly table: string; readonly rowCount: number }[];
  readonly organizations: readonly {
    readonly name: string;
    readonly eventCount: number;
    readonly ledgerHead: string;
  }[];
}

/** What a table shows of findings. */
export const findingColumns: readonly Column[] = [
  { header: 'CHECK', path: 'check' },
  { header: 'SEVERITY', path: 'severity' },
  { header: 'PROBLEM', path: 'problem' },
  { header: 'FIX', path: 'fix' },
];

/** What a table shows of a backup: a row for each organization. */
export const backupColumns: readonly Column[] = [
  { header: 'ORGANIZATION', path: 'name' },
  { header: 'CUSTOMERS', path: 'customerCount', format: 'number' },
  { header: 'CONTRACTS', path: 'contractCount', format: 'number' },
  { header: 'INVOICES', path: 'invoiceCount', format: 'number' },
  { header: 'ENTRIES', path: 'entryCount', format: 'number' },
  { header: 'EVENTS', path: 'eventCount', format: 'number' },
  { header: 'HEAD', path: 'ledgerHead' },
];
