// Tokens and keys: what lets apps, servers, scripts and operators in, and its end.

import {Part, confirm, copyable, define, empty, field, html, nothing, number, problem, say, time, waiting} from './parts.js';
import {Latest, may, operator, run} from './api.js';
import {change, to} from './address.js';

const VIEWS = {
  apps: {title: 'API tokens', needs: 'api-token list'},
  keys: {title: 'Server keys', needs: 'server-key list'},
  sessions: {title: 'Web tokens', needs: 'web-token list'},
  operators: {title: 'Operators', needs: 'operator list'},
  scripts: {title: 'Operator tokens', needs: 'operator-token list'},
};

class TokensScreen extends Part {
  render() {
    const {view = 'apps'} = this.values;
    const shown = Object.entries(VIEWS).filter(([, {needs}]) => may(needs));
    return html`<h1>Tokens and keys</h1>
      <nav class="views" aria-label="Kinds of tokens">${shown.map(([name, {title}]) => html`<a
        href=${to('tokens', {view: name === 'apps' ? '' : name})} aria-current=${name === view ? 'page' : nothing}>${title}</a>`)}</nav>
      ${shown.some(([name]) => name === view) ? this.#view(view) : problem({code: 'FORBIDDEN', message: ''})}`;
  }

  #view(view) {
    const [values, containers] = [this.values, this.containers ?? []];
    switch (view) {
      case 'keys': return html`<server-keys .values=${values} .containers=${containers}></server-keys>`;
      case 'sessions': return html`<web-tokens .values=${values} .containers=${containers}></web-tokens>`;
      case 'operators': return html`<operator-list .values=${values} .containers=${containers}></operator-list>`;
      case 'scripts': return html`<operator-tokens .values=${values} .containers=${containers}></operator-tokens>`;
      default: return html`<api-tokens .values=${values} .containers=${containers}></api-tokens>`;
    }
  }
}
define('tokens-screen', TokensScreen, ['values', 'containers']);

/// A list by pages, with a search, a form above it, and an end for each of its items.
class Listing extends Part {
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
    if (!changes.has('values')) return;
    const asked = JSON.stringify([this.values.search, this.where()]);
    if (this.asked === asked) return;
    this.asked = asked;
    this.load();
  }

  /// What the list is of, beside its search; null where something has to be chosen first.
  where() { return {}; }

  async load(more = false) {
    const where = this.where();
    const {items, next} = more ? this.state : {};
    const {form, done, secret} = this.state;
    this.state = {form, done, secret, items};
    if (!where) return;
    const signal = this.#latest.begin();
    try {
      const page = await run(this.command, {...where, search: this.values.search, limit: 100, after: next}, {signal});
      this.state = {...this.state, items: [...items ?? [], ...page[this.key]], next: page.after};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, failure};
    }
  }

  render() {
    const {items, failure, next, endFailure} = this.state;
    return html`<p class="quiet">${this.about}</p>${this.#top()}
      ${this.where() ? html`<form class="query" role="search" @submit=${event => {
        event.preventDefault();
        change({search: event.target.elements.search.value.trim()});
      }}><label for="token-search">${this.searched} begins with</label><input id="token-search" name="search" type="search" class="short"
        .value=${this.values.search ?? ''} autocomplete="off"><button class="second small">Search</button></form>` : nothing}
      ${problem(endFailure)}
      ${failure ? problem(failure, () => this.load()) : !this.where() ? nothing : !items ? waiting('Looking…')
        : items.length === 0 ? empty(this.values.search ? 'None begins so.' : this.none) : html`
        <div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${this.columns.map(title => html`<th scope="col">${
          title}</th>`)}<th scope="col"><span class="said">Action</span></th></tr></thead>
        <tbody>${items.map(item => html`<tr>${this.row(item)}</tr>`)}</tbody></table></div>
        <p class="quiet foot">${number(items.length)}${next ? html`, and more.
          <button type="button" class="second small" @click=${() => this.load(true)}>Show more</button>` : nothing}</p>`}`;
  }

  /// The form, or what it has made, which is shown this once.
  #top() {
    const {form, secret, done} = this.state;
    if (secret) {
      return html`<section class="card narrow"><h2>${secret.title}</h2><p>${secret.text}</p>${copyable(secret.value, secret.title)}
        <div class="row"><button type="button" @click=${() => { this.state = {...this.state, secret: null}; }}>Done</button></div></section>`;
    }
    if (form) {
      return html`<form class="card narrow" aria-label=${form.title} @submit=${event => this.#submit(event)}>
        <h2>${form.title}</h2>${this.fields(form.item)}${problem(form.failure)}
        <div class="row"><button ?disabled=${form.busy}>${form.act ?? 'Make'}</button><button type="button" class="second"
          @click=${() => { this.state = {...this.state, form: null}; }}>Cancel</button></div></form>`;
    }
    return html`${done ? html`<p class="note" role="status">${done}</p>` : nothing}${may(this.making) && this.where() ? html`<div class="row">
      <button type="button" @click=${() => this.open({title: this.makingTitle})}>${this.makingTitle}…</button>${this.more()}</div>` : nothing}`;
  }

  more() { return nothing; }

  open(form) {
    this.state = {...this.state, form, done: null};
    this.updateComplete.then(() => this.querySelector('form.card input, form.card select, form.card textarea')?.focus());
  }

  async #submit(event) {
    event.preventDefault();
    const {form} = this.state;
    const elements = event.target.elements;
    this.state = {...this.state, form: {...form, busy: true, failure: null}};
    try {
      const shown = await this.send(elements, form);
      this.state = {...this.state, form: null, ...shown};
      say('It is done.');
      this.load();
    } catch (failure) {
      this.state = {...this.state, form: {...form, busy: false, failure}};
    }
  }

  /// A button that ends something, after a question.
  ending(label, act, question, command, values) {
    return may(command) ? html`<button type="button" class="second small" aria-label=${label} @click=${async () => {
      if (!await confirm({act, ...question})) return;
      this.state = {...this.state, endFailure: null};
      try {
        await run(command, values);
        say('It is done.');
        this.load();
      } catch (failure) {
        this.state = {...this.state, endFailure: failure};
      }
    }}>${act}</button>` : nothing;
  }

  /// A container and an environment to choose.
  placed() {
    return html`<div class="field"><label for="token-container">Container</label><select id="token-container" name="container" required>
        ${this.containers.map(({id, name}) => html`<option value=${id}>${name ? `${name} (${id})` : id}</option>`)}</select></div>
      <div class="field"><label for="token-environment">Environment</label><select id="token-environment" name="environment">
        <option>development</option><option>production</option></select></div>`;
  }
}

const used = ({lastUsed}) => lastUsed ? time(lastUsed) : 'never';
const lines = text => text.split('\n').map(line => line.trim()).filter(Boolean);

class APITokens extends Listing {
  command = 'api-token list';
  key = 'apiTokens';
  making = 'api-token create';
  makingTitle = 'New API token';
  searched = 'Name';
  none = 'No app has a token yet.';
  about = 'An API token names the app. Browsers use it at its origins alone, and it lets nobody at private data without a sign-in.';
  columns = ['Name', 'Container', 'Origins', 'Sign-in', 'Made', 'Last use'];

  row(token) {
    const {name, container, environment, origins, callback, made} = token;
    return html`<th scope="row"><bdi>${name}</bdi></th><td><bdi>${container}</bdi>, ${environment}</td>
      <td>${origins.length ? origins.map(each => html`<div>${each}</div>`) : 'any'}</td>
      <td>${callback === 'post-message' ? 'in a window' : callback ?? '–'}</td><td>${time(made)}</td><td>${used(token)}</td>
      <td>${may('api-token set') ? html`<button type="button" class="second small" aria-label=${`Change ${name}`}
        @click=${() => this.open({title: `Change ${name}`, act: 'Save', item: token})}>Change</button>` : nothing}
        ${this.ending(`Revoke ${name}`, 'Revoke', {title: 'Revoke the token?', text: html`<p>Apps that carry <b><bdi>${name}</bdi></b>
          get no answer any more, at once. It cannot be undone.</p>`}, 'api-token revoke', {name})}</td>`;
  }

  fields(token) {
    return html`${token ? nothing : html`${this.placed()}${field({label: 'Name', name: 'name', maxlength: 128,
        hint: 'To know it by in lists. Left empty, the server names it.'})}`}
      <div class="field"><label for="origins">Origins, one a line</label><textarea id="origins" name="origins" rows="3"
        aria-describedby="origins-hint" .value=${token?.origins.join('\n') ?? ''}></textarea>
        <p class="quiet hint" id="origins-hint">Such as https://notes.example.org. Left empty, it may be used anywhere.</p></div>
      ${field({label: 'Where sign-in delivers', name: 'callback', value: token ? token.callback ?? '' : 'post-message',
        hint: 'post-message for a window that the web app opens, an address, or nothing.'})}`;
  }

  async send({container, environment, name, origins, callback}, {item}) {
    const origin = lines(origins.value);
    if (item) {
      await run('api-token set', {name: item.name, callback: callback.value.trim() || 'none',
        ...origin.length ? {origin} : {'any-origin': true}});
      return {done: 'The token is changed. Apps keep the one that they have.'};
    }
    const {apiToken} = await run('api-token create', {container: container.value, environment: environment.value,
      name: name.value.trim(), callback: callback.value.trim(), ...origin.length ? {origin} : {}});
    return {secret: {title: 'The API token', value: apiToken, text: 'It is shown this once. Apps and web pages carry it.'}};
  }
}
define('api-tokens', APITokens, ['values', 'containers', 'state']);

const KEY_COMMANDS = 'openssl ecparam -name prime256v1 -genkey -noout -out key.pem\nopenssl ec -in key.pem -pubout';

class ServerKeys extends Listing {
  command = 'server-key list';
  key = 'serverKeys';
  making = 'server-key add';
  makingTitle = 'Add a server key';
  searched = 'Key ID';
  none = 'No server has a key yet.';
  about = 'A server key lets the holder of a P-256 key sign requests. The server has its public half alone.';
  columns = ['Key ID', 'Name', 'Container', 'Reaches', 'Made', 'Last use'];

  row(key) {
    const {keyID, name, container, environment, scope, made} = key;
    return html`<th scope="row"><code title=${keyID}>${keyID.slice(0, 12)}…</code></th><td><bdi>${name ?? '–'}</bdi></td>
      <td><bdi>${container}</bdi>, ${environment}</td><td>${scope === 'container' ? 'all databases' : 'the public database'}</td>
      <td>${time(made)}</td><td>${used(key)}</td>
      <td>${this.ending(`Revoke ${name ?? keyID.slice(0, 12)}`, 'Revoke', {title: 'Revoke the key?', text: html`<p>Requests that are
        signed by it are refused, at once. It cannot be undone.</p>`}, 'server-key revoke', {keyid: keyID})}</td>`;
  }

  fields() {
    return html`${this.placed()}${field({label: 'Name', name: 'name', maxlength: 128})}
      <p>Make a key pair where it will be used; what the second line prints is for here.</p>${copyable(KEY_COMMANDS, 'Commands')}
      <div class="field"><label for="public-key">Public key</label><textarea id="public-key" name="pem" rows="5" required
        placeholder="-----BEGIN PUBLIC KEY-----"></textarea></div>
      <fieldset><legend>Reaches</legend><div class="check"><input type="radio" name="scope" id="scope-public" value="public" checked>
        <label for="scope-public">the public database</label></div><div class="check"><input type="radio" name="scope"
        id="scope-container" value="container"><label for="scope-container">all databases, on behalf of any user</label></div></fieldset>`;
  }

  async send({container, environment, name, pem, scope}) {
    const {keyID} = await run('server-key add', {container: container.value, environment: environment.value,
      name: name.value.trim(), 'public-key': pem.value, scope: scope.value});
    return {secret: {title: 'The key ID', value: keyID, text: 'Requests name the key by it. It is no secret.'}};
  }
}
define('server-keys', ServerKeys, ['values', 'containers', 'state']);

class WebTokens extends Listing {
  command = 'web-token list';
  key = 'webTokens';
  making = 'web-token create';
  makingTitle = 'New web token';
  searched = 'Token ID';
  none = 'Nobody is signed in.';
  about = 'A web token acts as a user. Apps get one when their user signs in; one for a script is made here.';
  columns = ['Token ID', 'User', 'Since', 'Ends', 'Last use'];

  where() {
    const {container, environment = 'development'} = this.values;
    return container ? {container, environment} : null;
  }

  render() {
    const {container, environment = 'development'} = this.values;
    return html`<div class="query"><label>Container <select @change=${event => change({container: event.target.value})}>
        <option value="">choose…</option>${this.containers.map(({id, name}) => html`<option value=${id} ?selected=${id === container}>${
          name ? `${name} (${id})` : id}</option>`)}</select></label>
      <div class="switch" role="group" aria-label="Environment">${['development', 'production'].map(name => html`<button type="button"
        aria-pressed=${name === environment ? 'true' : 'false'} @click=${() => change({environment: name})}>${name}</button>`)}</div></div>
      ${container ? super.render() : empty('Choose a container to see who is signed in.')}`;
  }

  row(token) {
    const {tokenID, email, made, expires} = token;
    const {container, environment} = this.where();
    return html`<th scope="row"><code title=${tokenID}>${tokenID.slice(0, 12)}…</code></th><td><bdi>${email || '–'}</bdi></td>
      <td>${time(made)}</td><td>${time(expires)}</td><td>${used(token)}</td>
      <td>${email ? this.ending(`End ${tokenID.slice(0, 12)}`, 'End', {title: 'End the session?', text: html`<p><b><bdi>${email}</bdi></b>
        is signed out there, at once.</p>`}, 'web-token revoke', {container, environment, email, tokenid: tokenID}) : nothing}</td>`;
  }

  fields() {
    return html`${field({label: 'E-mail address of the user', name: 'email', type: 'email', required: true})}
      ${field({label: 'Days until it ends', name: 'days', type: 'number', value: '1', required: true})}`;
  }

  async send({email, days}) {
    const {webAuthToken} = await run('web-token create', {...this.where(), email: email.value.trim(),
      expires: String(Math.round(Number(days.value) * 86_400))});
    return {secret: {title: 'The web token', value: webAuthToken, text: 'It is shown this once, and acts as the user.'}};
  }
}
define('web-tokens', WebTokens, ['values', 'containers', 'state']);

const rightsOf = ({readOnly, allContainers, containers}) => html`${readOnly ? 'looks at' : 'changes'} ${allContainers
  ? 'everything' : (containers ?? []).map((name, index) => html`${index ? ', ' : ''}<bdi>${name}</bdi>`)}`;

/// What an operator or a token is to have.
const rightsFields = (containers, {readOnly = false, allContainers = true, containers: some = []} = {}) => html`
  <div class="check"><input type="checkbox" id="read-only" name="readOnly" .checked=${readOnly}><label for="read-only">May look, and
    change nothing</label></div>
  <div class="field"><label for="some">Containers</label><select id="some" name="some" multiple size="5" aria-describedby="some-hint">
    ${containers.map(({id, name}) => html`<option value=${id} .selected=${!allContainers && some.includes(id)}>${
      name ? `${name} (${id})` : id}</option>`)}</select>
    <p class="quiet hint" id="some-hint">With none chosen: all containers, and the server itself. Ctrl adds one.</p></div>`;
const rightsFrom = ({readOnly, some}) => {
  const container = [...some.selectedOptions].map(({value}) => value);
  return {'read-only': readOnly.checked, ...container.length ? {container} : {}};
};

class OperatorList extends Listing {
  command = 'operator list';
  key = 'operators';
  making = 'operator create';
  makingTitle = 'Make somebody an operator';
  searched = 'Account ID';
  none = 'Nobody is an operator.';
  about = 'Operators sign in here with a password and a second factor. Each thing that they do is noted in the audit log.';
  columns = ['E-mail address', 'Rights', 'Second factor', 'Since'];

  more() {
    return html`<button type="button" class="second" @click=${() => this.open({title: 'Invite an operator', act: 'Invite', invites: true})}>
      Invite an operator…</button>`;
  }

  row(each) {
    const {email, secondFactor, made} = each;
    const isMe = email === operator().email;
    return html`<th scope="row"><bdi>${email || '–'}</bdi>${isMe ? html` <span class="quiet">you</span>` : nothing}</th>
      <td>${rightsOf(each)}</td><td>${secondFactor ? 'yes' : html`<span class="bad">not yet</span>`}</td><td>${time(made)}</td>
      <td>${email && may('operator create') ? html`<button type="button" class="second small" aria-label=${`Change the rights of ${email}`}
        @click=${() => this.open({title: `Rights of ${email}`, act: 'Save', item: each})}>Rights</button>` : nothing}
        ${email ? this.ending(`Remove ${email}`, 'Remove', {title: 'Take the role away?', text: html`<p><b><bdi>${email}</bdi></b> is no
          operator any more, at once. ${isMe ? html`<b>That is you: you are signed out.</b>` : 'Their account stays.'}</p>`},
        'operator remove', {email}) : nothing}</td>`;
  }

  fields(item) {
    return html`${item ? html`<p class="quiet">Whose rights change is signed out.</p>`
      : field({label: 'E-mail address', name: 'email', type: 'email', required: true,
        hint: this.state.form.invites ? 'Who has no account yet.' : 'Of somebody with an account.'})}${rightsFields(this.containers, item)}`;
  }

  async send(elements, {item, invites}) {
    const email = item?.email ?? elements.email.value.trim();
    const rights = rightsFrom(elements);
    if (!invites) {
      await run('operator create', {email, ...rights});
      return {done: html`<bdi>${email}</bdi> has these rights now.`};
    }
    const {link} = await run('operator invite', {email, ...rights});
    return link ? {secret: {title: 'The invitation', value: link, text: html`No mail is set up here, so send <bdi>${email}</bdi> this
      link. It makes their account.`}} : {done: html`A letter is on its way to <bdi>${email}</bdi>.`};
  }
}
define('operator-list', OperatorList, ['values', 'containers', 'state']);

class OperatorTokens extends Listing {
  command = 'operator-token list';
  key = 'operatorTokens';
  making = 'operator-token create';
  makingTitle = 'New operator token';
  searched = 'Name';
  none = 'No script acts as an operator.';
  about = 'An operator token lets a script use /console/api. It may never do what wants a fresh sign-in.';
  columns = ['Name', 'Rights', 'Made', 'Ends', 'Last use'];

  row(token) {
    const {name, made, expires} = token;
    return html`<th scope="row"><bdi>${name}</bdi></th><td>${rightsOf(token)}</td><td>${time(made)}</td><td>${time(expires)}</td>
      <td>${used(token)}</td><td>${this.ending(`Revoke ${name}`, 'Revoke', {title: 'Revoke the token?', text: html`<p>Scripts that carry
        <b><bdi>${name}</bdi></b> are refused, at once. It cannot be undone.</p>`}, 'operator-token revoke', {name})}</td>`;
  }

  fields() {
    return html`${field({label: 'Name', name: 'name', maxlength: 128, hint: 'To know it by in lists. Left empty, the server names it.'})}
      ${field({label: 'Days until it ends', name: 'days', type: 'number', value: '90', required: true})}${rightsFields(this.containers)}`;
  }

  async send(elements) {
    const {operatorToken} = await run('operator-token create', {name: elements.name.value.trim(),
      expires: String(Math.round(Number(elements.days.value) * 86_400)), ...rightsFrom(elements)});
    return {secret: {title: 'The operator token', value: operatorToken, text: 'It is shown this once.'}};
  }
}
define('operator-tokens', OperatorTokens, ['values', 'containers', 'state']);
