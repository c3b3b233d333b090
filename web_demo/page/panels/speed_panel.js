import { copyText } from "./clipboard.js";
import { byId, element, setText } from "./dom.js";
import { ProgressPart } from "./progress_part.js";
import { ACCELERATORS, counted, milliseconds, numbers } from "./words.js";

const EMPTY = "How long the model takes here, and whether WebGPU gives the same answers as WebAssembly.";
const COPIED = 2000; // milliseconds that the button says so

/** *Speed*: how long a model takes on this device. */
export class SpeedPanel {
  #presenter;
  #announcer;
  #progress;
  #shown = null;

  /**
   * @param {import("../state/speed_presenter.js").SpeedPresenter} presenter
   * @param {import("./announcer.js").Announcer} announcer
   */
  constructor(presenter, announcer) {
    this.#presenter = presenter;
    this.#announcer = announcer;
    this.#progress = new ProgressPart(byId("speed-progress"), "Measuring");
    byId("speed-measure").addEventListener("click", () => (presenter.state.total > 0 ? presenter.stop() : presenter.measure()));
    byId("panel-speed").addEventListener("keydown", (event) => event.key === "Escape" && presenter.stop());
    byId("speed-copy").addEventListener("click", (event) => this.#copy(event.target));
  }

  /**
   * @param {import("../state/speed_presenter.js").SpeedState} state
   * @returns {string | null} what to say where there is no result
   */
  show({ model, done, total, report }) {
    const button = byId("speed-measure");
    button.disabled = model.kind !== "ready";
    setText(button, total > 0 ? "Stop" : "Measure");
    if (total > 0) this.#progress.show(total > 1 ? `Run ${done} of ${total}` : "Loading the model", done, total > 1 ? total : 0);
    else this.#progress.clear();
    const facts = byId("speed-facts");
    facts.parentElement.hidden = report === null;
    if (report && report !== this.#shown) this.#showReport(facts, report);
    this.#shown = report;
    return report ? null : EMPTY;
  }

  #showReport(facts, report) {
    facts.replaceChildren(...factsOf(report).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    this.#announcer.announce(`Median ${milliseconds(report.latency.p50)}`);
  }

  async #copy(button) {
    const { report } = this.#presenter.state;
    if (!report) return;
    const text = factsOf(report).map(([name, value]) => `${name}: ${value}`).join("\n");
    const isCopied = await copyText(text);
    setText(button, isCopied ? "Copied" : "The browser forbids copying");
    setTimeout(() => setText(button, "Copy"), COPIED);
  }
}

function factsOf({ model, engine, latency, tokens, bytes, same, compared, wasmMedian }) {
  const facts = [
    ["Model", model],
    ["Ran on", `${ACCELERATORS[engine.accelerator]}${engine.isPartial ? ", in part on WebAssembly" : ""}`],
    ["Runtime", engine.title],
    ["Loading", milliseconds(latency.load)],
    ["First run", milliseconds(latency.first)],
    [`Median of ${latency.runs} runs`, milliseconds(latency.p50)],
    ["95th percentile", milliseconds(latency.p95)],
  ];
  if (wasmMedian !== null) facts.push(["Median on WebAssembly", milliseconds(wasmMedian)]);
  if (same !== null) facts.push(["Same answer as WebAssembly", `${same} of ${counted(compared, "text")}`]);
  return [...facts, ["Tokens", numbers.whole(tokens)], ["Size of the file", numbers.bytes(bytes)]];
}
