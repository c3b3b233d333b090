import { loadLiteRt } from "../../node/litert.js";
import { findLitertFolder } from "../../node/litert_folder.js";

/** The options of tests that run models: without LiteRT.js they are skipped, unless `$KERASBERT_LITERTJS_REQUIRED` is set. */
export const NEEDS_LITERT = {
  skip: findLitertFolder() === null && !process.env.KERASBERT_LITERTJS_REQUIRED && "LiteRT.js is missing: run `kerasbert setup web`",
};

let loaded = null;

/** LiteRT.js, which a process loads once. */
export function litert() {
  loaded ??= loadLiteRt();
  return loaded;
}
