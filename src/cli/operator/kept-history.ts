/**
 * What a journal tells of grants, kept beside it, so that not every command reads all that was ever written. It is made from the
 * journal alone, and counts only for a journal that still has the line up to which it was made. It may be deleted at any time.
 */

import { renameSync, rmSync, writeFileSync } from 'node:fs';

import { reviveExactJson } from '../../exact-json.ts';
import { readPrivateText } from '../target/private-file.ts';
import type { Machine } from '../target/private-file.ts';
import { isOpen, keyOf } from './grant-history.ts';
import type { KnownGrant, KnownHistory, Place } from './grant-history.ts';
import type { Mark } from './journal-file.ts';
import { isAsSealed, seal } from './journal-line.ts';
import type { CallState, JournalFacts } from './journal-line.ts';

/** Another form of the file gets another number. */
const form = 2;

interface KeptFile {
  readonly form: number;
  readonly mark: Mark;
  readonly places: readonly Place[];
  readonly grants: readonly KeptGrant[];
  readonly sums: readonly (readonly [string, readonly (readonly [string, string])[]])[];
  /** As JSON texts of their own: their numbers keep their digits. */
  readonly openCalls: readonly (readonly [string, string])[];
}

type KeptGrant = readonly [
  place: number,
  contractId: string,
  externalId: string,
  operator: string,
  at: string,
  amountCents: string,
  state: CallState,
  tries: number,
  /** What only sending it again asks for, as JSON of its own. */
  request?: string,
];

export interface KeptHistory {
  readonly mark: Mark;
  readonly known: KnownHistory;
}

/** Undefined if nothing is kept, or not as it was written. */
export function readKeptHistory(path: string, machine: Machine): KeptHistory | undefined {
  try {
    const text = readPrivateText(path, machine);
    if (text === undefined || !isAsSealed(text)) return undefined;
    const kept = JSON.parse(text) as KeptFile;
    return kept.form === form ? { mark: kept.mark, known: knownOf(kept) } : undefined;
  } catch {
    // The journal tells the same, only later.
    return undefined;
  }
}

/** Keeps what is known up to a line. Where that fails, or a crash cuts it off, the next command takes longer, and nothing else. */
export function keepHistory(path: string, { mark, known }: KeptHistory): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, seal(JSON.stringify(keptOf(mark, known))), { flag: 'wx', mode: 0o600 });
    renameSync(unfinished, path);
  } catch {
    rmSync(unfinished, { force: true });
  }
}

function keptOf(mark: Mark, { grants, sums, openCalls }: KnownHistory): KeptFile {
  const places = new Map<string, { readonly index: number; readonly place: Place }>();
  const indexOf = (place: Place) =>
    places.getOrInsertComputed(JSON.stringify(place), () => ({ index: places.size, place })).index;
  return {
    form,
    mark,
    grants: [...grants.values()].map((grant) => keptGrant(grant, indexOf(grant.place))),
    places: [...places.values()].map(({ place }) => place),
    sums: [...sums].map(([span, cents]) => [span, [...cents].map(([subject, sum]) => [subject, String(sum)])]),
    openCalls: [...openCalls].map(([key, facts]) => [key, JSON.stringify(facts)]),
  };
}

function keptGrant(grant: KnownGrant, place: number): KeptGrant {
  const { contractId, externalId, operator, at, amountCents, state, tries } = grant;
  const kept = [place, contractId, externalId, operator, at, String(amountCents), state, tries] as const;
  // A refused one may be open again by what another try of it is answered.
  if (!isOpen(state) && state !== 'refused') return kept;
  const { requestHash, isGeneratedId, body } = grant;
  return [...kept, JSON.stringify({ requestHash, isGeneratedId, body })];
}

function knownOf({ places, grants, sums, openCalls }: KeptFile): KnownHistory {
  return {
    grants: new Map(
      grants.map((kept) => {
        const grant = knownGrant(kept, places);
        return [keyOf(grant.place, grant.contractId, grant.externalId), grant];
      }),
    ),
    sums: new Map(sums.map(([span, cents]) => [span, new Map(cents.map(([subject, sum]) => [subject, BigInt(sum)]))])),
    openCalls: new Map(openCalls.map(([key, facts]) => [key, reviveExactJson(facts) as JournalFacts])),
  };
}

function knownGrant(kept: KeptGrant, places: readonly Place[]): KnownGrant {
  const [index, contractId, externalId, operator, at, amountCents, state, tries, request] = kept;
  const place = places[index];
  if (place === undefined) throw new Error('the place of a grant is missing');
  const sent =
    request === undefined
      ? { requestHash: '', isGeneratedId: false, body: undefined }
      : (reviveExactJson(request) as Pick<KnownGrant, 'requestHash' | 'isGeneratedId' | 'body'>);
  return { ...sent, place, contractId, externalId, operator, at, amountCents: BigInt(amountCents), state, tries };
}
