// People: their accounts and sign-ins, and why the devices of one of them show old data.

import {Part, bytes, confirm, copyable, define, empty, field, html, many, nothing, number, problem, say, time, waiting}
  from './parts.js';
import {Latest, download, isHere, may, run} from './api.js';
import {give} from './transfer.js';
import './person-apps.js';
import {change, to} from './address.js';

const nameOf = ({givenName, familyName}) => [givenName, familyName].filter(Boolean).join(' ');

class PeopleScreen extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.people = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) {
    if (!changes.has('values')) return;
    const {search = '', person} = this.values;
    if (this.asked !== search) {
      this.asked = search;
      this.#load();
    }
    if (this.person?.email !== person) this.person = person ? {email: person} : null;
    if (this.values.user && this.sought !== this.values.user) this.#seek();
  }

  /// From the name by which an app knows somebody to the person.
  async #seek() {
    const {user, container, environment} = this.values;
    this.sought = user;
    try {
      const {email, accountID} = await run('user named', {container, userrecordname: user});
      change({user: '', person: email || accountID, container, environment}, {replaces: true});
    } catch (failure) {
      this.failure = failure;
    }
  }

  async #load(more = false) {
    const signal = this.#latest.begin();
    this.failure = null;
    if (!more) [this.people, this.next] = [null, undefined];
    try {
      const page = await run('user list', {search: this.values.search, limit: 100, after: this.next}, {signal});
      this.people = [...this.people ?? [], ...page.users];
      this.next = page.after;
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    if (this.values.person) {
      return html`<person-view .email=${this.values.person} .values=${this.values} .containers=${this.containers}
        @gone=${() => { this.#load(); }}></person-view>`;
    }
    if (this.values.user) {
      return html`<h1>People</h1>${this.failure ? html`${problem(this.failure, () => this.#seek())}
        <p><a href=${to('people', {container: this.values.container})}>To the people</a></p>` : waiting('Looking whose name this is…')}`;
    }
    return html`<div class="head"><h1>People</h1>${may('user invite') ? html`<button type="button"
        @click=${() => { this.inviting = true; }}>Invite somebody</button>` : nothing}</div>
      ${this.inviting ? this.#invite() : nothing}
      <form class="query" role="search" @submit=${event => {
        event.preventDefault();
        change({search: event.target.elements.search.value.trim()});
      }}><label for="search">E-mail address or phone number begins with</label>
        <input id="search" name="search" type="search" class="short" .value=${this.values.search ?? ''} autocomplete="off">
        <button class="second small">Search</button></form>
      ${this.failure ? problem(this.failure, () => this.#load(Boolean(this.people))) : nothing}
      ${!this.people ? this.failure ? nothing : waiting('Looking for people…')
        : this.people.length === 0 ? empty(this.values.search ? 'Nobody has such an address.' : 'Nobody has an account yet.')
        : this.#table()}`;
  }

  #table() {
    return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">E-mail address</th><th scope="col">Name</th>
      <th scope="col">Signs in by</th><th scope="col">Since</th></tr></thead><tbody>${this.people.map(person => html`<tr>
        <th scope="row"><a href=${to('people', {...this.values, person: person.email})}><bdi>${person.email}</bdi></a></th>
        <td><bdi>${nameOf(person) || '–'}</bdi></td><td>${person.hasPassword ? 'password' : 'other ways'}</td>
        <td>${time(person.made)}</td></tr>`)}</tbody></table></div>
      <p class="quiet foot">${number(this.people.length)} people${this.next ? html`, and more.
        <button type="button" class="second small" @click=${() => this.#load(true)}>Show more</button>` : nothing}</p>`;
  }

  #invite() {
    const {link, failure, busy, email} = this.invitation ?? {};
    return html`<form class="card narrow" @submit=${async event => {
      event.preventDefault();
      const email = event.target.elements.email.value.trim();
      this.invitation = {busy: true};
      try {
        this.invitation = {email, ...await run('user invite', {email})};
        say('The invitation is made.');
      } catch (failure) { this.invitation = {failure}; }
    }}>${email ? html`<p>${link ? html`No mail is set up here, so send <bdi>${email}</bdi> this link. It makes their account.`
      : html`A letter is on its way to <bdi>${email}</bdi>.`}</p>${link ? copyable(link, 'Invitation link') : nothing}`
      : html`${field({label: 'E-mail address', name: 'email', type: 'email', required: true, autofocus: true})}
        ${problem(failure)}`}
      <div class="row">${email ? nothing : html`<button ?disabled=${busy}>Invite</button>`}
        <button type="button" class="second" @click=${() => { this.inviting = false; this.invitation = null; }}>${
          email ? 'Close' : 'Cancel'}</button></div></form>`;
  }
}
define('people-screen', PeopleScreen, ['values', 'containers', 'people', 'next', 'failure', 'inviting', 'invitation']);

class PersonView extends Part {
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
    if (changes.has('email')) this.#load();
  }

  async #load() {
    const signal = this.#latest.begin();
    this.state = {};
    try {
      const {users} = await run('user list', {search: this.email, limit: 10}, {signal});
      const person = users.find(({email}) => email === this.email);
      if (!person) throw new Error('Nobody has this address, or nobody whom you may see.');
      const factor = may('user second-factor') ? await run('user second-factor', {email: this.email}, {signal}) : null;
      this.state = {person, factor};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure};
    }
  }

  render() {
    const {person, failure} = this.state;
    return html`<p><a href=${to('people', {...this.values, person: ''})}>← People</a></p>
      <h1><bdi>${person ? nameOf(person) || this.email : this.email}</bdi></h1>
      ${failure ? problem(failure, () => this.#load()) : !person ? waiting('Looking…') : html`
        ${this.#about()}
        ${isHere('user apps') ? html`<person-apps .email=${this.email} .values=${this.values}></person-apps>` : nothing}
        <user-sync .email=${this.email} .values=${this.values} .containers=${this.containers}></user-sync>
        ${this.#actions()}`}`;
  }

  #about() {
    const {person, factor} = this.state;
    return html`<dl class="about card">
      <div><dt>Addresses</dt><dd>${person.addresses.map(({address, verified}) => html`<div><bdi>${address}</bdi>
        <span class="quiet">${verified ? 'verified' : 'not verified'}</span>
        ${!verified && may('user verify') ? html`<button type="button" class="second small"
          @click=${() => this.#do('user verify', {email: this.email, address}, 'The address is verified.')}>Verify</button>` : nothing}
        </div>`)}</dd></div>
      <div><dt>Account</dt><dd><code>${person.accountID}</code></dd></div>
      <div><dt>Since</dt><dd>${time(person.made)}</dd></div>
      <div><dt>Password</dt><dd>${person.hasPassword ? 'yes' : 'no'}</dd></div>
      ${factor ? html`<div><dt>Second factor</dt><dd>${factor.secondFactor ? `yes, ${factor.recoveryCodes} recovery codes left` : 'no'}
        ${factor.secondFactor && may('user password') ? html`<button type="button" class="second small" @click=${() => this.#do(
          'user second-factor', {email: this.email, remove: true}, 'The second factor is removed.',
          {title: 'Remove the second factor?', act: 'Remove', text: 'They sign in by their password alone until they set it up again.'})}>
          Remove</button>` : nothing}</dd></div>` : nothing}</dl>`;
  }

  #actions() {
    const {done, doFailure} = this.state;
    const erase = may('user erase') ? html`<button type="button" class="danger" @click=${() => this.#erase()}>Erase…</button>` : nothing;
    return html`<section aria-labelledby="ending"><h2 id="ending">All that is kept of them</h2>
      <p class="quiet">They get it as an archive at their account, too.</p>
      <div class="row">${may('user export') ? html`<button type="button" class="second" ?disabled=${this.state.exporting !== undefined}
        @click=${() => this.#export()}>${this.state.exporting === undefined ? 'Export' : `Exporting, ${bytes(this.state.exporting)}…`}
        </button>` : nothing}${erase}</div>
      ${done ? html`<p class="note" role="status">${done}</p>` : nothing}${problem(doFailure)}</section>`;
  }

  async #do(command, values, done, question) {
    if (question && !await confirm(question)) return;
    try {
      await run(command, values);
      await this.#load();
      this.state = {...this.state, done};
    } catch (failure) {
      this.state = {...this.state, doFailure: failure, done: null};
    }
  }

  async #export() {
    const signal = this.#latest.begin();
    this.state = {...this.state, exporting: 0, doFailure: null, done: null};
    try {
      const archive = await download('user export', {email: this.email}, {
        signal, tell: exporting => { this.state = {...this.state, exporting}; }});
      give(`${this.email}.zip`, 'application/zip', [archive]);
      this.state = {...this.state, exporting: undefined, done: `${this.email}.zip has ${bytes(archive.size)}.`};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, exporting: undefined, doFailure: failure};
    }
  }

  async #erase() {
    const meant = await confirm({title: 'Erase this person?', act: 'Erase', typed: this.email,
      text: html`<p>Their account and all that every container keeps of them are erased, and their public records lose their name.
        It cannot be undone.</p>`});
    if (!meant) return;
    try {
      await run('user erase', {email: this.email, yes: true});
      say('The person is erased.');
      this.dispatchEvent(new CustomEvent('gone'));
      change({person: ''});
    } catch (failure) {
      this.state = {...this.state, doFailure: failure};
    }
  }
}
define('person-view', PersonView, ['email', 'values', 'containers', 'state']);

/// A user's sync, explained: causes with what to do, then each device against each zone.
class UserSync extends Part {
  #latest = new Latest();

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) {
    const {container, environment = 'development'} = this.values;
    const asked = JSON.stringify([this.email, container, environment]);
    if (!changes.has('values') || asked === this.asked) return;
    this.asked = asked;
    this.#load();
  }

  async #load() {
    const {container, environment = 'development'} = this.values;
    [this.report, this.failure, this.sessions] = [null, null, null];
    if (!container) return;
    const signal = this.#latest.begin();
    try {
      this.report = await run('user sync', {email: this.email, container, environment}, {signal});
      const {webTokens} = await run('web-token list', {container, environment, email: this.email}, {signal});
      this.sessions = webTokens;
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    const {container, environment = 'development'} = this.values;
    return html`<section aria-labelledby="sync"><h2 id="sync">Sync, explained</h2>
      <div class="query"><label>App <select @change=${event => change({container: event.target.value})}>
        <option value="">choose…</option>${(this.containers ?? []).map(({id, name}) => html`<option value=${id}
          ?selected=${id === container}>${name || id}</option>`)}</select></label>
        <div class="switch" role="group" aria-label="Environment">${['development', 'production'].map(name => html`<button type="button"
          aria-pressed=${name === environment ? 'true' : 'false'} @click=${() => change({environment: name})}>${name}</button>`)}</div>
        ${container ? html`<button type="button" class="second small" @click=${() => this.#load()}>Look again</button>
          ${may('logs') ? html`<a href=${to('logs', {container, user: this.email})}>Their requests</a>` : nothing}
          ${may('record list') ? html`<a class="button second small"
            href=${to('data', {container, environment, database: 'private', as: this.email})}>Act as them</a>` : nothing}` : nothing}</div>
      ${!container ? empty('Choose an app to see how its devices stand.') : this.failure ? problem(this.failure, () => this.#load())
        : !this.report ? waiting('Looking at the requests of the last days…') : this.#told()}</section>`;
  }

  #told() {
    const {summary, causes, devices, usedBytes, quotaBytes, destinations, shares} = this.report;
    return html`${causes.length === 0 ? html`<p class="note"><b>${summary}</b></p>` : html`<ol class="causes">${causes.map(({problem: what, remedy, devices: on, since}) => html`<li class="card">
        <p><b>${what}</b></p><p>${remedy}</p><p class="quiet">${on.length ? `On ${on.join(', ')}.` : nothing} ${
          since ? html`Since ${time(Date.parse(since))}.` : nothing}</p></li>`)}</ol>`}
      <dl class="about"><div><dt>Stored in this app</dt><dd>${bytes(usedBytes)} of ${quotaBytes ? bytes(quotaBytes) : 'any'}</dd></div>
        <div><dt>Pushes go to</dt><dd>${destinations.length || 'no'} devices</dd></div>
        <div><dt>Shares joined</dt><dd>${shares.length}</dd></div></dl>
      <h3>Devices</h3>${devices.length === 0 ? empty('No device has asked for anything in the days that are kept.')
        : html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">Device</th><th scope="col">Last seen</th><th scope="col">Zone</th>
          <th scope="col">Behind</th><th scope="col">Errors</th></tr></thead><tbody>${devices.map(device => this.#device(device))}
          </tbody></table></div>`}
      ${this.#sessionList()}`;
  }

  #device({clientId, app, last, requests, session, sessionStands, zones, errors}) {
    const rows = zones.length ? zones : [null];
    return rows.map((zone, index) => html`<tr>${index === 0 ? html`<th scope="row" rowspan=${rows.length}><bdi>${app ?? clientId
        ?? 'without a name'}</bdi>${session && !sessionStands ? html`<br><span class="bad">signed out</span>` : nothing}</th>
      <td rowspan=${rows.length}>${time(Date.parse(last))}<br><span class="quiet">${many(requests, 'request')}</span></td>` : nothing}
      <td>${zone ? html`${zone.database} <bdi>${zone.zoneName}</bdi>` : '–'}</td>
      <td>${!zone ? '–' : zone.end === undefined ? 'the zone is gone' : zone.behind === 0 ? 'nothing'
        : html`<b>${many(zone.behind, 'record')}</b>${zone.behindSince ? html`, since ${time(Date.parse(zone.behindSince))}` : nothing}`}</td>
      ${index === 0 ? html`<td rowspan=${rows.length}>${errors.length === 0 ? 'none' : errors.map(({code, count, meaning, operation}) =>
        html`<div><b>${number(count ?? 1)} × ${code}</b> ${operation ?? ''}${meaning ? html`<br>${meaning}` : nothing}</div>`)}</td>` : nothing}
      </tr>`);
  }

  #sessionList() {
    if (!this.sessions?.length) return nothing;
    return html`<div class="head"><h3>Signed in</h3>${may('web-token revoke') && this.sessions.length > 1 ? html`<button type="button"
      class="second small" @click=${() => this.#end({all: true}, 'All sessions are ended.')}>End all</button>` : nothing}</div><div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">Session</th><th scope="col">Since</th>
      <th scope="col">Ends</th><th scope="col"><span class="said">Action</span></th></tr></thead><tbody>${this.sessions.map(({tokenID, made, expires}) => html`<tr>
        <th scope="row"><code>${tokenID.slice(0, 12)}…</code></th><td>${time(made)}</td><td>${time(expires)}</td>
        <td>${may('web-token revoke') ? html`<button type="button" class="second small" aria-label=${`End session ${tokenID.slice(0, 12)}`}
          @click=${() => this.#end({tokenid: tokenID}, 'The session is ended.')}>End</button>` : nothing}</td></tr>`)}</tbody></table></div>`;
  }

  async #end(which, done) {
    const {container, environment = 'development'} = this.values;
    try {
      await run('web-token revoke', {container, environment, email: this.email, ...which});
      say(done);
      this.#load();
    } catch (failure) { this.failure = failure; }
  }
}
define('user-sync', UserSync, ['email', 'values', 'containers', 'report', 'failure', 'sessions']);
