/** How a backup's manifest is shown. */

import type { BackupManifest } from '../../operations/backup-manifest.ts';
import { backupColumns } from '../../operations/maintenance.ts';
import { checkFields, printBody } from '../output/output.ts';
import type { Session } from '../session/session.ts';

const view = { rows: 'data.organizations', columns: backupColumns } as const;
const fields = ['id', ...backupColumns.map(({ path }) => path)];

/** Refuses fields that do not exist, before anything is written. */
export function refuseOtherFields({ output }: Session): void {
  checkFields(output, fields, view);
}

export async function printManifest(data: BackupManifest, session: Session): Promise<void> {
  await printBody({ data }, { view, fields }, session);
}
