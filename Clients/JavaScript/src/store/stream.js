// News by the server's event stream, where there is EventSource.
//
// A notice says only that there is something in a zone: what it is, is read by the zone's token. And
// which zones have news at all is asked by token when the stream has ended, when it is open again,
// and now and then: so a lost notice loses nothing.

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
   * Calls `note` with what notices say of zones, which resolves with whether all are known. Calls
   * `ask` where one is not, and whenever there may be more; it resolves with whether there was.
   *
   * Resolves where no stream is to be had, or none that tells in time. Rejects as those do.
   */
  async follow(signal, {note, ask}) {
    const {EventSource, silenceMilliseconds} = this.#context;
    // Whatever is wrong, who asks by token next meets it, too.
    const url = EventSource && await this.#courier().catch(() => null);
    if (!url || signal.aborted) return;
    const watch = new StreamWatch(new EventSource(url));
    const abort = () => watch.mustAsk();
    signal.addEventListener('abort', abort, {once: true});
    try {
      for (;;) {
        const {isDue, told} = await watch.waited(silenceMilliseconds);
        if (signal.aborted) return;
        if (told.length > 0 && await note(told) && !isDue) continue;
        const hasNews = await ask();
        // Something on the way may hold notices back.
        const isSilent = !isDue && told.length === 0 && !watch.isAwake;
        if (watch.isOver || hasNews && isSilent) return;
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
  isOver = false;
  #isDue = false;
  #told = [];
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
      this.mustAsk();
    };
    source.onmessage = ({data}) => {
      isBarren = false;
      const {met} = JSON.parse(data).ck ?? {};
      // Of what the app itself subscribes to, a database's notice tells, too.
      if (met) this.#told.push(met);
      this.#wake();
    };
    // The browser comes back by itself, unless the server has refused.
    source.onerror = () => {
      this.#barren = isBarren && Date.now() - since < shortMilliseconds ? this.#barren + 1 : 0;
      this.isOver = source.readyState === closed || this.#barren >= barrenMax;
      isBarren = true;
      since = Date.now();
      this.mustAsk();
    };
  }

  get isAwake() { return this.#isDue || this.#told.length > 0; }

  mustAsk() {
    this.#isDue = true;
    this.#wake();
  }

  /** Until there may be news, or for so long: what notices said, and whether to ask for more. */
  async waited(milliseconds) {
    if (!this.isAwake) {
      await new Promise(resolve => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const found = {isDue: this.#isDue, told: this.#told.splice(0)};
    this.#isDue = false;
    return found;
  }

  close() { this.#source.close(); }
}
