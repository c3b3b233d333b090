package kerasbert.core.file

/** The kind of a field of a FlatBuffer. */
internal sealed interface Field

/** A number of some bytes. */
internal class Scalar(val width: Int) : Field

/** A vector of numbers, each of some bytes. */
internal class Numbers(val width: Int) : Field

/** A table. */
internal class One(val table: String) : Field

/** A vector of tables. */
internal class Many(val table: String) : Field

/** A text, which ends with a zero byte. */
internal object Text : Field

/** The table of an operator's options, whose name depends on the operator. */
internal object Options : Field
