import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";

import { KerasBertError } from "../core/error.js";
import { Decimal } from "../core/file/decimals.js";
import { TextModel } from "../core/model/text_model.js";
import { IndexFile } from "../core/search/index_file.js";
import { rerank } from "../core/search/reranking.js";
import { SentenceSearch } from "../core/search/sentence_search.js";
import { TextImport } from "../core/search/text_import.js";
import { Regression } from "../core/tasks/regression.js";
import { SentenceEncoding } from "../core/tasks/sentence_encoding.js";
import { LatencyClock } from "../core/timing/latency_clock.js";
import { loadLiteRt } from "./litert.js";
import { openModel } from "./model_files.js";
import { inputLines, note, Output } from "./streams.js";

const TOP = 10;
const CANDIDATES = 20; // that a model of pairs scores
const WEIGHT = 0.5; // of its scores
const INDEX = ".kbindex";

/** Prints the texts of a file, or of an index, that are most similar to each line. */
export async function run(given) {
  const counts = { top: given.count("--top", TOP), candidates: given.count("--candidates", CANDIDATES) };
  const weight = given.share("--rerank-weight", WEIGHT);
  const pairs = given.text("--rerank");
  for (const name of ["--candidates", "--rerank-weight"]) {
    if (pairs === null && given.text(name) !== null) throw new KerasBertError(`expected --rerank with ${name}, received none; add it`);
  }
  const path = checkedPath(given.get(2));
  const texts = path.endsWith(INDEX) ? null : readTexts(path, given.text("--column"));
  const queries = await inputLines();
  let loaded = null;
  const litert = () => (loaded ??= loadLiteRt());
  const task = new SentenceEncoding(await open(given.model(), litert));
  const reranker = pairs === null ? null : { model: new Regression(await open(given.path(pairs), litert)), weight };
  const search = texts === null ? IndexFile.read(readFileSync(path), task.vectorsName) : await index(task, texts);
  await find(task, search, queries, counts, reranker);
  await task.close();
  await reranker?.model.close();
}

async function open(path, litert) {
  const { bytes, file } = openModel(path);
  return TextModel.open(file, async () => (await litert()).open(bytes, file));
}

async function index(task, texts) {
  const encode = async (text) => (await task.encodeDocument(text)).vector;
  const start = performance.now();
  const search = await SentenceSearch.build(task.vectorsName, texts, encode);
  const seconds = (performance.now() - start) / 1000;
  note(`note: indexed ${search.size} texts in ${seconds.toFixed(2)} s; their vectors take ${search.vectorBytes} bytes`);
  return search;
}

async function find(task, search, queries, { top, candidates }, reranker) {
  const clocks = { vector: new LatencyClock(), search: new LatencyClock() };
  const most = reranker ? Math.max(top, candidates) : top;
  await Output.use(async (output) => {
    for (const query of queries) {
      const { vector } = await clocks.vector.run(() => task.encodeQuery(query));
      const found = await clocks.search.run(() => search.search(vector, most));
      const results = reranker ? (await rerank(query, found, reranker.model, reranker.weight)).slice(0, top) : found;
      await output.write({ query, results: results.map(record) });
    }
  });
  note(`note: answered ${queries.length} queries: ${median(clocks.vector)} ms for a vector, ${median(clocks.search)} ms for its search`);
}

function record({ index, text, score, cosine }) {
  return { index, text, score: new Decimal(score), ...(cosine === undefined ? {} : { cosine: new Decimal(cosine) }) };
}

/** The median of the runs after the first, or the first one where there is no other. */
function median(clock) {
  const { p50, first } = clock.latency();
  return (p50 ?? first).toFixed(2);
}

function checkedPath(path) {
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw new KerasBertError(`expected a file of texts, received ${path}, which is not there; check the path`);
}

function readTexts(path, column) {
  const imported = TextImport.read(readFileSync(path), basename(path));
  if (column === null) return imported.texts(imported.likeliestColumn);
  const number = imported.columns.indexOf(column);
  if (number >= 0) return imported.texts(number);
  throw new KerasBertError(`expected a column among ${imported.columns.join(", ")}, received ${column}; name one of them`);
}
