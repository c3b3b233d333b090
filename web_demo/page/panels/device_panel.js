import { byId, element, setText } from "./dom.js";
import { failureLine, numbers } from "./words.js";

const OFFLINE = {
  checking: "Checking whether this page works offline…",
  ready: "This page works offline: its files and models are kept by the browser.",
  update: "This page works offline. A newer version is ready.",
  unavailable: "This page works online only: the browser, or the address, does not allow it to be kept.",
};

/** *On this device*: whether the page works offline, and what it keeps. */
export class DevicePanel {
  #presenter;
  #texts;
  #labels;
  #notices;

  /**
   * @param {import("../state/device_presenter.js").DevicePresenter} presenter
   * @param {import("./notices.js").Notices} notices
   * @param {{deleteTexts: () => void, deleteLabels: () => void}} actions
   */
  constructor(presenter, notices, { deleteTexts, deleteLabels }) {
    this.#presenter = presenter;
    this.#notices = notices;
    this.#texts = kept("Search: the texts and the index of their vectors", deleteTexts);
    this.#labels = kept("Teach: your labels and their examples", deleteLabels);
  }

  /** @param {import("../state/device_presenter.js").DeviceState} state */
  show({ models, hasTexts, hasLabels, failure }) {
    const rows = models.map((model) => this.#model(model));
    if (hasTexts) rows.push(this.#texts);
    if (hasLabels) rows.push(this.#labels);
    byId("device-kept").replaceChildren(...rows);
    byId("device-empty").hidden = rows.length > 0;
    if (failure) this.#notices.show("storage", failureLine(failure), { isFailure: true });
  }

  /** @param {import("../state/offline_presenter.js").OfflineState} state */
  showOffline({ kind, done, total, isFull, reason }) {
    const saving = `Saving this page for offline use${total > 0 ? `: ${done} of ${total} files` : "…"}`;
    const why = isFull ? "the browser's storage is full" : reason || "its files could not be saved";
    const failed = `This page works online only: ${why}.`;
    setText(byId("device-offline"), { ...OFFLINE, saving, failed }[kind]);
  }

  #model({ name, title, bytes, place }) {
    const isKept = place === "kept";
    const where = isKept ? "kept on this device" : "in memory until you leave the page";
    const keep = button("Keep for offline use", `Keep the model ${title} for offline use`, () => this.#presenter.keep(name));
    const remove = button(isKept ? "Delete" : "Remove", `Remove the model ${title}`, () => this.#presenter.remove(name));
    const facts = element("span", {}, `${title} · ${numbers.bytes(bytes)} · ${where}`);
    return element("li", {}, facts, ...(isKept ? [remove] : [keep, remove]));
  }
}

function kept(text, remove) {
  return element("li", {}, element("span", {}, text), button("Delete", `Delete: ${text}`, remove));
}

function button(text, name, act) {
  return element("button", { type: "button", "aria-label": name, onclick: act }, text);
}
