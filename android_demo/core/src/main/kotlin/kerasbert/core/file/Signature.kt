package kerasbert.core.file

/**
 * One input or output of a model.
 *
 * @property name the name in the signature, by which tensors are bound: their order in a file is not that of the code that made it.
 * @property type the element type in lower case, such as `int32`.
 * @property shape the shape, with -1 for an axis that the caller chooses.
 */
class Port(val name: String, val type: String, val shape: List<Int>) {
    /** The shape, type and name in one line. */
    override fun toString(): String = "$name $type$shape"
}

/**
 * An entry point of a model.
 *
 * @property name its key, such as `serve` or `serve_128`.
 * @property inputs the inputs by name.
 * @property outputs the outputs by name.
 */
class Signature(val name: String, val inputs: Map<String, Port>, val outputs: Map<String, Port>)
