/** `tally serve`: serves the embedded database over HTTP, until it is told to stop. */

import { inMemory } from '../../database-url.ts';
import { BillingError, OutdatedError, UnavailableError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Engine } from '../../operations/index.ts';
import { wholeNumber } from '../command-line/whole-number-flag.ts';
import { readTextFile } from '../files/files.ts';
import { warnOfPlace } from '../session/open-billing.ts';
import { tellOfOpening } from '../session/open-session.ts';
import { tell } from '../session/tell.ts';
import { allowFormats } from '../output/output.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { requireEmbedded } from '../target/target.ts';
import type { CommandModule } from './command.ts';
import { allowPrivateFlag } from './webhooks-deliver.ts';

/** A week: the runtime's timers reach no further than 24 days. */
const longestPauseSeconds = 7 * 24 * 60 * 60;

interface ServeFlags {
  readonly port: string;
  readonly host?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: true;
  readonly trustProxy?: string;
  readonly rateLimit?: string;
  readonly billEvery?: string;
  readonly drainSeconds?: string;
  readonly logRequests?: true;
  readonly allowPrivateWebhooks?: true;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .usage('[flags]')
    .option('--port <number>', 'port to listen on; 0 takes any free one', '8787')
    .option(
      '--host <address>',
      'address to listen on (127.0.0.1 when not given); any that others reach needs TLS or a proxy',
    )
    .option('--tls-cert <file>', 'certificate with its chain, as PEM; with --tls-key')
    .option('--tls-key <file>', 'key of the certificate, as PEM')
    .option('--behind-proxy', 'a proxy in front terminates TLS')
    .option('--trust-proxy <ranges>', 'proxies to believe when they say where a request is from, such as 10.0.0.0/8')
    .option(
      '--rate-limit <number>',
      `requests a minute from one address (${limits.requestsPerMinute} when not given, 0 for no limit)`,
    )
    .option(
      '--bill-every <seconds>',
      `seconds between bill runs (${limits.billEverySeconds} when not given, 0 for none at all)`,
    )
    .option(
      '--drain-seconds <number>',
      'seconds after a stop signal in which /readyz says no and requests are still answered (0 when not given)',
    )
    .option(...allowPrivateFlag)
    .option('--log-requests', 'a line of JSON on standard error for each request, not only for failures')
    .addHelpText(
      'after',
      `
Examples:
  # A sandbox on this machine
  tally serve --port 8787
  # For monitoring: /healthz, /readyz, /metrics, and a line of JSON for each request
  tally serve --log-requests
  # For other machines, with its own TLS; or behind a proxy on the network 10.0.0.0/8
  tally serve --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem
  tally serve --host 0.0.0.0 --behind-proxy --trust-proxy 10.0.0.0/8
  # Without a rate limit, on another database
  tally serve --database ./sandbox.db --rate-limit 0
`,
    )
    .action(async (flags: ServeFlags) => await runAction(async (session) => await serve(flags, session)));
};

async function serve(flags: ServeFlags, session: Session): Promise<void> {
  const { dependencies, terminal } = session;
  allowFormats(session.flags, []);
  const port = wholeNumber('--port', flags.port, 65_535);
  const rateLimit = flags.rateLimit ?? String(limits.requestsPerMinute);
  const rateLimitPerMinute = wholeNumber('--rate-limit', rateLimit, Number.MAX_SAFE_INTEGER);
  const billEvery = flags.billEvery ?? String(limits.billEverySeconds);
  const billEverySeconds = wholeNumber('--bill-every', billEvery, longestPauseSeconds);
  const noticeMilliseconds = wholeNumber('--drain-seconds', flags.drainSeconds ?? '0', longestPauseSeconds) * 1000;
  const tls = await tlsOf(flags, session);
  const target = requireEmbedded(await session.target(), 'serve');
  if (target.database === inMemory) throw unreachable();
  const opened = await dependencies.openEngine(target);
  const { engine } = opened;
  tellOfOpening(session, target, opened);
  warnOfPlace(session, target);
  try {
    // Creates the organization before the first request, so that a key can be made for it meanwhile.
    await engine.owner(target.organization);
    await warnOfWhatCannotBeWritten(session, engine);
    const isVerbose = flags.logRequests === true || session.flags.debug === true;
    const server = await dependencies.serve({
      engine,
      host: flags.host,
      port,
      tls,
      isBehindProxy: flags.behindProxy === true,
      trustProxy: flags.trustProxy,
      rateLimitPerMinute,
      billEverySeconds,
      noticeMilliseconds,
      isVerbose,
    });
    const outdated = Promise.withResolvers<never>();
    const sender = await opened.openWebhookSender({
      allowPrivate: flags.allowPrivateWebhooks === true,
      onFailure(error) {
        server.tellFailure('webhooks', error);
        // A supervisor restarts this process, in the version that is installed by then (reliability 8).
        if (error instanceof OutdatedError) outdated.reject(error);
      },
    });
    sender.start();
    // Whoever reads that it listens may stop it at once.
    const stopped = dependencies.untilStopped();
    terminal.out(say`tally serve: listening on ${server.url}\n`);
    try {
      await Promise.race([stopped, outdated.promise]);
    } finally {
      await server.close();
      await sender.close();
    }
  } finally {
    await opened.close();
  }
}

/** Every request needs a key, and keys are made by other processes. */
function unreachable(): BillingError {
  return new BillingError('usage', `nobody could make a key for ${inMemory}, which only this process has`, {
    hint: 'name a file with --database; it is made if it does not exist',
  });
}

/** Warns of a database that can only be read: bill runs and the sender of webhooks skip it silently. A lock needs no warning. */
async function warnOfWhatCannotBeWritten(session: Session, engine: Engine): Promise<void> {
  try {
    await engine.checkWritable();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    if (error.retryAfterSeconds !== undefined) return;
    tell(
      session,
      say`warning: changes are refused, nothing is billed and no webhook is sent until this is fixed and, for a file, serve is restarted: ${error.message}`,
    );
  }
}

async function tlsOf({ tlsCert, tlsKey }: ServeFlags, { terminal }: Session) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new BillingError('usage', '--tls-cert and --tls-key go together');
  }
  return { cert: await readTextFile(tlsCert, terminal), key: await readTextFile(tlsKey, terminal) };
}
