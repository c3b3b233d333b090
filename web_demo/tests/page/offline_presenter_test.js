import assert from "node:assert/strict";
import { test } from "node:test";

import { OfflinePresenter } from "../../page/state/offline_presenter.js";

class FakeContainer extends EventTarget {
  controller = null;
}

class FakeServiceWorker extends EventTarget {
  messages = [];

  move(state) {
    this.state = state;
    this.dispatchEvent(new Event("statechange"));
  }

  postMessage(message) {
    this.messages.push(message);
  }
}

function made(registration, version = "v1", registering = () => {}) {
  const container = new FakeContainer();
  const log = [];
  const presenter = new OfflinePresenter({
    container,
    readVersion: async () => {
      if (version === null) throw new Error("no network");
      return version;
    },
    register: async (asked) => {
      log.push(`register ${asked}`);
      registering();
      if (registration instanceof Error) throw registration;
      return registration;
    },
    reload: () => log.push("reload"),
  });
  return { container, log, presenter };
}

function tell(container, data, version = "v1") {
  container.dispatchEvent(Object.assign(new Event("message"), { data: { ...data, version } }));
}

test("the first visit saves the page, and does not load it again", async () => {
  const installing = new FakeServiceWorker();
  const { container, log, presenter } = made({ installing });
  await presenter.start();
  assert.equal(presenter.state.kind, "saving");
  tell(container, { kind: "saving", done: 3, total: 9 });
  assert.deepEqual([presenter.state.done, presenter.state.total], [3, 9]);
  installing.move("installed");
  container.controller = {};
  container.dispatchEvent(new Event("controllerchange"));
  installing.move("activated");
  assert.equal(presenter.state.kind, "ready");
  assert.deepEqual(log, ["register v1"]);
});

test("a newer version is told, and taken when the person says so", async () => {
  const installing = new FakeServiceWorker();
  const registration = { installing };
  const { container, log, presenter } = made(registration, "v2");
  container.controller = {};
  await presenter.start();
  registration.waiting = installing;
  installing.move("installed");
  assert.equal(presenter.state.kind, "update");
  assert.deepEqual(log, ["register v2"], "nothing loads again by itself");
  presenter.update();
  assert.deepEqual(installing.messages, ["activate"]);
  container.dispatchEvent(new Event("controllerchange"));
  assert.deepEqual(log, ["register v2", "reload"]);
});

test("a version that waits since an earlier visit is told at once", async () => {
  const { presenter } = made({ waiting: new FakeServiceWorker() });
  await presenter.start();
  assert.equal(presenter.state.kind, "update");
});

test("full storage is told as such, and the page goes on", async () => {
  const installing = new FakeServiceWorker();
  const { container, presenter } = made({ installing });
  await presenter.start();
  tell(container, { kind: "failed", isFull: true, reason: "quota" });
  installing.move("redundant");
  assert.deepEqual([presenter.state.kind, presenter.state.isFull], ["failed", true]);
});

test("what another version tells is not about this one", async () => {
  const installing = new FakeServiceWorker();
  const { container, presenter } = made({ installing });
  await presenter.start();
  tell(container, { kind: "failed", isFull: false, reason: "expected version v0" }, "v0");
  assert.equal(presenter.state.kind, "saving");
});

test("a reason that comes after the end is told as well", async () => {
  const installing = new FakeServiceWorker();
  const { container, presenter } = made({ installing });
  await presenter.start();
  installing.move("redundant");
  assert.equal(presenter.state.kind, "failed");
  tell(container, { kind: "failed", isFull: true, reason: "quota" });
  assert.deepEqual([presenter.state.reason, presenter.state.isFull], ["quota", true]);
});

test("a service worker that failed before the page knew it is told", async () => {
  const installing = new FakeServiceWorker();
  const { container, presenter } = made({ installing }, "v1", () => {
    tell(container, { kind: "failed", isFull: true, reason: "quota" });
    installing.move("redundant");
  });
  await presenter.start();
  assert.deepEqual([presenter.state.kind, presenter.state.reason, presenter.state.isFull], ["failed", "quota", true]);
});

test("without a network the version that is kept goes on", async () => {
  const { container, log, presenter } = made({}, null);
  container.controller = {};
  await presenter.start();
  assert.equal(presenter.state.kind, "ready");
  assert.deepEqual(log, []);
});

test("a browser without service workers, or a site without a list of files, works online only", async () => {
  const without = new OfflinePresenter({ container: undefined });
  await without.start();
  assert.equal(without.state.kind, "unavailable");
  const { presenter } = made({}, null);
  await presenter.start();
  assert.equal(presenter.state.kind, "unavailable");
});

test("a service worker that is refused is told", async () => {
  const { presenter } = made(new Error("not allowed"));
  await presenter.start();
  assert.deepEqual([presenter.state.kind, presenter.state.reason], ["failed", "not allowed"]);
});
