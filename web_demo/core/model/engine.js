/**
 * Runs a `.tflite` file, one example at a time.
 *
 * Tensors are bound by the names of the signature. Their order in a file is not that of the code that made it.
 *
 * @typedef {object} Engine
 * @property {string} title what runs the model, in a few words for people, such as `LiteRT.js 2.5.3, WebAssembly`
 * @property {(signature: string, inputs: Map<string, Int32Array | Float32Array>) => Promise<Map<string, Float32Array>>} run Runs a
 *   signature once. The inputs are the values of each input by name, of a batch of one: int32, or float32 of an exit before. Where the file
 *   leaves the length open, it becomes that of the arrays. The result is the float32 values of each output by name. Rejects with a
 *   `KerasBertError` when the runtime refuses the model or fails.
 * @property {() => void | Promise<void>} close frees the model, which cannot run afterwards
 */

/**
 * Opens engines: the part of a program that knows a runtime.
 *
 * @callback EngineFactory
 * @param {import("../file/model_file.js").ModelFile} file the file, which was read already
 * @returns {Engine | Promise<Engine>} rejects with a `KerasBertError` when the runtime refuses the file
 */

export {};
