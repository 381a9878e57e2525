// The containers, and how an app gets into one: its ID, a token, the origins and the sign-in of its web app.

import {Part, confirm, copyable, define, empty, field, html, nothing, problem, say, serverURL, time, waiting,
  clientPath} from './parts.js';
import {Latest, all, may, run} from './api.js';
import {go, to} from './address.js';
import {languages} from './snippets.js';

const changed = () => dispatchEvent(new Event('containerschange'));

class ContainersScreen extends Part {
  render() {
    const made = may('container create') ? html`<a class="button" href=${to('start')}>New container</a>` : nothing;
    return html`<div class="head"><h1>Containers</h1>${made}</div>
      ${this.containers === null ? waiting('Looking for containers…')
        : this.containers.length === 0 ? empty('No container is here yet. A container holds the data of one app.', made)
        : html`<div class="cards">${this.containers.map(container => this.#card(container))}</div>`}`;
  }

  #card({id, name, made, missing}) {
    return html`<article class="card"><h2><bdi>${name || id}</bdi></h2>
      ${name ? html`<p class="quiet"><bdi>${id}</bdi></p>` : nothing}
      <p class="quiet">Made ${time(made)}</p>
      ${missing?.length ? html`<p class="note">The data of these environments is missing: ${missing.join(', ')}</p>`
        : nothing}
      <div class="row"><a class="button" href=${to('data', {container: id})}
        aria-label=${`Data of ${name || id}`}>Data</a>
        <a class="button second" href=${to('start', {container: id})}
        aria-label=${`Connect an app to ${name || id}`}>Connect an app</a></div></article>`;
  }
}
define('containers-screen', ContainersScreen, ['containers']);

/// Makes a container with its first token, or a further token of one that is there; then shows what to paste.
class StartScreen extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) {
    if (changes.has('container')) {
      if (this.container && this.state.made !== this.container) this.state = {};
      if (this.container) this.#loadTokens();
    }
  }

  async #loadTokens() {
    const signal = this.#latest.begin();
    try {
      const {items} = await all('api-token list', 'apiTokens', {}, {signal});
      this.tokens = items.filter(({container}) => container === this.container);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.tokensFailure = failure;
    }
  }

  render() {
    const {token} = this.state;
    return html`<h1>${this.container ? html`Connect an app to <bdi>${this.container}</bdi>` : 'New container'}</h1>
      ${token ? this.#done() : this.#form()}
      ${this.container ? this.#list() : nothing}`;
  }

  #form() {
    const {failure, busy} = this.state;
    if (!may('api-token create')) return html`<p class="note">You look, and change nothing.</p>`;
    return html`<form class="card narrow" @submit=${event => this.#submit(event)}>
      ${this.container ? nothing : html`
        ${field({label: 'ID', name: 'id', required: true, maxlength: 128, pattern: '[A-Za-z0-9.\\-]+', autofocus: true,
          hint: 'Such as iCloud.org.example.Notes: letters, digits, dots and hyphens. It never changes.'})}
        ${field({label: 'Name of the app', name: 'name', hint: 'People read it when they sign in.'})}`}
      <div class="field"><label for="environment">Environment</label>
        <select id="environment" name="environment"><option>development</option><option>production</option></select>
        <p class="quiet hint">In development, record types appear as records are saved.</p></div>
      ${field({label: 'Name of the token', name: 'token', hint: 'To know it by in lists. Left empty, the server names it.'})}
      ${field({label: 'Origin of the web app', name: 'origin', type: 'url',
        hint: 'Such as https://notes.example.org: browsers use the token there alone. Left empty, anywhere.'})}
      <fieldset><legend>People sign in</legend>
        <div class="check"><input type="radio" name="callback" id="by-message" value="post-message" checked>
          <label for="by-message">in a window that the web app opens</label></div>
        <div class="check"><input type="radio" name="callback" id="by-address" value="address">
          <label for="by-address">at a page that leads back to an address</label></div>
        <div class="check"><input type="radio" name="callback" id="by-none" value="">
          <label for="by-none">not at all: the public database only</label></div></fieldset>
      ${field({label: 'The address that sign-in leads back to', name: 'address',
        hint: 'For the second choice: https://notes.example.org/signed-in, or a scheme of your app, notes://signed-in.'})}
      ${problem(failure)}
      <div class="row"><button ?disabled=${busy}>${busy ? 'Making…' : this.container ? 'Make a token'
        : 'Make container and token'}</button>
        <a class="button second" href=${to('containers')}>Cancel</a></div></form>`;
  }

  async #submit(event) {
    event.preventDefault();
    const form = event.target.elements;
    const container = this.container ?? form.id.value.trim();
    const environment = form.environment.value;
    this.state = {busy: true, container: this.state.container};
    try {
      // A second attempt, after the token was refused, finds its container made.
      if (!this.container && this.state.container !== container) {
        await run('container create', {id: container});
        this.state = {...this.state, container};
        changed();
      }
      const name = form.name?.value.trim();
      if (!this.container && name) await run('container set', {id: container, 'key=value': [`name=${name}`]});
      const callback = form.callback.value === 'address' ? form.address.value.trim() : form.callback.value;
      const {apiToken} = await run('api-token create', {
        container, environment, name: form.token.value.trim(),
        origin: form.origin.value.trim() ? [form.origin.value.trim()] : undefined, callback});
      changed();
      this.state = {token: apiToken, environment, made: container, language: 0};
      say('The token is made.');
      go('start', {container}, {replaces: true});
      if (this.container) this.#loadTokens();
    } catch (failure) {
      this.state = {...this.state, failure, busy: false};
    }
  }

  #done() {
    const {token, environment, made, language} = this.state;
    const snippets = languages({server: serverURL, container: made, environment, token, client: clientPath});
    const step = (event, by) => {
      event.preventDefault();
      this.state = {...this.state, language: (language + by + snippets.length) % snippets.length};
      this.updateComplete.then(() => this.querySelector('[role=tab][aria-selected=true]').focus());
    };
    return html`<section class="card"><h2>Your token</h2>
      <p>It is shown this once. Web pages and apps carry it; it lets nobody at private data without a sign-in.</p>
      ${copyable(token, 'API token')}
      <h2>Paste and run</h2>
      <div role="tablist" aria-label="Language" @keydown=${event => {
        if (event.key === 'ArrowRight') step(event, 1);
        if (event.key === 'ArrowLeft') step(event, -1);
      }}>${snippets.map(({name}, index) => html`<button type="button" role="tab" id=${`tab-${index}`}
        aria-selected=${index === language ? 'true' : 'false'} aria-controls="snippet"
        tabindex=${index === language ? 0 : -1}
        @click=${() => { this.state = {...this.state, language: index}; }}>${name}</button>`)}</div>
      <div role="tabpanel" id="snippet" aria-labelledby=${`tab-${language}`}>
        ${copyable(snippets[language].text, `${snippets[language].name} code`)}</div>
      <div class="row"><a class="button" href=${to('data', {container: made, environment})}>Look at the data</a>
        <button type="button" class="second" @click=${() => { this.state = {}; }}>Another token</button></div>
    </section>`;
  }

  #list() {
    if (this.tokensFailure) {
      return problem(this.tokensFailure, () => { this.tokensFailure = null; this.#loadTokens(); });
    }
    return html`<section><h2>Tokens</h2>${!this.tokens ? waiting('Looking for tokens…')
      : this.tokens.length === 0 ? empty('No app has a token for this container yet.')
      : html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">Name</th><th scope="col">Environment</th>
        <th scope="col">Origins</th><th scope="col">Sign-in</th><th scope="col">Last use</th><th scope="col"><span class="said">Action</span></th></tr>
        </thead><tbody>${this.tokens.map(token => html`<tr><th scope="row"><bdi>${token.name}</bdi></th>
          <td>${token.environment}</td><td>${token.origins.join(', ') || 'any'}</td><td>${token.callback ?? '–'}</td>
          <td>${token.used ? time(token.used) : 'never'}</td>
          <td>${may('api-token revoke') ? html`<button type="button" class="second small"
            aria-label=${`Revoke ${token.name}`} @click=${() => this.#revoke(token)}>Revoke</button>` : nothing}</td>
        </tr>`)}</tbody></table></div>`}</section>`;
  }

  async #revoke({name}) {
    const meant = await confirm({
      title: 'Revoke the token?', act: 'Revoke', text: html`<p>Apps that carry <b><bdi>${name}</bdi></b> get no answer any
      more, at once. It cannot be undone.</p>`});
    if (!meant) return;
    try {
      await run('api-token revoke', {name});
      say('The token is revoked.');
      this.#loadTokens();
    } catch (failure) {
      this.tokensFailure = failure;
    }
  }
}
define('start-screen', StartScreen, ['container', 'state', 'tokens', 'tokensFailure']);
