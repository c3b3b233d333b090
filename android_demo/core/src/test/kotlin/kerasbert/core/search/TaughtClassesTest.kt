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
    fun `the nearest class wins, and the length of examples does not matter`() {
        assertEquals(listOf("east", "north"), taught().classify(at(30.0, 7.0)).map { it.name })
        assertEquals("north", taught().classify(at(70.0))[0].name)
        assertEquals(1.0, taught().classify(at(30.0)).sumOf { it.probability }, 1e-12)
    }

    @Test
    fun `probabilities of one example each are the softmax of twenty cosines`() {
        val taught = TaughtClasses(2).apply {
            add("east", "e", at(0.0, 3.0))
            add("north", "n", at(90.0))
        }
        val (east, north) = Pair(Math.exp(20 * Math.cos(Math.toRadians(30.0))), Math.exp(20 * 0.5))
        assertEquals(east / (east + north), taught.classify(at(30.0))[0].probability, 1e-5)
        assertEquals("centre", taught.layer.method)
    }

    @Test
    fun `examples and classes are added and removed`() {
        val taught = taught()
        taught.addClass("south")
        taught.addClass("east")
        assertEquals(mapOf("east" to listOf("e1", "e2"), "north" to listOf("n1"), "south" to emptyList()), taught.examples)
        assertEquals(2, taught.classify(at(0.0)).size)
        taught.removeAt("east", 0)
        assertEquals("east", taught.classify(at(40.0))[0].name)
        taught.add("north", "n2", at(45.0))
        assertEquals("north", taught.classify(at(40.0))[0].name) // the layer was fitted anew
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
    fun `zero vectors have no direction`() {
        val taught = TaughtClasses(2).apply {
            add("none", "zero", FloatArray(2))
            add("east", "e", at(0.0))
        }
        assertEquals(listOf("east", "none"), taught.classify(at(20.0)).map { it.name })
        assertEquals(0.5, taught.classify(FloatArray(2))[0].probability, 1e-12)
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
