import { linkOf } from "../state/share_link.js";
import { copyText } from "./clipboard.js";
import { setText } from "./dom.js";
import { sentence } from "./words.js";

const COPIED = 2000; // milliseconds that a button says so

/** The buttons that copy a link with a panel, a model's name and texts. */
export class ShareButtons {
  #presenters;
  #notices;

  /**
   * @param {Record<string, import("../state/model_presenter.js").ModelPresenter>} presenters by panel
   * @param {import("./notices.js").Notices} notices
   */
  constructor(presenters, notices) {
    this.#presenters = presenters;
    this.#notices = notices;
    for (const button of document.querySelectorAll(".share")) button.addEventListener("click", () => this.#share(button));
  }

  async #share(button) {
    const { panel } = button.dataset;
    this.#notices.clear("link");
    try {
      await this.#copy(button, linkOf(location.href, this.#shared(panel)));
    } catch (error) {
      this.#notices.show("link", sentence(error.message), { isFailure: true });
    }
  }

  #shared(panel) {
    const { model, text = "", question = "", query = "" } = this.#presenters[panel].state;
    return { panel, model: model.name, text: panel === "search" ? query : text, question };
  }

  // Where the browser forbids copying, the page's own address becomes the link.
  async #copy(button, link) {
    const isCopied = await copyText(link);
    if (!isCopied) history.replaceState(null, "", link);
    setText(button, isCopied ? "Copied" : "See the address bar");
    setTimeout(() => setText(button, "Copy link"), COPIED);
  }
}
