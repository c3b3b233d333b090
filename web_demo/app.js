import { Announcer } from "./page/panels/announcer.js";
import { AskPanel } from "./page/panels/ask_panel.js";
import { ClassifyPanel } from "./page/panels/classify_panel.js";
import { DevicePanel } from "./page/panels/device_panel.js";
import { byId } from "./page/panels/dom.js";
import { takeDroppedFiles } from "./page/panels/drop_target.js";
import { ModelBar } from "./page/panels/model_bar.js";
import { Notices } from "./page/panels/notices.js";
import { SearchPanel } from "./page/panels/search_panel.js";
import { ShareButtons } from "./page/panels/share_buttons.js";
import { SpeedPanel } from "./page/panels/speed_panel.js";
import { StatusPart } from "./page/panels/status_part.js";
import { Tabs } from "./page/panels/tabs.js";
import { TeachPanel } from "./page/panels/teach_panel.js";
import { failureLine, sentence } from "./page/panels/words.js";
import { saveDrafts, takeDrafts } from "./page/drafts.js";
import { SAMPLE_LABELS } from "./page/sample_labels.js";
import { DatabaseStore } from "./page/storage/database_store.js";
import { Accelerator } from "./page/state/accelerator.js";
import { AskPresenter } from "./page/state/ask_presenter.js";
import { ClassifyPresenter } from "./page/state/classify_presenter.js";
import { DevicePresenter } from "./page/state/device_presenter.js";
import { FileOpener } from "./page/state/file_opener.js";
import { ModelLibrary } from "./page/state/model_library.js";
import { OfflinePresenter } from "./page/state/offline_presenter.js";
import { SearchPresenter } from "./page/state/search_presenter.js";
import { readLink } from "./page/state/share_link.js";
import { SpeedPresenter } from "./page/state/speed_presenter.js";
import { panelFor } from "./page/state/task_types.js";
import { TeachPresenter } from "./page/state/teach_presenter.js";
import { scriptUrl } from "./page/trusted_urls.js";
import { WorkerClient } from "./page/worker_client.js";

const FULL = "The browser's storage is full: the page works, but online only.";
const FULL_FOR_UPDATE = "The browser's storage is full: a newer version of this page could not be saved.";
const AFTER_SAVING = 100; // milliseconds in which labels are stored
const BEFORE_SAVING = 10_000; // milliseconds after which the page is saved for offline use, though no model is ready

const client = new WorkerClient((accelerator) => new Worker(scriptUrl("worker.js"), { name: accelerator }), Accelerator.WASM);
client.start();
const store = new DatabaseStore(new URL(".", document.baseURI));
const library = new ModelLibrary(() => readJson("models/index.json"), store);
const presenters = {
  classify: new ClassifyPresenter(client, library),
  ask: new AskPresenter(client, library),
  search: new SearchPresenter(client, library),
  teach: new TeachPresenter(client, library, store, SAMPLE_LABELS),
  speed: new SpeedPresenter(client, library),
};
const device = new DevicePresenter(client, library, store);
const offline = new OfflinePresenter({
  container: navigator.serviceWorker,
  readVersion: async () => (await readJson("files.json", { cache: "no-store" })).version,
  register: (version) => navigator.serviceWorker.register(scriptUrl(`sw.js?version=${encodeURIComponent(version)}`), { scope: "./" }),
  reload: () => {
    saveDrafts(drafts());
    location.reload();
  },
});

const notices = new Notices(byId("notices"));
const announcer = new Announcer(byId("announcements"));
const panels = {
  classify: new ClassifyPanel(presenters.classify, announcer),
  ask: new AskPanel(presenters.ask, announcer),
  search: new SearchPanel(presenters.search, announcer),
  teach: new TeachPanel(presenters.teach, announcer),
  speed: new SpeedPanel(presenters.speed, announcer),
};
const modelBars = {};
const tabs = new Tabs(document.querySelector("[role=tablist]"), shown);
const opener = new FileOpener(client, library, {
  reading: (name) => notices.show("file", `Reading ${name}…`),
  model: opened,
  texts: (name, file) => {
    tabs.show("search");
    presenters.search.importFile(name, file);
  },
  failure: (reason) => notices.show("file", failureLine(reason), { isFailure: true }),
});

function main() {
  for (const name of Object.keys(panels)) connect(name);
  byId("accelerator").addEventListener("change", ({ target }) => accelerate(target.value));
  byId("model-file").addEventListener("change", ({ target }) => chosen(target));
  takeDroppedFiles(byId("drop"), (file) => opener.open(file.name, file));
  new ShareButtons(presenters, notices);
  connectDevice();
  addEventListener("hashchange", openLink);
  const left = takeDrafts();
  if (!openLink()) tabs.show(left?.panel ?? tabs.current);
  if (left) restore(left);
  saveLater();
}

/** Connects a panel with its presenter. */
function connect(name) {
  const root = byId(`panel-${name}`);
  const presenter = presenters[name];
  modelBars[name] = new ModelBar(root.querySelector(".model-bar"), name, presenter, askForModel);
  const status = new StatusPart(root.querySelector(".state"), {
    retry: () => presenter.retry(),
    useWasm: () => accelerate(Accelerator.WASM),
    openFile: askForModel,
  });
  presenter.observe((state) => {
    const empty = panels[name].show(state);
    modelBars[name].show(state.model, state.failure);
    status.show(state.model, state.failure, empty);
  });
}

function connectDevice() {
  const panel = new DevicePanel(device, notices, {
    deleteTexts: async () => {
      await device.deleteTexts();
      presenters.search.forgetTexts();
    },
    deleteLabels: () => presenters.teach.clear(),
  });
  device.observe((state) => panel.show(state));
  offline.observe((state) => showOffline(panel, state));
  library.observe(modelsChanged);
  device.refresh();
  whenChanged(presenters.search, "corpus", () => device.refresh());
  whenChanged(presenters.teach, "labels", () => setTimeout(() => device.refresh(), AFTER_SAVING));
}

/** Calls an action whenever a part of a presenter's state becomes another one. */
function whenChanged(presenter, part, act) {
  let last = presenter.state[part];
  presenter.observe((state) => {
    if (state[part] === last) return;
    last = state[part];
    act();
  });
}

function showOffline(panel, state) {
  panel.showOffline(state);
  const reload = { name: "Reload", act: () => offline.update() };
  const ready = "A new version of this page is ready. Other tabs of it load again too.";
  if (state.kind === "update") notices.show("update", ready, { action: reload });
  if (state.isFull) notices.show("offline", state.kind === "ready" ? FULL_FOR_UPDATE : FULL, { isFailure: true });
}

function shown(name) {
  if (linkedPanel() !== name) history.replaceState(null, "", `#panel=${name}`);
  modelBars[name].refresh();
  presenters[name].start();
}

function linkedPanel() {
  try {
    return readLink(location.hash)?.panel ?? null;
  } catch {
    return null; // a link that is too long
  }
}

/** Runs the models of all panels on another accelerator. */
function accelerate(accelerator) {
  byId("accelerator").querySelector(`[value=${accelerator}]`).checked = true;
  client.use(accelerator);
  for (const presenter of Object.values(presenters)) presenter.accelerate(accelerator);
}

function askForModel() {
  byId("model-file").click();
}

function chosen(input) {
  const [file] = input.files;
  input.value = ""; // so that the same file can be chosen again
  if (file) opener.open(file.name, file);
}

function opened(entry) {
  const panel = panelFor(entry.type, tabs.current);
  presenters[panel].choose(entry.name);
  tabs.show(panel);
  const keep = { name: "Keep for offline use", act: () => device.keep(entry.name).then(() => notices.clear("file")) };
  notices.show("file", `Opened ${entry.title}. It is in memory until you leave the page.`, { action: keep });
}

async function modelsChanged() {
  device.refresh();
  await Promise.all(Object.values(modelBars).map((bar) => bar.refresh()));
  for (const presenter of Object.values(presenters)) {
    if (presenter.chosen !== null && !library.reference(presenter.chosen)) presenter.forget(presenter.chosen);
  }
}

/** Opens what the page's address holds. Returns whether it holds anything. */
function openLink() {
  let shared = null;
  try {
    shared = readLink(location.hash);
  } catch (error) {
    notices.show("link", sentence(error.message), { isFailure: true });
  }
  if (!shared) return false;
  const { panel, model, text, question } = shared;
  if (model) chooseShared(panel, model);
  write(panel, text, question);
  tabs.show(panel);
  return true;
}

async function chooseShared(panel, model) {
  if (await library.entry(model).catch(() => null)) return presenters[panel].choose(model);
  notices.show("link", `The link names the model ${model}, which is not here. Open its file, or use another model.`);
}

function write(panel, text, question) {
  if (panel === "classify" && text) presenters.classify.write(text);
  if (panel === "search" && text) presenters.search.write(text);
  if (panel === "teach" && text) presenters.teach.write(text);
  if (panel === "ask" && text) presenters.ask.writeText(text);
  if (panel === "ask" && question) {
    presenters.ask.writeQuestion(question);
    presenters.ask.answer();
  }
}

function drafts() {
  const { classify, ask, search, teach } = presenters;
  return {
    panel: tabs.current, classify: classify.state.text, text: ask.state.text, question: ask.state.question, query: search.state.query,
    teach: teach.state.text,
  };
}

function restore({ classify, text, question, query, teach }) {
  presenters.classify.write(classify);
  presenters.ask.writeText(text);
  presenters.ask.writeQuestion(question);
  presenters.search.write(query);
  presenters.teach.write(teach);
}

/** Saves the page for offline use, once it does not compete with the first model for the network. */
function saveLater() {
  const timer = setTimeout(save, BEFORE_SAVING);
  const ends = Object.values(presenters).map((presenter) => presenter.observe(({ model }) => model.kind === "ready" && setTimeout(save)));
  let isSaved = false;
  function save() {
    if (isSaved) return;
    isSaved = true;
    clearTimeout(timer);
    for (const end of ends) end();
    offline.start();
  }
}

async function readJson(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.json();
}

main();
