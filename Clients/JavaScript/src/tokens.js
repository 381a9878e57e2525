// Where the user's web token is kept: in a cookie, in a store of the app's, or in memory.
//
// What is kept is {id, generation, token}: the session, how many tokens it had before, and the
// token.

import {localError} from './errors.js';

const days = 14;

/** Keeps it while the page is open. */
export class MemoryTokens {
  #kept = null;

  async read() { return this.#kept; }
  async write(kept) { this.#kept = kept; }
}

/** Keeps it in a cookie with the container's name, which all tabs of an origin read. */
export class CookieTokens {
  isShared = true;
  #name;

  constructor(containerIdentifier) {
    this.#name = encodeURIComponent(containerIdentifier);
  }

  async read() {
    const start = `${this.#name}=`;
    const found = document.cookie.split('; ').find(cookie => cookie.startsWith(start));
    const parts = /^([\w-]+)~(\d+)~(\w+)$/.exec(found?.slice(start.length) ?? '');
    return parts && {id: parts[1], generation: Number(parts[2]), token: parts[3]};
  }

  async write(kept) {
    const value = kept ? `${kept.id}~${kept.generation}~${kept.token}` : '';
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `${this.#name}=${value}; Path=/; SameSite=Strict${secure}` +
      `; Max-Age=${kept ? days * 86_400 : 0}`;
  }

  /** Rejects where a cookie would not be kept, as in a file or a sandboxed frame. */
  async check() {
    let isKept = false;
    try {
      const probe = `${this.#name}-probe`;
      document.cookie = `${probe}=1; Path=/; SameSite=Strict`;
      isKept = document.cookie.split('; ').includes(`${probe}=1`);
      document.cookie = `${probe}=; Path=/; Max-Age=0`;
    } catch {
      // Where there is no document, or it may have no cookies.
    }
    if (!isKept) {
      throw localError('AUTH_PERSIST_ERROR', 'this page can keep no cookie for persist: true');
    }
  }
}

/** Keeps it in the app's own store, which is read once and told of each change. */
export class AppTokens {
  #store;
  #container;
  #kept;

  constructor(store, containerIdentifier) {
    this.#store = store;
    this.#container = containerIdentifier;
  }

  async read() {
    if (this.#kept === undefined) {
      const token = await this.#store.getToken(this.#container);
      this.#kept ??= token ? {id: 'kept', generation: 0, token} : null;
    }
    return this.#kept;
  }

  async write(kept) {
    this.#kept = kept;
    await this.#store.putToken(this.#container, kept?.token ?? null);
  }
}
