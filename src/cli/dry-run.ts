/** What a write would send, after the same checks that the service makes of the request itself. */

import type { OperationName } from '../operations/index.ts';
import type { CallInput } from '../operations/operation.ts';
import { parseCall } from '../operations/parse.ts';
import type { CommandSpec } from './manifest.ts';
import { jsonAnswer } from './output.ts';
import { mask } from './redact.ts';
import { safe, safeJson, say, vouch } from './safe-text.ts';
import type { SafeText } from './safe-text.ts';
import type { Session } from './session.ts';
import type { Target } from './target.ts';
import { tell } from './tell.ts';

/** Prints method, path and body, as JSON where JSON was asked for. Throws what the service would say of the request. */
export async function printDryRun(
  command: CommandSpec,
  input: CallInput,
  { session, target }: { readonly session: Session; readonly target: Target },
): Promise<void> {
  await parseCall(command.operation as OperationName, input);
  const request = {
    method: command.method ?? 'CALL',
    path: command.path === undefined ? command.operation : pathOf(command.path, input),
    ...(target.kind === 'remote' ? { baseUrl: target.baseUrl, authorization: `Bearer ${mask(target.key)}` } : {}),
    ...(input.ifMatch === undefined ? {} : { ifMatch: input.ifMatch }),
    ...(input.body === undefined ? {} : { body: input.body }),
  };
  const isJson = session.output.format === 'json' || session.output.format === 'jsonl';
  session.terminal.out(isJson ? await jsonAnswer({ dryRun: request }, session.output) : requestText(request));
  tell(session, say`dry run on ${target.environment}: nothing was changed`);
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly baseUrl?: string;
  readonly authorization?: string;
  readonly ifMatch?: string;
  readonly body?: unknown;
}

function requestText({ method, path, baseUrl = '', authorization, ifMatch, body }: Request): SafeText {
  const headers = [
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...(ifMatch === undefined ? [] : [`If-Match: ${ifMatch}`]),
  ];
  const head = [`${method} ${baseUrl}${path}`, ...headers].map((line) => `${safe(line)}\n`).join('');
  return vouch(body === undefined ? head : `${head}\n${safeJson(JSON.stringify(body, undefined, 2))}\n`);
}

function pathOf(template: string, input: CallInput): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''));
  const query = new URLSearchParams(input.query).toString();
  return query === '' ? path : `${path}?${query}`;
}
