/** What one run of `tally` works with: its terminal, its global flags, and the service, opened as late as possible. */

import type { Billing, ConnectionFacts, Engine, ResponseBody } from '../../operations/index.ts';
import type { Maintenance } from '../../operations/maintenance.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { OutputChoice } from '../output/output.ts';
import type { Machine } from '../target/private-file.ts';
import type { Keyring, ProfileStore } from '../target/profiles.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { EmbeddedTarget, Target } from '../target/target.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface OpenBilling {
  readonly billing: Billing;
  /** What a write would answer, with nothing kept of it; only where the service is in this process. */
  readonly rehearsal?: Billing;
  /** Facts of the last answer of a service behind a network. */
  connection?(): ConnectionFacts | undefined;
  /** Whether the database was made by opening it. */
  readonly isNew?: boolean;
  /** Path of a copy of what the database was, where opening it has upgraded it. */
  readonly copyBefore?: string | undefined;
  close(): Promise<void>;
}

export interface OpenBillingOptions {
  readonly timeoutMilliseconds: number | undefined;
  /** Makes no database: where there is none yet, the service is one in memory. */
  readonly isRehearsal?: boolean;
  /** Changes nothing of a database: none is made, and none brought up to date. */
  readonly isReading?: boolean;
  /** Told before the pause of each further try; `reason` in a few words. */
  readonly onRetry?: ((retry: { readonly delayMilliseconds: number; readonly reason: string }) => void) | undefined;
}

export interface OpenEngine {
  readonly engine: Engine;
  /** Path of a copy of what the database was, where opening it has upgraded it. */
  readonly copyBefore?: string | undefined;
  /** What sends the webhooks of the database; to be closed before it. */
  openWebhookSender(options: WebhookSenderOptions): Promise<WebhookSender>;
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  readonly allowPrivate: boolean;
  /** Told what a look for due deliveries failed with, by a sender that goes on. */
  readonly onFailure: (error: unknown) => void;
}

export interface WebhookSender {
  /** Attempts what is due now; how the attempts ended. */
  deliverDue(): Promise<{ readonly delivered: number; readonly retrying: number; readonly failed: number }>;
  /** Goes on delivering what falls due, until it is closed. */
  start(): void;
  close(): Promise<void>;
}

export interface Stage {
  readonly now: () => Temporal.Instant;
  readonly newId: () => string;
}

export interface ServeOptions {
  readonly engine: Engine;
  readonly host: string | undefined;
  readonly port: number;
  /** PEM texts; plain HTTP without them. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** A proxy in front ends TLS. */
  readonly isBehindProxy: boolean;
  /** Proxies whose X-Forwarded-For is believed, as CIDR separated by commas. */
  readonly trustProxy: string | undefined;
  /** Requests a minute and address; 0 lifts the limit. */
  readonly rateLimitPerMinute: number | undefined;
  /** Between two bill runs; 0 for none at all. */
  readonly billEverySeconds: number;
  /** For how long, when it is to stop, it says that it is not ready and answers all the same. */
  readonly noticeMilliseconds: number;
  /** Whether each answered request is told on standard error; failures of the service always are. */
  readonly isVerbose: boolean;
}

export interface RunningServer {
  readonly url: string;
  /** A line in the log of the server, which says what failed. */
  tellFailure(of: string, error: unknown): void;
  close(): Promise<void>;
}

/** Everything that comes from outside the command line's own code; main.ts gives the real things. */
export interface Dependencies {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Those that Node itself was started with. */
  readonly nodeFlags?: readonly string[];
  readonly machine: Machine;
  openKeyring(): Promise<Keyring>;
  readonly version: string;
  /** Path of the module that reads large files in a thread of its own, where the program has it as a file. */
  readonly readingThread?: string | undefined;
  /** Is told the name of a command when it begins, such as `customers-list`. */
  readonly noteCommand?: ((name: string) => void) | undefined;
  /** From now on the system ends the process at an interrupt, even in code that never pauses and so hears of nothing. */
  leaveInterrupts(): void;
  /** What is said from now on when the person interrupts the program, which ends it at once; nothing when undefined. */
  atInterrupt(words: SafeText | undefined): void;
  /** An id that nothing else has. */
  newId(): string;
  /** Name of the user who runs the command, for the journal. */
  operator(): string;
  /** Where profiles and the default database live. */
  directories(): Promise<{ readonly config: string; readonly data: string }>;
  openBilling(target: Target, options: OpenBillingOptions): Promise<OpenBilling>;
  /** `stage` replaces clock and ids, for a story that is the same every time. */
  openEngine(target: EmbeddedTarget, stage?: Stage): Promise<OpenEngine>;
  serve(options: ServeOptions): Promise<RunningServer>;
  openApiDocument(): Promise<unknown>;
  openMaintenance(): Promise<Maintenance>;
  /** Looks at events as these meters will; undefined where there are none. */
  watchValues(meters: ResponseBody<'meters.list'>['data']): Promise<SkippedValues | undefined>;
  /** Throws a usage error for an address that a key must not be sent to. */
  checkAddress(baseUrl: string): Promise<void>;
  /** Resolves when the process is asked to stop. */
  untilStopped(): Promise<void>;
}

export interface Session {
  readonly dependencies: Dependencies;
  readonly terminal: Terminal;
  readonly flags: GlobalFlags;
  readonly output: OutputChoice;
  profiles(): Promise<ProfileStore>;
  /** Throws a usage error, or a refusal where `--expect-env` names another environment. */
  target(): Promise<Target>;
  /** The same where it is a database; undefined for a service elsewhere, whose key is not asked for. */
  embeddedTarget(): Promise<EmbeddedTarget | undefined>;
}
