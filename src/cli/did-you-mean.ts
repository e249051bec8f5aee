/** Hints about a name that is not known. */

import { nearest } from './catalog/nearest.ts';

/** `did you mean …?` with the known name that was probably meant; other words if there is none. */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  const meant = nearest(name, known);
  return meant === undefined ? otherwise : `did you mean ${meant}?`;
}
