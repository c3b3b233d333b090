import { crc32, deflateRawSync } from "node:zlib";

const [STORED, DEFLATED] = [0, 8];
const VERSION = 20;

/** The first byte of the archive behind a FlatBuffer. */
export function archiveStart(content) {
  return find(content, [0x50, 0x4b, 3, 4]);
}

/** The first byte of the first entry of an archive's directory. */
export function directoryStart(content) {
  return find(content, [0x50, 0x4b, 1, 2]);
}

/**
 * A zip archive.
 *
 * @param {[name: string, content: string | Uint8Array][]} files
 * @param {{isCompressed?: boolean}} [options]
 * @returns {Buffer}
 */
export function archive(files, { isCompressed = false } = {}) {
  const members = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of files) {
    const bytes = Buffer.from(content);
    const packed = isCompressed ? deflateRawSync(bytes) : bytes;
    const sizes = [[4, packed.length], [4, bytes.length], [2, name.length], [2, 0]];
    const facts = [[2, isCompressed ? DEFLATED : STORED], [4, 0], [4, crc32(bytes)], ...sizes];
    members.push(numbers([4, 0x04034b50], [2, VERSION], [2, 0], ...facts), Buffer.from(name), packed);
    const entry = [[4, 0x02014b50], [2, VERSION], [2, VERSION], [2, 0], ...facts, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]];
    directory.push(numbers(...entry), Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  const counts = [[2, files.length], [2, files.length], [4, entries.length], [4, offset], [2, 0]];
  return Buffer.concat([...members, entries, numbers([4, 0x06054b50], [2, 0], [2, 0], ...counts)]);
}

/** Little-endian numbers of some bytes each. */
function numbers(...fields) {
  return Buffer.concat(
    fields.map(([size, value]) => {
      const bytes = Buffer.alloc(size);
      bytes.writeUIntLE(value, 0, size);
      return bytes;
    }),
  );
}

function find(content, wanted) {
  return Buffer.from(content.buffer, content.byteOffset, content.length).indexOf(Buffer.from(wanted));
}
