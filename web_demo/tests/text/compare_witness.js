// The part of `benchmarks/parity/golden_comparison.py` with a second witness: the ids of `@huggingface/tokenizers`, beside those of this
// core and the golden ones, which are those of the Rust `tokenizers`.
//
// Arguments: a folder of golden vectors, a folder with NAME.json, the `tokenizer.json` of each tokenizer to compare, and the folder that
// has `node_modules`. Each line of the answer is a tokenizer: its name, the number of strings, of those whose ids are the golden ones, and
// those of this core, of errors, the number of the first string with other ids than the golden ones, and some of them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { escaped, shown } from "./golden_comparison.js";
import { GoldenFolder } from "./golden_folder.js";
import { witnessClass } from "./witness.js";

const MAX_EXAMPLES = 5;

const [goldenPath, tokenizers, packages] = process.argv.slice(2);
const Tokenizer = witnessClass(packages);
const golden = new GoldenFolder(goldenPath);
for (const each of golden.cases) {
  const file = join(tokenizers, `${each.name}.json`);
  if (existsSync(file)) console.log(JSON.stringify(compare(each, new Tokenizer(JSON.parse(readFileSync(file, "utf8")), {}))));
}

function compare(each, witness) {
  const tokenizer = each.tokenizer();
  const counts = { name: each.name, strings: 0, golden: 0, javascript: 0, errors: 0, first: null, examples: [] };
  for (const row of each.rows("tokens")) {
    const text = golden.texts[counts.strings];
    const ids = idsOf(witness, text);
    if (ids === null) counts.errors++;
    if (ids?.join() === tokenizer.tokens(text).ids.join()) counts.javascript++;
    if (ids?.join() === row.ids.join()) {
      counts.golden++;
    } else {
      counts.first ??= counts.strings;
      if (counts.examples.length < MAX_EXAMPLES) counts.examples.push(difference(text, row.ids, ids ?? []));
    }
    counts.strings++;
  }
  return counts;
}

/** The ids of a text; null where the witness throws. */
function idsOf(witness, text) {
  try {
    return witness.encode(text, { add_special_tokens: false }).ids;
  } catch {
    return null;
  }
}

function difference(text, expected, received) {
  return `${escaped(text)}: expected ${shown(expected, received)}, received ${shown(received, expected)}`;
}
