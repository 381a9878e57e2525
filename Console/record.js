// One record: its fields by type with the files of assets, its JSON beside, where it leads to, and what to do when somebody else
// has changed it.

import {Asking, Latest, Modal, button, bytes, change, confirm, define, download, facts, html, isMoment, many, may, nothing, parse, problem, run, say,
  submitted, table, tabs, time, waiting} from './screen.js';
import {TYPES, isList, read, shown, written} from './values.js';

/// What is shown without being asked, at most.
const SHOWN_BYTES_MAX = 2_000_000;
// By how files begin: nothing is believed that they say of themselves. Pictures that may hold scripts are not among them.
const KINDS = [
  ['image/png', 'png', [0x89, 0x50, 0x4e, 0x47]], ['image/jpeg', 'jpg', [0xff, 0xd8, 0xff]],
  ['image/gif', 'gif', [0x47, 0x49, 0x46, 0x38]], ['image/webp', 'webp', [0x52, 0x49, 0x46, 0x46]],
  ['application/pdf', 'pdf', [0x25, 0x50, 0x44, 0x46]], ['application/zip', 'zip', [0x50, 0x4b, 0x03, 0x04]],
];

async function kindOf(blob) {
  const start = new Uint8Array(await blob.slice(0, 12).arrayBuffer());
  const found = KINDS.find(([, , magic]) => magic.every((byte, index) => start[index] === byte));
  return found && (found[0] !== 'image/webp' || start[8] === 0x57) ? found : ['application/octet-stream', 'bin'];
}

class AssetView extends Asking {
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#forget();
  }

  asks() { return [this.target, this.record, this.field, this.index, this.asset.fileChecksum]; }

  #forget() { if (this.state.address) URL.revokeObjectURL(this.state.address); }

  load() {
    this.#forget();
    this.state = {};
    if (this.asset.size <= SHOWN_BYTES_MAX) this.#fetch();
  }

  #fetch() {
    this.state = {busy: true, count: 0};
    return this.ask(async signal => {
      const blob = await download('record asset', {
        ...this.target, name: this.record, field: this.field, index: this.index}, {signal, tell: count => this.set({count})});
      const [type, ending] = await kindOf(blob);
      signal.throwIfAborted();
      this.state = {type, ending, address: URL.createObjectURL(new Blob([blob], {type}))};
    });
  }

  render() {
    const {busy, count, type, ending, address, failure} = this.state;
    const {size, fileChecksum} = this.asset;
    return html`<figure class="asset">${address && type.startsWith('image/') ? html`<img src=${address}
        alt=${`Picture in ${this.field}`}>` : nothing}
      <figcaption>${bytes(size)}${type ? html` · ${type}` : nothing} · checksum <code>${fileChecksum}</code>
        ${address ? html`<a href=${address} download=${`${this.record}-${this.field}.${ending}`}>Download</a>`
          : busy ? html`<span role="status">${bytes(count)} of ${bytes(size)}…</span>`
          : button('Load', () => this.#fetch())}</figcaption></figure>
      ${problem(failure)}`;
  }
}
define('asset-view', AssetView, ['target', 'record', 'field', 'index', 'asset', 'state']);

const LONG = 20_000;
/// How many names are offered, and how far they are looked for.
const FOUND = 10;
const SEARCHED_PAGES = 10;

const LOST = {title: 'Leave without saving?', text: 'What you have typed is lost.'};

class RecordPanel extends Asking {
  #searches = new Latest();

  get #isNew() { return !this.name; }

  get #isThere() { return this.state.record && (this.#isNew || this.known); }

  disconnectedCallback() {
    super.disconnectedCallback();
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

  asks() { return [this.name, this.target]; }

  async load() {
    [this.known, this.order, this.state] = [null, new Set(), {}];
    if (this.#isNew) return this.#show({recordType: this.type, fields: {}});
    await this.ask(async signal => {
      const {records: [record]} = await run('record get', {...this.target, name: [this.name]}, {signal});
      if (record.serverErrorCode) throw Object.assign(new Error(record.reason), {code: record.serverErrorCode});
      this.#show(record);
    });
  }

  #show(record) {
    const text = this.#asJSON(record);
    this.state = {record, edited: {}, added: [], opened: new Set(), tab: this.state.tab, text, json: text};
  }

  loses() {
    const {edited = {}, removed, newName, text, json, busy} = this.state;
    return !busy && (Object.values(edited).some(text => text !== undefined) || removed || newName || json !== text) && LOST;
  }

  get #fields() {
    const {record, added} = this.state;
    const known = (this.known?.get(record.recordType) ?? []).filter(({isSystem}) => !isSystem);
    const more = Object.entries(record.fields ?? {}).filter(([name]) => !known.some(field => field.name === name))
      .map(([name, {type}]) => ({name, type: type ?? 'STRING'}));
    const all = [...known, ...more, ...added];
    // Somebody may type where a field stands: it stays there, whatever comes.
    for (const {name} of all) this.order.add(name);
    return [...this.order].flatMap(name => all.find(field => field.name === name) ?? []);
  }

  render() {
    const {record, failure, tab = 'fields'} = this.state;
    // While it is read again, and where that fails, the schema before goes on.
    if (this.schema?.size || !this.known) this.known = this.schema;
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
        <div class="row">${this.#isNew ? nothing : html`${button('←', () => history.back(), {label: 'Back'})}${
          button('→', () => history.forward(), {label: 'Forward'})}`}
        ${button('Close', () => this.#close())}</div></div>
      ${!record && failure ? problem(failure, this.#isNew ? null : () => this.load())
        : !this.#isThere ? waiting('Looking for the record…') : html`
        ${this.#about(record)}
        ${tabs('View', [['fields', 'Fields'], ['json', 'JSON']], tab, 'view', key => this.#turn(key))}
        <form @submit=${submitted(() => this.#save())}><div id="view" role="tabpanel" aria-labelledby=${`tab-${tab}`}>${
          tab === 'json' ? this.#json() : this.#editors(record)}</div>
          ${problem(failure)}
          ${this.state.conflict ? this.#conflict() : this.#buttons()}</form>`}</dialog>`;
  }

  #about(record) {
    if (this.#isNew) return nothing;
    const {user: email} = this.target;
    const by = who => who ? html` by <bdi>${who}</bdi>` : nothing;
    return facts([
      ['Type', html`<bdi>${record.recordType}</bdi>`],
      ['Zone', html`<bdi>${record.zoneID?.zoneName}</bdi>${email ? html` of <bdi>${email}</bdi>` : nothing}`],
      ['Change tag', record.recordChangeTag],
      ['Made', html`${time(record.created?.timestamp)}${by(record.created?.userRecordName)}`],
      ['Changed', html`${time(record.modified?.timestamp)}${by(record.modified?.userRecordName)}`],
      record.parent && ['Parent', this.#link(record.parent)], record.share && ['Share', this.#link(record.share)],
      record.shortGUID && ['Share link', html`<code>/share/${record.shortGUID}</code>`]]);
  }

  /// Where a reference leads; it may be another zone.
  #link({recordName, zoneID}) {
    const {zone = '_defaultZone', database} = this.target;
    const elsewhere = zoneID?.zoneName && zoneID.zoneName !== zone ? {
      zone: zoneID.zoneName, owner: database === 'shared' ? zoneID.ownerRecordName : undefined} : {};
    return button(html`<bdi>${recordName}</bdi>`, () => change({record: recordName, new: '', ...elsewhere}), {kind: 'plain link'});
  }

  #editors(record) {
    return html`${this.#isNew ? html`<div class="field"><label for="record-type">Record type</label>
        <input id="record-type" list="known-types" required autocomplete="off" .value=${record.recordType ?? ''}
          @change=${event => this.set({record: {...record, recordType: event.target.value.trim()}})}>
        <datalist id="known-types">${[...this.known?.keys() ?? []].map(name => html`<option value=${name}></option>`)}</datalist></div>
      <div class="field"><label for="record-name">Name</label><input id="record-name" autocomplete="off" autofocus
        aria-describedby="record-name-hint" .value=${this.state.newName ?? ''}
        @change=${event => { this.state.newName = event.target.value.trim(); }}>
        <p class="quiet hint" id="record-name-hint">Left empty, the server makes one.</p></div>` : nothing}
      ${this.#fields.map(field => this.#editor(field, record.fields?.[field.name]))}
      ${may('record save') ? html`<details><summary>Add a field</summary><div class="adding">
        <label>Name of the field <input id="added-name" autocomplete="off" pattern="[A-Za-z][A-Za-z0-9_]*"></label>
        <label>Type <select id="added-type">${TYPES.map(type => html`<option>${type}</option>`)}</select></label>
        ${button('Add', () => this.#add())}</div></details>` : nothing}`;
  }

  #add() {
    const name = this.querySelector('#added-name').value.trim();
    const type = this.querySelector('#added-type').value;
    if (!/^[A-Za-z]\w*$/.test(name) || this.#fields.some(field => field.name === name)) {
      this.querySelector('#added-name').focus();
      return;
    }
    this.set({added: [...this.state.added, {name, type}]});
    this.updateComplete.then(() => this.querySelector(`#value-${name}`)?.focus());
  }

  #editor({name, type, isEncrypted}, stored) {
    const {edited, wrong = {}, opened, busy} = this.state;
    const kind = stored?.type ?? type;
    const id = `value-${name}`;
    const before = written(kind, stored?.value);
    const text = edited[name] ?? before;
    const label = html`<label for=${id}><bdi>${name}</bdi> <span class="quiet">${kind}${isEncrypted ? ', encrypted' : ''}</span></label>`;
    if (/^ASSET/.test(kind)) {
      const assets = [stored?.value ?? []].flat();
      return html`<div class="field">${label}<div id=${id}>${assets.length === 0 ? html`<p class="quiet">No file.</p>`
        : assets.map((asset, index) => html`<asset-view .target=${this.target} .record=${this.name} .field=${name}
          .index=${index} .asset=${asset}></asset-view>`)}
        <p class="quiet hint">Apps save files; they are not changed here.</p></div></div>`;
    }
    if (text.length > LONG && !opened.has(name)) {
      return html`<div class="field">${label}<p id=${id}>${shown(stored, 120)} ${button(`Show all ${bytes(text.length)}`,
        () => this.set({opened: new Set([...opened, name])}))}</p></div>`;
    }
    const isLong = isList(kind) || kind === 'BYTES' || kind === 'STRING' && (text.length > 80 || text.includes('\n'));
    const canEdit = may('record save') && !/^ENCRYPTED/.test(kind);
    const isDate = kind === 'TIMESTAMP' && isMoment(stored?.value ?? 0);
    const input = ({target}) => {
      const {value, selectionStart: at} = target;
      this.set({edited: {...edited, [name]: value === before ? undefined : value}, opened: new Set([...opened, name])});
      // A text that has got long has another element.
      this.updateComplete.then(() => {
        const now = document.getElementById(id);
        if (now === target) return;
        now?.focus();
        now?.setSelectionRange(at, at);
      });
    };
    return html`<div class="field">${label}
      ${isLong ? html`<textarea id=${id} rows=${Math.min(12, Math.max(2, text.split('\n').length))} .value=${text}
          ?readonly=${busy || !canEdit} spellcheck="false" aria-invalid=${wrong[name] ? 'true' : nothing} @input=${input}></textarea>`
        : html`<input id=${id} .value=${text} ?readonly=${busy || !canEdit} autocomplete="off" spellcheck="false"
          type=${isDate ? 'datetime-local' : 'text'} step=${isDate ? '0.001' : nothing}
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
      ${canEdit && stored && edited[name] === undefined && kind === 'STRING' ? button(
        this.state.removed?.includes(name) ? 'is removed when you save' : 'Remove',
        () => this.set({removed: [...this.state.removed ?? [], name]}), {kind: 'plain link small'}) : nothing}</div>`;
  }

  /// Records whose names begin so.
  async #search(text) {
    const signal = this.#searches.begin();
    const found = [];
    let after;
    try {
      // A page looks at so many records and no more, whatever it finds.
      for (let page = 0; page < SEARCHED_PAGES && found.length < FOUND && (page === 0 || after); page += 1) {
        const answer = await run('record list', {...this.target, search: text, brief: true, limit: FOUND, after}, {signal});
        found.push(...answer.records.map(({recordName}) => recordName));
        after = answer.after;
      }
      this.set({found});
    } catch (failure) {
      if (failure.name !== 'AbortError') this.set({found: []});
    }
  }

  #json() {
    const {json, busy} = this.state;
    return html`<div class="field"><label for="json">The record as the server has it</label>
      <textarea id="json" rows="18" spellcheck="false" ?readonly=${busy || !may('record save')} .value=${json} @input=${event => { this.state.json = event.target.value; }}></textarea></div>`;
  }

  #asJSON(record) {
    const {recordName, recordType, recordChangeTag, fields, parent} = record;
    return JSON.stringify({recordName, recordType, recordChangeTag, parent, fields}, null, 2);
  }

  /// Fields that are edited are in the JSON, too; what is typed there is not in the fields.
  async #turn(tab) {
    const {record, newName, text, json, tab: now = 'fields'} = this.state;
    if (tab === now) return;
    if (tab === 'json') {
      const values = this.#read();
      if (!values) return;
      const text = this.#asJSON({...record, recordName: this.name || newName, fields: {...record.fields, ...values}});
      this.set({text, json: text});
    } else if (json !== text) {
      if (!await confirm({act: 'Leave', ...LOST})) return;
      this.set({json: text});
    }
    this.set({tab});
  }

  #buttons() {
    if (!may('record save')) return nothing;
    return html`<div class="row sticky"><button ?disabled=${this.state.busy}>${this.state.busy ? 'Saving…' : 'Save'}</button>
      ${this.#isNew ? nothing : button('Copy as new', () => this.#copy(), {kind: 'second'})}
      ${!this.#isNew && may('record delete') ? button('Delete…', () => this.#delete(), {kind: 'danger', disabled: this.state.busy}) : nothing}</div>`;
  }

  async #copy() {
    const {record} = this.state;
    const edited = Object.fromEntries(this.#fields.filter(({name, type}) => record.fields?.[name] && !/^ASSET/.test(type)).map(
      ({name, type}) => [name, written(record.fields[name].type ?? type, record.fields[name].value)]));
    if (!await change({record: '', new: '1'})) return;
    this.asked = JSON.stringify(['', this.target]);
    this.state = {};
    this.#show({recordType: record.recordType, fields: {}});
    this.set({edited});
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
    this.set({wrong});
    const [first] = Object.keys(wrong);
    if (first) this.updateComplete.then(() => this.querySelector(`#value-${first}`).focus());
    return first ? null : values;
  }

  async #save(over) {
    const {record, tab, text, json, busy} = this.state;
    if (busy || !this.#isThere) return;
    let whole;
    if (tab === 'json' && json !== text) {
      try { whole = parse(json); } catch (error) {
        this.set({failure: {message: `This is no JSON: ${error.message}`}});
        return;
      }
    } else {
      const fields = this.#read();
      if (!fields) return;
      whole = {recordName: this.#isNew ? this.state.newName || undefined : record.recordName,
        recordType: record.recordType, recordChangeTag: record.recordChangeTag, fields};
    }
    if (over) whole.recordChangeTag = over;
    this.set({busy: true});
    const [isNew, {target}] = [this.#isNew, this];
    await this.attempt(async still => {
      const {records: [saved]} = await run('record save', {
        ...target, file: JSON.stringify(whole), mode: isNew ? 'create' : 'update'});
      if (saved.serverErrorCode === 'CONFLICT' && saved.serverRecord && !isNew && still()) {
        this.set({busy: false, conflict: {server: saved.serverRecord, mine: whole}});
        return;
      }
      if (saved.serverErrorCode) {
        throw Object.assign(new Error(saved.reason), {code: saved.serverErrorCode});
      }
      say('The record is saved.');
      const before = isNew ? null : Object.fromEntries(Object.keys(whole.fields ?? {}).map(
        name => [name, record.fields?.[name] ?? {value: null}]));
      this.dispatchEvent(new CustomEvent('changed', {detail: {record: saved, before, target}}));
      if (!still()) return;
      this.#show(saved);
      if (isNew) this.#close();
    });
  }

  #conflict() {
    const {server, mine} = this.state.conflict;
    const names = [...new Set([...Object.keys(mine.fields ?? {}), ...Object.keys(server.fields ?? {})])]
      .filter(name => JSON.stringify(server.fields?.[name]?.value) !== JSON.stringify((mine.fields?.[name]
        ?? this.state.record.fields?.[name])?.value));
    return html`<section class="problem" role="alert"><h3>Somebody else has changed this record</h3>
      ${table('Differences', ['Field', 'Yours', 'On the server'], names.map(name => html`<tr><th scope="row"><bdi>${name}</bdi></th>
        <td>${shown(mine.fields?.[name] ?? this.state.record.fields?.[name])}</td><td>${shown(server.fields?.[name])}</td></tr>`))}
      <div class="row">${button('Save mine over it', () => {
        this.set({record: server, conflict: null});
        this.#save(server.recordChangeTag);
      }, {kind: ''})}
      ${button('Take theirs', () => {
        this.dispatchEvent(new CustomEvent('changed', {detail: {record: server, target: this.target}}));
        this.#show(server);
      }, {kind: 'second'})}</div></section>`;
  }

  async #delete() {
    const {name, target} = this;
    const meant = await confirm({title: 'Delete the record?', act: 'Delete',
      text: html`<p>Records that refer to it with DELETE_SELF go with it.</p>`});
    // Who one acts as may have ended while the question stood.
    if (!meant || name !== this.name || JSON.stringify(target) !== JSON.stringify(this.target)) return;
    await this.attempt(async still => {
      const {records: [{serverErrorCode, reason}]} = await run('record delete', {...target, name: [name], yes: true});
      if (serverErrorCode) throw new Error(reason);
      say('The record is deleted.');
      this.dispatchEvent(new CustomEvent('gone', {detail: {name, target}}));
      if (!still()) return;
      this.state = {};
      this.#close();
    });
  }

  #close() { change({record: '', new: ''}); }
}
define('record-panel', RecordPanel, ['target', 'name', 'type', 'schema', 'state']);

/// One field of many records.
class FieldsDialog extends Modal {
  render() {
    const field = this.fields.find(({name}) => name === this.chosen) ?? this.fields[0];
    return html`<dialog aria-labelledby="many-title" @close=${() => this.done()}>
      <form @submit=${submitted((_, {elements}) => {
        try {
          this.done(field, read(field.type, elements.value.value));
        } catch (error) {
          this.wrong = error.message;
        }
      })}><h2 id="many-title">Edit ${many(this.count, 'record')}</h2>
      <label for="many-field">Field</label><select id="many-field" @change=${event => { this.chosen = event.target.value; }}>${
        this.fields.map(({name}) => html`<option>${name}</option>`)}</select>
      <label for="many-value">Value <span class="quiet">${field?.type}</span></label>
      <input id="many-value" name="value" autocomplete="off" type=${field?.type === 'TIMESTAMP' ? 'datetime-local' : 'text'}
        aria-invalid=${this.wrong ? 'true' : nothing}>
      <p class="quiet hint">Left empty, the field is removed; a text becomes empty.</p>
      ${this.wrong ? html`<p class="problem" role="alert">Expected ${this.wrong}.</p>` : nothing}
      <div class="row"><button>Save all</button>${button('Cancel', () => this.done(), {kind: 'second'})}</div>
      </form></dialog>`;
  }
}
define('fields-dialog', FieldsDialog, ['count', 'fields', 'done', 'chosen', 'wrong']);
