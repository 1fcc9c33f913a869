// Search where a page is opened from a folder: there a browser starts no worker, so a hidden frame does its work.
// Messages arrive later, as a worker's do. Over HTTP nothing is changed.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })));
      this.ready = new Promise((loaded) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = loaded;
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow?.onmessage(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
