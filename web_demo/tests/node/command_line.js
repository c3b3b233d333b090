import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const RUN = fileURLToPath(new URL("../../run.mjs", import.meta.url));
const MODELS = fileURLToPath(new URL("../../../android_demo/testdata/models/", import.meta.url));

/** The path of a tiny model; see `android_demo/testdata/make_models.py`. */
export function modelPath(name) {
  return `${MODELS}${name}.tflite`;
}

/** Starts the command line, in another environment or of another copy of the demo if one is given. */
export function start(words, { env = process.env, script = RUN } = {}) {
  return spawn(process.execPath, [script, ...words], { env });
}

/**
 * Runs the command line to its end.
 *
 * @param {string[]} words
 * @param {string | Uint8Array} [input] the standard input.
 * @param {{env?: NodeJS.ProcessEnv, script?: string}} [options] see `start`.
 * @returns {Promise<{code: number | null, signal: string | null, out: string, err: string}>}
 */
export async function run(words, input = "", options = {}) {
  const child = start(words, options);
  child.stdin.on("error", () => {}); // of a command that ends without reading it
  child.stdin.end(input);
  return ended(child);
}

/** Waits for the end of a process that `start` returned. */
export async function ended(child) {
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  const [code, signal] = await new Promise((resolve) => child.on("close", (...results) => resolve(results)));
  return { code, signal, out, err };
}
