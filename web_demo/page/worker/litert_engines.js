import { LiteRt } from "../../litert_engine.js";
import { Accelerator } from "../state/accelerator.js";

/**
 * LiteRT.js.
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

  /** Loads LiteRT.js before the first model is there, which takes as long as fetching that. */
  prepare() {
    this.#runtime().catch(() => {}); // the first model tells
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
    if (this.#accelerator === Accelerator.WASM) leaveGraphicsAlone();
    return LiteRt.load(library, this.#folder.href, { accelerator: this.#accelerator });
  }
}

/** LiteRT.js asks for a graphics device whatever it runs models on. For WebAssembly, it receives none, and the browser starts nothing. */
function leaveGraphicsAlone() {
  const adapter = { limits: {}, features: new Set(), requestDevice: async () => null };
  Object.defineProperty(navigator, "gpu", { value: { requestAdapter: async () => adapter }, configurable: true });
}
