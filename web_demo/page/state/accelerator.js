/** What a model runs on. */
export const Accelerator = Object.freeze({
  WASM: "wasm",
  WEBGPU: "webgpu",
});
