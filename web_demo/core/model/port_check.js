import { KerasBertError } from "../error.js";
import { Metadata } from "../file/metadata.js";
import { TaskType } from "../file/task_type.js";

export const IDS = "input_ids";
export const MASK = "attention_mask";
export const TYPES = "token_type_ids";
export const HIDDEN = "hidden";
export const CONFIDENCE = "confidence";
const INPUTS = [IDS, MASK, TYPES];
const ACCELERATOR_INPUTS = ["attention_bias", "hidden"]; // of the part of a model that has no embeddings

/** Checks that a file can be run on token ids, before a runtime is asked to: the signatures have the inputs and outputs of its task. */
export class PortCheck {
  #file;

  /** @param {import("../file/model_file.js").ModelFile} file */
  constructor(file) {
    this.#file = file;
  }

  /**
   * @param {import("./lengths.js").Lengths} lengths
   * @throws {KerasBertError} when they have not
   */
  check(lengths) {
    const { name, metadata, signatures } = this.#file;
    if (metadata.inputs !== Metadata.IDS) {
      throw new KerasBertError(
        `expected a file that takes token ids, received ${name}, which takes texts and needs operators of its own; convert the model ` +
          "with inputs of ids",
      );
    }
    for (const stages of lengths.signatures) {
      const [first, ...others] = stages.map((wanted) => {
        const signature = signatures.find((each) => each.name === wanted);
        if (!signature) throw this.#mismatch(`a signature ${wanted}`, signatures.map((each) => each.name).join(", ") || "none");
        this.#checkOutputs(signature);
        return signature;
      });
      this.#checkInputs(first);
      const last = others.reduce((before, signature) => this.#checkStage(before, signature), first);
      if (metadata.exits !== null && last.outputs.has(HIDDEN)) {
        throw this.#mismatch(`${stages.length} exits, as its metadata say,`, `more: ${last.name} is followed by another`);
      }
    }
  }

  /** Checks that the signature of an exit takes what the one before it returns, and returns it. */
  #checkStage(before, signature) {
    const hidden = before.outputs.get(HIDDEN);
    const confidence = before.outputs.get(CONFIDENCE);
    const fits = hidden?.type === "float32" && !hidden.shape.includes(-1) && confidence?.type === "float32" &&
      [...signature.inputs.keys()].sort().join() === [MASK, HIDDEN].join() &&
      signature.inputs.get(HIDDEN).shape.join() === hidden.shape.join();
    if (fits) return signature;
    const expected = `a signature ${signature.name} of fixed lengths that takes the output ${HIDDEN} of ${before.name}`;
    throw this.#mismatch(expected, names(signature.inputs));
  }

  #checkInputs({ inputs }) {
    if ([...inputs.keys()].sort().join() === ACCELERATOR_INPUTS.join()) {
      throw new KerasBertError(
        `expected a model in one file, received ${this.#file.name}, the part of a model in two files that runs on an accelerator for ` +
          "integers; convert the model for the target cpu",
      );
    }
    const areIds = inputs.has(IDS) && [...inputs.keys()].every((name) => INPUTS.includes(name));
    if (!areIds) throw this.#mismatch(`inputs among ${INPUTS.join(", ")}`, names(inputs));
    for (const port of inputs.values()) {
      if (port.type !== "int32" || port.shape.length !== 2) throw this.#mismatch("int32 inputs of two axes", port);
    }
  }

  #checkOutputs({ outputs }) {
    const { type, outputWidth } = this.#file.metadata;
    for (const name of type.outputs) {
      const port = outputs.get(name);
      if (!port) throw this.#mismatch(`outputs ${type.outputs.join(", ")}`, names(outputs));
      if (port.type !== "float32" || port.shape.length !== type.rank) {
        throw this.#mismatch(`${name} in float32, of ${type.rank} axes`, port);
      }
    }
    const width = outputs.get(type.outputs[0]).shape.at(-1);
    if (outputWidth === null || width === outputWidth) return;
    if (type === TaskType.FEW_SHOT) throw this.#mismatch(`vectors of ${outputWidth} numbers`, `${width}`);
    throw this.#mismatch("as many labels as classes", `${outputWidth} labels and ${width} classes`);
  }

  #mismatch(expected, received) {
    return new KerasBertError(`expected ${expected} of ${this.#file.name}, received ${received}; convert the model again`);
  }
}

function names(ports) {
  return [...ports.keys()].join(", ") || "none";
}
