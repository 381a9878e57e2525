// The apps that know a person: what each stores for them, and the roles that they have there.

import {Part, bytes, confirm, define, empty, html, nothing, problem, say, waiting} from './parts.js';
import {Latest, may, run} from './api.js';
import {to} from './address.js';

class PersonApps extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) { if (changes.has('email')) this.#load(); }

  async #load() {
    const signal = this.#latest.begin();
    try {
      this.state = {apps: (await run('user apps', {email: this.email}, {signal})).apps};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, failure};
    }
  }

  async #role(app, role, isGiven) {
    const {container, environment} = app;
    if (!isGiven && !await confirm({title: `Take the role ${role}?`, act: 'Take',
      text: html`<p><bdi>${this.email}</bdi> loses what the role grants in ${environment} of <bdi>${container}</bdi>, from the next
        request on.</p>`})) return;
    try {
      await run(isGiven ? 'user role add' : 'user role remove', {email: this.email, container, environment, role});
      say(isGiven ? 'The role is given.' : 'The role is taken.');
      await this.#load();
    } catch (failure) {
      this.state = {...this.state, failure};
    }
  }

  render() {
    const {apps, failure} = this.state;
    return html`<section aria-labelledby="apps"><h2 id="apps">Apps</h2>${problem(failure, () => this.#load())}
      ${!apps ? failure ? nothing : waiting('Looking at the apps…')
        : apps.length === 0 ? empty('No app knows them yet.')
        : html`<div class="wide" tabindex="0" role="group" aria-label="Apps"><table><thead><tr><th scope="col">App</th>
          <th scope="col">Environment</th><th scope="col">Stored</th><th scope="col">Roles</th></tr></thead>
          <tbody>${apps.map(app => this.#line(app))}</tbody></table></div>`}</section>`;
  }

  #line(app) {
    const {container, environment, usedBytes, roles, knownRoles, userRecordName} = app;
    const isShown = container === this.values.container && environment === (this.values.environment ?? 'development');
    const others = knownRoles.filter(role => !roles.includes(role));
    return html`<tr><th scope="row"><a href=${to('people', {...this.values, container, environment})}
        aria-current=${isShown ? 'true' : nothing}><bdi>${container}</bdi></a><br><code class="small">${userRecordName}</code></th>
      <td>${environment}</td><td>${bytes(usedBytes)}</td>
      <td>${roles.map(role => html`<span class="chip"><bdi>${role}</bdi>${may('user role remove') ? html`<button type="button" class="plain"
          aria-label=${`Take the role ${role} in ${environment}`} @click=${() => this.#role(app, role, false)}>×</button>` : nothing}</span> `)}
        ${knownRoles.length === 0 ? html`<span class="quiet">The schema makes none.</span>` : roles.length === 0
          ? html`<span class="quiet">none</span> ` : nothing}
        ${others.length && may('user role add') ? html`<form class="row tools" @submit=${event => {
            event.preventDefault();
            this.#role(app, event.target.elements.role.value, true);
          }}><select name="role" aria-label=${`Role to give in ${environment} of ${container}`}>${others.map(
            role => html`<option>${role}</option>`)}</select><button class="second small">Give</button></form>` : nothing}</td></tr>`;
  }
}
define('person-apps', PersonApps, ['email', 'values', 'state']);
