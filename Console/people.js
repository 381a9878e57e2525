// People: their accounts and sign-ins, the apps that know one of them with the roles there, and why the devices of one of them
// show old data.

import {Asking, LISTING, Listing, actAs, button, bytes, change, copyable, define, download, empty, environments, facts, field, give, go,
  html, invited, isHere, many, may, moment, named, nothing, number, pick, problem, run, say, search, short, submitted, table, time, to, waiting}
  from './screen.js';

/// Moments within a text as people read them.
const dated = text => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, at => moment(Date.parse(at)));
const nameOf = ({givenName, familyName}) => [givenName, familyName].filter(Boolean).join(' ');

class PeopleScreen extends Listing {
  asks() { return [this.values.search]; }

  willUpdate() {
    super.willUpdate();
    if (this.values.user && this.sought !== this.values.user) this.#seek();
  }

  find(signal) { return this.page('user list', 'users', {search: this.values.search}, signal); }

  /// From the name by which an app knows somebody to the person.
  async #seek() {
    const {user, container, environment} = this.values;
    this.sought = user;
    try {
      const {email, accountID} = await run('user named', {container, userrecordname: user});
      if (this.#seeks(user)) change({user: '', person: email || accountID, container, environment}, {replaces: true});
    } catch (failure) {
      if (this.#seeks(user)) this.failure = failure;
    }
  }

  #seeks(user) { return this.isConnected && this.values.user === user; }

  render() {
    if (this.values.person) {
      return html`<person-view .email=${this.values.person} .values=${this.values} .containers=${this.containers}
        @gone=${() => this.load()}></person-view>`;
    }
    if (this.values.user) {
      return html`<h1>People</h1>${this.failure ? html`${problem(this.failure, () => this.#seek())}
        <p><a href=${to('people', {container: this.values.container})}>To the people</a></p>` : waiting('Looking whose name this is…')}`;
    }
    const {search: word} = this.values;
    return html`<div class="head"><h1>People</h1>${this.opener('Invite somebody', 'user invite')}</div>
      ${this.#invite()}
      ${search(short({label: 'E-mail address or phone number begins with', name: 'search', type: 'search', value: word}), change)}
      ${this.shown('Looking for people…', ({users}) => users.length === 0
        ? empty(word ? 'Nobody has such an address.' : 'Nobody has an account yet.')
        : html`${table('People', ['E-mail address', 'Name', 'Signs in by', 'Since'], users.map(person => html`<tr>
          <th scope="row"><a href=${to('people', {...this.values, person: person.email})}><bdi>${person.email}</bdi></a></th>
          <td><bdi>${nameOf(person) || '–'}</bdi></td><td>${person.hasPassword ? 'password' : 'other ways'}</td>
          <td>${time(person.made)}</td></tr>`))}${this.foot(many(users.length, 'person'))}`)}`;
  }

  #invite() {
    const {email, link} = this.made ?? {};
    return this.form(field({label: 'E-mail address', name: 'email', type: 'email', required: true, autofocus: true}), async values => {
      const made = await this.act('user invite', values, 'The invitation is made.');
      this.made = made && {...values, ...made};
    }, this.made && html`<p>${invited(email, link)}</p>${link ? copyable(link, 'Invitation link') : nothing}`, 'Invite');
  }
}
define('people-screen', PeopleScreen, LISTING);

class PersonView extends Listing {
  asks() { return [this.email]; }

  async find(signal) {
    const {users} = await run('user list', {search: this.email, limit: 10}, {signal});
    const person = users.find(({email}) => email === this.email);
    if (!person) throw new Error('Nobody has this address, or nobody whom you may see.');
    const factor = may('user second-factor') ? await run('user second-factor', {email: this.email}, {signal}) : null;
    return {person, factor};
  }

  render() {
    const {person} = this.found ?? {};
    return html`<p><a href=${to('people', {...this.values, person: ''})}>← People</a></p>
      <h1><bdi>${person ? nameOf(person) || this.email : this.email}</bdi></h1>
      ${this.shown('Looking…', found => html`
        ${this.#about(found)}
        ${isHere('user apps') ? html`<person-apps .email=${this.email} .values=${this.values}></person-apps>` : nothing}
        <user-sync .email=${this.email} .values=${this.values} .containers=${this.containers}></user-sync>
        ${this.#actions()}`)}`;
  }

  #about({person, factor}) {
    return facts([
      ['Addresses', person.addresses.map(({address, verified}) => html`<div><bdi>${address}</bdi>
        <span class="quiet">${verified ? 'verified' : 'not verified'}</span>
        ${!verified && may('user verify') ? button('Verify',
          () => this.#do('user verify', {email: this.email, address}, 'The address is verified.')) : nothing}</div>`)],
      ['Account', html`<code>${person.accountID}</code>`], ['Since', time(person.made)],
      ['Password', person.hasPassword ? 'yes' : 'no'],
      factor && ['Second factor', html`${factor.secondFactor ? `yes, ${factor.recoveryCodes} recovery codes left` : 'no'}
        ${factor.secondFactor && may('user password') ? button('Remove', () => this.#do(
          'user second-factor', {email: this.email, remove: true}, 'The second factor is removed.',
          {title: 'Remove the second factor?', act: 'Remove', text: 'They sign in by their password alone until they set it up again.'}))
          : nothing}`]], 'about card');
  }

  #actions() {
    const {exporting} = this.state;
    return html`<section aria-labelledby="ending"><h2 id="ending">All that is kept of them</h2>
      <p class="quiet">They get it at their account, too.</p>
      <div class="row">${may('user export') ? button(exporting === undefined ? 'Export' : `Exporting, ${bytes(exporting)}…`,
          () => this.#export(), {kind: 'second', disabled: exporting !== undefined}) : nothing}
        ${may('user erase') ? button('Erase…', () => this.#erase(), {kind: 'danger'}) : nothing}</div>
      ${this.outcome()}</section>`;
  }

  async #do(command, values, done, question) {
    if (await this.act(command, values, done, question)) this.load({keeps: true});
  }

  async #export() {
    this.set({exporting: 0});
    [this.done, this.doFailure] = [null, null];
    await this.ask(async signal => {
      const archive = await download('user export', {email: this.email}, {signal, tell: exporting => this.set({exporting})});
      give(`${this.email}.zip`, 'application/zip', [archive]);
      this.done = `${this.email}.zip has ${bytes(archive.size)}.`;
    }, failure => { this.doFailure = failure; });
    this.set({exporting: undefined});
  }

  async #erase() {
    const {still} = this;
    if (!await this.act('user erase', {email: this.email, yes: true}, 'The person is erased.', {
      title: 'Erase this person?', act: 'Erase', typed: this.email,
      text: html`<p>Their account and all that every container keeps of them are erased, and their public records lose their name.
        It cannot be undone.</p>`})) return;
    this.dispatchEvent(new CustomEvent('gone'));
    if (still()) change({person: ''});
  }
}
define('person-view', PersonView, [...LISTING, 'email', 'state']);

/// A user's sync, explained: causes with what to do, then each device against each zone.
class UserSync extends Asking {
  get #where() {
    const {container, environment = 'development'} = this.values;
    return {container, environment, email: this.email};
  }

  asks() { return [this.#where]; }

  async load() {
    this.state = {};
    if (!this.values.container) return;
    await this.ask(async signal => {
      const report = await run('user sync', this.#where, {signal});
      this.set({report});
      const {webTokens} = await run('web-token list', this.#where, {signal});
      this.set({sessions: webTokens});
    });
  }

  render() {
    const {container, environment = 'development'} = this.values;
    return html`<section aria-labelledby="sync"><h2 id="sync">Sync, explained</h2>
      <div class="query">${pick('App', named(this.containers, 'choose…'), container, to => change({container: to}))}
        ${environments(environment, name => change({environment: name}))}
        ${container ? html`${button('Look again', () => this.load())}
          ${may('logs') ? html`<a href=${to('logs', {container, user: this.email})}>Their requests</a>` : nothing}
          ${may('record list') ? button('Act as them', () => this.#act()) : nothing}` : nothing}</div>
      ${!container ? empty('Choose an app to see how its devices stand.') : this.state.failure ? problem(this.state.failure, () => this.load())
        : !this.state.report ? waiting('Looking at the requests of the last days…') : this.#told()}</section>`;
  }

  #act() {
    const {container, environment} = this.#where;
    return this.attempt(async still => {
      await actAs(this.#where);
      if (still()) go('data', {container, environment, database: 'private'});
    });
  }

  #told() {
    const {summary, causes, devices, usedBytes, quotaBytes, destinations, shares} = this.state.report;
    return html`${causes.length === 0 ? html`<p class="note"><b>${dated(summary)}</b></p>` : html`<ol class="causes">${causes.map(({problem: what, remedy, devices: on, since}) => html`<li class="card">
        <p><b>${dated(what)}</b></p><p>${remedy}</p><p class="quiet">${on.length ? `On ${on.join(', ')}.` : nothing} ${
          since ? html`Since ${time(Date.parse(since))}.` : nothing}</p></li>`)}</ol>`}
      ${facts([['Stored in this app', `${bytes(usedBytes)} of ${quotaBytes ? bytes(quotaBytes) : 'any'}`],
        ['Pushes go to', `${destinations.length || 'no'} devices`], ['Shares joined', shares.length]])}
      <h3>Devices</h3>${devices.length === 0 ? empty('No device has asked for anything in the days that are kept.')
        : table('Devices', ['Device', 'Last seen', 'Zone', 'Behind', 'Errors'], devices.map(device => this.#device(device)))}
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
    const {sessions} = this.state;
    if (!sessions?.length) return nothing;
    const mayEnd = may('web-token revoke');
    return html`<div class="head"><h3>Signed in</h3>${mayEnd && sessions.length > 1
      ? button('End all', () => this.#end({all: true}, 'All sessions are ended.')) : nothing}</div>
      ${table('Sessions', ['Session', 'Since', 'Ends', ''], sessions.map(({tokenID, made, expires}) => html`<tr>
        <th scope="row"><code>${tokenID.slice(0, 12)}…</code></th><td>${time(made)}</td><td>${time(expires)}</td>
        <td>${mayEnd ? button('End', () => this.#end({tokenid: tokenID}, 'The session is ended.'), {label: `End session ${
          tokenID.slice(0, 12)}`}) : nothing}</td></tr>`))}`;
  }

  #end(which, done) {
    return this.attempt(async () => {
      await run('web-token revoke', {...this.#where, ...which});
      say(done);
      this.load();
    });
  }
}
define('user-sync', UserSync, ['email', 'values', 'containers', 'state']);

class PersonApps extends Listing {
  asks() { return [this.email]; }

  find(signal) { return run('user apps', {email: this.email}, {signal}); }

  async #role(app, role, isGiven) {
    const {container, environment} = app;
    if (await this.act(isGiven ? 'user role add' : 'user role remove', {email: this.email, container, environment, role},
      isGiven ? 'The role is given.' : 'The role is taken.', !isGiven && {title: `Take the role ${role}?`, act: 'Take',
        text: html`<p><bdi>${this.email}</bdi> loses what the role grants in ${environment} of <bdi>${container}</bdi>, from the next
          request on.</p>`})) this.load({keeps: true});
  }

  render() {
    return html`<section aria-labelledby="apps"><h2 id="apps">Apps</h2>${this.outcome()}
      ${this.shown('Looking at the apps…', ({apps}) => apps.length === 0 ? empty('No app knows them yet.')
        : table('Apps', ['App', 'Environment', 'Stored', 'Roles'], apps.map(app => this.#line(app))))}</section>`;
  }

  #line(app) {
    const {container, environment, usedBytes, roles, knownRoles, userRecordName} = app;
    const isShown = container === this.values.container && environment === (this.values.environment ?? 'development');
    const others = knownRoles.filter(role => !roles.includes(role));
    return html`<tr><th scope="row"><a href=${to('people', {...this.values, container, environment})}
        aria-current=${isShown ? 'true' : nothing}><bdi>${container}</bdi></a><br><code class="small">${userRecordName}</code></th>
      <td>${environment}</td><td>${bytes(usedBytes)}</td>
      <td>${roles.map(role => html`<span class="chip"><bdi>${role}</bdi>${may('user role remove') ? button('×', () => this.#role(app, role, false),
          {kind: 'plain', label: `Take the role ${role} in ${environment}`}) : nothing}</span> `)}
        ${knownRoles.length === 0 ? html`<span class="quiet">The schema makes none.</span>` : roles.length === 0
          ? html`<span class="quiet">none</span> ` : nothing}
        ${others.length && may('user role add') ? html`<form class="row tools" @submit=${submitted(({role}) => this.#role(app, role, true))}><select name="role" aria-label=${`Role to give in ${environment} of ${container}`}>${others.map(
            role => html`<option>${role}</option>`)}</select><button class="second small">Give</button></form>` : nothing}</td></tr>`;
  }
}
define('person-apps', PersonApps, [...LISTING, 'email']);
