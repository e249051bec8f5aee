/** What one run of `tally` works with: its terminal, its global flags, and the service, opened as late as possible. */

import type { Moment } from '../../operations/field-rules.ts';
import type { Billing, ConnectionFacts, Engine, ResponseBody } from '../../operations/index.ts';
import type { Maintenance } from '../../operations/maintenance.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import type { WebhookSender } from '../../operations/webhook-outbox.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { OutputChoice } from '../output/output.ts';
import type { Machine } from '../target/private-file.ts';
import type { Keyring, ProfileStore } from '../target/profiles.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { EmbeddedTarget, Target } from '../target/target.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What opening a database has done to it. */
export interface Opening {
  /** Whether it was created. */
  readonly isNew?: boolean;
  /** Path of a copy of what it was, where it was upgraded. */
  readonly copyBefore?: string | undefined;
}

export interface OpenBilling extends Opening {
  readonly billing: Billing;
  /** The same service, but nothing of a write is kept; only where the service is in this process. */
  readonly rehearsal?: Billing;
  /** Facts from the last answer of a remote service. */
  connection?(): ConnectionFacts | undefined;
  /** URL of the proxy that leads to the service, without user name and password. */
  readonly proxy?: string | undefined;
  close(): Promise<void>;
}

export interface OpenBillingOptions {
  /** Of `--timeout` when not given. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Creates no database: if there is none yet, the service is in memory. */
  readonly isRehearsal?: boolean;
  /** Changes no database: none is created, and none upgraded. */
  readonly isReading?: boolean;
  /** Called before the pause of each further try; `reason` in a few words. */
  readonly onRetry?: ((retry: FailedTry) => void) | undefined;
}

export interface FailedTry {
  readonly triedMilliseconds: number;
  readonly delayMilliseconds: number;
  readonly reason: string;
}

export interface OpenEngine extends Opening {
  readonly engine: Engine;
  /** Opens the sender of the database's webhooks; close it before the engine. */
  openWebhookSender(options: WebhookSenderOptions): Promise<WebhookSender>;
  close(): Promise<void>;
}

export interface WebhookSenderOptions {
  readonly allowPrivate: boolean;
  /** Called with the error when looking for due deliveries failed; the sender goes on. */
  readonly onFailure: (error: unknown) => void;
}

export interface Stage {
  readonly now: () => Moment;
  readonly newId: () => string;
}

export interface ServeOptions {
  readonly engine: Engine;
  readonly host: string | undefined;
  readonly port: number;
  /** PEM texts; plain HTTP without them. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Whether a proxy in front terminates TLS. */
  readonly isBehindProxy: boolean;
  /** Proxies whose X-Forwarded-For is trusted, as CIDR separated by commas. */
  readonly trustProxy: string | undefined;
  /** Requests per minute and address; 0 lifts the limit. */
  readonly rateLimitPerMinute: number;
  /** Seconds between two bill runs; 0 for no runs. */
  readonly billEverySeconds: number;
  /** How long, when told to stop, it reports itself as not ready while it still answers. */
  readonly noticeMilliseconds: number;
  /** Whether each answered request is logged on standard error; failures of the service always are. */
  readonly isVerbose: boolean;
}

export interface RunningServer {
  readonly url: string;
  /** Logs a line that says what failed. */
  tellFailure(of: string, error: unknown): void;
  close(): Promise<void>;
}

/** Everything that comes from outside the command line's own code; main.ts passes the real things. */
export interface Dependencies {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The flags that Node itself was started with. */
  readonly nodeFlags?: readonly string[];
  readonly machine: Machine;
  openKeyring(): Promise<Keyring>;
  readonly version: string;
  /** Path of the module that reads large files in a thread, where that module is a file of its own. */
  readonly readingThread?: string | undefined;
  /** Called with the name of a command when it begins, such as `customers-list`. */
  readonly noteCommand?: ((name: string) => void) | undefined;
  /** From now on the system ends the process at an interrupt, even in code that never yields and so sees no signal. */
  leaveInterrupts(): void;
  /** Sets what is said if the person interrupts the program from now on, which ends it at once; undefined for nothing. */
  atInterrupt(words: SafeText | undefined): void;
  /** A unique id. */
  newId(): string;
  /** Name of the user who runs the command, for the journal. */
  operator(): string;
  /** The directories of profiles and of the default database. */
  directories(): Promise<{ readonly config: string; readonly data: string }>;
  openBilling(target: Target, options: OpenBillingOptions): Promise<OpenBilling>;
  /** `stage` replaces clock and ids, for a story that is the same every time. */
  openEngine(target: EmbeddedTarget, stage?: Stage): Promise<OpenEngine>;
  serve(options: ServeOptions): Promise<RunningServer>;
  openApiDocument(): Promise<unknown>;
  openMaintenance(): Promise<Maintenance>;
  /** Reads events as these meters will; undefined if there are no meters. */
  watchValues(meters: ResponseBody<'meters.list'>['data']): Promise<SkippedValues | undefined>;
  /** Throws a usage error for an address that a key must not be sent to. */
  checkAddress(baseUrl: string): Promise<void>;
  /** Resolves when the process is asked to stop. Asked again, it says the last words, if any, and ends at once. */
  untilStopped(lastWords?: SafeText): Promise<void>;
}

export interface Session {
  readonly dependencies: Dependencies;
  readonly terminal: Terminal;
  readonly flags: GlobalFlags;
  readonly output: OutputChoice;
  profiles(): Promise<ProfileStore>;
  /** The same command line with this `--profile`. */
  onProfile(name: string): Session;
  /** Throws a usage error, or a refusal where `--expect-env` names another environment. */
  target(): Promise<Target>;
  /** The same for a database; undefined for a remote service, whose key is not read. */
  embeddedTarget(): Promise<EmbeddedTarget | undefined>;
}
