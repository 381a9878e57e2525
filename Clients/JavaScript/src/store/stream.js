// News by the server's event stream, where there is EventSource.
//
// A notice says only that there is something. What it is, and what no notice has told of, is asked
// for by token: after a notice, when the stream has ended, when it is open again, and now and then.

import {subscribe} from './push.js';

const closed = 2;
const silenceMillisecondsMax = 60_000;
const shortMilliseconds = 5_000;
const barrenMax = 3;

export class Stream {
  #context;

  /** `context`: `{container, replica, scopes, EventSource, silenceMilliseconds}`. */
  constructor({silenceMilliseconds = silenceMillisecondsMax, ...context}) {
    this.#context = {...context, silenceMilliseconds};
  }

  /**
   * Calls `ask` whenever there may be news, which resolves with whether there were.
   *
   * Resolves where no stream is to be had, or none that tells in time. Rejects as `ask` does.
   */
  async follow(signal, ask) {
    const {EventSource, silenceMilliseconds} = this.#context;
    // Whatever is wrong, who asks by token next meets it, too.
    const url = EventSource && await this.#courier().catch(() => null);
    if (!url || signal.aborted) return;
    const watch = new StreamWatch(new EventSource(url));
    const abort = () => watch.note();
    signal.addEventListener('abort', abort, {once: true});
    try {
      for (;;) {
        const isDue = await watch.waited(silenceMilliseconds);
        if (signal.aborted) return;
        const hasNews = await ask();
        // Something on the way may hold notices back.
        if (watch.isOver || hasNews && !isDue && !watch.isDue) return;
      }
    } finally {
      watch.close();
      signal.removeEventListener('abort', abort);
    }
  }

  /** Where this device's notices wait. It keeps its token: a user has only so many. */
  async #courier() {
    const {container, replica, scopes} = this.#context;
    await subscribe(container, scopes);
    const kept = replica.state.tokens.courier;
    const {webcourierURL, apnsToken} = await container.fetchCourier(kept);
    if (apnsToken !== kept) await replica.change(() => ({tokens: {courier: apnsToken}}));
    return webcourierURL;
  }
}

/** Whether there is something to ask for, and whether the stream is worth to be waited for. */
class StreamWatch {
  isDue = false;
  isOver = false;
  #source;
  #wake = () => {};
  /** How many streams in a row have ended soon, without a notice. */
  #barren = 0;

  constructor(source) {
    this.#source = source;
    let isBarren = true;
    let since = Date.now();
    source.onopen = () => {
      since = Date.now();
      this.note();
    };
    source.onmessage = () => {
      isBarren = false;
      this.note();
    };
    // The browser comes back by itself, unless the server has refused.
    source.onerror = () => {
      this.#barren = isBarren && Date.now() - since < shortMilliseconds ? this.#barren + 1 : 0;
      this.isOver = source.readyState === closed || this.#barren >= barrenMax;
      isBarren = true;
      since = Date.now();
      this.note();
    };
  }

  note() {
    this.isDue = true;
    this.#wake();
  }

  /** Until there may be news, or for so long; whether there was a sign of them. */
  async waited(milliseconds) {
    if (!this.isDue) {
      await new Promise(resolve => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const {isDue} = this;
    this.isDue = false;
    return isDue;
  }

  close() { this.#source.close(); }
}
