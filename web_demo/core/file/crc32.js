/** CRC-32 as zip archives have it (ISO 3309, reflected polynomial 0xEDB88320). */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/**
 * The checksum of some bytes.
 *
 * @param {Uint8Array} bytes
 * @returns {number} a whole number of 32 bits without sign
 */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (let place = 0; place < bytes.length; place++) value = TABLE[(value ^ bytes[place]) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
