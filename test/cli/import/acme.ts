/** A stage for the running test, with the customer that the files of these tests name. */

import type { Surface } from '../../support/stage.ts';
import { openStage, stage } from '../../support/use-stage.ts';

export async function openStageWithAcme(surface: Surface): Promise<void> {
  await openStage(surface);
  const contact = ['--contact', 'name=Ada,email=ada@acme.example,roles=primary'];
  await stage.tally(['customers', 'create', '--name', 'Acme', '--external-customer-id', 'acme', ...contact]);
}
