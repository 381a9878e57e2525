// The schema of a container environment: its text, its types and indexes, its roles, and the way to production. What is right in
// it decides the server.

import {Asking, LISTING, Listing, button, bytes, change, check, codes, confirm, define, empty, field, foot, give, html, indexWork, many, may, nothing, number,
  problem, run, say, select, submitted, table, time, to, views, waiting} from './screen.js';
import {isSystem, readSchema} from './values.js';

const RESERVED = new Set(['GRANT', 'PREFERRED', 'QUERYABLE', 'SORTABLE', 'SEARCHABLE']);
const INDEXES = ['QUERYABLE', 'SEARCHABLE', 'SORTABLE'];
const PERMISSIONS = ['READ', 'CREATE', 'WRITE'];
/// Of every schema, in the words that people read.
const ROLES = {_world: 'Everybody', _icloud: 'Signed in', _creator: 'Who made it'};
const TYPES = ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP', 'REFERENCE', 'ASSET', 'LOCATION', 'BYTES', 'NUMBER'];

const quoted = name => name.startsWith('_') || name.includes('.') || RESERVED.has(name.toUpperCase()) ? `"${name}"` : name;

/// The text again, which the server reads.
function write({types, roles}) {
  const lines = ['DEFINE SCHEMA', ...roles.flatMap(role => ['', `    CREATE ROLE ${quoted(role)};`])];
  for (const {name, fields, grants} of types) {
    const items = [
      ...fields.map(({name, type, indexes}) => [quoted(name), type, ...indexes].join(' ')),
      ...Object.entries(grants).filter(([, granted]) => granted.length > 0).map(
        ([role, granted]) => `GRANT ${granted.join(', ')} TO ${quoted(role)}`)];
    lines.push('', `    RECORD TYPE ${quoted(name)} (`, items.map(item => `        ${item}`).join(',\n'), '    );');
  }
  return `${lines.join('\n')}\n`;
}

/// Where a text is wrong, as a refusal says it; null for a refusal of another kind.
function mistake(failure) {
  const found = /line (\d+), column (\d+): (.+)$/.exec(failure?.message ?? '');
  return found && {line: Number(found[1]), column: Number(found[2]), what: found[3]};
}

class SchemaEditor extends Asking {
  asks() { return [this.text]; }

  // What somebody has typed stays, whatever is loaded meanwhile.
  load() { if (!this.state.isTyped) this.set({value: this.text}); }

  #type(value) { this.set({value, isTyped: true, failure: null, changes: null}); }

  get #mayChange() { return this.values.environment === 'development' && may('schema import'); }

  render() {
    const {value = '', failure, changes, isTyped, prunes, busy} = this.state;
    const wrong = mistake(failure);
    const lines = value.split('\n');
    return html`${this.#mayChange ? html`<p class="quiet">Change the text, or <label class="button small">open a file…<input type="file"
        class="said" @change=${event => this.#open(event)}></label></p>` : nothing}
      <div class="editor">
        <pre class="numbers" aria-hidden="true">${lines.map((_, index) => html`<span class=${
          wrong?.line === index + 1 ? 'bad' : ''}>${index + 1}\n</span>`)}</pre>
        <textarea aria-label="Schema" spellcheck="false" autocapitalize="off" wrap="off" rows="24" .value=${value}
          ?readonly=${!this.#mayChange} aria-invalid=${wrong ? 'true' : nothing}
          aria-describedby=${failure ? 'schema-wrong' : nothing}
          @input=${event => this.#type(event.target.value)}
          @scroll=${event => { this.querySelector('.numbers').scrollTop = event.target.scrollTop; }}
          @keydown=${event => {
            if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return;
            event.preventDefault();
            if (this.#mayChange) this.#import();
          }}></textarea></div>
      <div id="schema-wrong">${wrong ? html`<div class="problem" role="alert"><p><b>Line ${wrong.line}, column ${wrong.column}:</b>
        ${wrong.what}</p></div>` : problem(failure)}</div>
      ${changes ? html`<div class="note" role="status">${changes.length === 0 ? 'Right, and the schema says that already.'
        : html`<p>Right. It would change:</p>${codes(changes)}`}</div>` : nothing}
      ${this.#mayChange ? check('Also remove what production has, where no record of development has it', 'prune', prunes,
        is => this.set({prunes: is})) : nothing}
      <div class="row">${this.#mayChange ? html`${button('Import…', () => this.#import(), {kind: '', disabled: busy})}
        ${button('Check', () => this.#check(), {kind: 'second', disabled: busy})}` : nothing}
        ${button('Download', () => give(`${this.values.container}-${this.values.environment}.ckdb`, 'text/plain', [value]), {kind: 'second'})}
        ${isTyped ? button('Give up changes', () => { this.state = {value: this.text}; }, {kind: 'second'}) : nothing}</div>`;
  }

  async #open(event) {
    const [file] = event.target.files;
    if (!file) return;
    this.#type(await file.text());
    await this.#check();
  }

  #asked() {
    const {container, environment} = this.values;
    return {container, environment, file: this.state.value, prune: Boolean(this.state.prunes)};
  }

  /// - Returns: what would change; null where the text is refused, which is shown, or is another one by now.
  async #check(asked = this.#asked()) {
    const {still} = this;
    const isSame = () => still() && this.state.value === asked.file;
    this.set({busy: true, failure: null, changes: null});
    try {
      const {changes} = await run('schema validate', asked);
      if (!isSame()) return this.#leave();
      this.set({busy: false, changes});
      return changes;
    } catch (failure) {
      if (!isSame()) return this.#leave();
      this.set({busy: false, failure});
      await this.updateComplete;
      this.#show(mistake(failure));
      return null;
    }
  }

  #leave() {
    this.set({busy: false});
    return null;
  }

  /// Puts the caret where the text is wrong.
  #show(wrong) {
    if (!wrong) return;
    const area = this.querySelector('textarea');
    const before = area.value.split('\n').slice(0, wrong.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.focus();
    area.setSelectionRange(before + wrong.column - 1, before + wrong.column - 1);
    area.scrollTop = Math.max(0, (wrong.line - 6) * parseFloat(getComputedStyle(area).lineHeight));
  }

  async #import() {
    const asked = this.#asked();
    const changes = await this.#check(asked);
    if (!changes?.length) return;
    const takes = changes.some(each => each.startsWith('-'));
    if (!await confirm({title: 'Import the schema?', act: 'Import', danger: takes, text: codes(changes)})) return;
    await this.attempt(async still => {
      await run('schema import', asked);
      if (!still()) return;
      this.state = {value: this.state.value};
      say('The schema is imported.');
      this.dispatchEvent(new CustomEvent('imported'));
    });
  }
}
define('schema-editor', SchemaEditor, ['values', 'text', 'state']);

class SchemaDeploy extends Asking {
  asks() { return [this.values.container, this.values.prune]; }

  async load() {
    const {container, prune} = this.values;
    this.state = {};
    await this.ask(async signal => {
      const [difference, {environments}] = await Promise.all([
        asked('schema deploy', {container, prune: prune === '1'}, signal),
        run('size', {container, environment: 'production'}, {signal})]);
      this.state = {difference, size: environments[0] ?? {records: 0, recordBytes: 0}};
    });
  }

  render() {
    const {failure, difference} = this.state;
    const prunes = this.values.prune === '1';
    return html`<section aria-labelledby="deploy"><h2 id="deploy">From development to production</h2>
      ${check('Also remove what development does not have and no record of production has', 'prune', prunes,
        is => change({prune: is ? '1' : ''}))}
      ${failure ? problem(failure, () => this.load()) : !difference ? waiting('Comparing the two…') : this.#difference()}</section>
      ${may('schema reset') && may('schema import') ? html`<section aria-labelledby="reset"><h2 id="reset">Reset development</h2>
        <p>Gives development production's schema, and deletes <b>all of development's data</b>.</p>
        <div class="row">${button('Reset development…', () => this.#reset(), {kind: 'danger'})}</div>
        ${problem(this.state.resetFailure)}</section>` : nothing}`;
  }

  #difference() {
    const {difference: {changes}, size, deployFailure} = this.state;
    return html`${changes.length === 0 ? empty('Production has all that development has.') : html`<ul class="difference">${changes.map(
        line => html`<li class=${line.startsWith('-') ? 'gone' : ''}><code>${line}</code></li>`)}</ul>
      <p>${this.#cost(changes, size)}</p>`}
      ${problem(deployFailure)}
      ${changes.length && may('schema import') ? html`<div class="row">${button('Deploy to production…',
        () => this.#deploy(), {kind: ''})}</div>` : nothing}`;
  }

  #cost(changes, {records, recordBytes}) {
    const indexed = changes.filter(line => /QUERYABLE|SEARCHABLE|SORTABLE/.test(line)).length;
    return html`${indexed === 0 ? 'No index comes with it. It is done at once.' : html`Types and fields are there at once. Indexes
      are made when a query first needs them, from the ${many(records, 'record')} (${bytes(recordBytes)}) of production at most,
      beside the work of apps; queries wait for theirs. From then on each takes room, and each save writes to it.`}`;
  }

  async #deploy() {
    const {container, prune} = this.values;
    const {changes} = this.state.difference;
    const takes = changes.some(line => line.startsWith('-'));
    const meant = await confirm({title: 'Deploy to production?', act: 'Deploy', danger: takes,
      typed: takes ? 'production' : undefined, text: html`<p>${many(changes.length, 'change')} for the apps of
        <b><bdi>${container}</bdi></b>, at once.</p>${codes(changes)}`});
    if (!meant) return;
    await this.attempt(async () => {
      await run('schema deploy', {container, prune: prune === '1', yes: true});
      say('Production has it.');
      this.dispatchEvent(new CustomEvent('changed'));
      this.load();
    }, 'deployFailure');
  }

  async #reset() {
    const {container} = this.values;
    await this.attempt(async still => {
      const {changes} = await asked('schema reset', {container});
      if (!still()) return;
      const meant = await confirm({title: 'Reset development?', act: 'Reset', typed: container, text: html`<p>All data of
        development is deleted, for ever.</p>${codes(changes)}`});
      if (!meant) return;
      await run('schema reset', {container, yes: true});
      say('Development is reset.');
      this.dispatchEvent(new CustomEvent('changed'));
      this.load();
    }, 'resetFailure');
  }
}
define('schema-deploy', SchemaDeploy, ['values', 'state']);

/// What a command would do, which it shows before it is told to.
async function asked(name, values, signal) {
  try {
    return await run(name, values, {signal});
  } catch (failure) {
    if (failure.code === 'NEEDS_YES' && failure.shown) return failure.shown;
    throw failure;
  }
}

const VIEWS = [['', 'Types'], ['roles', 'Roles'], ['text', 'Text'], ['deploy', 'To production'], ['history', 'History']];
const NAME = {name: 'name', required: true, pattern: '[A-Za-z][A-Za-z0-9_]*', maxlength: 255};

class SchemaScreen extends Asking {
  async load() {
    const {container, environment} = this.values;
    const {draft} = this.around === container + environment ? this.state : {};
    this.around = container + environment;
    this.state = {draft};
    if (!container) return;
    await this.ask(async signal => {
      const [{schema}, {indexes}] = await Promise.all([
        run('schema export', {container, environment}, {signal}),
        run('schema indexes', {container, environment}, {signal})]);
      this.set({text: schema, stored: readSchema(schema), indexes});
    });
  }

  get #mayChange() { return this.values.environment === 'development' && may('schema import'); }

  get #shown() { return this.state.draft ?? this.state.stored; }

  render() {
    const {container, environment, view = ''} = this.values;
    const {failure, stored, text} = this.state;
    if (!container) return html`<h1>Schema</h1>${empty('Choose a container.')}`;
    return html`<div class="head"><h1>Schema</h1>${environment === 'production'
        ? html`<p class="quiet">Production takes only what is brought to it from development.</p>` : nothing}</div>
      ${views('Views of the schema', VIEWS, view, name => to('schema', {container, environment, view: name}))}
      ${this.#changes()}
      ${failure ? problem(failure, () => this.load()) : !stored ? waiting('Reading the schema…')
        : view === 'roles' ? this.#roles()
        : view === 'text' ? html`<schema-editor .values=${this.values} .text=${this.state.draft ? write(this.state.draft) : text} @imported=${() => this.#imported()}></schema-editor>`
        : view === 'deploy' ? html`<schema-deploy .values=${this.values}
          @changed=${() => this.#imported()}></schema-deploy>`
        : view === 'history' ? html`<schema-history .values=${this.values}></schema-history>` : this.#types()}`;
  }

  #imported() {
    this.set({draft: undefined});
    this.load();
  }

  /// What has been changed here and is not saved yet.
  #changes() {
    const {draft, draftFailure, busy} = this.state;
    if (!draft) return nothing;
    return html`<div class="note changes"><div class="row"><b>Not saved yet</b>
      ${button('Save…', () => this.#save(), {kind: 'small', disabled: busy})}
      ${button('Give up', () => this.set({draft: undefined, draftFailure: null}))}</div>${problem(draftFailure)}</div>`;
  }

  async #save() {
    const {container, environment} = this.values;
    const file = write(this.state.draft);
    this.set({busy: true});
    await this.attempt(async still => {
      const {changes} = await run('schema validate', {container, environment, file, prune: true});
      if (!still()) return;
      const takes = changes.some(each => each.startsWith('-'));
      if (changes.length === 0) {
        this.set({draft: undefined});
      } else if (await confirm({title: 'Save the schema?', act: 'Save', danger: takes, text: html`${codes(changes)}
        <p>${takes ? 'What goes is refused while a record of development has it. ' : nothing}Development changes at once; production
        stays as it is.</p>`})) {
        await run('schema import', {container, environment, file, prune: true});
        say('The schema is saved.');
        if (!still()) return;
        this.#imported();
      }
      this.set({busy: false});
    }, 'draftFailure');
  }

  /// Changes a copy, which is saved when that is asked for.
  #edit(body) {
    const draft = structuredClone(this.#shown);
    body(draft);
    this.set({draft, draftFailure: null});
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
      ${this.#mayChange ? html`<form class="adding" @submit=${submitted(({name}, form) => {
        this.#edit(draft => {
          if (draft.types.some(each => each.name === name)) return;
          draft.types.push({name, fields: [{name: '___recordID', type: 'REFERENCE', indexes: []}],
            grants: {_world: ['READ'], _icloud: ['CREATE'], _creator: ['WRITE']}});
        });
        form.reset();
        change({type: name});
      })}>${field({label: 'New type', ...NAME})}
        <button class="second small">Add type</button></form>` : nothing}</aside>
      <div class="content">${chosen ? this.#type(chosen) : empty('No type is here yet. In development, types appear as records are saved.')}</div></div>`;
  }

  #type({name, fields}) {
    const mayChange = this.#mayChange;
    return html`<div class="head"><h2><bdi>${name}</bdi></h2>${mayChange && name !== 'Users' ? button('Remove type',
        () => this.#edit(draft => { draft.types = draft.types.filter(each => each.name !== name); })) : nothing}</div>
      ${table('Fields', ['Field', 'Type', ...INDEXES.map(word => word.toLowerCase()), 'Indexes that were made', ''],
        [...fields].sort((one, other) => isSystem(one.name) - isSystem(other.name)).map(each => this.#field(name, each, mayChange)), 'fields')}
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
      <td>${made.length === 0 ? html`<span class="quiet">–</span>` : made.map(({kind, entries, ...index}) => html`<div>${kind}:
        ${index.state === 'whole' ? 'complete' : indexWork(`Index of ${name}`, index)}${entries === undefined ? nothing
          : html`<span class="quiet">, ${many(entries, 'entry')}${entries >= 100_000 ? ' or more' : nothing}</span>`}</div>`)}</td>
      <td>${mayChange && !isSystem(name) && type !== 'Users' ? button('Remove', () => this.#edit(draft => {
        const owner = draft.types.find(each => each.name === type);
        owner.fields = owner.fields.filter(each => each.name !== name);
      }), {label: `Remove ${name}`}) : nothing}</td></tr>`;
  }

  #adding(type) {
    return html`<form class="adding" @submit=${submitted(({name, kind, isList}, form) => {
      this.#edit(draft => {
        const {fields} = draft.types.find(each => each.name === type);
        if (fields.some(each => each.name === name)) return;
        fields.push({name, type: isList ? `LIST<${kind}>` : kind, indexes: []});
      });
      form.reset();
    })}>${field({label: 'New field', ...NAME})}${select({label: 'Type', name: 'kind', list: TYPES.map(word => [word, word.toLowerCase()])})}
      ${check('a list', 'isList')}<button class="second">Add field</button></form>`;
  }

  /// What each role may do with the records of each type in the public database.
  #roles() {
    const {types, roles} = this.#shown;
    const names = [...Object.keys(ROLES), ...roles];
    return html`<p class="quiet">What roles may do with records of the public database. Who has several roles may do what any
      of them may.</p>
      ${table('What roles may do', ['Type', ...names.map(role => html`<bdi>${ROLES[role] ?? role}</bdi>${this.#mayChange && roles.includes(role)
        ? button('Remove', () => this.#edit(draft => {
          draft.roles = draft.roles.filter(each => each !== role);
          for (const each of draft.types) delete each.grants[role];
        }), {label: `Remove the role ${role}`}) : nothing}`)],
      types.map(type => html`<tr><th scope="row"><bdi>${type.name}</bdi></th>${names.map(role => html`<td>${
        this.#grants(type, role)}</td>`)}</tr>`), 'matrix')}
      ${this.#mayChange ? html`<form class="adding" @submit=${submitted(({name}, form) => {
        this.#edit(draft => { if (!draft.roles.includes(name)) draft.roles.push(name); });
        form.reset();
      })}>${field({label: 'New role', ...NAME})}
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
class SchemaHistory extends Listing {
  asks() { return [this.values]; }

  async find(signal) {
    const {container, environment, limit = 50} = this.values;
    const {changes} = await run('schema history', {container, environment, limit: String(limit)}, {signal});
    return versions(changes);
  }

  render() {
    const {limit = 50} = this.values;
    return this.shown('Reading the history…', history => history.length === 0 ? empty('Nothing has changed yet.') : html`<ol class="history">${history.map(({number: version, made, who, difference}) => html`<li class="card">
        <p><b>${number(version)}</b> · ${time(made)} · <bdi>${who}</bdi></p>${codes(difference)}</li>`)}</ol>
      ${foot(many(history.length, 'change'), history.length >= limit, () => change({limit: Number(limit) + 200}))}`);
  }
}
define('schema-history', SchemaHistory, LISTING);
