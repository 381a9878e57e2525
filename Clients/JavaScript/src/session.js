// A user's session: its token, which others follow, in this tab and in the others of its origin.
//
// Tabs read the same cookie before each request. A tab puts a token there only for the session that
// is the current one, and never an older token than the one that is there. Which sessions have
// ended is told by a channel, so that what another tab was about to write does not bring one back.

import {uniqueID} from './unique.js';
import {AppTokens, CookieTokens, MemoryTokens} from './tokens.js';

const lateCookieMilliseconds = [10, 50, 250, 1000, 1000];

export class Session {
  /** Called when another tab has signed somebody in or out. */
  onChange = () => {};
  #tokens;
  // Nothing has been read yet.
  #known = undefined;
  #ended = new Set();
  #channel;
  #isClosed = false;

  constructor({containerIdentifier, environment, serverURL, user}, {authTokenStore}) {
    this.#tokens = authTokenStore ? new AppTokens(authTokenStore, containerIdentifier)
      : user.persist ? new CookieTokens(containerIdentifier) : new MemoryTokens();
    if (this.#tokens.isShared && typeof BroadcastChannel === 'function') {
      this.#channel = new BroadcastChannel(
        `cloudkit ${serverURL} ${containerIdentifier} ${environment}`);
      this.#channel.onmessage = ({data}) => this.#hear(data);
    }
  }

  /** Rejects with AUTH_PERSIST_ERROR where no token can be kept as configured. */
  async check() {
    await this.#tokens.check?.();
  }

  close() {
    this.#isClosed = true;
    this.#channel?.close();
  }

  /** The session as it is now, or null: `{id, generation, token}`. */
  async current() {
    const kept = await this.#tokens.read();
    if (kept && this.#ended.has(kept.id)) {
      await this.#tokens.write(null);
      return this.#know(null);
    }
    const known = this.#known;
    if (kept && known && kept.id === known.id && kept.generation < known.generation) {
      await this.#tokens.write(known);
      return known;
    }
    return this.#know(kept);
  }

  /** Somebody has signed in. */
  async begin(token) {
    const session = {id: uniqueID(), generation: 0, token};
    this.#known = session;
    await this.#tokens.write(session);
    this.#channel?.postMessage({begun: session.id});
    return session;
  }

  /** An answer to a request that was sent with `sent` has brought the token for later ones. */
  async follow(sent, token) {
    if (!token || token === sent.token) return;
    const current = await this.current();
    if (current?.id !== sent.id || current.generation > sent.generation) return;
    this.#known = {id: sent.id, generation: sent.generation + 1, token};
    await this.#tokens.write(this.#known);
  }

  /** The session is over, in every tab; another one that has begun meanwhile goes on. */
  async end({id}) {
    this.#ended.add(id);
    this.#channel?.postMessage({ended: id});
    await this.current();
    if (this.#known?.id === id) this.#known = null;
  }

  #know(session) {
    const hasChanged = this.#known !== undefined && this.#known?.id !== session?.id;
    this.#known = session;
    if (hasChanged) queueMicrotask(() => this.onChange());
    return session;
  }

  async #hear({begun, ended}) {
    if (ended) this.#ended.add(ended);
    // Browsers set cookies in their own time: another tab's may come after its message.
    for (const milliseconds of lateCookieMilliseconds) {
      if (this.#isClosed) return;
      const session = await this.current();
      if (!begun || session?.id === begun) return;
      await new Promise(resolve => { setTimeout(resolve, milliseconds); });
    }
  }
}
