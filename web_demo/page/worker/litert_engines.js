import { LiteRt } from "../../litert_engine.js";

/**
 * LiteRT.js, which is loaded with the first model.
 *
 * @implements {import("./models.js").Engines}
 */
export class LiteRtEngines {
  #folder;
  #accelerator;
  #loaded = null;

  /**
   * @param {URL} folder where LiteRT.js is
   * @param {string} accelerator the one that this worker's runtime is for; it runs models on WebAssembly as well
   */
  constructor(folder, accelerator) {
    this.#folder = folder;
    this.#accelerator = accelerator;
  }

  async open(file, content, accelerator) {
    const runtime = await this.#runtime();
    return runtime.open(content, file, { accelerator });
  }

  #runtime() {
    this.#loaded ??= this.#load().catch((error) => {
      this.#loaded = null; // the next model tries again
      throw error;
    });
    return this.#loaded;
  }

  async #load() {
    const library = await import(new URL("litert.js", this.#folder).href);
    return LiteRt.load(library, this.#folder.href, { accelerator: this.#accelerator });
  }
}
