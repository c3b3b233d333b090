// Times `@huggingface/tokenizers`; see timed_rounds.js.
//
// Arguments: the folder with node_modules, a tokenizer.json, and the file of the texts.
import { readFileSync } from "node:fs";

import { serveRounds } from "./timed_rounds.js";
import { witnessClass } from "./witness.js";

const [packages, tokenizerPath, textsPath] = process.argv.slice(2);
const Tokenizer = witnessClass(packages);
const content = JSON.parse(readFileSync(tokenizerPath, "utf8"));
await serveRounds(textsPath, () => {
  const tokenizer = new Tokenizer(content, {});
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
});
