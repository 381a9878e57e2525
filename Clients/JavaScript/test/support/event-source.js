// Event streams as a browser has them, for the tests: as much of EventSource as the store uses.

const quickMilliseconds = 20;

/** `fetch` opens a stream; the store gets the class that is made with it. */
export function eventSourceOf(fetch) {
  return class {
    static all = [];
    readyState = 0;
    onopen = () => {};
    onmessage = () => {};
    onerror = () => {};
    #url;
    #last;
    #ending;

    constructor(url) {
      this.#url = url;
      this.constructor.all.push(this);
      this.#run();
    }

    close() {
      this.readyState = 2;
      this.#ending?.abort();
    }

    /** The connection breaks. */
    cut() { this.#ending?.abort(); }

    async #run() {
      while (this.readyState !== 2) {
        try {
          await this.#stream();
        } catch {
          // As where it ends: it comes back.
        }
        if (this.readyState === 2) return;
        this.readyState = this.refused ? 2 : 0;
        this.onerror();
        await new Promise(resolve => { setTimeout(resolve, quickMilliseconds).unref(); });
      }
    }

    async #stream() {
      this.#ending = new AbortController();
      const headers = {Accept: 'text/event-stream', ...this.#last && {'Last-Event-ID': this.#last}};
      const answer = await fetch(this.#url, {headers, signal: this.#ending.signal});
      this.refused = !answer.ok;
      if (!answer.ok) return;
      this.readyState = 1;
      this.onopen();
      let text = '';
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (text + piece).split('\n\n');
        text = events.pop();
        for (const event of events) this.#take(event);
      }
    }

    #take(event) {
      const values = name => event.split('\n').filter(line => line.startsWith(`${name}: `))
        .map(line => line.slice(name.length + 2));
      this.#last = values('id')[0] ?? this.#last;
      const data = values('data').join('\n');
      if (data && this.readyState === 1) this.onmessage({data, lastEventId: this.#last});
    }
  };
}
