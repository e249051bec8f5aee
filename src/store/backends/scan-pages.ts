/**
 * How much of a scan of a server's events is in memory at a time. An event may have half a megabyte of properties, so that rows
 * alone are no bound; of what a page is cut down to by its bytes, the next one asks for little more.
 */

export const scannedRows = 10_000;
/** Of properties, but for those of the last row. */
export const scannedBytes = 16 * 1024 * 1024;

/** How many rows to ask for behind a page of up to `limit`; undefined where there are no more. */
export function nextLimit(
  limit: number,
  page: { readonly rowCount: number; readonly bytes: number },
): number | undefined {
  const isCut = page.bytes >= scannedBytes;
  if (page.rowCount < limit && !isCut) return undefined;
  return Math.min(2 * (isCut ? page.rowCount : limit), scannedRows);
}
