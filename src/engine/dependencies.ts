/** What the engine works with: what it takes from outside, and what it makes itself. */

import type { Moment } from '../operations/field-rules.ts';
import type { CheckWebhookUrl } from '../operations/webhook-outbox.ts';
import type { MeterSql } from '../store/meter-sql.ts';
import type { Store } from '../store/store.ts';
import type { KnownLedgers } from './known-ledgers.ts';

/** Everything that the engine takes from outside, so that every run can be repeated. */
export interface EngineDependencies {
  readonly store: Store;
  readonly now: () => Moment;
  /** A new UUIDv7, lower case. */
  readonly newId: () => string;
  /** Unpredictable bytes for secrets. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Hours between an invoice's date and its finalization. Default: `limits.finalizationGraceHours`. */
  readonly finalizationGraceHours?: number;
  /** Without it no webhook can be registered. */
  readonly checkWebhookUrl?: CheckWebhookUrl;
  /** Reads SQL meters. Where none is given, the engine makes one, which starts with the first SQL meter. */
  readonly meterSql?: MeterSql;
}

/** The dependencies with what the engine makes itself. */
export type EngineParts = EngineDependencies &
  Required<Pick<EngineDependencies, 'finalizationGraceHours' | 'meterSql'>> & { readonly ledgers: KnownLedgers };
