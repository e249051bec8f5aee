/**
 * Ids: UUIDv7, lower case (RFC 9562 5.7, semantics 2). Node's `crypto` makes them too, but takes a fifth of the time to load in
 * which Node itself starts, more than a durable write of one row takes in the database.
 */

/** Of chance in one id; six of its bits make room for the version and the variant. */
export const idChanceBytes = 10;

/** The id made in a millisecond since 1970, before 10889, from ten unpredictable bytes, which no other id may use. */
export function idOf(epochMilliseconds: number, chance: Uint8Array): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(epochMilliseconds, 0, 6);
  bytes.set(chance, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
