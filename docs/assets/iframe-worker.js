// The search of a page that is opened from disk: browsers start no web worker there, so the worker's script runs in a
// hidden frame. The theme's search knows such a worker by the name IFrameWorker.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>worker</title>";
      this.ready = new Promise((done) => { this.frame.onload = done; }).then(() => this.start(new URL(url, document.baseURI)));
      document.body.append(this.frame);
    }

    // Gives the frame the functions of a worker, and runs the script.
    start(url) {
      const worker = this.frame.contentWindow;
      worker.postMessage = (data) => this.receive(structuredClone(data));
      worker.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
      return this.load(url);
    }

    load(url) {
      return new Promise((done, fail) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = () => fail(new Error(`${url} cannot be loaded`));
        this.frame.contentDocument.body.append(script);
      });
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    postMessage(data) {
      const sent = structuredClone(data);
      this.ready.then(() => {
        const worker = this.frame.contentWindow;
        const event = new worker.MessageEvent("message", { data: sent });
        worker.dispatchEvent(event);
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
