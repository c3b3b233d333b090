// Runs the modules of a site in a worker of it, as the page's own worker does.
"use strict";

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ result: await run(data) });
  } catch (error) {
    self.postMessage({ error: error.stack });
  }
};

async function run({ accelerator, model, command, examples, texts, top }) {
  const core = await import("/core.js");
  const { LiteRtEngines } = await import("/page/worker/litert_engines.js");
  const content = new Uint8Array(await (await fetch(`/${model}`)).arrayBuffer());
  const file = core.ModelFile.of(content, model);
  const engines = new LiteRtEngines(new URL("/litert/", self.location.href), accelerator);
  const task = core.taskOf(await core.TextModel.open(file, () => engines.open(file, content, accelerator)));
  const title = task.model.engineTitle;
  return { title, ...(command === "search" ? await search(core, task, texts, examples, top) : await predict(core, task, examples)) };
}

async function predict(core, task, examples) {
  const lines = [];
  for (const fields of examples) lines.push(core.Json.write((await task.predict(exampleOf(core.Example, fields))).record()));
  return { lines };
}

function exampleOf({ Single, Pair, Question, Prompt }, fields) {
  if ("question" in fields) return new Question(fields.question, fields.context);
  if ("prompt" in fields) return new Prompt(fields.prompt, fields.choices);
  return "pair" in fields ? new Pair(fields.text, fields.pair) : new Single(fields.text);
}

async function search(core, task, texts, queries, top) {
  const encode = async (text) => (await task.encode(text)).vector;
  const clocks = { index: new core.LatencyClock(), vector: new core.LatencyClock(), search: new core.LatencyClock() };
  const index = await clocks.index.load(() => core.SentenceSearch.build(task.model.file.metadata.weights, texts, encode));
  const lines = [];
  for (const { text: query } of queries) {
    const vector = await clocks.vector.run(() => encode(query));
    const results = await clocks.search.run(() => index.search(vector, top));
    lines.push(core.Json.write({ query, results: results.map((each) => ({ ...each, score: new core.Decimal(each.score) })) }));
  }
  const { load } = clocks.index.latency();
  const [vectorTime, searchTime] = [clocks.vector, clocks.search].map((clock) => clock.latency().p50);
  return { lines, times: { index: load, vector: vectorTime, search: searchTime }, indexed: index.size, vectorBytes: index.vectorBytes };
}
