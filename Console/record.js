// One record: its fields by type, its JSON beside, where it leads to, and what to do when somebody else has changed it.

import {Part, bytes, confirm, define, html, nothing, problem, say, time, waiting} from './parts.js';
import {Latest, may, run} from './api.js';
import {change} from './address.js';
import {parse} from './json.js';
import './assets.js';
import {TYPES, isList, read, shown, written} from './values.js';

const LONG = 20_000;
/// How many names are offered, and how far they are looked for.
const FOUND = 10;
const SEARCHED_PAGES = 10;

class RecordPanel extends Part {
  #latest = new Latest();
  #searches = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  get #isNew() { return !this.name; }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
    this.#searches.end();
  }

  firstUpdated() { this.querySelector('dialog').showModal(); }

  updated(changes) {
    const before = changes.get('state');
    const {conflict, failure} = this.state;
    if (conflict && !before?.conflict || failure && !before?.failure) {
      [...this.querySelectorAll('[role=alert]')].at(-1)?.scrollIntoView({block: 'nearest'});
    }
  }

  willUpdate(changes) {
    const asked = JSON.stringify([this.name, this.target]);
    if (asked === this.asked || !changes.has('name') && !changes.has('target')) return;
    this.asked = asked;
    if (this.#isNew) {
      this.state = {record: {recordType: this.type, fields: {}}, edited: {}, added: [], opened: new Set()};
    } else {
      this.#load();
    }
  }

  async #load() {
    const signal = this.#latest.begin();
    this.state = {};
    try {
      const {records: [record]} = await run('record get', {...this.target, name: [this.name]}, {signal});
      if (record.serverErrorCode) throw Object.assign(new Error(record.reason), {code: record.serverErrorCode});
      this.#show(record);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure};
    }
  }

  #show(record) { this.state = {record, edited: {}, added: [], opened: new Set(), tab: this.state.tab}; }

  get #fields() {
    const {record, added} = this.state;
    const known = (this.schema?.get(record.recordType) ?? []).filter(({isSystem}) => !isSystem);
    const more = Object.entries(record.fields ?? {}).filter(([name]) => !known.some(field => field.name === name))
      .map(([name, {type}]) => ({name, type: type ?? 'STRING'}));
    return [...known, ...more, ...added];
  }

  render() {
    const {record, failure, tab = 'fields'} = this.state;
    return html`<dialog class="record" aria-labelledby="record-title" @cancel=${event => {
        event.preventDefault();
        this.#close();
      }} @keydown=${event => {
        if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          this.#save();
        }
      }}>
      <div class="head"><h2 id="record-title"><bdi>${this.#isNew ? 'New record' : this.name}</bdi></h2>
        <div class="row"><button type="button" class="second small" aria-label="Back" title="Back" @click=${() => history.back()}>←</button>
        <button type="button" class="second small" aria-label="Forward" title="Forward" @click=${() => history.forward()}>→</button>
        <button type="button" class="second small" @click=${() => this.#close()}>Close</button></div></div>
      ${!record && failure ? problem(failure, this.#isNew ? null : () => this.#load())
        : !record ? waiting('Looking for the record…') : html`
        ${this.#about(record)}
        <div role="tablist" aria-label="View" @keydown=${event => {
          if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
          this.#turn(tab === 'fields' ? 'json' : 'fields');
          this.updateComplete.then(() => this.querySelector('[role=tab][aria-selected=true]').focus());
        }}>${[['fields', 'Fields'], ['json', 'JSON']].map(([key, title]) => html`<button type="button" role="tab"
          id=${`view-${key}`} aria-controls="view" aria-selected=${key === tab ? 'true' : 'false'}
          tabindex=${key === tab ? 0 : -1} @click=${() => this.#turn(key)}>${title}</button>`)}</div>
        <form @submit=${event => {
          event.preventDefault();
          this.#save();
        }}><div id="view" role="tabpanel" aria-labelledby=${`view-${tab}`}>${
          tab === 'json' ? this.#json() : this.#editors(record)}</div>
          ${problem(failure)}
          ${this.state.conflict ? this.#conflict() : this.#buttons()}</form>`}</dialog>`;
  }

  #about(record) {
    if (this.#isNew) return nothing;
    const {user: email} = this.target;
    const by = who => who ? html` by <bdi>${who}</bdi>` : nothing;
    return html`<dl class="about">
      <div><dt>Type</dt><dd><bdi>${record.recordType}</bdi></dd></div>
      <div><dt>Zone</dt><dd><bdi>${record.zoneID?.zoneName}</bdi>${email ? html` of <bdi>${email}</bdi>` : nothing}</dd></div>
      <div><dt>Change tag</dt><dd>${record.recordChangeTag}</dd></div>
      <div><dt>Made</dt><dd>${time(record.created?.timestamp)}${by(record.created?.userRecordName)}</dd></div>
      <div><dt>Changed</dt><dd>${time(record.modified?.timestamp)}${by(record.modified?.userRecordName)}</dd></div>
      ${record.parent ? html`<div><dt>Parent</dt><dd>${this.#link(record.parent)}</dd></div>` : nothing}
      ${record.share ? html`<div><dt>Share</dt><dd>${this.#link(record.share)}</dd></div>` : nothing}
      ${record.shortGUID ? html`<div><dt>Share link</dt><dd><code>/share/${record.shortGUID}</code></dd></div>` : nothing}
    </dl>`;
  }

  /// Where a reference leads; it may be another zone.
  #link({recordName, zoneID}) {
    const {zone = '_defaultZone', database} = this.target;
    const elsewhere = zoneID?.zoneName && zoneID.zoneName !== zone ? {
      zone: zoneID.zoneName, owner: database === 'shared' ? zoneID.ownerRecordName : undefined} : {};
    return html`<button type="button" class="plain link"
      @click=${() => change({record: recordName, new: '', ...elsewhere})}><bdi>${recordName}</bdi></button>`;
  }

  #editors(record) {
    return html`${this.#isNew ? html`<div class="field"><label for="record-type">Record type</label>
        <input id="record-type" list="known-types" required autocomplete="off" .value=${record.recordType ?? ''}
          @change=${event => { this.state = {...this.state, record: {...record, recordType: event.target.value.trim()}}; }}>
        <datalist id="known-types">${[...this.schema?.keys() ?? []].map(name => html`<option value=${name}></option>`)}</datalist></div>
      <div class="field"><label for="record-name">Name</label><input id="record-name" autocomplete="off"
        aria-describedby="record-name-hint" .value=${this.state.newName ?? ''}
        @change=${event => { this.state.newName = event.target.value.trim(); }}>
        <p class="quiet hint" id="record-name-hint">Left empty, the server makes one.</p></div>` : nothing}
      ${this.#fields.map(field => this.#editor(field, record.fields?.[field.name]))}
      ${may('record save') ? html`<details><summary>Add a field</summary><div class="adding">
        <label>Name of the field <input id="added-name" autocomplete="off" pattern="[A-Za-z][A-Za-z0-9_]*"></label>
        <label>Type <select id="added-type">${TYPES.map(type => html`<option>${type}</option>`)}</select></label>
        <button type="button" class="second small" @click=${() => this.#add()}>Add</button></div></details>` : nothing}`;
  }

  #add() {
    const name = this.querySelector('#added-name').value.trim();
    const type = this.querySelector('#added-type').value;
    if (!/^[A-Za-z]\w*$/.test(name) || this.#fields.some(field => field.name === name)) {
      this.querySelector('#added-name').focus();
      return;
    }
    this.state = {...this.state, added: [...this.state.added, {name, type}]};
    this.updateComplete.then(() => this.querySelector(`#value-${name}`)?.focus());
  }

  #editor({name, type, isEncrypted}, stored) {
    const {edited, wrong = {}, opened} = this.state;
    const kind = stored?.type ?? type;
    const id = `value-${name}`;
    const text = edited[name] ?? written(kind, stored?.value);
    const label = html`<label for=${id}><bdi>${name}</bdi> <span class="quiet">${kind}${isEncrypted ? ', encrypted' : ''}</span></label>`;
    if (/^ASSET/.test(kind)) {
      const assets = [stored?.value ?? []].flat();
      return html`<div class="field">${label}<div id=${id}>${assets.length === 0 ? html`<p class="quiet">No file.</p>`
        : assets.map((asset, index) => html`<asset-view .target=${this.target} .record=${this.name} .field=${name}
          .index=${index} .asset=${asset}></asset-view>`)}
        <p class="quiet hint">Apps save files; they are not changed here.</p></div></div>`;
    }
    if (text.length > LONG && !opened.has(name)) {
      return html`<div class="field">${label}<p id=${id}>${shown(stored, 120)} <button type="button" class="second small"
        @click=${() => { this.state = {...this.state, opened: new Set([...opened, name])}; }}>Show all ${bytes(text.length)}</button></p></div>`;
    }
    const isLong = isList(kind) || kind === 'BYTES' || kind === 'STRING' && (text.length > 80 || text.includes('\n'));
    const canEdit = may('record save') && !/^ENCRYPTED/.test(kind);
    const input = event => { this.state = {...this.state, edited: {...edited, [name]: event.target.value}}; };
    return html`<div class="field">${label}
      ${isLong ? html`<textarea id=${id} rows=${Math.min(12, Math.max(2, text.split('\n').length))} .value=${text}
          ?readonly=${!canEdit} spellcheck="false" aria-invalid=${wrong[name] ? 'true' : nothing} @input=${input}></textarea>`
        : html`<input id=${id} .value=${text} ?readonly=${!canEdit} autocomplete="off" spellcheck="false"
          type=${kind === 'TIMESTAMP' ? 'datetime-local' : 'text'} step=${kind === 'TIMESTAMP' ? '0.001' : nothing}
          inputmode=${kind === 'INT64' || kind === 'DOUBLE' ? 'decimal' : nothing}
          list=${kind === 'REFERENCE' ? `${id}-found` : nothing} aria-invalid=${wrong[name] ? 'true' : nothing}
          aria-describedby=${wrong[name] ? `${id}-wrong` : nothing} @input=${event => {
            input(event);
            if (kind === 'REFERENCE') this.#search(event.target.value);
          }}>`}
      ${kind === 'REFERENCE' ? html`<datalist id=${`${id}-found`}>${(this.state.found ?? []).map(
        each => html`<option value=${each}></option>`)}</datalist>${stored?.value ? html`<p class="hint">${
        this.#link(stored.value)} <span class="quiet">${stored.value.action}</span></p>` : nothing}` : nothing}
      ${kind === 'REFERENCE_LIST' && stored?.value ? html`<p class="hint">${stored.value.map(
        reference => html`${this.#link(reference)} `)}</p>` : nothing}
      ${kind === 'LOCATION' && stored?.value ? html`<p class="hint"><a target="_blank" rel="noreferrer" href=${
        `https://www.openstreetmap.org/?mlat=${stored.value.latitude}&mlon=${stored.value.longitude}#map=12/${
          stored.value.latitude}/${stored.value.longitude}`}>Show on a map (leaves this server)</a></p>` : nothing}
      ${wrong[name] ? html`<p class="problem" id=${`${id}-wrong`}>Expected ${wrong[name]}.</p>` : nothing}
      ${canEdit && stored && edited[name] === undefined && kind === 'STRING' ? html`<button type="button" class="plain link small"
        @click=${() => { this.state = {...this.state, removed: [...this.state.removed ?? [], name]}; }}>${
        this.state.removed?.includes(name) ? 'is removed when you save' : 'Remove'}</button>` : nothing}</div>`;
  }

  /// Records whose names begin so.
  async #search(text) {
    const signal = this.#searches.begin();
    const found = [];
    let after;
    try {
      // A page looks at so many records and no more, whatever it finds.
      for (let page = 0; page < SEARCHED_PAGES && found.length < FOUND && (page === 0 || after); page += 1) {
        const answer = await run('record list', {...this.target, search: text, limit: FOUND, after}, {signal});
        found.push(...answer.records.map(({recordName}) => recordName));
        after = answer.after;
      }
      this.state = {...this.state, found};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, found: []};
    }
  }

  #json() {
    const {json, record} = this.state;
    return html`<div class="field"><label for="json">The record as the server has it</label>
      <textarea id="json" rows="18" spellcheck="false" ?readonly=${!may('record save')}
        .value=${json ?? this.#asJSON(record)} @input=${event => { this.state.json = event.target.value; }}></textarea></div>`;
  }

  #asJSON(record) {
    const {recordName, recordType, recordChangeTag, fields, parent} = record;
    return JSON.stringify({recordName, recordType, recordChangeTag, parent, fields}, null, 2);
  }

  #turn(tab) {
    if (tab === 'json' && Object.keys(this.state.edited).length) {
      const values = this.#read();
      if (!values) return;
      this.state = {...this.state, json: this.#asJSON({
        ...this.state.record, recordName: this.name || this.state.newName, fields: {...this.state.record.fields, ...values}})};
    }
    this.state = {...this.state, tab};
  }

  #buttons() {
    if (!may('record save')) return nothing;
    return html`<div class="row sticky"><button ?disabled=${this.state.busy}>${this.state.busy ? 'Saving…' : 'Save'}</button>
      ${this.#isNew ? nothing : html`<button type="button" class="second" @click=${() => this.#copy()}>Copy as new</button>`}
      ${!this.#isNew && may('record delete') ? html`<button type="button" class="danger"
        @click=${() => this.#delete()}>Delete…</button>` : nothing}</div>`;
  }

  #copy() {
    const {record} = this.state;
    this.asked = JSON.stringify(['', this.target]);
    this.state = {record: {recordType: record.recordType, fields: {}}, opened: new Set(), added: [],
      edited: Object.fromEntries(this.#fields.filter(({name, type}) => record.fields?.[name] && !/^ASSET/.test(type)).map(
        ({name, type}) => [name, written(record.fields[name].type ?? type, record.fields[name].value)]))};
    change({record: '', new: '1'});
  }

  /// What is edited, as values; null where something is wrong, which then stands beside it.
  #read() {
    const {record, edited, removed = []} = this.state;
    const wrong = {};
    const values = {};
    for (const {name, type} of this.#fields) {
      const stored = record.fields?.[name];
      const kind = stored?.type ?? type;
      if (removed.includes(name)) values[name] = {value: null, type: kind};
      if (edited[name] === undefined) continue;
      try { values[name] = {value: read(kind, edited[name], stored?.value), type: kind}; } catch (error) {
        wrong[name] = error.message;
      }
    }
    this.state = {...this.state, wrong};
    const [first] = Object.keys(wrong);
    if (first) this.updateComplete.then(() => this.querySelector(`#value-${first}`).focus());
    return first ? null : values;
  }

  async #save(over) {
    const {record, tab, json} = this.state;
    let whole;
    if (tab === 'json' && json !== undefined) {
      try { whole = parse(json); } catch (error) {
        this.state = {...this.state, failure: {message: `This is no JSON: ${error.message}`}};
        return;
      }
    } else {
      const fields = this.#read();
      if (!fields) return;
      whole = {recordName: this.#isNew ? this.state.newName || undefined : record.recordName,
        recordType: record.recordType, recordChangeTag: record.recordChangeTag, fields};
    }
    if (over) whole.recordChangeTag = over;
    this.state = {...this.state, busy: true, failure: null};
    try {
      const {records: [saved]} = await run('record save', {
        ...this.target, file: JSON.stringify(whole), mode: this.#isNew ? 'create' : 'update'});
      if (saved.serverErrorCode === 'CONFLICT' && saved.serverRecord && !this.#isNew) {
        this.state = {...this.state, busy: false, conflict: {server: saved.serverRecord, mine: whole}};
        return;
      }
      if (saved.serverErrorCode) {
        throw Object.assign(new Error(saved.reason), {code: saved.serverErrorCode});
      }
      say('The record is saved.');
      const before = this.#isNew ? null : Object.fromEntries(Object.keys(whole.fields ?? {}).map(
        name => [name, this.state.record.fields?.[name] ?? {value: null}]));
      this.dispatchEvent(new CustomEvent('changed', {detail: {record: saved, before}}));
      this.#show(saved);
      if (this.#isNew) this.#close();
    } catch (failure) {
      this.state = {...this.state, busy: false, failure};
    }
  }

  #conflict() {
    const {server, mine} = this.state.conflict;
    const names = [...new Set([...Object.keys(mine.fields ?? {}), ...Object.keys(server.fields ?? {})])]
      .filter(name => JSON.stringify(server.fields?.[name]?.value) !== JSON.stringify((mine.fields?.[name]
        ?? this.state.record.fields?.[name])?.value));
    return html`<section class="problem" role="alert"><h3>Somebody else has changed this record</h3>
      <div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">Field</th><th scope="col">Yours</th><th scope="col">On the server</th></tr></thead>
      <tbody>${names.map(name => html`<tr><th scope="row"><bdi>${name}</bdi></th><td>${shown(mine.fields?.[name]
        ?? this.state.record.fields?.[name])}</td><td>${shown(server.fields?.[name])}</td></tr>`)}</tbody></table></div>
      <div class="row"><button type="button" @click=${() => {
        this.state = {...this.state, record: server, conflict: null};
        this.#save(server.recordChangeTag);
      }}>Save mine over it</button>
      <button type="button" class="second" @click=${() => {
        this.dispatchEvent(new CustomEvent('changed', {detail: {record: server}}));
        this.#show(server);
      }}>Take theirs</button></div></section>`;
  }

  async #delete() {
    const meant = await confirm({title: 'Delete the record?', act: 'Delete',
      text: html`<p>Records that refer to it with DELETE_SELF go with it.</p>`});
    if (!meant) return;
    try {
      const {records: [{serverErrorCode, reason}]} = await run('record delete', {...this.target, name: [this.name], yes: true});
      if (serverErrorCode) throw new Error(reason);
      say('The record is deleted.');
      this.dispatchEvent(new CustomEvent('gone', {detail: this.name}));
      this.#close();
    } catch (failure) {
      this.state = {...this.state, failure};
    }
  }

  async #close() {
    const {edited = {}, json, record} = this.state;
    const isDirty = Object.keys(edited).length > 0 || json !== undefined && json !== this.#asJSON(record);
    if (isDirty && this.state.record) {
      const meant = await confirm({title: 'Leave without saving?', act: 'Leave', text: 'What you have typed is lost.'});
      if (!meant) return;
    }
    change({record: '', new: ''});
  }
}
define('record-panel', RecordPanel, ['target', 'name', 'type', 'schema', 'state']);

/// One field of many records.
class FieldsDialog extends Part {
  firstUpdated() { this.querySelector('dialog').showModal(); }

  render() {
    const field = this.fields.find(({name}) => name === this.chosen) ?? this.fields[0];
    return html`<dialog aria-labelledby="many-title" @close=${() => this.done()}>
      <form @submit=${event => {
        event.preventDefault();
        try {
          this.done(field, read(field.type, event.target.elements.value.value));
        } catch (error) {
          this.wrong = error.message;
        }
      }}><h2 id="many-title">Edit ${this.count} records</h2>
      <label for="many-field">Field</label><select id="many-field" @change=${event => { this.chosen = event.target.value; }}>${
        this.fields.map(({name}) => html`<option>${name}</option>`)}</select>
      <label for="many-value">Value <span class="quiet">${field?.type}</span></label>
      <input id="many-value" name="value" autocomplete="off" type=${field?.type === 'TIMESTAMP' ? 'datetime-local' : 'text'}
        aria-invalid=${this.wrong ? 'true' : nothing}>
      <p class="quiet hint">Left empty, the field is removed; a text becomes empty.</p>
      ${this.wrong ? html`<p class="problem" role="alert">Expected ${this.wrong}.</p>` : nothing}
      <div class="row"><button>Save all</button><button type="button" class="second" @click=${() => this.done()}>Cancel</button></div>
      </form></dialog>`;
  }
}
define('fields-dialog', FieldsDialog, ['count', 'fields', 'done', 'chosen', 'wrong']);
