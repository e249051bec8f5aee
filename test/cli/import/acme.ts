/** A stage with the customer that the files of these tests name. */

import { createStage } from '../../support/stage.ts';
import type { ServedStage, Surface } from '../../support/stage.ts';

export async function stageWithAcme(surface: Surface): Promise<ServedStage> {
  const stage = await createStage(surface);
  const contact = ['--contact', 'name=Ada,email=ada@acme.example,roles=primary'];
  await stage.tally(['customers', 'create', '--name', 'Acme', '--external-customer-id', 'acme', ...contact]);
  return stage;
}
