/** What differs between the commands that take `--from`. */

import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import type { OpenForWriting } from '../session/open-billing.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Row } from '../wire/rows.ts';
import type { Unit } from './apply.ts';
import type { BulkRow, Problem } from './rows.ts';

export interface BulkOptions {
  readonly opened: OpenForWriting;
  /** `--source`. */
  readonly source: string;
  readonly allowZero: boolean;
}

/** What is shown before anything is sent. */
export interface Summary {
  /** `2000 grants: 100.00 USD to 3 customers`. */
  readonly words: string;
  readonly totals?: { readonly rows: readonly Row[]; readonly view: View };
}

export interface Plan {
  readonly problems: readonly Problem[];
  /** Rows that are sent but perhaps not meant: told before the question. */
  readonly doubts?: readonly Problem[];
  /** Rows that the policy forbids. */
  readonly refusals?: readonly Problem[];
  readonly summary: Summary;
  readonly unitsFor: (billing: Billing) => readonly Unit[];
  /** What is said of so many repeated rows, if they need not be what the file says now. */
  readonly noteOfRepeated?: (rows: number) => SafeText;
  /** The service that the rows are sent to, if it needs more facts than it would find by itself. */
  readonly billing?: Billing;
}

export interface BulkKind {
  /** The command whose fields are the columns of the file, where it is another one. */
  readonly rowCommand?: (command: CommandSpec) => CommandSpec;
  readonly plan: (rows: readonly BulkRow[], options: BulkOptions) => Promise<Plan>;
}
