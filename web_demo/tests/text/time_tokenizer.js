// Times the tokenizer of this core; see timed_rounds.js. Arguments: files with the settings as JSON, the vocabulary and the texts.
import { readFileSync } from "node:fs";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";
import { linesOf, serveRounds } from "./timed_rounds.js";

const [settingsPath, vocabularyPath, textsPath] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
const vocabulary = linesOf(vocabularyPath);
await serveRounds(textsPath, () => {
  const tokenizer = tokenizerOf(settings, vocabulary);
  return (text) => tokenizer.tokens(text).ids;
});
