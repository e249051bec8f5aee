/**
 * The composition root: the only reader of the process, its clock and its randomness. Anything expensive is imported on first
 * use, so that help and version load the parser and no more.
 */

import packageFacts from '../package.json' with { type: 'json' };
import type { Keyring } from './cli/target/profiles.ts';
import { wantsJson } from './cli/command-line/command-line.ts';
import { loadManifest } from './cli/command-line/manifest.ts';
import { tellFailure } from './cli/failure.ts';
import { descriptorEnd, dropUnwritten } from './cli/terminal/output-end.ts';
import { run } from './cli/program.ts';
import { safeJson, vouch } from './cli/terminal/safe-text.ts';
import type { Dependencies, Stage, WebhookSenderOptions } from './cli/session/session.ts';
import type { EmbeddedTarget } from './cli/target/target.ts';
import { createTerminal } from './cli/terminal/terminal.ts';
import type { Terminal } from './cli/terminal/terminal.ts';
import { inMemory, withoutPassword } from './database-url.ts';
import { limits } from './limits.ts';
import { createSignals } from './main/signals.ts';
import type { Signals } from './main/signals.ts';
import { createIds } from './new-id.ts';
import type { Store } from './store/store.ts';

const { env } = process;
/** The flags that somebody gave to Node; the executable is built with one of its own (tools/build-binary.ts). */
const nodeFlags = process.execArgv.filter((flag) => !flag.startsWith('--min-semi-space-size='));
/** Makes the self-contained executable the process that reads SQL meters, instead of running a command. */
const meterSqlWord = 'meter-sql-process';

/**
 * Runs the command line of this process and sets its exit code. `readingThread` is the path of the module that reads large files
 * in a thread, if there is such a file. `noteCommand` is called with the name of the command, for the launcher.
 */
export async function main(readingThread?: string, noteCommand?: (name: string) => void): Promise<void> {
  if (process.argv[2] === meterSqlWord && isExecutable()) {
    const { serveMeterSql } = await import('./store/open-meter-sql.ts');
    await serveMeterSql(process);
    return;
  }
  // What a library will drop in its next version is for us to know; a user can do nothing about it.
  process.noDeprecation = true;
  // Process lists show the arguments of every command: a password in them would be visible as long as this one runs.
  if (process.argv.some((word) => withoutPassword(word) !== word)) process.title = 'tally';
  const signals = createSignals(process);
  let opened: typeof process.stdin | undefined;
  const stdout = descriptorEnd(1, () => process.stdout);
  const stderr = descriptorEnd(2, () => process.stderr, dropUnwritten);
  const terminal = createTerminal({
    get stdin() {
      opened = process.stdin;
      return opened;
    },
    stdout,
    stderr,
    env,
    platform: process.platform,
    whenInterrupted: signals.whenInterrupted,
    stop() {
      if (process.platform !== 'win32') process.kill(process.pid, 'SIGTSTP');
    },
  });
  process.on('uncaughtException', (error: unknown) => {
    process.exit(tellFailure(error, { terminal, isJson: wantsJson(process.argv), isDebug: false }));
  });
  hideKeys(terminal);
  process.exitCode = await run(
    process.argv.slice(2),
    { ...dependenciesFor(terminal, signals), readingThread, noteCommand },
    loadManifest,
  );
  // All is done and written. Exiting here saves the time in which Node would shut itself down.
  if (!stdout.isStream && !stderr.isStream) process.exit();
  if (stderr.hasLog) setTimeout(() => process.exit(), limits.unreadLogMilliseconds).unref();
  // A pipe that was opened as standard input and never read would keep the process waiting.
  opened?.unref?.();
}

/** Hides keys from what Node itself reveals: a crash report, and the debugger that a signal starts (security 2, SEC-7). */
function hideKeys(terminal: Terminal): void {
  process.on('SIGUSR1', () => undefined);
  terminal.conceal(env['TALLY_API_KEY'] ?? '');
  // The environment holds passwords of databases as well. Only options of Node can ask for a report.
  if (env['NODE_OPTIONS'] !== undefined || nodeFlags.length > 0) process.report.excludeEnv = true;
}

const now = (): Temporal.Instant => Temporal.Now.instant();
const machineTime = () => ({ epochMilliseconds: Date.now() });

const newId = createIds(
  () => Date.now(),
  () => process.getBuiltinModule('node:crypto').randomUUIDv7,
);

function dependenciesFor(terminal: Terminal, signals: Signals): Dependencies {
  return {
    terminal,
    env,
    nodeFlags,
    version: packageFacts.version,
    leaveInterrupts: signals.leaveInterrupts,
    atInterrupt: (words) => signals.atInterrupt(words && (() => terminal.err(words))),
    newId,
    operator,
    machine: { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() },
    openKeyring,
    directories,
    openEngine,
    openBilling: openBillingFor(terminal),
    serve: serveFor(terminal),
    async openApiDocument() {
      const { openApiDocument } = await import('./server/openapi.ts');
      const { allOperations } = await import('./operations/all.ts');
      return openApiDocument(allOperations, { version: packageFacts.version });
    },
    async openMaintenance() {
      const { createMaintenance } = await import('./engine/maintenance.ts');
      return createMaintenance({ now, sslMode: env['PGSSLMODE'] });
    },
    watchValues: async (meters) => (await import('./engine/skipped-values.ts')).createSkippedValues(meters),
    checkAddress: async (baseUrl) => void (await import('./client/target.ts')).parseBaseUrl(baseUrl),
    untilStopped: (lastWords) => signals.untilStopped(() => lastWords !== undefined && terminal.err(lastWords)),
  };
}

function openBillingFor(terminal: Terminal): Dependencies['openBilling'] {
  return async (target, { isRehearsal, isReading, ...patience }) => {
    if (target.kind === 'embedded') {
      const { isMirrorFile } = await import('./store/mirror-file.ts');
      if (isMirrorFile(target.database)) {
        const { openMirrorBilling } = await import('./engine/mirror-billing.ts');
        return await openMirrorBilling(target.database);
      }
      const opened = isRehearsal === true ? await unmade(target) : target;
      const { engine, isNew, copyBefore, close } = await openEngine(opened, undefined, isReading);
      try {
        const owner = await engine.owner(target.organization);
        return { billing: engine.as(owner), rehearsal: engine.rehearsal(owner), close, isNew, copyBefore };
      } catch (error) {
        await close();
        throw error;
      }
    }
    refuseUncheckedTls(terminal);
    const { createClient } = await import('./client/client.ts');
    const client = createClient({
      baseUrl: target.baseUrl,
      key: target.key,
      ca: target.caFile === undefined ? undefined : await authorities(target.caFile),
      proxy: httpsProxy(),
      ...patience,
      now: Date.now,
      random: Math.random,
    });
    return { ...client, billing: client };
  };
}

function serveFor(terminal: Terminal): Dependencies['serve'] {
  return async ({ billEverySeconds, isVerbose, ...options }) => {
    const { engine } = options;
    const [{ createServer }, { createScheduler }, { createMetrics }, { aheadOfClockWords }] = await Promise.all([
      import('./server/server.ts'),
      import('./server/scheduler.ts'),
      import('./server/metrics.ts'),
      import('./cli/session/ahead-of-clock.ts'),
    ]);
    const tell = ({ error, ...entry }: { readonly error?: unknown; readonly clock?: 'behind' }): void => {
      if (!isVerbose && error === undefined) return;
      const cause = error === undefined ? {} : { error: error instanceof Error ? error.stack : error };
      const at = now().toString({ fractionalSecondDigits: 3 });
      terminal.log(safeJson(`${JSON.stringify({ at, ...entry, ...cause })}\n`));
    };
    const tellFailure = (of: string, error: unknown): void => tell({ [of]: 'failed', error });
    const { version } = packageFacts;
    const metrics = createMetrics({ engine, version, now: machineTime });
    const server = createServer({
      ...options,
      metrics,
      version,
      now: machineTime,
      newId,
      log: tell,
    });
    const { url } = await server.listen();
    if (billEverySeconds === 0) return { url, tellFailure, close: () => server.close() };
    const scheduler = createScheduler({
      engine,
      pauseMilliseconds: billEverySeconds * 1000,
      onRun: (outcome) => {
        metrics.billRunEnded(outcome);
        if (outcome.error !== undefined) tellFailure('billRun', outcome.error);
        const { failures = [], aheadOfClock } = outcome.report ?? {};
        if (aheadOfClock !== undefined) tell({ clock: 'behind', error: aheadOfClockWords(aheadOfClock) });
        for (const { message, ...subject } of failures) tell({ ...subject, error: message });
      },
    });
    scheduler.start();
    return {
      url,
      tellFailure,
      close: async () => {
        await Promise.all([server.close(), scheduler.close()]);
      },
    };
  };
}

/** Our sockets check certificates whatever the variable says, and Node would warn that they do not. */
function refuseUncheckedTls(terminal: Terminal): void {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  delete env['NODE_TLS_REJECT_UNAUTHORIZED'];
  terminal.err(vouch('tally: NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always checked\n'));
}

async function authorities(path: string): Promise<string> {
  return (await import('./client/authorities.ts')).readAuthorities(path);
}

/** The lower-case variables come first, as in other programs. */
function httpsProxy(): { readonly url: string; readonly except: string } | undefined {
  const url = env['https_proxy'] || env['HTTPS_PROXY'];
  return url ? { url, except: env['no_proxy'] || env['NO_PROXY'] || '' } : undefined;
}

async function directories(): Promise<{ config: string; data: string }> {
  const { userDirectories } = await import('./cli/target/user-directories.ts');
  const accountHome = () => account()?.homedir;
  const found = userDirectories({ env, platform: process.platform, accountHome });
  // The library of profiles asks the system for a home directory when it is loaded, and fails if there is none.
  if (env['HOME'] === undefined && accountHome() === undefined) env['HOME'] = found.config;
  return found;
}

/** The account that runs this process; undefined in a container that runs as a user id that its system does not know. */
function account() {
  try {
    return process.getBuiltinModule('node:os').userInfo();
  } catch {
    return undefined;
  }
}

/** The keyring library is native and optional, and so not in the bundle: it lies beside the program, or is missing. */
async function openKeyring(): Promise<Keyring> {
  const { askingArguments, createKeyring } = await import('./cli/target/keyring.ts');
  const { createRequire } = process.getBuiltinModule('node:module');
  const { realpathSync } = process.getBuiltinModule('node:fs');
  // Files beside an executable are not part of it, and it takes no program as text.
  if (isExecutable()) return createKeyring({ env, command: undefined });
  try {
    const library = createRequire(realpathSync(process.argv[1] ?? '')).resolve('@napi-rs/keyring');
    return createKeyring({ env, command: [process.execPath, ...askingArguments(library)] });
  } catch {
    return createKeyring({ env, command: undefined });
  }
}

/** The target of a rehearsal, which makes no database. */
async function unmade(target: EmbeddedTarget): Promise<EmbeddedTarget> {
  const { isToBeMade } = await import('./store/open.ts');
  return isToBeMade(target.database) ? { ...target, database: inMemory, events: undefined } : target;
}

async function openEngine(target: EmbeddedTarget, stage: Stage = { now: machineTime, newId }, readOnly = false) {
  const [{ isToBeMade, openStore, refuseUnknownSslMode }, { createEngine }, { createMeterSql }] = await Promise.all([
    import('./store/open.ts'),
    import('./engine/engine.ts'),
    import('./store/open-meter-sql.ts'),
  ]);
  await refuseUnknownSslMode(target.database, env['PGSSLMODE']);
  const isNew = target.database !== inMemory && isToBeMade(target.database);
  const store = await openStore(target.database, { events: target.events, readOnly });
  const meterSql = createMeterSql({ ownWords: [meterSqlWord] });
  const engine = createEngine({ store, ...stage, randomBytes, checkWebhookUrl, meterSql });
  return {
    engine,
    isNew,
    copyBefore: store.copyBefore,
    openWebhookSender: async (options: WebhookSenderOptions) => await openWebhookSender(store, options),
    close: () => engine.close(),
  };
}

async function openWebhookSender(store: Store, options: WebhookSenderOptions) {
  const [{ createWebhookOutbox }, { createWebhookSender }] = await Promise.all([
    import('./engine/webhooks-outbox.ts'),
    import('./server/webhook-sender.ts'),
  ]);
  const outbox = createWebhookOutbox({ store, now, random: Math.random });
  return createWebhookSender({ ...options, outbox, now });
}

async function checkWebhookUrl(url: string, rules: { readonly allowPrivate: boolean }) {
  return await (await import('./server/webhook-address.ts')).checkWebhookUrl(url, rules);
}

/** Whether this is the program as one self-contained file (tools/build-binary.ts). */
function isExecutable(): boolean {
  return process.getBuiltinModule('node:sea').isSea();
}

/** Loading cryptography takes a fifth of a local read, and only ids and secrets need it. */
function randomBytes(count: number): Uint8Array {
  return process.getBuiltinModule('node:crypto').randomBytes(count);
}

function operator(): string {
  return account()?.username ?? `user ${process.getuid?.() ?? 'unknown'}`;
}
