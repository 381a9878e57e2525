// JSON-RPC 2.0 between a page and a frame of another origin.
//
// Only the peer is heard, and only from one origin: the one that is given, else that of the first
// message. An answer counts once, and only for what was asked.

const failure = -32000;
const unknownMethod = -32601;

export class Channel {
  #peer;
  #methods;
  #origin;
  #waiting = new Map();
  #asked = 0;
  #hear = event => this.#take(event);

  /** `peer`: its window, or what looks it up; `methods`: by their names, what the peer may call. */
  constructor(peer, methods, origin = null) {
    this.#peer = typeof peer === 'function' ? peer : () => peer;
    this.#methods = methods;
    this.#origin = origin;
    addEventListener('message', this.#hear);
  }

  close() {
    removeEventListener('message', this.#hear);
    for (const {reject} of this.#waiting.values()) reject(new Error('the frame was closed'));
    this.#waiting.clear();
  }

  tell(method, params) { this.#post({method, params}); }

  call(method, params) {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#post({id, method, params});
    });
  }

  #post(message) {
    // Until the peer has spoken nothing is sent that is for one origin alone.
    this.#peer()?.postMessage({jsonrpc: '2.0', ...message}, this.#origin ?? '*');
  }

  #take({source, origin, data}) {
    if (!source || source !== this.#peer() || (this.#origin ?? origin) !== origin) return;
    if (data?.jsonrpc !== '2.0') return;
    const {id, method, params, result, error} = data;
    if (typeof method === 'string') {
      this.#origin = origin;
      this.#answer(id, method, params);
      return;
    }
    const waiting = this.#waiting.get(id);
    if (!this.#waiting.delete(id)) return;
    if (error) waiting.reject(Object.assign(new Error(error.message), error.data));
    else waiting.resolve(result);
  }

  async #answer(id, method, params) {
    let outcome;
    try {
      if (!Object.hasOwn(this.#methods, method)) {
        outcome = {error: {code: unknownMethod, message: `there is no method ${method}`}};
      } else {
        outcome = {result: await this.#methods[method](params) ?? null};
      }
    } catch (error) {
      const {ckErrorCode, serverErrorCode, reason, retryAfter} = error;
      outcome = {error: {
        code: failure, message: String(error.message),
        data: {ckErrorCode, serverErrorCode, reason, retryAfter},
      }};
    }
    if (id !== undefined && id !== null) this.#post({id, ...outcome});
  }
}
