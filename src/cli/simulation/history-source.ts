/** Where a history comes from: a copy of a database file, a server's database itself, or a mirror of another service. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { BillingError } from '../../errors.ts';
import { midnightOf } from '../../operations/field-rules.ts';
import { inPassingDirectory } from '../../passing-directory.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { say } from '../terminal/safe-text.ts';
import { reading } from '../session/open-session.ts';
import type { Session } from '../session/session.ts';
import type { EmbeddedTarget } from '../target/target.ts';
import { tell } from '../session/tell.ts';
import { readHistory } from './history.ts';
import type { History } from './history.ts';
import { readMirrorHistory } from './mirror-history.ts';
import type { MirroredHistory } from './mirror-history.ts';

export interface HistorySource {
  readonly history: History;
  /** The other catalog, in the terms of the history. */
  readonly catalog: CatalogFile | undefined;
  /** How far a replay must go for whole periods, and the end of the comparison if none is given. */
  readonly until: string;
  readonly now: string;
  readonly notes: MirroredHistory['notes'];
  /** Whether usage is known only from invoices. */
  readonly isMirror: boolean;
}

export interface Wanted {
  readonly only: readonly string[];
  /** A date; only usage before it counts. */
  readonly to: string | undefined;
  readonly catalog: CatalogFile | undefined;
  readonly startDate: string | undefined;
}

/** Reads the history; never writes to the source. */
export async function readSource(target: EmbeddedTarget, wanted: Wanted, session: Session): Promise<HistorySource> {
  const maintenance = await session.dependencies.openMaintenance();
  const kind = await maintenance.kindOf(target.database);
  if (kind === 'mirror') return await readMirror(target, wanted, session);
  // A server's database could only be dumped, and a dump can only be restored to a server.
  if (kind === 'server') return await readDatabase(target, wanted, session);
  return await inPassingDirectory(join(tmpdir(), 'tallybook-simulation-'), async (directory) => {
    const copy = join(directory, 'copy.db');
    await maintenance.backUp({ from: target.database, to: copy });
    return await readDatabase({ ...target, database: copy }, wanted, session);
  });
}

async function readDatabase(
  target: EmbeddedTarget,
  { only, to, catalog }: Wanted,
  session: Session,
): Promise<HistorySource> {
  return await reading(session, target, async ({ billing }) => {
    const { now } = (await billing.call('clock.show')).body.data;
    const end = to === undefined ? undefined : midnightOf(to);
    const history = await readHistory(billing, { only, until: end });
    return { history, catalog, until: end ?? now, now, notes: [], isMirror: false };
  });
}

/** A mirror knows no days of usage, so whole periods are played to their end, whatever `--to` says. */
async function readMirror(
  target: EmbeddedTarget,
  { only, catalog, startDate }: Wanted,
  session: Session,
): Promise<HistorySource> {
  if (startDate !== undefined) {
    throw new BillingError(
      'notOffered',
      `--start-date: ${target.database} is a mirror, which knows usage only by billing period; another first day makes other periods, for which the days of usage would have to be known`,
      { hint: 'play the change with tally simulate run, or import the events into a database of your own' },
    );
  }
  const mirror = await (await session.dependencies.openMaintenance()).openMirror(target.database);
  try {
    const { address } = await mirror.source();
    const { now, remarks, ...read } = await readMirrorHistory(mirror, { only, catalog });
    tell(
      session,
      say`${mirror.location} mirrors ${address}: compared by the quantities on its invoices, period by period`,
    );
    for (const remark of remarks) tell(session, say`${remark}`);
    return { ...read, until: now, now, isMirror: true };
  } finally {
    await mirror.close();
  }
}
