package kerasbert.core.text

import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Test

private const val LARGE = "KERASBERT_GOLDEN"

/** Every token, place, sequence, window and word equals Python's. */
class GoldenTest {
    @Test
    fun committedVectors() = compare(GoldenFolder.small, atLeast = 600)

    @Test
    fun largeVectors() {
        val folder = System.getenv(LARGE)?.let(::File)
        assumeTrue("not run ($LARGE names no folder of export_golden.py)", folder != null)
        compare(GoldenFolder(folder!!), atLeast = 100_000)
    }

    private fun compare(golden: GoldenFolder, atLeast: Int) {
        assertTrue("expected at least $atLeast strings, received ${golden.texts.size}", golden.texts.size >= atLeast)
        val comparisons = golden.cases.map { case ->
            GoldenComparison(case, golden.texts, case.tokenizer()).tokens().pairs().windows().words().also(::println)
        }
        assertTrue(comparisons.size >= 6)
        for (comparison in comparisons) {
            assertEquals(golden.texts.size, comparison.rows["tokens"])
            assertTrue(comparison.toString(), comparison.mismatches.isEmpty())
        }
    }
}
