// Who is signed in to a container, and the way in and out.

import {hideButton, showButton} from './buttons.js';
import {localError} from './errors.js';
import {goThere, hasPages, openWindow, takeReturn, tokenOf} from './sign-in.js';

/** The server's sign-in addresses live a minute longer. */
const addressMilliseconds = 14 * 60_000;

export class Auth {
  /** Called when the user has signed out, or is another one. */
  onSignOut = () => {};
  #configuration;
  #session;
  #requests;
  #log;
  #isSetUp = false;
  #identity = null;
  #sessionID = null;
  #address = null;
  #waiting = {in: [], out: []};

  /** `session`: null where a server key signs. */
  constructor(configuration, session, requests, log) {
    this.#configuration = configuration;
    this.#session = session;
    this.#requests = requests;
    this.#log = log;
    requests.onSessionEnd = (ended, error) => this.#sessionEnded(ended, error);
    if (session) session.onChange = () => this.#sessionChanged();
  }

  async setUp() {
    await this.#session?.check();
    this.#isSetUp = true;
    const {containerIdentifier} = this.#configuration;
    const outcome = this.#session &&
      takeReturn(containerIdentifier, text => this.#log('warn', text));
    // Who did not sign in there can try again: the button is shown.
    if (outcome) await this.#take(outcome).catch(error => this.#log('warn', String(error)));
    return this.#ask();
  }

  async caller() {
    return this.#requests.send('public', 'users/caller');
  }

  /** Resolves at the next sign-in; rejects when one fails. */
  whenSignedIn() {
    return new Promise((resolve, reject) => this.#waiting.in.push({resolve, reject}));
  }

  /** Resolves with whether somebody has signed out here; false when a session ended by itself. */
  whenSignedOut() {
    return new Promise((resolve, reject) => this.#waiting.out.push({resolve, reject}));
  }

  /** Leads the user to the sign-in page; to be called in the task of a click. */
  async signIn() {
    if (!this.#session || !hasPages()) {
      throw localError('SIGN_IN_FAILED', 'users sign in where there are pages: in a browser');
    }
    const {containerIdentifier, user} = this.#configuration;
    const isFresh = this.#address && Date.now() - this.#address.at < addressMilliseconds;
    // Nothing may be awaited before the window opens.
    const url = isFresh ? this.#address.url : this.#askAddress();
    if (user.signIn === 'redirect') return goThere(containerIdentifier, url);
    return openWindow(containerIdentifier, url, async data => {
      await this.#take(data);
      return this.#ask();
    });
  }

  async signOut() {
    const session = await this.#session?.current();
    this.#become(null, null, true);
    if (session) await this.#session.end(session);
    if (this.#isSetUp) await this.#ask();
  }

  /** Makes what the sign-in page said the session. */
  async #take(outcome) {
    try {
      await this.#session.begin(tokenOf(outcome));
    } catch (error) {
      this.#fulfil('in', 'reject', error);
      throw error;
    }
  }

  /** Asks the server who is signed in: the identity, or null. */
  async #ask() {
    const session = await this.#session?.current();
    let identity = null;
    try {
      identity = await this.caller();
    } catch (error) {
      if (error.ckErrorCode !== 'AUTHENTICATION_REQUIRED' || !this.#session) throw error;
      this.#keepAddress(error);
    }
    // Somebody may have signed in or out meanwhile, and what was asked before says nothing of that.
    const now = await this.#session?.current();
    if (now?.id !== session?.id) return this.#ask();
    this.#become(identity, session?.id ?? null);
    return identity;
  }

  async #askAddress() {
    // Somebody may have signed in meanwhile, in another tab.
    if (await this.#ask()) throw localError('SIGN_IN_FAILED', 'somebody is signed in already');
    return this.#address.url;
  }

  #keepAddress({redirectURL}) {
    this.#address = redirectURL ? {url: redirectURL, at: Date.now()} : null;
  }

  async #sessionEnded(session, error) {
    this.#keepAddress(error);
    if (this.#sessionID === session.id) this.#become(null, null);
    await this.#session.end(session);
  }

  async #sessionChanged() {
    const session = await this.#session.current();
    if (!this.#isSetUp || (session?.id ?? null) === this.#sessionID) return;
    await this.#ask().catch(error => this.#log('warn', String(error)));
  }

  #become(identity, sessionID, isChosen = false) {
    const before = this.#identity;
    this.#identity = identity;
    this.#sessionID = sessionID;
    if (this.#session && this.#isSetUp) this.#showButtons();
    const isSame = before?.userRecordName === identity?.userRecordName;
    if (before && !isSame) {
      this.onSignOut();
      this.#fulfil('out', 'resolve', {isChosen});
    }
    if (identity && !isSame) this.#fulfil('in', 'resolve', identity);
  }

  #fulfil(which, how, value) {
    for (const waiting of this.#waiting[which].splice(0)) waiting[how](value);
  }

  #showButtons() {
    const {signInButton, signOutButton} = this.#configuration.user;
    const into = {id: 'apple-sign-in-button', text: 'Sign in', ...signInButton};
    const out = {id: 'apple-sign-out-button', text: 'Sign out', ...signOutButton};
    const [shown, hidden, act] = this.#identity
      ? [out, into, () => this.signOut()] : [into, out, () => this.signIn()];
    hideButton(hidden);
    showButton(shown, () => act().catch(error => this.#log('warn', String(error))));
  }
}
