package kerasbert.core.text

import java.io.File
import kerasbert.core.file.Json

/**
 * The part of `benchmarks/parity/golden_comparison.py` in Kotlin: compares every tokenizer of a folder with its golden vectors.
 *
 * Argument: a folder of `benchmarks/parity/export_golden.py`. Each line of the answer is a tokenizer: its name, the compared rows of each
 * file, the tokens of all strings, the mismatches of each kind and the first of them.
 */
fun main(arguments: Array<String>) {
    val golden = GoldenFolder(File(arguments[0]))
    for (case in golden.cases) {
        val comparison = GoldenComparison(case, golden.texts, case.tokenizer()).tokens().pairs().windows().words()
        val result = mapOf(
            "name" to case.name,
            "rows" to comparison.rows,
            "tokens" to comparison.tokenCount,
            "mismatches" to comparison.mismatches,
            "examples" to comparison.examples,
        )
        println(Json.write(result))
    }
}
