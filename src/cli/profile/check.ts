/** `tally profile check`: what the key in use gives access to, and how the clocks of service and machine differ. */

import { BillingError, reworded } from '../../errors.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { printBody } from '../output/output.ts';
import type { Environment } from '../command-line/global-flags.ts';
import { mask } from '../terminal/redact.ts';
import { say } from '../terminal/safe-text.ts';
import { clockWords, factsOf } from './service-check.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { whereOf } from '../target/target.ts';
import type { RemoteTarget } from '../target/target.ts';

const checkView = {
  rows: 'data',
  columns: [
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'WHERE', path: 'where' },
    { header: 'KEY', path: 'key' },
    { header: 'STATUS', path: 'status' },
    { header: 'ORGANIZATION', path: 'organization' },
    { header: 'SCOPES', path: 'scopes', format: 'list' },
    { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
    { header: 'CLOCK', path: 'clock' },
    { header: 'LATENCY (ms)', path: 'latencyMilliseconds', format: 'number' },
    { header: 'VERSION', path: 'version' },
  ],
} as const;

export async function checkProfile(session: Session): Promise<void> {
  const target = await session.target();
  const facts = await factsOf(target, session).catch((error: unknown) => {
    const isKeyRefused = error instanceof BillingError && error.kind === 'unauthorized' && target.kind === 'remote';
    throw isKeyRefused ? reworded(error, error.message, anotherKey(target)) : error;
  });
  const isRemote = target.kind === 'remote';
  const isOther = isRemote && facts.environment !== undefined && facts.environment !== target.environment;
  const { connection } = facts;
  const data = {
    environment: target.environment,
    where: whereOf(target),
    key: isRemote ? mask(target.key) : null,
    status: isOther ? `the service says ${facts.environment}` : 'ok',
    organization: facts.organization ?? null,
    scopes: facts.scopes,
    knowsAllScopes: facts.knowsAllScopes,
    expiresAt: facts.expiresAt ?? null,
    clock: (connection && clockWords(connection)) ?? null,
    clockAheadMilliseconds: connection?.clockAheadMilliseconds ?? null,
    latencyMilliseconds: connection?.latencyMilliseconds ?? null,
    version: connection?.version ?? null,
  };
  const { format, columns } = session.output;
  const shown = format === 'table' && columns === undefined ? inWords(data) : data;
  await printBody({ data: shown }, { view: checkView, fields: Object.keys(data) }, session);
  if (!facts.knowsAllScopes) {
    tell(
      session,
      say`this service does not tell the scopes of a key: these are the read scopes that were found to work`,
    );
  }
  if (!isRemote && facts.environment === 'production' && target.environment !== 'production') {
    tell(
      session,
      say`this organization is production: to be asked before each write, use a profile made with --environment production --database URL`,
    );
  }
  // Production taken for a sandbox would not ask before a write.
  if (isOther && facts.environment === 'production') throw notProduction(target);
}

/** What a person needs: the clock is told in words, and a note below tells of scopes that are not known. */
function inWords(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { knowsAllScopes: _known, clockAheadMilliseconds: _ahead, ...rest } = data;
  return rest;
}

/** What to do about a refused key: the usual hint is to check it. */
function anotherKey(target: RemoteTarget): string {
  const { profile, environment, sources } = target;
  return profile === undefined || sources['key'] === 'TALLY_API_KEY'
    ? 'the key is that of TALLY_API_KEY: set it to another one'
    : `give the profile another key with: ${addAgain(profile, environment, target)}`;
}

function addAgain(profile: string, environment: Environment, { baseUrl, caFile }: RemoteTarget): string {
  const authorities = caFile === undefined ? '' : ` --ca-file ${shellWord(caFile)}`;
  return `tally profile add ${profile} --environment ${environment} --base-url ${shellWord(baseUrl)}${authorities}`;
}

function notProduction(target: RemoteTarget): BillingError {
  const { profile, environment } = target;
  if (profile === undefined) {
    return new BillingError(
      'checkFailed',
      `without a profile it counts as ${environment}, but the service is production`,
      {
        hint: 'set TALLY_ENVIRONMENT=production, so that every write asks first',
      },
    );
  }
  return new BillingError('checkFailed', `the profile says ${environment}, but the service is production`, {
    hint: `add it again: ${addAgain(profile, 'production', target)}`,
  });
}
