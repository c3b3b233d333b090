package kerasbert.desktop.window

import java.io.InputStream
import javax.xml.XMLConstants
import javax.xml.parsers.DocumentBuilderFactory
import org.w3c.dom.Element
import org.w3c.dom.NodeList

/** Files of the app, which the build copies beside the program's classes. So words, colors and samples are written once. */
internal object AppResources {
    private const val FOLDER = "/kerasbert/app"

    /** Opens a file; null where the app has none of that name. */
    fun find(path: String): InputStream? = javaClass.getResourceAsStream("$FOLDER/$path")

    /** Opens a file that the app has. */
    fun open(path: String): InputStream =
        checkNotNull(find(path)) { "expected the app's $path beside the program's classes, received none; build the program again" }
}

/** The elements below the root of an XML file of the app. */
internal fun elementsOf(content: InputStream): List<Element> = content.use {
    val factory = DocumentBuilderFactory.newInstance().apply { setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true) }
    factory.newDocumentBuilder().parse(it).documentElement.childNodes.elements()
}

/** The elements among some nodes. */
internal fun NodeList.elements(): List<Element> = (0 until length).mapNotNull { item(it) as? Element }
