/**
 * The keyring of the operating system, used from a separate process: it may wait for a person or a service that never answers,
 * and then that process is ended, not the command. The process is started without a shell; the key goes through its standard
 * input, never through its arguments or environment (security 2, SEC-1 and SEC-6).
 */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { type Keyring, keyringService } from './profiles.ts';

export interface KeyringOptions {
  /** The program that uses the keyring, with its arguments; undefined where this installation has none. */
  readonly command: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: `limits.keyringMilliseconds`. */
  readonly timeoutMilliseconds?: number;
}

/** What that program reads from its standard input. */
interface Request {
  readonly action: 'read' | 'write' | 'remove';
  readonly service: string;
  readonly account: string;
  readonly key?: string;
}

/** What keyrings need to be found and unlocked. Everything else, above all every key, is not passed on. */
const passedOn = [
  'HOME USER LOGNAME LANG DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CONFIG_HOME',
  'DISPLAY WAYLAND_DISPLAY XAUTHORITY SystemRoot USERPROFILE APPDATA LOCALAPPDATA',
].flatMap((names) => names.split(' '));

export function createKeyring(options: KeyringOptions): Keyring {
  const { command } = options;
  const ask = async (request: Omit<Request, 'service'>): Promise<string | undefined> => {
    if (command === undefined) throw unavailable('this installation has no access to it');
    const answer = await answerOf(command, { service: keyringService, ...request }, options);
    if (answer.error !== undefined) throw unavailable(answer.error);
    return answer.value;
  };
  return {
    read: async (account) => await ask({ action: 'read', account }),
    write: async (account, key) => void (await ask({ action: 'write', account, key })),
    remove: async (account) => void (await ask({ action: 'remove', account })),
  };
}

interface AskedAnswer {
  readonly value?: string;
  readonly error?: string;
}

async function answerOf(
  [program = '', ...words]: readonly string[],
  request: Request,
  { env, timeoutMilliseconds = limits.keyringMilliseconds }: KeyringOptions,
): Promise<AskedAnswer> {
  const { spawn } = await import('node:child_process');
  const child = spawn(program, words, {
    env: Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
    shell: false,
  });
  return await new Promise((resolve) => {
    let text = '';
    const end = (answer: AskedAnswer): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.unref();
      resolve(answer);
    };
    const timer = setTimeout(
      () => end({ error: `no answer within ${timeoutMilliseconds / 1000} seconds; it may have to be unlocked` }),
      timeoutMilliseconds,
    );
    child.once('error', () => end({ error: 'the program that asks it cannot be started' }));
    child.once('close', () => end(parsed(text)));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(request));
  });
}

function parsed(text: string): AskedAnswer {
  try {
    const { value, error } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof error === 'string') return { error: error.split('\n')[0] ?? '' };
    return typeof value === 'string' ? { value } : {};
  } catch {
    return { error: 'the program that asks it crashed' };
  }
}

function unavailable(reason: string): BillingError {
  return new BillingError('unavailable', `the keyring of this system is not available: ${reason}`, {
    hint: 'unlock it and repeat the command, or set TALLY_API_KEY',
  });
}

/**
 * Node's arguments for that program, with the path of the library that knows each system's keyring. On Linux the library would
 * fall back to the kernel's keyring, which forgets at the end of the session, so the secret service is required.
 */
export function askingArguments(libraryPath: string): readonly string[] {
  return [
    '--no-warnings',
    '--input-type=commonjs',
    '--eval',
    `(${askKeyring.toString()})(process, ${JSON.stringify(libraryPath)})`,
  ];
}

/** Runs in the other process, passed as text, so it cannot refer to anything outside itself. */
function askKeyring(own: NodeJS.Process, libraryPath: string): void {
  const { createRequire } = own.getBuiltinModule('node:module');
  let text = '';
  own.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  own.stdin.on('end', () => {
    const tell = (answer: object) => own.stdout.write(JSON.stringify(answer), () => own.exit(0));
    void (async () => {
      try {
        const { action, service, account, key } = JSON.parse(text);
        const { AsyncEntry } = createRequire(libraryPath)(libraryPath);
        const entry = new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
        if (action === 'write') await entry.setPassword(key);
        else if (action === 'remove') await entry.deleteCredential();
        else {
          const value = await entry.getPassword();
          return tell(value === null ? {} : { value });
        }
        return tell({});
      } catch (error) {
        return tell({ error: error instanceof Error ? error.message : 'it failed' });
      }
    })();
  });
}
