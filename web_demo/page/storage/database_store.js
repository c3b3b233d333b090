import { KerasBertError } from "../../core/error.js";

const VERSION = 1;
const ENTRIES = "entries";
const ABOVE_ALL = "\uFFFF";

/**
 * A store in the browser's database. Several tabs may use it at once: each write is a transaction of its own.
 *
 * @implements {import("./store.js").Store}
 */
export class DatabaseStore {
  #name;
  #opened = null;

  /** @param {URL} site the address of the site: others of the same origin have a store of their own */
  constructor(site) {
    this.#name = `kerasbert ${site.pathname}`;
  }

  async has(name) {
    return (await this.#transact("readonly", (entries) => entries.getKey(name))) !== undefined;
  }

  read(name) {
    return this.#transact("readonly", (entries) => entries.get(name));
  }

  async write(name, value) {
    await this.#transact("readwrite", (entries) => entries.put(value, name));
  }

  async remove(name) {
    await this.#transact("readwrite", (entries) => entries.delete(name));
  }

  async entries(prefix) {
    const range = IDBKeyRange.bound(prefix, prefix + ABOVE_ALL);
    const found = [];
    await this.#transact("readonly", (entries) => {
      const request = entries.openCursor(range);
      request.addEventListener("success", () => {
        const cursor = request.result;
        if (!cursor) return;
        found.push([cursor.key, cursor.value]);
        cursor.continue();
      });
      return request;
    });
    return found;
  }

  /** Runs a request in a transaction; the result counts when the transaction is complete, as storage may be full until then. */
  async #transact(mode, request) {
    const database = await this.#database();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(ENTRIES, mode);
      const asked = request(transaction.objectStore(ENTRIES));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error ?? asked.error ?? new Error("the browser ended the transaction"));
    });
  }

  #database() {
    this.#opened ??= this.#open().catch((error) => {
      this.#opened = null; // the next call tries again
      throw error;
    });
    return this.#opened;
  }

  #open() {
    if (!globalThis.indexedDB) throw new KerasBertError("expected the browser's storage, received none; allow this page to store data");
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, VERSION);
      request.onupgradeneeded = () => request.result.createObjectStore(ENTRIES);
      request.onsuccess = () => resolve(this.#ready(request.result));
      request.onerror = () => reject(openingError(request.error));
    });
  }

  // Another tab may have a newer version of the page: it must not wait for this one.
  #ready(database) {
    const forget = () => {
      this.#opened = null;
    };
    database.onversionchange = () => {
      database.close();
      forget();
    };
    database.onclose = forget;
    return database;
  }
}

function openingError(error) {
  if (error?.name !== "VersionError") return error;
  const message = "expected the storage of this version of the page, received that of a newer one; load the page again";
  return new KerasBertError(message, { cause: error });
}
