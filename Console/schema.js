// The schema of a container environment: its types and indexes, its roles, its text, and the way to production.

import {Part, confirm, define, empty, field, html, many, nothing, number, problem, say, time, waiting} from './parts.js';
import {Latest, may, run} from './api.js';
import {change, to} from './address.js';
import {INDEXES, PERMISSIONS, ROLES, TYPES, read, write} from './schema-text.js';
import './schema-editor.js';
import './schema-deploy.js';

const VIEWS = {types: 'Types', roles: 'Roles', text: 'Text', deploy: 'To production', history: 'History'};
const isSystem = name => name.startsWith('___');

class SchemaScreen extends Part {
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
    const {container, environment} = this.values;
    const asked = JSON.stringify([container, environment]);
    if (!changes.has('values') || this.asked === asked) return;
    this.asked = asked;
    this.state = {};
    if (container) this.#load();
  }

  async #load() {
    const {container, environment} = this.values;
    const signal = this.#latest.begin();
    this.state = {draft: this.state.draft};
    try {
      const [{schema}, {indexes}] = await Promise.all([
        run('schema export', {container, environment}, {signal}),
        run('schema indexes', {container, environment}, {signal})]);
      this.state = {text: schema, stored: read(schema), indexes, draft: this.state.draft};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure, draft: this.state.draft};
    }
  }

  get #mayChange() { return this.values.environment === 'development' && may('schema import'); }

  get #shown() { return this.state.draft ?? this.state.stored; }

  render() {
    const {container, environment, view = 'types'} = this.values;
    const {failure, stored, text} = this.state;
    if (!container) return html`<h1>Schema</h1>${empty('Choose a container.')}`;
    return html`<div class="head"><h1>Schema</h1>${environment === 'production'
        ? html`<p class="quiet">Production takes only what is brought to it from development.</p>` : nothing}</div>
      <nav class="views" aria-label="Views of the schema">${Object.entries(VIEWS).map(([name, title]) => html`<a
        href=${to('schema', {container, environment, view: name === 'types' ? '' : name})}
        aria-current=${name === view ? 'page' : nothing}>${title}</a>`)}</nav>
      ${this.#changes()}
      ${failure ? problem(failure, () => this.#load()) : !stored ? waiting('Reading the schema…')
        : view === 'roles' ? this.#roles()
        : view === 'text' ? html`<schema-editor .values=${this.values} .text=${this.state.draft ? write(this.state.draft) : text}
          .isDraft=${Boolean(this.state.draft)} @imported=${() => this.#imported()}></schema-editor>`
        : view === 'deploy' ? html`<schema-deploy .values=${this.values}
          @changed=${() => this.#imported()}></schema-deploy>`
        : view === 'history' ? html`<schema-history .values=${this.values}></schema-history>` : this.#types()}`;
  }

  #imported() {
    this.state = {...this.state, draft: undefined};
    this.#load();
  }

  /// What has been changed here and is not saved yet.
  #changes() {
    const {draft, draftFailure, busy} = this.state;
    if (!draft) return nothing;
    return html`<div class="note changes"><div class="row"><b>Not saved yet</b>
      <button type="button" class="small" ?disabled=${busy} @click=${() => this.#save()}>Save…</button>
      <button type="button" class="second small" @click=${() => {
        this.state = {...this.state, draft: undefined, draftFailure: null};
      }}>Give up</button></div>${problem(draftFailure)}</div>`;
  }

  async #save() {
    const {container, environment} = this.values;
    const file = write(this.state.draft);
    this.state = {...this.state, busy: true, draftFailure: null};
    try {
      const {changes} = await run('schema validate', {container, environment, file, prune: true});
      if (changes.length === 0) {
        this.state = {...this.state, busy: false, draft: undefined};
        return;
      }
      const takes = changes.some(each => each.startsWith('-'));
      const meant = await confirm({title: 'Save the schema?', act: 'Save', danger: takes, text: html`
        <ul>${changes.map(each => html`<li><code>${each}</code></li>`)}</ul>
        <p>${takes ? 'What goes is refused while a record of development has it. ' : nothing}Development changes at once; production
        stays as it is.</p>`});
      if (meant) {
        await run('schema import', {container, environment, file, prune: true});
        say('The schema is saved.');
        this.#imported();
      }
      this.state = {...this.state, busy: false};
    } catch (failure) {
      this.state = {...this.state, busy: false, draftFailure: failure};
    }
  }

  /// Changes a copy, which is saved when that is asked for.
  #edit(body) {
    const draft = structuredClone(this.#shown);
    body(draft);
    this.state = {...this.state, draft, draftFailure: null};
  }

  #types() {
    const {container, environment, type} = this.values;
    const {types} = this.#shown;
    const chosen = types.find(({name}) => name === type) ?? types[0];
    return html`<div class="sides"><aside aria-label="Record types"><h2>Record types</h2>
      <ul class="list">${types.map(({name, fields}) => html`<li><a class="item"
        aria-current=${name === chosen?.name ? 'true' : nothing}
        href=${to('schema', {container, environment, type: name})}><bdi>${name}</bdi>
        <span class="quiet small">${fields.filter(({name}) => !isSystem(name)).length}</span></a></li>`)}</ul>
      ${this.#mayChange ? html`<form class="adding" @submit=${event => {
        event.preventDefault();
        const name = event.target.elements.name.value.trim();
        this.#edit(draft => {
          if (draft.types.some(each => each.name === name)) return;
          draft.types.push({name, fields: [{name: '___recordID', type: 'REFERENCE', indexes: []}],
            grants: {_world: ['READ'], _icloud: ['CREATE'], _creator: ['WRITE']}});
        });
        event.target.reset();
        change({type: name});
      }}>${field({label: 'New type', name: 'name', required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', maxlength: 255})}
        <button class="second small">Add type</button></form>` : nothing}</aside>
      <div class="content">${chosen ? this.#type(chosen) : empty('No type is here yet. In development, types appear as records are saved.')}</div></div>`;
  }

  #type({name, fields}) {
    const mayChange = this.#mayChange;
    return html`<div class="head"><h2><bdi>${name}</bdi></h2>${mayChange && name !== 'Users' ? html`<button type="button"
        class="second small" @click=${() => this.#edit(draft => {
          draft.types = draft.types.filter(each => each.name !== name);
        })}>Remove type</button>` : nothing}</div>
      <div class="wide" tabindex="0" role="group" aria-label="Table"><table class="fields"><thead><tr><th scope="col">Field</th>
        <th scope="col">Type</th>${INDEXES.map(word => html`<th scope="col">${word.toLowerCase()}</th>`)}
        <th scope="col">Indexes that were made</th><th scope="col"><span class="said">Action</span></th></tr></thead>
        <tbody>${[...fields].sort((one, other) => isSystem(one.name) - isSystem(other.name)).map(
          each => this.#field(name, each, mayChange))}</tbody></table></div>
      <p class="quiet foot">An index is made when a query first needs it, from the records that are there, beside the work of apps.
        From then on it takes room, and each save writes to it.</p>
      ${mayChange ? this.#adding(name) : nothing}`;
  }

  #field(type, {name, type: kind, indexes}, mayChange) {
    const made = this.state.indexes.filter(index => index.type === type && index.field === name);
    return html`<tr><th scope="row"><code>${name}</code></th><td>${kind.toLowerCase()}</td>${INDEXES.map(word => html`<td>${
      mayChange ? html`<input type="checkbox" aria-label=${`${name} ${word.toLowerCase()}`} .checked=${indexes.includes(word)}
        @change=${({target}) => this.#edit(draft => {
          const field = draft.types.find(each => each.name === type).fields.find(each => each.name === name);
          field.indexes = INDEXES.filter(each => each === word ? target.checked : field.indexes.includes(each));
        })}>` : indexes.includes(word) ? 'yes' : '–'}</td>`)}
      <td>${made.length === 0 ? html`<span class="quiet">–</span>` : made.map(({kind, state, percent, entries}) => html`<div>${kind}:
        ${state === 'whole' ? 'complete' : html`<progress max="100" value=${percent} aria-label=${`Index of ${name}`}></progress>
          ${state === 'filling' ? `being filled, ${percent} %` : 'being removed'}`}${entries === undefined ? nothing
          : html`<span class="quiet">, ${many(entries, 'entry').replace('entrys', 'entries')}${entries >= 100_000 ? ' or more' : nothing}</span>`}</div>`)}</td>
      <td>${mayChange && !isSystem(name) && type !== 'Users' ? html`<button type="button" class="second small"
        aria-label=${`Remove ${name}`} @click=${() => this.#edit(draft => {
          const owner = draft.types.find(each => each.name === type);
          owner.fields = owner.fields.filter(each => each.name !== name);
        })}>Remove</button>` : nothing}</td></tr>`;
  }

  #adding(type) {
    return html`<form class="adding" @submit=${event => {
      event.preventDefault();
      const {name, kind, isList} = event.target.elements;
      this.#edit(draft => {
        const {fields} = draft.types.find(each => each.name === type);
        if (fields.some(each => each.name === name.value)) return;
        fields.push({name: name.value.trim(), type: isList.checked ? `LIST<${kind.value}>` : kind.value, indexes: []});
      });
      event.target.reset();
    }}>${field({label: 'New field', name: 'name', required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', maxlength: 255})}
      <div class="field"><label for="kind">Type</label><select id="kind" name="kind">${TYPES.map(word => html`
        <option value=${word}>${word.toLowerCase()}</option>`)}</select></div>
      <div class="check"><input type="checkbox" id="is-list" name="isList"><label for="is-list">a list</label></div>
      <button class="second">Add field</button></form>`;
  }

  /// What each role may do with the records of each type in the public database.
  #roles() {
    const {types, roles} = this.#shown;
    const names = [...Object.keys(ROLES), ...roles];
    return html`<p class="quiet">What roles may do with records of the public database. Who has several roles may do what any
      of them may.</p>
      <div class="wide" tabindex="0" role="group" aria-label="Table"><table class="matrix"><thead><tr><th scope="col">Type</th>
        ${names.map(role => html`<th scope="col"><bdi>${ROLES[role] ?? role}</bdi>${this.#mayChange && roles.includes(role) ? html`
          <button type="button" class="second small" aria-label=${`Remove the role ${role}`} @click=${() => this.#edit(draft => {
            draft.roles = draft.roles.filter(each => each !== role);
            for (const each of draft.types) delete each.grants[role];
          })}>Remove</button>` : nothing}</th>`)}</tr></thead>
        <tbody>${types.map(type => html`<tr><th scope="row"><bdi>${type.name}</bdi></th>${names.map(role => html`<td>${
          this.#grants(type, role)}</td>`)}</tr>`)}</tbody></table></div>
      ${this.#mayChange ? html`<form class="adding" @submit=${event => {
        event.preventDefault();
        const name = event.target.elements.name.value.trim();
        this.#edit(draft => { if (!draft.roles.includes(name)) draft.roles.push(name); });
        event.target.reset();
      }}>${field({label: 'New role', name: 'name', required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', maxlength: 255})}
        <button class="second">Add role</button></form>` : nothing}`;
  }

  #grants({name, grants}, role) {
    const granted = grants[role] ?? [];
    if (!this.#mayChange) return granted.map(word => word.toLowerCase()).join(', ') || '–';
    return PERMISSIONS.map(word => html`<label class="grant"><input type="checkbox" .checked=${granted.includes(word)}
      aria-label=${`${ROLES[role] ?? role} may ${word.toLowerCase()} ${name}`}
      @change=${({target}) => this.#edit(draft => {
        const type = draft.types.find(each => each.name === name);
        type.grants[role] = PERMISSIONS.filter(
          each => each === word ? target.checked : (type.grants[role] ?? []).includes(each));
      })}>${word.toLowerCase()}</label>`);
  }
}
define('schema-screen', SchemaScreen, ['values', 'state']);

/// The changes by version, from lines that each have the version, the moment, who made it, and what is different.
function versions(lines) {
  const found = new Map();
  for (const line of lines) {
    const [version, made, who, ...what] = line.split('  ');
    if (!found.has(version)) found.set(version, {number: version, made: Date.parse(made), who, difference: []});
    found.get(version).difference.push(what.join('  '));
  }
  return [...found.values()];
}

/// Who changed the schema, when, and in what.
class SchemaHistory extends Part {
  #latest = new Latest();

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) {
    if (changes.has('values')) this.#load();
  }

  async #load() {
    const {container, environment, limit = 50} = this.values;
    const signal = this.#latest.begin();
    [this.history, this.failure] = [null, null];
    try {
      const {changes} = await run('schema history', {container, environment, limit: String(limit)}, {signal});
      this.history = versions(changes);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    const {limit = 50} = this.values;
    if (this.failure) return problem(this.failure, () => this.#load());
    if (!this.history) return waiting('Reading the history…');
    if (this.history.length === 0) return empty('Nothing has changed yet.');
    return html`<ol class="history">${this.history.map(({number: version, made, who, difference}) => html`<li class="card">
        <p><b>${number(version)}</b> · ${time(made)} · <bdi>${who}</bdi></p>
        <ul>${difference.map(line => html`<li><code>${line}</code></li>`)}</ul></li>`)}</ol>
      ${this.history.length >= limit ? html`<p><button type="button" class="second small"
        @click=${() => change({limit: Number(limit) + 200})}>Show more</button></p>` : nothing}`;
  }
}
define('schema-history', SchemaHistory, ['values', 'history', 'failure']);
