/**
 * How much of a scan of a server's events is in memory at a time. An event may have half a megabyte of properties, so rows alone
 * set no bound. After a page that was cut for its bytes, the next one asks for twice as many rows as that page had.
 */

export const scannedRows = 10_000;
/** Of properties, not counting those of the last row. */
export const scannedBytes = 16 * 1024 * 1024;

/** How many rows to ask for after a page of up to `limit`; undefined if there are no more. */
export function nextLimit(
  limit: number,
  page: { readonly rowCount: number; readonly bytes: number },
): number | undefined {
  const isCut = page.bytes >= scannedBytes;
  if (page.rowCount < limit && !isCut) return undefined;
  return Math.min(2 * (isCut ? page.rowCount : limit), scannedRows);
}
