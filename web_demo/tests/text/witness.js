import { createRequire } from "node:module";
import { join, resolve } from "node:path";

/** The class `Tokenizer` of `@huggingface/tokenizers`, of the `node_modules` of a folder. */
export function witnessClass(packages) {
  return createRequire(join(resolve(packages), "package.json"))("@huggingface/tokenizers").Tokenizer;
}
