package kerasbert.core.search

import kerasbert.core.assertRefused
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test

class TaughtClassesTest {
    private fun at(degrees: Double, length: Double = 1.0): FloatArray {
        val angle = Math.toRadians(degrees)
        return floatArrayOf((length * Math.cos(angle)).toFloat(), (length * Math.sin(angle)).toFloat())
    }

    private fun taught() = TaughtClasses(2).apply {
        add("east", "e1", at(-10.0, 5.0))
        add("east", "e2", at(10.0, 0.1))
        add("north", "n1", at(90.0))
    }

    @Test
    fun `the nearest centre wins, and the length of examples does not matter`() {
        val classes = taught().classify(at(30.0, 7.0))
        assertEquals(listOf("east", "north"), classes.map { it.name })
        assertEquals(Math.cos(Math.toRadians(30.0)), classes[0].cosine, 1e-6)
        assertEquals(0.5, classes[1].cosine, 1e-6)
        assertEquals("north", taught().classify(at(60.0))[0].name)
    }

    @Test
    fun `probabilities are the softmax of twenty cosines`() {
        val classes = taught().classify(at(30.0))
        val weights = classes.map { Math.exp(20 * it.cosine) }
        classes.forEachIndexed { number, each -> assertEquals(weights[number] / weights.sum(), each.probability, 1e-12) }
        assertEquals(1.0, classes.sumOf { it.probability }, 1e-12)
    }

    @Test
    fun `examples and classes are added and removed`() {
        val taught = taught()
        taught.addClass("south")
        taught.addClass("east")
        assertEquals(mapOf("east" to listOf("e1", "e2"), "north" to listOf("n1"), "south" to emptyList()), taught.examples)
        assertEquals(2, taught.classify(at(0.0)).size)
        taught.removeAt("east", 0)
        assertEquals(Math.cos(Math.toRadians(10.0)), taught.classify(at(0.0))[0].cosine, 1e-6)
        taught.removeClass("north")
        assertFalse(taught.canClassify)
        assertRefused("at least two classes") { taught.classify(at(0.0)) }
        taught.add("south", "s", at(270.0))
        assertTrue(taught.canClassify)
        assertEquals("south", taught.classify(at(260.0))[0].name)
    }

    @Test
    fun `equal classes are in the order in which they were added`() {
        val taught = TaughtClasses(2)
        for (name in listOf("b", "a", "c")) taught.add(name, name, at(45.0))
        assertEquals(listOf("b", "a", "c"), taught.classify(at(0.0)).map { it.name })
    }

    @Test
    fun `zero vectors, and examples that cancel each other, are near to nothing`() {
        val taught = taught()
        taught.add("none", "zero", FloatArray(2))
        taught.add("both", "one", at(0.0))
        taught.add("both", "other", at(180.0))
        val cosines = taught.classify(at(20.0)).associate { it.name to it.cosine }
        assertEquals(listOf(0.0, 0.0), listOf(cosines["none"], cosines["both"]))
        assertEquals(0.25, taught.classify(FloatArray(2))[3].probability, 1e-12)
    }

    @Test
    fun `what does not fit is refused`() {
        val taught = taught()
        assertRefused("2 dimensions, received 3") { taught.add("east", "x", FloatArray(3)) }
        assertRefused("finite numbers") { taught.classify(floatArrayOf(Float.NaN, 0f)) }
        assertRefused("a name of a class") { taught.addClass(" ") }
        assertRefused("expected one of the classes") { taught.removeAt("west", 0) }
        assertRefused("from 0 to 1, received 2") { taught.removeAt("east", 2) }
        assertEquals(listOf("e1", "e2"), taught.examples["east"])
    }
}
