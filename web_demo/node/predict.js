import { SecondInput } from "../core/file/task_type.js";
import { TextModel } from "../core/model/text_model.js";
import { taskOf } from "../core/tasks/task_of.js";
import { readExample } from "./example_lines.js";
import { loadLiteRt } from "./litert.js";
import { openModel } from "./model_files.js";
import { inputLines, note, Output } from "./streams.js";

const BROKEN = 1; // exit code

/** Prints the prediction for each line. Returns the exit code: 1 if a number is NaN or infinite. */
export async function run(given) {
  const { bytes, file } = openModel(given.model());
  const { type } = file.metadata;
  const examples = (await inputLines()).map((line, number) => readExample(type, line, number));
  const model = await TextModel.open(file, async () => (await loadLiteRt()).open(bytes, file));
  const counts = await predict(taskOf(model), examples);
  await model.close();
  return report(counts, examples.length, type, model.length);
}

async function predict(task, examples) {
  let cut = 0;
  const broken = [];
  await Output.use(async (output) => {
    for (const [number, example] of examples.entries()) {
      const prediction = await task.predict(example);
      if (prediction.isCut) cut++;
      if (!prediction.isFinite) broken.push(number);
      await output.write(prediction.record());
    }
  });
  return { cut, broken };
}

function report({ cut, broken }, count, type, length) {
  if (cut > 0) {
    const items = type.second === SecondInput.CONTEXT ? "questions" : "texts";
    note(`note: ${cut} of ${count} ${items} are too long for ${length} tokens and were truncated`);
  }
  if (broken.length === 0) return 0;
  note(
    `warning: the predictions contain NaN or infinity for ${broken.length} of ${count} texts, the first is number ${broken[0]}; the ` +
      "model is damaged, or its training diverged",
  );
  return BROKEN;
}
