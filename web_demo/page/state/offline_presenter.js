import { Presenter } from "./presenter.js";

/**
 * Whether the page works without a network.
 *
 * `checking` at first; `saving` its files; `ready`; `update` if a newer version is saved as well; `unavailable` if the browser, or the
 * site, does not allow it; `failed` if the files could not be saved.
 *
 * @typedef {object} OfflineState
 * @property {"checking" | "saving" | "ready" | "update" | "unavailable" | "failed"} kind
 * @property {number} done files that are saved, while it saves
 * @property {number} total all files, while it saves
 * @property {boolean} isFull whether it failed as the storage is full
 * @property {string} reason why it failed, in English
 */

/**
 * Keeps the page's files for offline use, and tells when a newer version is there.
 *
 * @extends {Presenter<OfflineState>}
 */
export class OfflinePresenter extends Presenter {
  #container;
  #readVersion;
  #register;
  #reload;
  #version = null;
  #registration = null;
  #isAccepted = false;

  /**
   * @param {object} browser
   * @param {ServiceWorkerContainer | undefined} browser.container undefined where there are no service workers
   * @param {() => Promise<string | null>} browser.readVersion reads the site's version from the network; null if there is none
   * @param {(version: string) => Promise<ServiceWorkerRegistration>} browser.register registers the service worker of a version
   * @param {() => void} browser.reload loads the page again
   */
  constructor({ container, readVersion, register, reload }) {
    super({ kind: "checking", done: 0, total: 0, isFull: false, reason: "" });
    this.#container = container;
    this.#readVersion = readVersion;
    this.#register = register;
    this.#reload = reload;
  }

  /** Saves the page's files, unless they are. */
  async start() {
    if (!this.#container) return this.show({ kind: "unavailable" });
    // Other tabs load again too when one of them takes a new version, so that none has files of two.
    const hadController = this.#container.controller !== null;
    this.#container.addEventListener("controllerchange", () => (hadController || this.#isAccepted) && this.#reload());
    this.#container.addEventListener("message", ({ data }) => this.#receive(data));
    this.#version = await this.#readVersion().catch(() => null);
    if (this.#version === null) return this.show({ kind: this.#container.controller ? "ready" : "unavailable" });
    try {
      this.#watch(await this.#register(this.#version));
    } catch (error) {
      this.#fail(error.message, false);
    }
  }

  /** Takes the newer version: the page loads again. */
  update() {
    this.#isAccepted = true;
    this.#registration?.waiting?.postMessage("activate");
  }

  #watch(registration) {
    this.#registration = registration;
    if (registration.waiting) return this.show({ kind: "update" });
    if (registration.installing) return this.#follow(registration.installing);
    this.show({ kind: "ready" });
  }

  #follow(worker) {
    this.show({ kind: "saving" });
    const look = () => {
      if (worker.state === "installed" && this.#container.controller) this.show({ kind: "update" });
      else if (worker.state === "activated") this.show({ kind: "ready" });
      else if (worker.state === "redundant" && this.state.kind === "saving") this.#fail("", false);
    };
    worker.addEventListener("statechange", look);
    look();
  }

  // A browser also looks for changes in the script of the version before, which fails as the site has another version.
  #receive(message) {
    if (message?.version !== this.#version) return;
    if (message.kind === "saving" && this.state.kind === "saving") this.show({ done: message.done, total: message.total });
    if (message.kind === "failed") this.#fail(message.reason, message.isFull);
  }

  // With an earlier version saved, the page works offline in spite of it. The reason may come before or after the end of the worker.
  #fail(reason, isFull) {
    const kind = this.#container.controller ? "ready" : "failed";
    this.show({ kind, reason: reason || this.state.reason, isFull: isFull || this.state.isFull });
  }
}
