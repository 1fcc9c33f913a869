'use strict';

/**
 * Collect keys for a short while, then hand them to a handler in one batch.
 *
 * Handy for a file watcher: twenty quick changes to three files should cause
 * one rebuild with three names, not twenty rebuilds.
 */
class DebounceQueue {
  /** @type {Set<string>} */
  #pendingKeys = new Set();
  #timer = null;
  #running = Promise.resolve();

  /**
   * @param {(keys: string[]) => Promise<void> | void} handler
   * @param {{ quietMs?: number, maxKeys?: number, onError?: (err: Error) => void }} [options]
   */
  constructor(handler, { quietMs = 100, maxKeys = 50, onError = console.error } = {}) {
    if (typeof handler !== 'function') {
      throw new TypeError('handler must be a function');
    }
    this.handler = handler;
    this.quietMs = quietMs;
    this.maxKeys = maxKeys;
    this.onError = onError;
  }

  get size() {
    return this.#pendingKeys.size;
  }

  /** Remember a key and restart the quiet period. */
  push(key) {
    this.#pendingKeys.add(String(key));
    clearTimeout(this.#timer);
    if (this.size >= this.maxKeys) {
      void this.flush();
      return;
    }
    this.#timer = setTimeout(() => void this.flush(), this.quietMs);
  }

  /** Run the handler now; batches never overlap. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.size === 0) {
      return this.#running;
    }
    const batch = [...this.#pendingKeys].sort();
    this.#pendingKeys.clear();
    this.#running = this.#running.then(async () => {
      try {
        await this.handler(batch);
      } catch (err) {
        this.onError(err);
      }
    });
    return this.#running;
  }
}

/* ---- a tiny demonstration ------------------------------------------- */

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function demo() {
  const batches = [];
  const queue = new DebounceQueue((keys) => {
    batches.push(keys);
    console.log(`batch #${batches.length}: ${keys.join(', ')}`);
  }, { quietMs: 20 });

  for (const name of ['main.css', 'app.js', 'main.css', 'index.html']) {
    queue.push(name);
    await sleep(2);
  }
  await sleep(60);
  queue.push('README.md');
  await queue.flush();

  const total = batches.reduce((sum, keys) => sum + keys.length, 0);
  console.log(total === 4 ? 'ok ✓' : `expected 4 keys, saw ${total}`);
}

if (require.main === module) {
  demo().catch((err) => {
    console.error(err?.stack ?? err);
    process.exitCode = 1;
  });
}

module.exports = { DebounceQueue };
