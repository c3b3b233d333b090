import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";

import { KerasBertError } from "../core/error.js";
import { Decimal } from "../core/file/decimals.js";
import { TextModel } from "../core/model/text_model.js";
import { SentenceSearch } from "../core/search/sentence_search.js";
import { TextImport } from "../core/search/text_import.js";
import { SentenceEncoding } from "../core/tasks/sentence_encoding.js";
import { loadLiteRt } from "./litert.js";
import { openModel } from "./model_files.js";
import { inputLines, note, Output } from "./streams.js";

const TOP = 10;

/** Prints the texts of a file that are most similar to each line. */
export async function run(given) {
  const { bytes, file } = openModel(given.model());
  const texts = readTexts(given.get(2), given.text("--column"));
  const queries = await inputLines();
  const top = given.count("--top", TOP);
  const model = await TextModel.open(file, async () => (await loadLiteRt()).open(bytes, file));
  const task = new SentenceEncoding(model);
  const search = await index(task, texts);
  await find(task, search, queries, top);
  await model.close();
}

async function index(task, texts) {
  const encode = async (text) => (await task.encode(text)).vector;
  const start = performance.now();
  const search = await SentenceSearch.build(task.model.file.metadata.weights, texts, encode);
  note(`note: indexed ${search.size} texts in ${seconds(performance.now() - start)} s; their vectors take ${search.vectorBytes} bytes`);
  return search;
}

async function find(task, search, queries, top) {
  const time = { vectors: 0, search: 0 };
  await Output.use(async (output) => {
    for (const query of queries) {
      const start = performance.now();
      const { vector } = await task.encode(query);
      const middle = performance.now();
      const results = search.search(vector, top);
      time.vectors += middle - start;
      time.search += performance.now() - middle;
      await output.write({ query, results: results.map((each) => ({ ...each, score: new Decimal(each.score) })) });
    }
  });
  note(`note: answered ${queries.length} queries: ${seconds(time.vectors)} s for their vectors, ${seconds(time.search)} s for the search`);
}

function seconds(milliseconds) {
  return (milliseconds / 1000).toFixed(2);
}

function readTexts(path, column) {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new KerasBertError(`expected a file of texts, received ${path}, which is not there; check the path`);
  }
  const imported = TextImport.read(readFileSync(path), basename(path));
  if (column === null) return imported.texts(imported.likeliestColumn);
  const number = imported.columns.indexOf(column);
  if (number >= 0) return imported.texts(number);
  throw new KerasBertError(`expected a column among ${imported.columns.join(", ")}, received ${column}; name one of them`);
}
