// Signing in: the first screen, and the dialog that comes when a fresh proof or a new session is needed. What was
// typed elsewhere stays as it is meanwhile.

import {Part, define, field, html, nothing, problem, serverURL} from './parts.js';
import {operator, signIn} from './api.js';

class SignIn extends Part {
  constructor() {
    super();
    this.state = {};
  }

  render() {
    const {failure, needsCode, busy} = this.state;
    return html`<form @submit=${event => this.#submit(event)} aria-busy=${busy ? 'true' : 'false'}>
      ${field({label: 'E-mail address', name: 'email', type: 'email', required: true, autocomplete: 'username',
        value: this.email ?? '', autofocus: true})}
      ${field({label: 'Password', name: 'password', type: 'password', required: true,
        autocomplete: 'current-password'})}
      <div ?hidden=${!needsCode}>${field({label: 'Code of your authenticator app', name: 'code',
        autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 32})}</div>
      ${failure?.code === 'SECOND_FACTOR_MISSING' ? html`<div class="problem" role="alert">
        <p>Operators sign in with a second factor. <a href="${serverURL}/account/second-factor" target="_blank"
          rel="noreferrer">Set one up</a>, then sign in here.</p></div>`
      : failure?.code === 'CODE_NEEDED' ? nothing : problem(failure)}
      <div class="row"><button ?disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
        ${this.cancel ? html`<button type="button" class="second" @click=${this.cancel}>Cancel</button>` : nothing}
      </div></form>`;
  }

  updated() {
    if (this.state.needsCode && this.state.failure?.code === 'CODE_NEEDED') {
      this.querySelector('[name=code]').focus();
    }
  }

  async #submit(event) {
    event.preventDefault();
    const {email, password, code} = event.target.elements;
    const given = [email.value, password.value, code.value.trim()];
    this.email = given[0];
    this.state = {...this.state, busy: true, failure: null};
    try {
      await signIn(...given);
      this.done();
    } catch (failure) {
      const needsCode = this.state.needsCode || failure.code === 'CODE_NEEDED';
      this.state = {failure, needsCode, busy: false};
    }
  }
}
define('sign-in', SignIn, ['state', 'email', 'done', 'cancel']);

/// Asks for a sign-in over the screen that is shown.
export function signInAgain(failure) {
  return new Promise((done, refused) => {
    const dialog = document.createElement('sign-in-dialog');
    Object.assign(dialog, {
      failure, done: () => { dialog.remove(); done(); },
      cancel: () => { dialog.remove(); refused(failure); }});
    document.body.append(dialog);
  });
}

class SignInDialog extends Part {
  firstUpdated() { this.querySelector('dialog').showModal(); }

  render() {
    const why = this.failure.code === 'PROOF_NEEDED'
      ? 'What you asked for needs a sign-in of the last ten minutes.'
      : 'Your session has ended. What you have typed is still here.';
    return html`<dialog aria-labelledby="again-title" @cancel=${() => this.cancel()}>
      <h2 id="again-title">Sign in again</h2><p>${why}</p>
      <sign-in .email=${operator()?.email ?? ''} .done=${this.done} .cancel=${this.cancel}></sign-in></dialog>`;
  }
}
define('sign-in-dialog', SignInDialog, ['failure', 'done', 'cancel']);
