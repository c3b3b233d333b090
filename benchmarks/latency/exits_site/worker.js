// Times the models of a site text by text, in turn, in a worker as the page's own.
"use strict";

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ result: await run(data) });
  } catch (error) {
    self.postMessage({ error: error.stack });
  }
};

async function run({ models, texts, rounds, repeats, accelerator }) {
  const core = await import("/core.js");
  const { LiteRtEngines } = await import("/page/worker/litert_engines.js");
  const { Row } = await import("/core/model/row.js");
  const engines = new LiteRtEngines(new URL("/litert/", self.location.href), accelerator);
  const tasks = {};
  for (const [name, path] of Object.entries(models)) tasks[name] = await open(core, engines, path, accelerator);
  const records = await recordsOf(core, tasks, texts);
  const runs = rowsOf(tasks, texts, Row);
  const milliseconds = Object.fromEntries(Object.keys(tasks).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) { // the first round packs weights
    for (const times of Object.values(milliseconds)) if (round >= 0) times.push([]);
    for (const number of texts.keys()) {
      const turn = (round + number) % 2 ? runs : runs.toReversed();
      for (const { name, model, rows } of turn) {
        const time = await timed(model, rows[number], repeats);
        if (round >= 0) milliseconds[name][round][number] = time;
      }
    }
  }
  return { title: Object.values(tasks)[0].model.engineTitle, records, milliseconds };
}

async function open(core, engines, path, accelerator) {
  const content = new Uint8Array(await (await fetch(`/${path}`)).arrayBuffer());
  const file = core.ModelFile.of(content, path);
  return core.taskOf(await core.TextModel.open(file, () => engines.open(file, content, accelerator)));
}

async function recordsOf(core, tasks, texts) {
  const records = {};
  for (const [name, task] of Object.entries(tasks)) {
    records[name] = [];
    for (const text of texts) records[name].push(JSON.parse(core.Json.write((await task.predict(new core.Example.Single(text))).record())));
  }
  return records;
}

function rowsOf(tasks, texts, Row) {
  return Object.entries(tasks).map(([name, { model }]) => {
    const rows = texts.map((text) => {
      const { ids, typeIds } = model.tokenizer.encode(text, null, model.length);
      return new Row(ids, typeIds);
    });
    return { name, model, rows };
  });
}

/** Milliseconds of a run, the mean of some: the browser's clock is coarse. */
async function timed(model, row, repeats) {
  const start = performance.now();
  for (let repeat = 0; repeat < repeats; repeat++) await model.run(row);
  return (performance.now() - start) / repeats;
}
