// The part of `benchmarks/parity/golden_comparison.py` in JavaScript: compares every tokenizer of a folder with its golden vectors.
//
// Argument: a folder of `benchmarks/parity/export_golden.py`. Each line of the answer is a tokenizer: its name, the compared rows of each
// file, the tokens of all strings, the mismatches of each kind and the first of them.
import { GoldenComparison } from "./golden_comparison.js";
import { GoldenFolder } from "./golden_folder.js";

const golden = new GoldenFolder(process.argv[2]);
for (const each of golden.cases) {
  const { rows, tokenCount, mismatches, examples } = new GoldenComparison(each, golden.texts).all();
  console.log(JSON.stringify({ name: each.name, rows, tokens: tokenCount, mismatches, examples }));
}
