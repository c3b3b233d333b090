import { crc32 } from "./crc32.js";
import { DIRECTORY_ENTRY, END, MEMBER, PackedFiles } from "./packed_files.js";

const VERSION = 20; // that unpacks folders and compressed files, as other programs write it
const UTF8 = 0x800;
const FIRST_DAY = 0x21; // 1980-01-01: equal files are equal bytes, whenever they are written

/**
 * Packs files behind the FlatBuffer of a `.tflite`, in place of those that it had: a zip archive whose members are stored.
 *
 * @param {Uint8Array} content the bytes of the whole `.tflite`; they are not changed
 * @param {string} name its name in messages
 * @param {Map<string, string>} texts the files by their names
 * @returns {Uint8Array} the bytes of the new file
 * @throws {KerasBertError} when the archive of the file is damaged
 */
export function withPackedFiles(content, name, texts) {
  const parts = [content.subarray(0, new PackedFiles(content, name).start())];
  let place = parts[0].length;
  const directory = [];
  for (const [member, text] of texts) {
    const bytes = new TextEncoder().encode(text);
    const title = new TextEncoder().encode(member);
    const fields = [[2, VERSION], [2, UTF8], [2, 0], [2, 0], [2, FIRST_DAY], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length]];
    const header = record([[4, MEMBER], ...fields, [2, title.length], [2, 0]]);
    const rest = [[2, title.length], [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, place]];
    directory.push(record([[4, DIRECTORY_ENTRY], [2, VERSION], ...fields, ...rest]), title);
    parts.push(header, title, bytes);
    place += header.length + title.length + bytes.length;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0);
  parts.push(...directory, record([[4, END], [2, 0], [2, 0], [2, texts.size], [2, texts.size], [4, size], [4, place], [2, 0]]));
  const file = new Uint8Array(parts.reduce((sum, each) => sum + each.length, 0));
  parts.reduce((at, each) => (file.set(each, at), at + each.length), 0);
  return file;
}

/** Numbers of two or four bytes, one after the other. */
function record(fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}
