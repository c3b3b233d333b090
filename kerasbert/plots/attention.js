"use strict";
// DATA: {tokens: [text], layers: [number], heads: [[number]], weights: [base64 of bytes, (heads, tokens, tokens)]}
(() => {
  const data = JSON.parse(document.getElementById("attention-data").textContent);
  const count = data.tokens.length;
  const weights = data.weights.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  const weight = (layer, head, from, to) => weights[layer][(head * count + from) * count + to] / 255;
  const state = { layer: data.layers.length - 1, head: -1, token: Math.min(1, count - 1), pinned: false, towards: false };
  const at = (id) => document.getElementById(id);
  const make = (parent, name, text, attributes = {}) => {
    const node = document.createElement(name);
    node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  };

  const tokens = data.tokens.map((text, number) => {
    const button = make(at("tokens"), "button", text, { type: "button" });
    const show = () => { state.token = number; draw(); };
    button.addEventListener("click", () => { state.pinned = !(state.pinned && state.token === number); show(); });
    button.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse" && !state.pinned) show(); });
    button.addEventListener("focus", () => { if (!state.pinned && button.matches(":focus-visible")) show(); });
    return button;
  });
  const choose = (parent, names, pick) => names.map((text, number) => {
    const button = make(parent, "button", text, { type: "button" });
    button.addEventListener("click", () => { pick(number); draw(); });
    return button;
  });
  const layers = choose(at("layers"), data.layers.map(String), (number) => { state.layer = number; state.head = -1; });
  const ways = choose(at("ways"), ["to which tokens it attends", "which tokens attend to it"], (number) => { state.towards = number === 1; });

  const most = Math.max(...data.heads.map((heads) => heads.length));
  at("overview").style.gridTemplateColumns = `max-content repeat(${most}, minmax(0, 72px))`;
  const small = data.heads.map((heads, layer) => {
    make(at("overview"), "b", String(data.layers[layer]));
    return Array.from({ length: most }, (_, head) => {
      if (head >= heads.length) return void make(at("overview"), "span", "");
      const name = `layer ${data.layers[layer]}, head ${heads[head]}`;
      const canvas = make(at("overview"), "canvas", "", { width: count, height: count, title: name, role: "button", "aria-label": name });
      canvas.addEventListener("click", () => { state.layer = layer; state.head = head; draw(); at("strips").scrollIntoView({ block: "nearest" }); });
      return canvas;
    });
  });

  function paint() {
    const color = getComputedStyle(document.documentElement).getPropertyValue("--blue").trim();
    small.forEach((row, layer) => row.forEach((canvas, head) => {
      if (!canvas) return;
      const context = canvas.getContext("2d");
      context.clearRect(0, 0, count, count);
      context.fillStyle = color;
      for (let from = 0; from < count; from++) for (let to = 0; to < count; to++) {
        context.globalAlpha = Math.sqrt(weight(layer, head, from, to));
        context.fillRect(to, from, 1, 1);
      }
    }));
  }

  function strip(head) {
    const values = data.tokens.map((_, other) => (state.towards ? weight(state.layer, head, other, state.token) : weight(state.layer, head, state.token, other)));
    const best = values.indexOf(Math.max(...values));
    const row = make(at("strips"), "div", "", { class: head === state.head ? "strip marked" : "strip" });
    make(row, "b", `head ${data.heads[state.layer][head]}`);
    const line = make(row, "p", "");
    data.tokens.forEach((text, other) => {
      const span = make(line, "span", text, { title: values[other].toFixed(2), style: `--share: ${Math.sqrt(values[other]).toFixed(3)}` });
      if (other === state.token) span.className = "asked";
    });
    make(row, "i", `${data.tokens[best]} ${values[best].toFixed(2)}`);
  }

  function draw() {
    tokens.forEach((button, number) => button.setAttribute("aria-pressed", String(number === state.token)));
    layers.forEach((button, number) => button.setAttribute("aria-pressed", String(number === state.layer)));
    ways.forEach((button, number) => button.setAttribute("aria-pressed", String((number === 1) === state.towards)));
    small.forEach((row, layer) => row.forEach((canvas, head) => canvas && canvas.classList.toggle("chosen", layer === state.layer && (state.head < 0 || head === state.head))));
    at("asked").textContent = `${data.tokens[state.token]}, layer ${data.layers[state.layer]}`;
    at("strips").replaceChildren();
    const heads = data.heads[state.layer].map((_, head) => head);
    if (state.head > 0) heads.unshift(...heads.splice(state.head, 1));
    heads.forEach(strip);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  paint();
  draw();
})();
