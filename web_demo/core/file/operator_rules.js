import { FIRST_OPTIONAL_INPUT, INPUT_COUNTS, NO_INPUTS, NO_OUTPUTS, TWO_INPUTS } from "./model_tables.js";

/**
 * The inputs that operators need, as `kerasbert.export.tflite` checks them in Python. Operators of other numbers are left to the runtime.
 */

const CUSTOM = 32;

/** The rules of builtin operators, which are named by their number in `BuiltinOperator`. */
export const OperatorRules = Object.freeze({
  /** Describes a tensor that a builtin operator lacks; null where it has all. Runtimes read it without checking, and crash. */
  missing(code, inputs, outputs) {
    if (code === CUSTOM) return null;
    const required = inputs.slice(0, FIRST_OPTIONAL_INPUT.get(code) ?? inputs.length);
    if (!NO_OUTPUTS.has(code) && (outputs.length === 0 || outputs.includes(-1))) return "an output";
    if (!NO_INPUTS.has(code) && (required.length === 0 || required.includes(-1))) return "an input";
    return TWO_INPUTS.has(code) && inputs.length < 2 ? "a second input" : null;
  },

  /** Describes a wrong number of inputs; null where it is right. */
  wrongCount(code, inputs) {
    const count = INPUT_COUNTS.get(code);
    return count && (inputs < count.least || inputs > count.most) ? `an operator ${count.name} of ${inputs} inputs` : null;
  },

  /** Whether an operator takes no texts. */
  takesNumbersOnly(code) {
    return INPUT_COUNTS.get(code)?.takesTexts === false;
  },
});
