// The service worker: keeps all files of one version of the site, so that the page works without a network.
//
// It is registered as `sw.js?version=HASH`. Another version is another worker with a cache of its own, which waits until the person
// reloads. So a page never has files of two versions.
"use strict";

const VERSION = new URL(self.location.href).searchParams.get("version");
const SCOPE = self.registration.scope;
const PREFIX = `kerasbert ${SCOPE} `; // other sites may have the same origin
const CACHE = PREFIX + VERSION;
const LIST = "files.json";
const PARALLEL = 4; // downloads

// LiteRT.js has a build for each kind of browser, of 9 MB. Those that this browser does not load are left out; names as LiteRT.js has them.
const RELAXED_SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11,
]);

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path !== null) event.respondWith(answer(event.request, path));
});
self.addEventListener("message", (event) => {
  if (event.data === "activate") self.skipWaiting();
});

async function install() {
  // A browser looks for changes of this script by itself. The cache of the version that is active must not suffer from it.
  const isActive = self.registration.active?.scriptURL === self.location.href;
  try {
    const list = await fetchList();
    const cache = await caches.open(CACHE);
    const paths = Object.keys(list.files).filter(isNeeded);
    await eachInParallel(paths, (path) => keep(cache, path, list.files[path]), tellAll);
    await cache.put(urlOf(LIST), new Response(JSON.stringify(list), { headers: { "Content-Type": "application/json" } }));
  } catch (error) {
    if (!isActive) await caches.delete(CACHE);
    await tellAll({ kind: "failed", isFull: error.name === "QuotaExceededError", reason: error.message });
    throw error;
  }
}

async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function fetchList() {
  const response = await fetch(urlOf(LIST), { cache: "no-store" });
  if (!response.ok) throw new Error(`expected ${LIST}, received status ${response.status}`);
  const list = await response.json();
  if (list.version !== VERSION) throw new Error(`expected version ${VERSION} of the site, received ${list.version}`);
  return list;
}

/** Keeps a file of this version: from an earlier version's cache if it is the same, else from the network. */
async function keep(cache, path, { bytes, sha256 }) {
  const content = (await contentOf(await cache.match(urlOf(path)), sha256)) ?? (await earlier(path, sha256));
  if (content) return cache.put(urlOf(path), content);
  const response = await fetch(urlOf(path), { cache: "no-cache" });
  if (!response.ok) throw new Error(`expected ${path}, received status ${response.status}`);
  const fetched = await contentOf(response, sha256);
  if (!fetched) throw new Error(`expected ${path} of ${bytes} bytes as it was built, received another file`);
  return cache.put(urlOf(path), fetched);
}

async function earlier(path, sha256) {
  for (const name of (await caches.keys()).filter((each) => each.startsWith(PREFIX) && each !== CACHE)) {
    const content = await contentOf(await (await caches.open(name)).match(urlOf(path)), sha256);
    if (content) return content;
  }
  return null;
}

/** The response without a redirect, which a navigation must not have; null if it has another content. */
async function contentOf(response, sha256) {
  if (!response) return null;
  const body = await response.arrayBuffer();
  if ((await digest(body)) !== sha256) return null;
  const headers = new Headers(response.headers); // with those for security
  headers.delete("Content-Encoding"); // the body is decoded
  headers.delete("Content-Length");
  return new Response(body, { headers });
}

async function digest(body) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the path of a request below the scope; null for what is none of this site's files. */
function pathOf(request) {
  if (request.method !== "GET" || !request.url.startsWith(SCOPE)) return null;
  const path = decodeURIComponent(new URL(request.url).pathname.slice(new URL(SCOPE).pathname.length));
  return path === "" ? "index.html" : path;
}

async function answer(request, path) {
  if (path === LIST) return newestList(request);
  const cache = await caches.open(CACHE);
  return (await cache.match(urlOf(path))) ?? fetch(request);
}

/** The list tells whether there is a newer version, so it comes from the network if there is one. */
async function newestList(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(urlOf(LIST));
    if (kept) return kept;
    throw error;
  }
}

function urlOf(path) {
  return new URL(path.split("/").map(encodeURIComponent).join("/"), SCOPE).href;
}

function isNeeded(path) {
  if (path === "sw.js") return false;
  const build = /^litert\/litert_wasm_(?:(compat|jspi)_)?internal\./.exec(path);
  if (!build) return true;
  const isRelaxed = WebAssembly.validate(RELAXED_SIMD);
  if (build[1] === "compat") return !isRelaxed;
  return isRelaxed && (build[1] !== "jspi" || "Suspending" in WebAssembly);
}

async function eachInParallel(items, work, tell) {
  const queue = [...items];
  let done = 0;
  async function next() {
    while (queue.length > 0) {
      await work(queue.shift());
      done += 1;
      await tell({ kind: "saving", done, total: items.length });
    }
  }
  try {
    await Promise.all(Array.from({ length: PARALLEL }, next));
  } finally {
    queue.length = 0; // the first failure ends all
  }
}

async function tellAll(message) {
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) client.postMessage({ ...message, version: VERSION });
}
