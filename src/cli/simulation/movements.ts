/** Grants, adjustments and reversals of a history, made again. */

import { textOfNumber } from '../../exact-json.ts';
import type { Movement } from './history.ts';
import { repeated } from './scene.ts';
import type { Deed, Scene } from './scene.ts';
import { specifiersOf } from './source-ids.ts';

export function movements(scene: Scene): Deed[] {
  return scene.history.contracts.flatMap(({ contract, movements: list }) =>
    list.map((movement) => ({
      at: movement.at,
      act: async () => {
        const contractId = scene.contracts.get(contract.id);
        if (contractId === undefined) return;
        const words = `${movement.entry.type} of ${movement.entry.createdAt}`;
        const made = await repeated(
          scene,
          contract.customerId,
          words,
          async () => await move(scene, contractId, movement),
        );
        if (made !== undefined) scene.entries.set(movement.entry.id, made);
      },
    })),
  );
}

/** Returns the id of the new entry. */
async function move(scene: Scene, contractId: string, movement: Movement): Promise<string> {
  const { billing, entries } = scene;
  const { amountCents, creditAmount, creditRateCents, description, expiresAt, isPromotional } = movement.entry;
  const isRated = textOfNumber(creditAmount) !== '0';
  if (movement.kind === 'grant') {
    const body = {
      ...(isRated ? { creditAmount, creditRateCents } : { amountCents }),
      ...(expiresAt === null ? {} : { expiresAt }),
      description,
      specifiers: specifiersOf(scene, movement.paysFor),
    };
    const call = { params: { contractId }, body };
    const { data } = (
      isPromotional ? await billing.call('credits.grant', call) : await billing.call('credits.grantPaid', call)
    ).body;
    return data.id;
  }
  if (movement.kind === 'adjust') {
    const grantEntryId = entries.get(movement.grantId);
    const body = {
      grantEntryId,
      description,
      ...(textOfNumber(amountCents) === '0' ? { creditAmount } : { amountCents }),
    };
    return (await billing.call('credits.adjust', { params: { contractId }, body })).body.data.id;
  }
  const entryId = entries.get(movement.targetId) ?? '';
  return (await billing.call('credits.reverse', { params: { contractId, entryId }, body: { description } })).body.data
    .id;
}
