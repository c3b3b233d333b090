import { KerasBertError } from "../error.js";
import { Json } from "../file/json.js";
import { ModelFile } from "../file/model_file.js";
import { DESCRIPTION, LABELS, PackedFiles } from "../file/packed_files.js";
import { withPackedFiles } from "../file/packed_files_writer.js";
import { TaskType } from "../file/task_type.js";
import { Prompts } from "../tasks/prompts.js";

const TASK = "FewShotClassifier";

/**
 * Makes a file of classes that were taught: the encoder's graph as it is, and the layer beside it. It is what `kerasbert teach` writes, so
 * Python, the command line and both demos open it.
 *
 * @param {Uint8Array} content the bytes of the sentence encoder's `.tflite`; they are not changed
 * @param {string} name its name in messages
 * @param {import("./taught_classes.js").TaughtClasses} classes two or more with examples
 * @returns {Uint8Array} the bytes of the new `.tflite`
 * @throws {KerasBertError} when the file is no sentence encoder, the vectors are another's, or there are not two classes with examples
 */
export function taughtFile(content, name, classes) {
  const { metadata } = ModelFile.of(content, name);
  if (metadata.type !== TaskType.EMBEDDING) {
    throw new KerasBertError(
      `expected a sentence encoder that classes were taught on, received ${name} for '${metadata.type.key}'; pass it`,
    );
  }
  const { width } = metadata.settings;
  if (width !== undefined && width !== classes.dimensions) {
    throw new KerasBertError(
      `expected classes of vectors of ${width} numbers as those of ${name}, received ${classes.dimensions}; pass the encoder that taught ` +
        "them",
    );
  }
  const broken = classes.names.find((each) => /[\r\n]/.test(each));
  if (broken !== undefined) {
    throw new KerasBertError(`expected names of one line, received ${JSON.stringify(broken.slice(0, 60))}; rename it`);
  }
  const { layer } = classes;
  const prompt = new Prompts(metadata).default;
  const texts = new PackedFiles(content, name).read();
  const description = {
    ...Json.parse(texts.get(DESCRIPTION), DESCRIPTION),
    task: TASK,
    problem: TaskType.FEW_SHOT.key,
    settings: {
      width: classes.dimensions,
      layer: base64(layer.table),
      ...(layer.method === "centre" ? {} : { method: layer.method }),
      ...(prompt ? { prompt } : {}),
    },
    weights: "",
  };
  texts.set(DESCRIPTION, `${JSON.stringify(description, null, 2)}\n`);
  texts.set(LABELS, classes.names.map((each) => `${each}\n`).join(""));
  return withPackedFiles(content, name, texts);
}

/** The layer as little-endian float32. */
function base64(table) {
  const view = new DataView(new ArrayBuffer(4 * table.length));
  table.forEach((value, place) => view.setFloat32(4 * place, value, true));
  return btoa(Array.from(new Uint8Array(view.buffer), (byte) => String.fromCharCode(byte)).join(""));
}
