import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";

import { KerasBertError } from "../core/error.js";
import { Decimal } from "../core/file/decimals.js";
import { TextModel } from "../core/model/text_model.js";
import { SentenceSearch } from "../core/search/sentence_search.js";
import { TextImport } from "../core/search/text_import.js";
import { SentenceEncoding } from "../core/tasks/sentence_encoding.js";
import { LatencyClock } from "../core/timing/latency_clock.js";
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
  const encode = async (text) => (await task.encodeDocument(text)).vector;
  const start = performance.now();
  const search = await SentenceSearch.build(task.vectorsName, texts, encode);
  const seconds = (performance.now() - start) / 1000;
  note(`note: indexed ${search.size} texts in ${seconds.toFixed(2)} s; their vectors take ${search.vectorBytes} bytes`);
  return search;
}

async function find(task, search, queries, top) {
  const clocks = { vector: new LatencyClock(), search: new LatencyClock() };
  await Output.use(async (output) => {
    for (const query of queries) {
      const { vector } = await clocks.vector.run(() => task.encodeQuery(query));
      const results = await clocks.search.run(() => search.search(vector, top));
      await output.write({ query, results: results.map(({ index, text, score }) => ({ index, text, score: new Decimal(score) })) });
    }
  });
  note(`note: answered ${queries.length} queries: ${median(clocks.vector)} ms for a vector, ${median(clocks.search)} ms for its search`);
}

/** The median of the runs after the first, or the first one where there is no other. */
function median(clock) {
  const { p50, first } = clock.latency();
  return (p50 ?? first).toFixed(2);
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
