// What the leading tab does: it reads the feeds of the databases and zones, sends what waits, and
// waits for more.

import {Feeds} from './feeds.js';
import {Sender} from './sender.js';

const failureMillisecondsMax = 60_000;

export class Synchronizer {
  /** Called with what is told of in the status: `{state, error}`. */
  onStatus = () => {};
  #container;
  #replica;
  #options;
  #feeds;
  #sender;
  #isIdentified = false;
  #isFeedRead = false;
  #isWoken = false;
  #hasFailed = false;
  /** The server has said how long to wait. */
  #isHeld = false;
  #wakeUp = () => {};
  #waiting = [];
  #watching = null;

  constructor(container, replica, options) {
    this.#container = container;
    this.#replica = replica;
    this.#options = options;
    const context = {...options, container, replica, identify: () => this.#identify()};
    this.#feeds = new Feeds(context);
    this.#sender = new Sender(context);
  }

  /** Works until `signal` is aborted. */
  async run(signal) {
    signal.addEventListener('abort', () => this.#wakeUp(), {once: true});
    for (let failures = 0; !signal.aborted;) {
      const waiting = this.#waiting.splice(0);
      this.#isWoken = false;
      try {
        await this.#round(signal);
        failures = 0;
        waiting.forEach(({resolve}) => resolve());
        if (!this.#isWoken && !signal.aborted) await this.#pause();
      } catch (error) {
        this.#isFeedRead = false;
        this.#hasFailed = true;
        this.#isHeld = error.retryAfter > 0;
        waiting.forEach(({reject}) => reject(error));
        if (!signal.aborted) await this.#pause(this.#failed(error, failures++));
        this.#hasFailed = this.#isHeld = false;
      }
    }
  }

  /** There is something to send or to read. After a failure that waits. */
  wake() {
    this.#isWoken = true;
    if (!this.#hasFailed) this.#wakeUp();
  }

  /** What was wrong may be over; only what the server says is waited for. */
  hurry() {
    this.#isWoken = true;
    if (!this.#isHeld) this.#wakeUp();
  }

  /** Who is signed in may have changed. */
  userMayHaveChanged() {
    this.#isIdentified = false;
    this.hurry();
  }

  /** Resolves once all that is here now is sent, and all that is there now is read. */
  synced() {
    return new Promise((resolve, reject) => {
      this.#waiting.push({resolve, reject});
      this.#isFeedRead = false;
      this.hurry();
    });
  }

  async #round(signal) {
    this.onStatus({state: 'syncing'});
    if (!this.#isIdentified) await this.#identify();
    if (!this.#isFeedRead) {
      // Before the request: what is told meanwhile is another one's.
      this.#isFeedRead = true;
      await this.#feeds.readDatabases(signal);
    }
    // What is new comes first, so that what is sent is made on top of it.
    while (await this.#feeds.readZone(signal) || await this.#sender.sendSome(signal));
    this.#watching ??= this.#watch(signal);
    await this.#replica.shorten();
    this.onStatus({state: 'current', error: undefined});
  }

  /** Waits for news of the databases beside the rounds. */
  async #watch(signal) {
    try {
      await this.#feeds.watchDatabases(signal, () => this.wake());
    } catch {
      // The next round meets the same, and says it; or nothing may be waited for here.
      await new Promise(resolve => { setTimeout(resolve, this.#options.backoffMilliseconds); });
      this.#isFeedRead = false;
      this.wake();
    } finally {
      this.#watching = null;
    }
  }

  async #identify() {
    const {userRecordName} = await this.#container.fetchCurrentUserIdentity();
    const before = this.#replica.state.account;
    this.#isIdentified = true;
    if (before === userRecordName) return;
    await this.#options.onAccount(userRecordName, before);
    this.#isFeedRead = false;
    // What was going on was for somebody else.
    if (before !== null) throw new Error('another user has signed in');
  }

  /** Tells what is wrong, and returns for how long. */
  #failed(error, failures) {
    const milliseconds = error.retryAfter ? error.retryAfter * 1000
      : Math.min(this.#options.backoffMilliseconds * 2 ** failures, failureMillisecondsMax);
    if (error.isAuthError) this.#isIdentified = false;
    this.onStatus({
      state: error.isAuthError ? 'signedOut'
        : error.ckErrorCode === 'NETWORK_ERROR' ? 'offline' : 'failing',
      error,
    });
    // Devices that failed together do not come back together, and none before it is told to.
    return error.isAuthError ? failureMillisecondsMax : milliseconds * (1 + Math.random() / 2);
  }

  /** Until somebody wakes it, or for so long. */
  #pause(milliseconds) {
    return new Promise(resolve => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
