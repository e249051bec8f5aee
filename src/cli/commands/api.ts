/** `tally api`: one request by method and path, as documentation shows it; or the OpenAPI document. */

import { BillingError } from '../../errors.ts';
import type { OperationName } from '../../operations/index.ts';
import { parseQuery } from '../../url-query.ts';
import { agreed, openFor, refuseRehearsedRead } from '../call/call.ts';
import { readTextFile } from '../files/files.ts';
import { wholeBody } from '../command-line/flags.ts';
import type { CommandSpec, Manifest } from '../command-line/manifest.ts';
import { checkReplay } from '../operator/replay.ts';
import { allowWholeJson, jsonAnswer } from '../output/output.ts';
import type { Session } from '../session/session.ts';
import type { CommandModule } from './command.ts';

interface ApiFlags {
  readonly openapi?: true;
  readonly input?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest }) => {
  command
    .usage('<method> <path> [--input <file>] | --openapi')
    .argument('[method]', 'GET, POST, PUT, PATCH or DELETE')
    .argument('[path]', 'path with its query, such as /v1/customers?limit=5')
    .option('--openapi', 'print the OpenAPI 3.1 document')
    .option('--input <file>', 'body as JSON from a file, or - for standard input')
    .addHelpText(
      'after',
      `
Examples:
  # A request as documentation shows it
  tally api GET '/v1/customers?limit=5'
  # The interface as a document
  tally api --openapi
`,
    )
    .action(async (method: string | undefined, path: string | undefined, flags: ApiFlags) => {
      await runAction(async (session) => {
        const { terminal, dependencies, output } = session;
        allowWholeJson('an answer', session);
        if (flags.openapi === true) terminal.out(await jsonAnswer(await dependencies.openApiDocument(), output));
        else await send({ method, path, inputPath: flags.input }, await loadManifest(), session);
      });
    });
};

interface ApiRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly inputPath: string | undefined;
}

async function send({ method, path, inputPath }: ApiRequest, manifest: Manifest, session: Session): Promise<void> {
  if (method === undefined || path === undefined) {
    throw new BillingError('usage', 'missing <method> or <path>', { hint: 'see: tally api --help' });
  }
  const url = urlOf(path);
  const { command, params } = findRoute(method.toUpperCase(), url.pathname, manifest);
  refuseRehearsedRead(command, session.flags);
  if (command.method === 'GET' && inputPath !== undefined) {
    throw new BillingError('usage', 'a GET has no body', { hint: 'put its parameters in the path, after a ?' });
  }
  const query = parseQuery(url.search);
  const body =
    inputPath === undefined ? undefined : wholeBody(await readTextFile(inputPath, session.terminal), command.isBulk);
  const input = { params, query, ...(body === undefined ? {} : { body }) };
  const target = await session.target();
  if (session.flags.dryRun === true) {
    const { printDryRun } = await import('../call/dry-run.ts');
    const output = { ...session.output, format: 'json' } as const;
    await printDryRun(command, input, { session: { ...session, output }, target });
    return;
  }
  await agreed(command, input, { session, target });
  const opened = await openFor(command, { session, target });
  try {
    const answer = await opened.billing.call(command.operation as OperationName, input);
    await checkReplay(command, input, answer);
    session.terminal.out(await jsonAnswer(answer.body, session.output));
  } finally {
    await opened.close();
  }
}

/**
 * Throws a usage error for a full address, because the request would go to the service in use, whatever the address says; and
 * for a path that would become a different one when sent, such as one with the id `../customers/ID` (security 3, SEC-13).
 */
function urlOf(path: string): URL {
  const origin = 'http://interface.invalid';
  const url = URL.parse(path, origin);
  if (url?.origin === origin && url.hash === '' && isAsWritten(path, url)) return url;
  throw new BillingError('usage', `"${path}" is not a path`, { hint: 'give it alone, such as /v1/customers?limit=5' });
}

/** Whether the URL kept the path as written: `..` is resolved, control characters and a part after `#` are left out. */
function isAsWritten(path: string, { pathname }: URL): boolean {
  const [written = ''] = path.split('?', 1);
  if (/[\t\n\r]/.test(path)) return false;
  try {
    return decodeURIComponent(pathname) === decodeURIComponent(written.startsWith('/') ? written : `/${written}`);
  } catch {
    return false;
  }
}

interface Route {
  readonly command: CommandSpec;
  readonly params: Readonly<Record<string, string>>;
}

/** The operation at a path; a path with more fixed parts takes precedence over one with placeholders there. */
function findRoute(method: string, pathname: string, manifest: Manifest): Route {
  const given = pathname.split('/');
  const routes = manifest.commands
    .filter((command) => command.method === method)
    .flatMap((command): Route[] => {
      const params = matched(command.path?.split('/') ?? [], given);
      return params === undefined ? [] : [{ command, params }];
    })
    .sort((one, other) => Object.keys(one.params).length - Object.keys(other.params).length);
  if (routes[0] !== undefined) return routes[0];
  throw new BillingError('usage', `there is no ${method} ${pathname}`, {
    hint: 'see every path in: tally api --openapi',
  });
}

function matched(template: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (template.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}
