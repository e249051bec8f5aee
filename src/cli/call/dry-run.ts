/** What a write would send and, if the service is in this process, what it would answer; nothing is kept. */

import { NotRehearsedError } from '../../errors.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { parseCall } from '../../operations/parse.ts';
import type { Asking } from './judge-first.ts';
import { namingWhatIsMissing } from './missing-name.ts';
import { grantOperation } from '../operator/grant-history.ts';
import { judgeGrant } from '../operator/granting.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { openForWriting } from '../session/open-billing.ts';
import { jsonAnswer, render } from '../output/output.ts';
import { mask } from '../terminal/redact.ts';
import { asLines, safe, safeJson, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { requireEmbedded } from '../target/target.ts';
import { tell } from '../session/tell.ts';
import { warnOfUnbilled } from '../session/unbilled-events.ts';

/**
 * Prints method, path and body, and what would be answered, as JSON if JSON was asked for. Throws what the service would throw
 * for the request; in this process also for the ids in it and the present state.
 */
export async function printDryRun(command: CommandSpec, input: CallInput, context: Asking): Promise<void> {
  const { session, target } = context;
  if (command.path === undefined) requireEmbedded(target, `${command.group} ${command.verb}`);
  await parseCall(command.operation as OperationName, input);
  const request = {
    method: command.method ?? 'CALL',
    ...placeOf(command, input),
    ...(target.kind === 'remote' ? { baseUrl: target.baseUrl, authorization: `Bearer ${mask(target.key)}` } : {}),
    ...(input.ifMatch === undefined ? {} : { ifMatch: input.ifMatch }),
    ...(input.body === undefined ? {} : { body: input.body }),
  };
  const { terminal, output } = session;
  const { rehearsal, tellUnread } = await rehearsed(command, input, context);
  // A rehearsed secret opens nothing.
  const answer = command.isSecret ? undefined : rehearsal?.body;
  if (output.format === 'json' || output.format === 'jsonl') {
    const would = answer === undefined ? {} : { wouldAnswer: answer };
    terminal.out(await jsonAnswer({ dryRun: { ...request, ...would } }, output));
  } else {
    const options = { choice: output, fields: command.fields, stdout: terminal.stdout };
    const shown = answer === undefined ? '' : `\n${await render(answer, command.view, options)}`;
    terminal.out(vouch(`${requestText(request)}${shown}`));
  }
  if (rehearsal !== undefined) warnOfUnbilled(session, rehearsal, true);
  tellUnread?.();
  tell(session, say`dry run on ${target.environment}: nothing was changed`);
}

interface Rehearsed {
  /** Undefined for a remote service. */
  readonly rehearsal?: Answer | undefined;
  /** For events: says what no meter reads in them. */
  readonly tellUnread?: () => void;
}

/** Asks the policy and the service in this process. */
async function rehearsed(
  command: CommandSpec,
  input: CallInput,
  { session, target, local }: Asking,
): Promise<Rehearsed> {
  const isGrant = command.operation === grantOperation;
  if (!isGrant && target.kind !== 'embedded') return {};
  const opened = await openForWriting(session, target, local);
  try {
    const ids = Object.values(input.params ?? {});
    const rehearsal = await namingWhatIsMissing({ ids, input, billing: opened.plain }, async () => {
      if (isGrant) await judgeGrant(input, opened.plain, opened.context);
      return opened.rehearsal === undefined ? undefined : await answerOf(opened.rehearsal, command, input);
    });
    if (!command.isBulk || session.flags.quiet === true) return { rehearsal };
    const { unreadValues } = await import('./unread-values.ts');
    const reading = { billing: opened.plain, session, isRehearsal: true };
    return { rehearsal, tellUnread: await unreadValues(command.operation, input, reading) };
  } finally {
    await opened.close();
  }
}

/** Undefined for an operation that takes more than one transaction. */
async function answerOf(rehearsal: Billing, command: CommandSpec, input: CallInput): Promise<Answer | undefined> {
  try {
    return await rehearsal.call(command.operation as OperationName, input);
  } catch (error) {
    if (error instanceof NotRehearsedError) return undefined;
    throw error;
  }
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly params?: CallInput['params'];
  readonly baseUrl?: string;
  readonly authorization?: string;
  readonly ifMatch?: string;
  readonly body?: unknown;
}

function requestText({ method, path, params, baseUrl = '', authorization, ifMatch, body }: Request): SafeText {
  const headers = [
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...(ifMatch === undefined ? [] : [`If-Match: "${ifMatch}"`]),
  ];
  const line = [`${method} ${baseUrl}${path}`, ...Object.values(params ?? {})].join(' ');
  const head = asLines([line, ...headers].map(safe));
  return vouch(body === undefined ? head : `${head}\n${safeJson(JSON.stringify(body, undefined, 2))}\n`);
}

/** An operation without an HTTP path still says what it is about. */
function placeOf({ path, operation }: CommandSpec, input: CallInput): Pick<Request, 'path' | 'params'> {
  if (path !== undefined) return { path: pathOf(path, input) };
  const { params = {} } = input;
  return { path: operation, ...(Object.keys(params).length === 0 ? {} : { params }) };
}

function pathOf(template: string, input: CallInput): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''));
}
