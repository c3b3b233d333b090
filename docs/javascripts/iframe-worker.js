// Search on pages that are opened from a folder. Browsers start no Worker from file://, so its script runs in a hidden frame: there
// `postMessage` answers the page, and messages of the page arrive as events.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.appendChild(this.frame)
      const scope = this.frame.contentWindow
      const load = address =>
        new Promise((resolve, reject) => {
          const script = scope.document.createElement("script")
          Object.assign(script, { src: new URL(address, document.baseURI), onload: resolve, onerror: reject })
          scope.document.documentElement.appendChild(script)
        })
      scope.postMessage = data => this.answer(new MessageEvent("message", { data }))
      scope.importScripts = (...addresses) => addresses.reduce((before, next) => before.then(() => load(next)), Promise.resolve())
      this.ready = load(url)
      this.ready.catch(() => this.answer(new ErrorEvent("error", { message: `expected a script, received none at ${url}` })))
    }

    postMessage(data) {
      const scope = this.frame.contentWindow
      this.ready.then(() => scope.dispatchEvent(new scope.MessageEvent("message", { data })))
    }

    answer(event) {
      this[`on${event.type}`]?.(event)
      this.dispatchEvent(event)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
