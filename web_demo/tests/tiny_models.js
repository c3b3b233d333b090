import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("../../android_demo/testdata/models/", import.meta.url);

/** The names of the tiny models; see `android_demo/testdata/make_models.py`. */
export const TINY_MODELS = readdirSync(FOLDER).filter((name) => name.endsWith(".tflite")).sort();

/** The bytes of a tiny model, which a test may change. */
export function tinyModel(name) {
  return new Uint8Array(readFileSync(new URL(name, FOLDER)));
}

/**
 * What Python predicts by each tiny model.
 *
 * @returns {Record<string, object[]>} records by the file's name
 */
export function tinyPredictions() {
  return JSON.parse(readFileSync(new URL("predictions.json", FOLDER), "utf8"));
}
