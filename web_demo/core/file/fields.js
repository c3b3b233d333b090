/** Kinds of a field of a FlatBuffer: a number of some bytes, a vector of numbers, a table, a vector of tables, a text that ends with a zero
 * byte, and the table of an operator's options, whose name depends on the operator.
 */
export const scalar = (width) => ({ kind: "scalar", width });
export const numbers = (width) => ({ kind: "numbers", width });
export const one = (table) => ({ kind: "one", table });
export const many = (table) => ({ kind: "many", table });
export const TEXT = { kind: "text" };
export const OPTIONS = { kind: "options" };
