/**
 * An error that a person can act on.
 *
 * The message is one sentence or two: what was expected, what was received, what to do.
 */
export class KerasBertError extends Error {
  /**
   * @param {string} message
   * @param {{cause?: unknown}} [options]
   */
  constructor(message, options) {
    super(message, options);
    this.name = "KerasBertError";
  }
}
