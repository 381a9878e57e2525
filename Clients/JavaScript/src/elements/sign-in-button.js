// <sign-in-button>: signs a container's user in, and out.

import {ElementBase, button} from './dom.js';
import {dress} from './style.js';
import {englishTexts} from './texts.js';

export class SignInButton extends ElementBase {
  #container = null;
  #user = null;
  #texts = englishTexts;

  constructor() {
    super();
    dress(this.attachShadow({mode: 'open', delegatesFocus: true}));
  }

  connectedCallback() {
    this.#show();
  }

  /** A container of cloudkit.js; setting it asks who is signed in. */
  get container() { return this.#container; }
  set container(container) {
    this.#container = container;
    this.#become(null);
    if (container) this.#follow(container);
  }

  get texts() { return this.#texts; }
  set texts(texts) {
    this.#texts = {...englishTexts, ...texts};
    this.#show();
  }

  /** Who is signed in, or null. */
  get user() { return this.#user; }

  async #follow(container) {
    const isOver = () => this.#container !== container;
    try {
      let user = await container.setUpAuth();
      while (!isOver()) {
        user ??= await container.whenUserSignsIn();
        if (isOver()) return;
        this.#become(user);
        await container.whenUserSignsOut();
        if (isOver()) return;
        this.#become(null);
        user = null;
      }
    } catch (error) {
      if (isOver()) return;
      this.#tell('sign-in-error', {error});
      // A window that somebody closed is no end.
      if (error?.ckErrorCode === 'SIGN_IN_FAILED') this.#follow(container);
    }
  }

  #become(user) {
    const before = this.#user;
    this.#user = user;
    this.#show();
    if (user && !before) this.#tell('signed-in', {user});
    if (before && !user) this.#tell('signed-out', {});
  }

  #show() {
    const {signIn, signOut} = this.#texts;
    const text = this.#user ? signOut : signIn;
    const shown = this.shadowRoot.querySelector('button');
    if (shown) {
      shown.textContent = text;
    } else {
      this.shadowRoot.append(
        button(text, () => this.#act(), {className: 'act', part: 'button'}));
    }
  }

  /** In the task of the click, or browsers open no window. */
  #act() {
    const done = this.#user ? this.#container?.signOut() : this.#container?.signIn();
    done?.catch(error => this.#tell('sign-in-error', {error}));
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail, bubbles: true, composed: true}));
  }
}
