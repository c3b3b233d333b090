import { TaskType } from "../core/file/task_type.js";
import { Lengths } from "../core/model/lengths.js";
import { CodePoints } from "../core/text/code_points.js";
import { tokenizerOf } from "../core/text/tokenizer_of.js";
import { readPair } from "./example_lines.js";
import { openModel } from "./model_files.js";
import { inputLines, Output } from "./streams.js";

const PAIR_ROWS = [TaskType.SINGLE_LABEL, TaskType.MULTI_LABEL, TaskType.REGRESSION];

/** Prints the tokens of each line as the model reads them at its longest length, without padding. */
export async function run(given) {
  const { metadata } = openModel(given.model()).file;
  const tokenizer = tokenizerOf(metadata.tokenizer, metadata.vocabulary ?? []);
  const length = new Lengths(metadata, tokenizer.maxLength).longest;
  const mayBePairs = PAIR_ROWS.includes(metadata.type); // where both texts are one row
  const lines = await inputLines();
  await Output.use(async (output) => {
    for (const line of lines) {
      const { text, pair } = (mayBePairs ? readPair(line) : null) ?? { text: line, pair: null };
      const encoded = tokenizer.encode(text, pair, length);
      await output.write({ input_ids: encoded.ids, offsets: offsetsOf(encoded, [text, pair ?? ""]) });
    }
  });
}

/** First and end of each token in code points of its text; 0 and 0 for special tokens around the texts. */
function offsetsOf(encoded, texts) {
  const places = texts.map((text) => new CodePoints(text));
  return Array.from(encoded.texts, (text, token) => {
    return text < 0 ? [0, 0] : [places[text].ofUnit(encoded.starts[token]), places[text].ofUnit(encoded.ends[token])];
  });
}
