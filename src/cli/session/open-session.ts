/** Makes a session from the global flags. */

import { BillingError } from '../../errors.ts';
import { chooseOutput } from '../output/output.ts';
import { createProfileStore } from '../target/profiles.ts';
import type { ProfileStore } from '../target/profiles.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import type { Dependencies, OpenBilling, OpenBillingOptions, Opening, Session } from './session.ts';
import { resolveEmbedded, resolveTarget } from '../target/target.ts';
import type { EmbeddedTarget, Target, TargetOptions } from '../target/target.ts';
import { say } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { tell } from './tell.ts';

/** Nobody notices a shorter pause. */
const toldFromMilliseconds = 1_000;

/** Throws a usage error if a global flag is wrong, or if they contradict each other. */
export function openSession(dependencies: Dependencies, flags: GlobalFlags): Session {
  const key = dependencies.env['TALLY_API_KEY'];
  // Concealed before anything can fail, and whatever its form: it must not appear in any message.
  if (key !== undefined) dependencies.terminal.conceal(key);
  const terminal = flags.color === false ? withoutColor(dependencies.terminal) : dependencies.terminal;
  const profiles = async (): Promise<ProfileStore> =>
    createProfileStore((await dependencies.directories()).config, dependencies);
  const targetOptions = async (): Promise<TargetOptions> => {
    const { data } = await dependencies.directories();
    return { flags, env: dependencies.env, profiles: await profiles(), dataDirectory: data };
  };
  return {
    dependencies: { ...dependencies, openBilling: tellingOpening(dependencies, { terminal, flags }) },
    terminal,
    flags,
    output: chooseOutput(flags, terminal.stdout),
    profiles,
    onProfile: (profile) => openSession(dependencies, { ...flags, profile }),
    async target() {
      const target = await resolveTarget(await targetOptions());
      if (target.kind === 'remote') terminal.conceal(target.key);
      checkEnvironment(target, flags.expectEnv);
      return target;
    },
    embeddedTarget: async () => resolveEmbedded(await targetOptions()),
  };
}

/**
 * Passes `--timeout` on, and reports what a person would not see. A service that asks for patience may do so for two minutes. A
 * proxy is told with --debug alone (security 3, SEC-14).
 */
function tellingOpening(
  dependencies: Dependencies,
  talk: Pick<Session, 'terminal' | 'flags'>,
): Dependencies['openBilling'] {
  const timeoutMilliseconds = timeoutOf(talk.flags);
  let isProxyTold = false;
  return async (target, options) => {
    let hasWaited = false;
    const opened = await dependencies.openBilling(target, {
      timeoutMilliseconds,
      ...options,
      onRetry({ triedMilliseconds, delayMilliseconds, reason }) {
        const isLong = triedMilliseconds + delayMilliseconds >= toldFromMilliseconds;
        if (hasWaited || !isLong || target.kind !== 'remote') return;
        hasWaited = true;
        const seconds = Math.round(delayMilliseconds / 1000);
        const when = seconds === 0 ? '' : ` in ${seconds} s`;
        tell(talk, say`${new URL(target.baseUrl).host}: ${reason}; trying again${when}`);
      },
    });
    if (target.kind === 'embedded') tellOfOpening(talk, target, opened);
    if (talk.flags.debug === true && opened.proxy !== undefined && !isProxyTold) {
      isProxyTold = true;
      tell(talk, say`tally: the way to the service is the proxy ${opened.proxy}, unless NO_PROXY names its host`);
    }
    return opened;
  };
}

/**
 * Reports a file that was made, because with a misspelt path it would look like empty books, and the copy of one that was
 * upgraded: the old version of the program can read that, and not the upgraded database.
 */
export function tellOfOpening(
  talk: Pick<Session, 'terminal' | 'flags'>,
  target: EmbeddedTarget,
  { isNew, copyBefore }: Opening,
): void {
  if (isNew === true && target.sources['database'] !== 'default')
    tell(talk, say`created ${target.database}: there was no database`);
  if (copyBefore !== undefined) tell(talk, say`upgraded the database; a copy from before is kept: ${copyBefore}`);
}

/** Does `read` with the service of a target, opened for that alone. */
export async function reading<T>(
  { dependencies }: Session,
  target: Target,
  read: (opened: OpenBilling) => Promise<T>,
  options: OpenBillingOptions = {},
): Promise<T> {
  const opened = await dependencies.openBilling(target, options);
  try {
    return await read(opened);
  } finally {
    await opened.close();
  }
}

/** Milliseconds of `--timeout`; undefined if it was not given. */
function timeoutOf(flags: GlobalFlags): number | undefined {
  if (flags.timeout === undefined) return undefined;
  const seconds = Number(flags.timeout);
  if (/^\d+(?:\.\d+)?$/.test(flags.timeout) && seconds > 0) return Math.round(seconds * 1000);
  throw new BillingError(
    'usage',
    `--timeout takes a number of seconds above 0, such as 0.5 or 30, not ${flags.timeout}`,
  );
}

function checkEnvironment(target: Target, expected: string | undefined): void {
  if (expected === undefined || expected === target.environment) return;
  throw new BillingError('refused', `this is ${target.environment}, not ${expected}: nothing was sent`, {
    hint: 'choose another --profile, or another --expect-env',
  });
}

function withoutColor(terminal: Terminal): Terminal {
  const plain = (stream: Terminal['stdout']) => ({ ...stream, hasColor: false });
  return { ...terminal, stdout: plain(terminal.stdout), stderr: plain(terminal.stderr) };
}
