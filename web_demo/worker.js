// The worker that models run in. It is a classic one, as LiteRT.js loads its WebAssembly by `importScripts`; its own code is modules.
"use strict";

let receive = null;
const early = []; // messages that came before the modules

self.onmessage = ({ data }) => (receive ? receive(data) : early.push(data));

import("./page/worker/start.js").then(({ start }) => {
  receive = start(self);
  early.forEach(receive);
}, (error) => setTimeout(() => {
  throw error; // the page is told by the worker's error event
}));
