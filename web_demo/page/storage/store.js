/**
 * Where the page keeps what a person taught, imported or opened. Each entry is written as a whole: a failure leaves the earlier one.
 *
 * @typedef {object} Store
 * @property {(name: string) => Promise<boolean>} has whether there is an entry
 * @property {(name: string) => Promise<any>} read reads an entry; undefined if there is none
 * @property {(name: string, value: any) => Promise<void>} write writes an entry
 * @property {(name: string) => Promise<void>} remove removes an entry, if there is one
 * @property {(prefix: string) => Promise<[string, any][]>} entries the entries whose names start with something, sorted by name
 */

/**
 * A store in memory, which is lost with the page.
 *
 * @implements {Store}
 */
export class MemoryStore {
  #values = new Map();

  async has(name) {
    return this.#values.has(name);
  }

  async read(name) {
    return this.#values.get(name);
  }

  async write(name, value) {
    this.#values.set(name, value);
  }

  async remove(name) {
    this.#values.delete(name);
  }

  async entries(prefix) {
    return [...this.#values].filter(([name]) => name.startsWith(prefix)).sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
