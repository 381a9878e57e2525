// The tabs that have one store open: one of them leads, and all tell each other what they did.

export class Tabs {
  onMessage = () => {};
  #name;
  #locks;
  #channel;
  #closing = new AbortController();

  constructor(name, {locks = globalThis.navigator?.locks, isAlone = false} = {}) {
    this.#name = name;
    this.#locks = isAlone ? undefined : locks;
    if (isAlone || typeof BroadcastChannel !== 'function') return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({data}) => this.onMessage(data);
    // Programs in Node end although a channel is open.
    this.#channel.unref?.();
  }

  /** Calls `work` with a signal, once no other tab leads; this tab leads until it is closed. */
  async lead(work) {
    const {signal} = this.#closing;
    if (!this.#locks) return work(signal);
    try {
      await this.#locks.request(this.#name, {signal}, () => work(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  tell(message) { if (!this.#closing.signal.aborted) this.#channel?.postMessage(message); }

  close() {
    this.#closing.abort();
    this.#channel?.close();
  }
}
