// The containers, how an app gets into one, and all that lets apps, servers, scripts and operators in, with its end.

import {Asking, LISTING, LOOKS_ONLY, Listing, Part, all, button, change, check, clientPath, copyable, define, empty,
  environmentField, environments, field, go, html, invited, many, may, named, newContainer, noContainer, nothing, operator, pick, problem, run, say, search, select,
  serverURL, short, submitted, table, tabs, time, to, waiting} from './screen.js';
import {languages} from './snippets.js';

const changed = () => dispatchEvent(new Event('containerschange'));

class ContainersScreen extends Part {
  render() {
    return html`<div class="head"><h1>Containers</h1>${newContainer()}</div>
      ${this.containers === null ? waiting('Looking for containers…') : !this.containers ? nothing
        : this.containers.length === 0 ? noContainer()
        : html`<div class="cards">${this.containers.map(container => this.#card(container))}</div>`}`;
  }

  #card({id, name, made, missing}) {
    return html`<article class="card"><h2><bdi>${name || id}</bdi></h2>
      ${name ? html`<p class="quiet"><bdi>${id}</bdi></p>` : nothing}
      <p class="quiet">Made ${time(made)}</p>
      ${missing?.length ? html`<p class="note">The data of these is not where it belongs: ${missing.join(', ')}. <i>check</i> says more.</p>`
        : nothing}
      <div class="row"><a class="button" href=${to('data', {container: id})}
        aria-label=${`Data of ${name || id}`}>Data</a>
        <a class="button second" href=${to('start', {container: id})}
        aria-label=${`Connect an app to ${name || id}`}>Connect an app</a></div></article>`;
  }
}
define('containers-screen', ContainersScreen, ['containers']);

/// Makes a container with its first token, or a further token of one that is there; then shows what to paste.
class StartScreen extends Asking {
  asks() { return [this.container]; }

  load() { if (this.container && this.state.made !== this.container) this.state = {}; }

  render() {
    const {token} = this.state;
    return html`<h1>${this.container ? html`Connect an app to <bdi>${this.container}</bdi>` : 'New container'}</h1>
      ${token ? this.#done() : this.#form()}
      ${this.container ? html`<h2>Tokens</h2><api-tokens .values=${{of: this.container, made: token}}></api-tokens>` : nothing}`;
  }

  #form() {
    const {failure, busy} = this.state;
    if (!may('api-token create')) return html`<p class="note">${LOOKS_ONLY}</p>`;
    return html`<form class="card narrow" @submit=${submitted(values => this.#submit(values))}>
      ${this.container ? nothing : html`
        ${field({label: 'ID', name: 'id', required: true, maxlength: 128, pattern: '[A-Za-z0-9.\\-]+', autofocus: true,
          hint: 'Such as iCloud.org.example.Notes: letters, digits, dots and hyphens. It never changes.'})}
        ${field({label: 'Name of the app', name: 'name', hint: 'People read it when they sign in.'})}`}
      ${environmentField('', 'In development, record types appear as records are saved.')}
      ${field({label: 'Name of the token', name: 'token', hint: 'To know it by in lists. Left empty, the server names it.'})}
      ${field({label: 'Origin of the web app', name: 'origin', type: 'url',
        hint: 'Such as https://notes.example.org: browsers use the token there alone. Left empty, anywhere.'})}
      <fieldset><legend>People sign in</legend>
        ${[['post-message', 'in a window that the web app opens'], ['address', 'at a page that leads back to an address'],
          ['', 'not at all: the public database only']].map(([value, words], index) => check(words, 'callback', index === 0, null, 'radio', value))}
        </fieldset>
      ${field({label: 'The address that sign-in leads back to', name: 'address',
        hint: 'For the second choice: https://notes.example.org/signed-in, or a scheme of your app, notes://signed-in.'})}
      ${problem(failure)}
      <div class="row"><button ?disabled=${busy}>${busy ? 'Making…' : this.container ? 'Make a token'
        : 'Make container and token'}</button>
        <a class="button second" href=${to('containers')}>Cancel</a></div></form>`;
  }

  async #submit({id, name, environment, token, origin, callback, address}) {
    const container = this.container ?? id;
    this.set({busy: true, failure: null});
    await this.attempt(async () => {
      // A second attempt, after the token was refused, finds its container made.
      if (!this.container && this.state.container !== container) {
        await run('container create', {id: container});
        this.set({container});
        changed();
      }
      if (!this.container && name) await run('container set', {id: container, 'key=value': [`name=${name}`]});
      const {apiToken} = await run('api-token create', {container, environment, name: token, origin: origin ? [origin] : undefined,
        callback: callback === 'address' ? address : callback});
      changed();
      this.state = {token: apiToken, environment, made: container, language: 'Web'};
      say('The token is made.');
      if (this.isConnected) go('start', {container}, {replaces: true});
    });
  }

  #done() {
    const {token, environment, made, language} = this.state;
    const snippets = languages({server: serverURL, container: made, environment, token, client: clientPath});
    const {text} = snippets.find(({name}) => name === language);
    return html`<section class="card"><h2>Your token</h2>
      <p>It is shown this once. Web pages and apps carry it; it lets nobody at private data without a sign-in.</p>
      ${copyable(token, 'API token')}
      <h2>Paste and run</h2>
      ${tabs('Language', snippets.map(({name}) => [name, name]), language, 'snippet', name => this.set({language: name}))}
      <div role="tabpanel" id="snippet" aria-labelledby=${`tab-${language}`}>${copyable(text, `${language} code`)}</div>
      <div class="row"><a class="button" href=${to('data', {container: made, environment})}>Look at the data</a>
        ${button('Another token', () => { this.state = {}; }, {kind: 'second'})}</div>
    </section>`;
  }
}
define('start-screen', StartScreen, ['container', 'state']);

const VIEWS = [['', 'API tokens', 'api-token list', 'api-tokens'], ['keys', 'Server keys', 'server-key list', 'server-keys'],
  ['sessions', 'Web tokens', 'web-token list', 'web-tokens'], ['operators', 'Operators', 'operator list', 'operator-list'],
  ['scripts', 'Operator tokens', 'operator-token list', 'operator-tokens']];

class TokensScreen extends Part {
  render() {
    return html`<h1>Tokens and keys</h1>${this.views('Kinds of tokens', VIEWS, view => to('tokens', {view}))}`;
  }
}
define('tokens-screen', TokensScreen, ['values', 'containers']);

/// A list by pages, with a search, a form above it, and an end for each of its items.
class TokenList extends Listing {
  asks() { return [this.values, this.where()]; }

  /// What the list is of, beside its search; null where something has to be chosen first.
  where() { return {}; }

  async find(signal) {
    return this.where() && this.page(this.command, this.key, {...this.where(), search: this.values.search}, signal);
  }

  render() {
    const {search: word} = this.values;
    const {title, act = 'Make', item} = this.adding || {};
    // Within another screen, which has the rest.
    const isPart = this.values.of;
    return html`${isPart ? nothing : html`<p class="quiet">${this.about}</p>`}
      ${this.form(this.adding && html`<h2>${title}</h2>${this.fields(item)}`, (values, {elements}) => this.#submit(values, elements),
        this.made && html`<h2>${this.made.title}</h2><p>${this.made.text}</p>${copyable(this.made.value, this.made.title)}`, act)}
      ${this.where() ? html`${isPart ? nothing : html`${may(this.making) && !this.adding ? html`<div class="row">
          ${button(`${this.makingTitle}…`, () => this.open({title: this.makingTitle}), {kind: ''})}${this.more()}</div>` : nothing}
        ${search(short({label: `${this.searched} begins with`, name: 'search', type: 'search', value: word}), change)}`}
        ${this.shown('Looking…', ({[this.key]: items}) => items.length === 0 ? empty(word ? 'None begins so.' : this.none)
          : html`${table('Table', [...Object.keys(this.columns), ''], items.map(item => html`<tr>${
            Object.values(this.columns).map((shown, index) => index ? html`<td>${shown(item)}</td>` : html`<th scope="row">${shown(item)}</th>`)}
            <td><div class="row tools">${this.actions(item)}</div></td></tr>`))}
            ${this.foot(many(items.length, this.one))}`)}` : nothing}`;
  }

  more() { return nothing; }

  /// The word for one of them.
  get one() { return this.command.split(/[- ]/).at(-2); }

  open(form) {
    this.close();
    this.adding = form;
    this.updateComplete.then(() => this.querySelector('form.card input, form.card select, form.card textarea')?.focus());
  }

  #submit(values, elements) {
    return this.perform(async () => {
      const {secret, done} = await this.send(values, this.adding, elements);
      [this.made, this.done] = [secret, done];
      if (!secret) this.adding = null;
      say('It is done.');
      this.load();
    });
  }

  /// A button that ends something by its name, after a question.
  ending(name, title, text, command, values, act = 'Revoke') {
    return may(command) ? button(act, async () => {
      if (await this.act(command, values, 'It is done.', {act, title, text: html`<p>${text}</p>`})) this.load();
    }, {label: `${act} ${name}`}) : nothing;
  }

  /// A container and an environment to choose.
  placed() {
    return html`${select({label: 'Container', name: 'container', list: named(this.containers)})}
      ${environmentField()}`;
  }
}

/// Columns that several lists have.
const NAMED = {Name: ({name}) => html`<bdi>${name ?? '–'}</bdi>`};
const WHERE = {Container: ({container, environment}) => html`<bdi>${container}</bdi>, ${environment}`};
const MADE = {Made: ({made}) => time(made)};
const ENDS = {Ends: ({expires}) => time(expires)};
const USED = {'Last use': ({lastUsed}) => lastUsed ? time(lastUsed) : 'never'};
const whose = ({email}) => html`<bdi>${email || '–'}</bdi>`;
const brief = id => id.slice(0, 12);
const code = id => html`<code title=${id}>${brief(id)}…</code>`;
const seconds = days => String(Math.round(Number(days) * 86_400));
const lines = text => text.split('\n').map(line => line.trim()).filter(Boolean);

class APITokens extends TokenList {
  command = 'api-token list';
  key = 'apiTokens';
  making = 'api-token create';
  makingTitle = 'New API token';
  searched = 'Name';
  none = 'No app has a token yet.';
  about = 'An API token names the app. Browsers use it at its origins alone, and it lets nobody at private data without a sign-in.';
  columns = {...NAMED, ...WHERE,
    Origins: ({origins}) => origins.length ? origins.map(each => html`<div>${each}</div>`) : 'any',
    'Sign-in': ({callback}) => callback === 'post-message' ? 'in a window' : callback ?? '–', ...MADE, ...USED};

  async find(signal) {
    const {of} = this.values;
    if (!of) return super.find(signal);
    const {items} = await all(this.command, this.key, {}, {signal});
    return {apiTokens: items.filter(({container}) => container === of)};
  }

  actions(token) {
    const {name} = token;
    return html`${may('api-token set') ? button('Change', () => this.open({title: `Change ${name}`, act: 'Save', item: token}), {label: `Change ${name}`}) : nothing}
      ${this.ending(name, 'Revoke the token?', html`Apps that carry <b><bdi>${name}</bdi></b> get no answer any more, at once. It cannot
        be undone.`, 'api-token revoke', {name})}`;
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

  async send({origins, callback, ...values}, {item}) {
    const origin = lines(origins);
    if (item) {
      await run('api-token set', {name: item.name, callback: callback || 'none', ...origin.length ? {origin} : {'any-origin': true}});
      return {done: 'The token is changed. Apps keep the one that they have.'};
    }
    const {apiToken} = await run('api-token create', {...values, callback, ...origin.length ? {origin} : {}});
    return {secret: {title: 'The API token', value: apiToken, text: 'It is shown this once. Apps and web pages carry it.'}};
  }
}
define('api-tokens', APITokens, LISTING);

const KEY_COMMANDS = 'openssl ecparam -name prime256v1 -genkey -noout -out key.pem\nopenssl ec -in key.pem -pubout';

class ServerKeys extends TokenList {
  command = 'server-key list';
  key = 'serverKeys';
  making = 'server-key add';
  makingTitle = 'Add a server key';
  searched = 'Key ID';
  none = 'No server has a key yet.';
  about = 'A server key lets the holder of a P-256 key sign requests. The server has its public half alone.';
  columns = {'Key ID': ({keyID}) => code(keyID), ...NAMED, ...WHERE,
    Reaches: ({scope}) => scope === 'container' ? 'all databases' : 'the public database', ...MADE, ...USED};

  actions({keyID, name}) {
    return this.ending(name ?? brief(keyID), 'Revoke the key?', 'Requests that are signed by it are refused, at once. It cannot be undone.',
      'server-key revoke', {keyid: keyID});
  }

  fields() {
    return html`${this.placed()}${field({label: 'Name', name: 'name', maxlength: 128})}
      <p>Make a key pair where it will be used; what the second line prints is for here.</p>${copyable(KEY_COMMANDS, 'Commands')}
      <div class="field"><label for="public-key">Public key</label><textarea id="public-key" name="public-key" rows="5" required
        placeholder="-----BEGIN PUBLIC KEY-----"></textarea></div>
      <fieldset><legend>Reaches</legend>${check('the public database', 'scope', true, null, 'radio', 'public')}
        ${check('all databases, on behalf of any user', 'scope', false, null, 'radio', 'container')}</fieldset>`;
  }

  async send(values) {
    const {keyID} = await run('server-key add', values);
    return {secret: {title: 'The key ID', value: keyID, text: 'Requests name the key by it. It is no secret.'}};
  }
}
define('server-keys', ServerKeys, LISTING);

class WebTokens extends TokenList {
  command = 'web-token list';
  key = 'webTokens';
  making = 'web-token create';
  makingTitle = 'New web token';
  searched = 'Token ID';
  none = 'Nobody is signed in.';
  about = 'A web token acts as a user. Apps get one when their user signs in; one for a script is made here.';
  columns = {'Token ID': ({tokenID}) => code(tokenID), User: whose, Since: MADE.Made, ...ENDS, ...USED};

  where() {
    const {container, environment = 'development'} = this.values;
    return container ? {container, environment} : null;
  }

  render() {
    const {container, environment = 'development'} = this.values;
    return html`<div class="query">${pick('Container', named(this.containers, 'choose…'), container, to => change({container: to}))}
      ${environments(environment, name => change({environment: name}))}</div>
      ${container ? super.render() : empty('Choose a container to see who is signed in.')}`;
  }

  actions({tokenID, email}) {
    return email ? this.ending(brief(tokenID), 'End the session?', html`<b><bdi>${email}</bdi></b> is signed out there, at once.`,
      'web-token revoke', {...this.where(), email, tokenid: tokenID}, 'End') : nothing;
  }

  fields() {
    return html`${field({label: 'E-mail address of the user', name: 'email', type: 'email', required: true})}
      ${field({label: 'Days until it ends', name: 'days', type: 'number', value: '1', required: true})}`;
  }

  async send({email, days}) {
    const {webAuthToken} = await run('web-token create', {...this.where(), email, expires: seconds(days)});
    return {secret: {title: 'The web token', value: webAuthToken, text: 'It is shown this once, and acts as the user.'}};
  }
}
define('web-tokens', WebTokens, LISTING);

const rightsOf = ({readOnly, allContainers, containers}) => html`${readOnly ? 'looks at' : 'changes'} ${allContainers
  ? 'everything' : (containers ?? []).map((name, index) => html`${index ? ', ' : ''}<bdi>${name}</bdi>`)}`;

/// What an operator or a token is to have.
const rightsFields = (containers, {readOnly = false, allContainers = true, containers: some = []} = {}) => {
  // Also those that are no more.
  const all = [...containers ?? [], ...some.filter(id => !containers?.some(each => each.id === id)).map(id => ({id}))];
  return html`${check('May look, and change nothing', 'read-only', readOnly)}
    <div class="field"><label for="some">Containers</label><select id="some" name="some" multiple size="5" aria-describedby="some-hint">
      ${named(all).map(([id, words]) => html`<option value=${id} .selected=${!allContainers && some.includes(id)}>${words}</option>`)}</select>
      <p class="quiet hint" id="some-hint">With none chosen: all containers, and the server itself. Ctrl adds one.</p></div>`;
};
const rightsFrom = ({'read-only': readOnly, some}) => {
  const container = [...some.selectedOptions].map(({value}) => value);
  return {'read-only': readOnly.checked, ...container.length ? {container} : {}};
};

const isMe = ({email}) => email === operator().email;

class OperatorList extends TokenList {
  command = 'operator list';
  key = 'operators';
  making = 'operator create';
  makingTitle = 'Make somebody an operator';
  searched = 'Account ID or whole address';
  none = 'Nobody is an operator.';
  about = 'Operators sign in here with a password and a second factor. Each thing that they do is noted in the audit log.';
  columns = {'E-mail address': each => html`${whose(each)}${isMe(each) ? html` <span class="quiet">you</span>` : nothing}`, Rights: rightsOf,
    'Second factor': ({secondFactor}) => secondFactor ? 'yes' : html`<span class="bad">not yet</span>`, Since: MADE.Made};

  more() {
    return button('Invite an operator…', () => this.open({title: 'Invite an operator', act: 'Invite', invites: true}), {kind: 'second'});
  }

  actions(each) {
    const {email} = each;
    return email ? html`${may('operator create') ? button('Rights', () => this.open({title: `Rights of ${email}`, act: 'Save', item: each}),
        {label: `Change the rights of ${email}`}) : nothing}
      ${this.ending(email, 'Take the role away?', html`<b><bdi>${email}</bdi></b> is no operator any more, at once. ${isMe(each)
        ? html`<b>That is you: you are signed out.</b>` : 'Their account stays.'}`, 'operator remove', {email}, 'Remove')}` : nothing;
  }

  fields(item) {
    return html`${item ? html`<p class="quiet">Operators whose rights change are signed out.</p>`
      : field({label: 'E-mail address', name: 'email', type: 'email', required: true,
        hint: this.adding.invites ? 'Who has no account yet.' : 'Of somebody with an account.'})}${rightsFields(this.containers, item)}`;
  }

  async send(values, {item, invites}, elements) {
    const email = item?.email ?? values.email;
    const rights = rightsFrom(elements);
    if (!invites) {
      await run('operator create', {email, ...rights});
      return {done: html`<bdi>${email}</bdi> has these rights now.`};
    }
    const {link} = await run('operator invite', {email, ...rights});
    return link ? {secret: {title: 'The invitation', value: link, text: invited(email, link)}} : {done: invited(email)};
  }
}
define('operator-list', OperatorList, LISTING);

class OperatorTokens extends TokenList {
  command = 'operator-token list';
  key = 'operatorTokens';
  making = 'operator-token create';
  makingTitle = 'New operator token';
  searched = 'Name';
  none = 'No script acts as an operator.';
  about = 'An operator token lets a script use /console/api. It may never do what wants a fresh sign-in.';
  columns = {...NAMED, Rights: rightsOf, ...MADE, ...ENDS, ...USED};

  actions({name}) {
    return this.ending(name, 'Revoke the token?', html`Scripts that carry <b><bdi>${name}</bdi></b> are refused, at once. It cannot be
      undone.`, 'operator-token revoke', {name});
  }

  fields() {
    return html`${field({label: 'Name', name: 'name', maxlength: 128, hint: 'To know it by in lists. Left empty, the server names it.'})}
      ${field({label: 'Days until it ends', name: 'days', type: 'number', value: '90', required: true})}${rightsFields(this.containers)}`;
  }

  async send({name, days}, form, elements) {
    const {operatorToken} = await run('operator-token create', {name, expires: seconds(days), ...rightsFrom(elements)});
    return {secret: {title: 'The operator token', value: operatorToken, text: 'It is shown this once.'}};
  }
}
define('operator-tokens', OperatorTokens, LISTING);
