/** The numbers that invoices have: one of a draft until finalization gives the legal one (semantics 7). */

const legalDigits = 6;
const draftDigits = 8;

/** The legal number of the `count`th invoice that an organization has finalized, from 1; six digits, or more where needed. */
export function legalNumberOf(count: bigint): string {
  return `INV-${count.toString().padStart(legalDigits, '0')}`;
}

/** The count behind a legal number; undefined for any other text. */
export function countOfLegalNumber(text: string): number | undefined {
  const count = /^INV-(\d{6,})$/.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** The number of a draft, from the first digits of a hash in lower-case hexadecimal. */
export function draftNumberOf(hash: string): string {
  return `DRAFT-${hash.slice(0, draftDigits)}`;
}

/** Whether a text is the number of a draft, and nothing else. */
export function isDraftNumber(text: string): boolean {
  return /^DRAFT-[0-9a-f]{8}$/.test(text);
}

/** Whether a description names a draft by its number. */
export function namesDraft(description: string): boolean {
  return /\bDRAFT-[0-9a-f]{8}\b/.test(description);
}
