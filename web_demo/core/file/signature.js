/** One input or output of a model. */
export class Port {
  /**
   * @param {string} name the name in the signature, by which tensors are bound: their order in a file is not that of the code that made it
   * @param {string} type the element type in lower case, such as `int32`
   * @param {number[]} shape the shape, with -1 for an axis that the caller chooses
   */
  constructor(name, type, shape) {
    this.name = name;
    this.type = type;
    this.shape = shape;
  }

  /** The shape, type and name in one line. */
  toString() {
    return `${this.name} ${this.type}[${this.shape.join(", ")}]`;
  }
}

/** An entry point of a model. */
export class Signature {
  /**
   * @param {string} name its key, such as `serve` or `serve_128`
   * @param {Map<string, Port>} inputs the inputs by name
   * @param {Map<string, Port>} outputs the outputs by name
   */
  constructor(name, inputs, outputs) {
    this.name = name;
    this.inputs = inputs;
    this.outputs = outputs;
  }
}
