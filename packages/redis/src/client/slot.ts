const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021) of every byte. */
const CRC_OF_BYTE: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/**
 * Returns the hash slot of a key in a Redis Cluster, from 0 to 16,383: the CRC-16 of the text between its first `{` and
 * the next `}`, or of the whole key if there is no such text. The key must be ASCII, as all keys of this store are.
 *
 * @see Redis Cluster specification, "Key distribution model" and "Hash tags".
 */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? crcOf(key, open + 1, close) % SLOTS : crcOf(key, 0, key.length) % SLOTS;
}

function crcOf(text: string, start: number, end: number): number {
  let crc = 0;
  for (let i = start; i < end; i++) crc = ((crc << 8) & 0xffff) ^ CRC_OF_BYTE[(crc >> 8) ^ text.charCodeAt(i)]!;
  return crc;
}
