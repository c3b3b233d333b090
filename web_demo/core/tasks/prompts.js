import { crc32 } from "../file/crc32.js";

const DOCUMENTS = ["document", "passage", "corpus"];

/** The texts that a sentence encoder puts before texts, as `kerasbert.processors.prompts` chooses them in Python. */
export class Prompts {
  /** @param {import("../file/metadata.js").Metadata} metadata the metadata, which were checked */
  constructor({ settings, weights }) {
    const textOf = (name) => (settings.prompts && Object.hasOwn(settings.prompts, name) ? settings.prompts[name] : "");
    const defaultText = textOf(settings.default_prompt_name ?? "");
    const query = textOf("query");
    const document = DOCUMENTS.map(textOf).find((text) => text !== "") ?? "";
    const isNamed = query !== "" || document !== "";
    /** Stands before a text that is compared or classified. */
    this.default = defaultText;
    /** Stands before the query of a search. */
    this.query = isNamed ? query : defaultText;
    /** Stands before each text that is searched. */
    this.document = isNamed ? document : defaultText;
    /** The name of the vectors of texts to search: those with another prompt are others. The Android demo has the same. */
    this.vectorsName = this.document === "" ? weights : `${weights} ${checksum(this.document)}`;
  }
}

function checksum(text) {
  return crc32(new TextEncoder().encode(text)).toString(16).padStart(8, "0");
}
