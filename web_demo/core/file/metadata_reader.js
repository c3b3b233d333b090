import { KerasBertError } from "../error.js";
import { Json } from "./json.js";
import { Metadata, metadataError } from "./metadata.js";
import { DESCRIPTION, LABELS, VOCABULARY } from "./packed_files.js";
import { SettingKind, TASK_TYPES } from "./task_type.js";

const FORMAT = 1;
const MOST_LENGTHS = 256;
const MOST_PROMPTS = 1000;
const MOST_PROMPT_CHARACTERS = 10_000;
const MOST_TOKENS = 1 << 20;
const MOST_LAYERS = 1 << 12;
const LARGEST_SETTING = 1 << 20;
const LARGEST_INT = 2 ** 31 - 1;
const MOST_ROWS_WITHOUT_TOKEN = 1024; // no padding of an embedding table adds as many
const UNITS = ["word", "character"];

/** Reads the packed files of a model, and checks what `kerasbert.export.tflite.metadata_format` checks in Python. */
export class MetadataReader {
  #texts;
  #name;
  #fields;

  /**
   * @param {Map<string, string>} texts the packed files by their name
   * @param {string} name the model file's name in messages
   */
  constructor(texts, name) {
    this.#texts = texts;
    this.#name = name;
    this.#fields = this.#description();
  }

  /** @returns {Metadata} */
  read() {
    const vocabulary = this.#lines(VOCABULARY);
    const labels = this.#lines(LABELS);
    if (vocabulary !== null && vocabulary.at(-1) === "") throw this.#error(`an empty last token in ${VOCABULARY}`);
    if (labels !== null && labels.length === 0) throw this.#error(`an empty ${LABELS}`);
    const type = this.#type();
    const metadata = new Metadata({
      task: this.#text("task"),
      type,
      settings: this.#settings(type),
      signature: this.#text("signature"),
      sequenceLength: this.#length("sequence_length"),
      rowLength: this.#length("row_length"),
      lengths: this.#rising("lengths", MOST_LENGTHS, MOST_TOKENS),
      exits: this.#rising("exits", MOST_LAYERS, MOST_LAYERS),
      exitThreshold: this.#probability("exit_threshold"),
      inputs: this.#inputs(),
      recipe: this.#text("recipe"),
      integerOnly: this.#flag("integer_only"),
      target: this.#text("target"),
      parameters: this.#required("parameters"),
      weights: this.#text("weights", ""),
      vocabularySize: this.#vocabularySize(),
      tokenizer: this.#object("tokenizer", null),
      version: this.#text("kerasbert"),
      vocabulary,
      labels,
    });
    this.#checkVocabulary(metadata);
    return metadata;
  }

  #description() {
    let value;
    try {
      value = Json.parse(this.#texts.get(DESCRIPTION), DESCRIPTION);
    } catch (failure) {
      if (!(failure instanceof KerasBertError)) throw failure;
      throw this.#error(`a ${DESCRIPTION} that is not JSON (${failure.message})`);
    }
    if (!isObject(value)) throw this.#error(`a ${DESCRIPTION} that is not a JSON object`);
    if (value.format !== FORMAT) {
      throw this.#error(`metadata of format ${shown(value.format)}, where this version reads ${FORMAT}`);
    }
    return value;
  }

  #type() {
    const key = this.#text("problem");
    const type = TASK_TYPES.find((each) => each.key === key);
    if (type) return type;
    const known = TASK_TYPES.map((each) => each.key).join(", ");
    throw this.#error(`problem '${key.slice(0, 60)}' in ${DESCRIPTION}, not one of ${known}`);
  }

  #value(key, standard = null) {
    return Object.hasOwn(this.#fields, key) ? this.#fields[key] : standard;
  }

  #text(key, standard = null) {
    const value = this.#value(key, standard);
    if (typeof value !== "string") throw this.#wrong(key);
    return value;
  }

  #flag(key) {
    const value = this.#value(key, false);
    if (typeof value !== "boolean") throw this.#wrong(key);
    return value;
  }

  /** A whole number, or null. */
  #number(key) {
    const value = this.#value(key);
    if (value !== null && !Number.isInteger(value)) throw this.#wrong(key);
    return value;
  }

  #required(key) {
    const value = this.#number(key);
    if (value === null) throw this.#wrong(key);
    return value;
  }

  #vocabularySize() {
    const value = this.#number("vocab_size");
    if (value !== null && !(value >= 0 && value <= LARGEST_INT)) throw this.#wrong("vocab_size");
    return value;
  }

  #object(key, standard) {
    const value = this.#value(key, standard);
    if (!isObject(value)) throw this.#wrong(key);
    return value;
  }

  #length(key) {
    const value = this.#number(key);
    if (value !== null && !(value >= 1 && value <= MOST_TOKENS)) throw this.#error(`${key} ${value} in ${DESCRIPTION}`);
    return value;
  }

  /** Two or more rising numbers, or null. */
  #rising(key, mostNumbers, most) {
    const value = this.#value(key);
    if (value === null) return null;
    const isRising = Array.isArray(value) && value.length >= 2 && value.length <= mostNumbers &&
      value.every((each, place) => isCount(each, most) && (place === 0 || value[place - 1] < each));
    if (!isRising) throw this.#error(`${key} ${shown(value)} in ${DESCRIPTION}`);
    return value;
  }

  /** A number from 0 to 1, or null. */
  #probability(key) {
    const value = this.#value(key);
    if (value !== null && !(typeof value === "number" && value >= 0 && value <= 1)) throw this.#wrong(key);
    return value;
  }

  #inputs() {
    const kind = this.#text("inputs", Metadata.IDS);
    if (kind === Metadata.IDS || kind === Metadata.TEXT) return kind;
    throw this.#error(`inputs '${kind.slice(0, 60)}' in ${DESCRIPTION}, not ${Metadata.IDS} or ${Metadata.TEXT}`);
  }

  #settings(type) {
    const settings = this.#object("settings", {});
    for (const [key, value] of Object.entries(settings)) {
      const kind = type.settings.get(key);
      if (kind === undefined) throw this.#settingError(type, `the setting '${key.slice(0, 60)}'`);
      if (!isValid(key, value, kind, settings)) throw this.#settingError(type, `${shown(value)} as '${key}'`);
    }
    return settings;
  }

  #settingError(type, received) {
    return this.#error(`settings of another task type than ${type.key} in ${DESCRIPTION} (${received})`);
  }

  /** The lines of a packed file. Only "\n" ends one: vocabularies hold characters that Unicode counts as line breaks. */
  #lines(member) {
    const text = this.#texts.get(member);
    if (text === undefined) return null;
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines.map((line) => {
      const entry = line.endsWith("\r") ? line.slice(0, -1) : line;
      if (entry.includes("\r")) throw this.#error(`an entry with a line break in ${member}`);
      return entry;
    });
  }

  #checkVocabulary({ vocabulary, vocabularySize: rows }) {
    if (vocabulary === null || rows === null) return;
    const tokens = vocabulary.length;
    if (tokens === 0 || (tokens <= rows && rows - tokens < MOST_ROWS_WITHOUT_TOKEN)) return;
    throw this.#error(`a vocabulary of ${tokens} tokens for ${rows} rows of token embeddings, which belongs to another checkpoint`);
  }

  #wrong(key) {
    return this.#error(`'${key}' = ${shown(this.#value(key))} in ${DESCRIPTION}`);
  }

  #error(received) {
    return metadataError(this.#name, received);
  }
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isCount(value, most) {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function isPrompts(value) {
  if (!isObject(value)) return false;
  const prompts = Object.entries(value);
  return prompts.length <= MOST_PROMPTS && prompts.every(([name, text]) => isPromptText(name) && isPromptText(text));
}

function isPromptText(value) {
  return typeof value === "string" && [...value].length <= MOST_PROMPT_CHARACTERS;
}

function isValid(key, value, kind, settings) {
  switch (kind) {
    case SettingKind.COUNT:
      return isCount(value, LARGEST_SETTING);
    case SettingKind.COUNT_OR_NULL:
      return value === null || isCount(value, LARGEST_SETTING);
    case SettingKind.FLAG:
      return typeof value === "boolean";
    case SettingKind.PROMPTS:
      return value === null || isPrompts(value);
    case SettingKind.PROMPT_NAME:
      return value === null || value === "" || (typeof value === "string" && Object.hasOwn(settings.prompts ?? {}, value));
    case SettingKind.TEXT:
      return key === "unit" ? UNITS.includes(value) : typeof value === "string";
    default:
      if (typeof value !== "number") return false;
      return key === "share" ? value > 0 && value < 1 : Math.abs(value) <= LARGEST_SETTING;
  }
}

function shown(value) {
  return Json.write(value ?? null).slice(0, 60);
}
