/** Rate cards are the only part of a catalog that changes in place: a whole card replaces another. */

import { archival } from './change.ts';
import type { Change } from './change.ts';
import { amountsOf, differences, saySame } from './comparison.ts';
import type { MeterDefinition, RateCardDefinition } from './definitions.ts';
import type { Live } from './live.ts';
import { stayingOf, supersededOf } from './matching.ts';
import type { Decided } from './matching.ts';

export interface RateCardDiff {
  readonly changes: readonly Change[];
  readonly unchanged: number;
  /** Rate cards to set; an empty one where none shall be. */
  readonly set: readonly RateCardDefinition[];
  /** Things outside the file that are in the way. */
  readonly obstacles: readonly string[];
}

export function diffRateCards(
  definitions: readonly RateCardDefinition[],
  live: readonly Live<RateCardDefinition>[],
  options: { readonly meters: Decided<MeterDefinition, Live<MeterDefinition>>; readonly isPruned: boolean },
): RateCardDiff {
  const staying = new Set(stayingOf(options.meters).map(({ id }) => id));
  const replaced = new Set(supersededOf(options.meters).map(({ id }) => id));
  const cardOf = new Map(live.map((card) => [card.definition.meter, card]));
  const isListed = (meter: string) => definitions.some((definition) => definition.meter === meter);
  const unlisted = live.filter(({ definition }) => !isListed(definition.meter));

  const differing = definitions.filter((definition) => {
    const card = cardOf.get(definition.meter);
    const current = card !== undefined && staying.has(card.id) ? card.definition : emptyCard(definition.meter);
    return !saySame(current, definition);
  });
  const cleared = options.isPruned ? unlisted.filter(({ id }) => staying.has(id)) : [];
  const lost = options.isPruned ? [] : unlisted.filter(({ id }) => replaced.has(id));
  return {
    changes: [
      ...differing.map((definition) => changeOf(definition, cardOf.get(definition.meter))),
      ...cleared.map(({ definition }) => archival('rate card', definition.meter)),
    ],
    unchanged: definitions.length - differing.length,
    set: [...differing, ...cleared.map(({ definition }) => emptyCard(definition.meter))],
    obstacles: lost.map(
      ({ definition }) => `the rate card of meter ${definition.meter}, which is replaced, is not in the file`,
    ),
  };
}

function emptyCard(meter: string): RateCardDefinition {
  return { meter, rates: [] };
}

function changeOf(definition: RateCardDefinition, card: Live<RateCardDefinition> | undefined): Change {
  const named = { kind: 'rate card', name: definition.meter } as const;
  if (card === undefined) return { action: 'create', ...named, differences: amountsOf(definition) };
  const found = differences(card.definition, definition);
  return found.length === 0
    ? { action: 'replace', ...named, reason: `the meter ${definition.meter} is replaced`, differences: [] }
    : { action: 'replace', ...named, differences: found };
}
