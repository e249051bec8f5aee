/** How a call of the model is written, and how it says no. */

import type { ErrorKind } from '../../src/errors.ts';
import type { State } from './state.ts';

export interface ModelInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever a caller may send
  readonly body: any;
  /** Name of what the call makes. */
  readonly as: string;
}

export type ModelCall = (state: State, input: ModelInput) => unknown;

/** Thrown inside the model where the engine should refuse. */
export class Refusal extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind) {
    super(kind);
    this.name = 'Refusal';
    this.kind = kind;
  }
}

/** The element of an id; the refusal of a path (404) or of a body (422) when there is none. */
export function named<T extends { readonly id: string }>(list: readonly T[], id: unknown, kind: ErrorKind): T {
  const found = list.find((each) => each.id === id);
  if (found === undefined) throw new Refusal(kind);
  return found;
}

export function refuseIf(isRefused: boolean, kind: ErrorKind): void {
  if (isRefused) throw new Refusal(kind);
}
