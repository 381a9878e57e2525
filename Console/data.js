// The records of one database: which ones, in which columns; what is done with many at once.

import {ADDRESS, actAs, Asking, Latest, briefMoment, button, change, choice, columnChoice, confirm, define, emptied, empty, html, kept, many, may, nothing, number, pick, popup,
  problem, run, say, select, submitted, waiting} from './screen.js';
import {comparators, filterText, isShort, read, shown, types, written} from './values.js';
import './rows.js';
import './record.js';
import './changes.js';
import {offer} from './indexes.js';
import {exportRecords, importRecords} from './transfer.js';

const PAGE = 200;
const QUERY = ['container', 'environment', 'database', 'zone', 'type', 'filters', 'sort', 'columns'];
/// In which a moment, and two coordinates, stand whole.
const MOMENT = 12;
const WIDTHS = {TIMESTAMP: MOMENT, LOCATION: 10.4};
const DATABASES = [['public', 'Public'], ['private', 'Private'], ['shared', 'Shared']];

const list = text => { try { return JSON.parse(text ?? '[]'); } catch { return []; } };

class DataScreen extends Asking {
  #zones = new Latest();
  #suggestions = new Latest();

  constructor() {
    super();
    Object.assign(this, {records: null, schema: null, zones: null, selected: new Set(), undos: [], found: ''});
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#zones.end();
  }

  /// Where one is, as the commands take it.
  get target() {
    const {container, environment, database = this.values.as ? 'private' : 'public', as, zone, owner} = this.values;
    return {container, environment, database, user: as, zone, owner};
  }

  get isReady() {
    const {container, database, user} = this.target;
    return Boolean(container) && (database === 'public' || Boolean(user));
  }

  /// What the zones and types are of, and with it what the records are.
  get #around() {
    const {container, environment, database, user} = this.target;
    return {container, environment, database, user};
  }

  asks() {
    const {type, filters, sort, view} = this.values;
    const {zone, owner} = this.target;
    return [this.#around, zone, owner, type, filters, sort, view];
  }

  load() {
    const around = JSON.stringify(this.#around);
    if (around !== this.around) {
      this.around = around;
      this.undos = [];
      this.#loadAround();
    }
    this.selected = new Set();
    this.#load();
  }

  async #loadAround() {
    const signal = this.#zones.begin();
    [this.zones, this.schema, this.aroundFailure] = [null, null, null];
    const {container, environment} = this.target;
    if (!container) return;
    try {
      const {schema} = await run('schema export', {container, environment}, {signal});
      this.schema = types(schema);
      if (this.isReady) this.zones = (await run('zone list', this.#around, {signal})).zones;
    } catch (failure) {
      if (failure.name !== 'AbortError') this.aroundFailure = failure;
    }
  }

  /// - more: whether the next page is wanted, and not the first one.
  async #load(more = false) {
    if (more && (this.loading || !this.next)) return;
    this.stop();
    if (!more) [this.records, this.next] = [null, undefined];
    this.failure = null;
    if (!this.isReady || this.values.view === 'changes') return;
    this.loading = true;
    const {type, sort} = this.values;
    const filters = this.#filterTexts();
    await this.ask(async signal => {
      const isQuery = Boolean(type && (filters.length || sort));
      const page = await run(isQuery ? 'record query' : 'record list', {
        ...this.target, type, brief: true, limit: PAGE, after: more ? this.next : undefined,
        filter: isQuery && filters.length ? filters : undefined,
        'sort-by': isQuery && sort ? [sort] : undefined}, {signal});
      this.records = more ? [...this.records, ...page.records] : page.records;
      this.next = page.after;
      if (!more) say(`${many(page.records.length, 'record')}${page.after ? ', and more' : ''}`);
    }, failure => { this.failure = failure; });
    this.loading = false;
  }

  #fields() {
    const {type} = this.values;
    if (type) return (this.schema?.get(type) ?? []).filter(({isSystem}) => !isSystem);
    return [];
  }

  #filterTexts() {
    const fields = new Map((this.schema?.get(this.values.type) ?? []).map(field => [field.name, field]));
    return list(this.values.filters).map(filter => filterText(filter, filter.type ?? fields.get(filter.field)?.type));
  }

  #columns() {
    const {sort = '', type} = this.values;
    const [sorted, order] = sort.split(' ');
    const direction = key => key !== sorted ? undefined : order === 'DESC' ? 'descending' : 'ascending';
    const fields = this.#fields();
    const wanted = this.#shownFields(fields);
    return [
      {key: 'recordName', title: 'Name', rem: 10, text: record => record.recordName},
      ...type ? [] : [{key: 'recordType', title: 'Type', rem: 10, text: record => record.recordType ?? ''}],
      ...wanted.filter(name => fields.some(field => field.name === name)).map(name => {
        const field = fields.find(each => each.name === name);
        return {
          key: name, title: name, rem: WIDTHS[field.type] ?? 8.4, sort: direction(name),
          isNumber: ['INT64', 'DOUBLE'].includes(field.type), text: record => shown(record.fields?.[name]),
          editable: record => may('record save') && isShort(field.type) && !record.fields?.[name]?.isEncrypted
            && record.fields?.[name]?.whole === undefined
            ? written(field.type, record.fields?.[name]?.value) : undefined,
          field};
      }),
      ...type ? [] : [{key: 'fields', title: 'Fields', rem: 22,
        text: record => Object.entries(record.fields ?? {}).map(([name, field]) => `${name}: ${shown(field, 40)}`)
          .join(' · ').slice(0, 300)}],
      {key: 'modified', title: 'Changed', rem: MOMENT,
        text: record => record.modified ? briefMoment(record.modified.timestamp) : ''},
    ];
  }

  render() {
    const {record, view} = this.values;
    const {container, database} = this.target;
    return html`<div class="head"><h1>Data</h1>${this.#buttons()}</div>
      ${!container ? empty('Choose a container to see its records.') : html`<div class="sides">
        <aside aria-label="Where"><details ?open=${matchMedia('(min-width: 54rem)').matches || !this.isReady}>
          <summary>${[database, this.values.zone, this.values.type || 'all types'].filter(Boolean).join(' · ')}</summary>
          ${this.#databases(database)}${this.#zoneList()}${this.#typeList()}</details></aside>
        <div class="content">${this.#views()}${view === 'changes' ? this.#changes() : html`${this.#query()}${this.#body()}`}</div></div>`}
      ${record || this.values.new ? html`<record-panel .target=${this.target} .name=${record ?? ''}
        .type=${this.values.type} .schema=${this.schema}
        @changed=${event => this.#changed(event.detail)} @gone=${({detail: {name, target}}) => this.#lost(name, target)}></record-panel>` : nothing}`;
  }

  #views() {
    const {view = ''} = this.values;
    return this.isReady ? choice('View', [['', 'Records'], ['changes', 'Changes']], view,
      key => change({view: key, since: '', record: ''}), 'switch views') : nothing;
  }

  #changes() {
    const {database, zone} = this.target;
    if (!this.isReady) return empty('Say whose changes to look at.');
    return database !== 'public' && !zone ? empty('Choose a zone: the default zone of somebody has no change feed.')
      : html`<change-feed .target=${this.target} .since=${this.values.since}></change-feed>`;
  }

  #buttons() {
    if (!this.isReady || this.aroundFailure) return nothing;
    const count = this.selected.size;
    return html`<div class="row tools">
      ${may('record save') ? button('New record', () => change({record: '', new: '1'}), {kind: ''}) : nothing}
      ${this.undos.length ? button('Undo', () => this.#undo(), {kind: 'second'}) : nothing}
      ${count && may('record save') && this.values.type ? button(`Edit ${number(count)}…`, () => this.#editMany(), {kind: 'second'}) : nothing}
      ${count && may('record delete') ? button(`Delete ${number(count)}…`, () => this.#delete([...this.selected]), {kind: 'danger'}) : nothing}
      <details class="popup export"><summary class="button second">Export</summary><div class="menu">
        ${button('JSON lines', event => this.#export(event, 'jsonl'), {kind: 'plain'})}
        ${this.target.database === 'shared' ? nothing : html`${button('CSV', event => this.#export(event, 'csv'), {kind: 'plain', disabled: !this.values.type})}${this.values.type ? nothing : html`<p class="quiet hint">
          A table has the fields of one record type: choose it first.</p>`}`}</div></details>
      ${may('record save') ? html`<label class="button second">Import<input type="file" class="said" accept=".json,.jsonl,.csv"
        @change=${event => this.#import(event.target)}></label>` : nothing}
    </div>${this.progress ? html`<p role="status" class="note">${this.progress.text}
      <progress max="1" .value=${this.progress.share ?? 0} aria-label="Progress"></progress>
      ${button('Stop', () => this.progress.stop())}</p>` : nothing}
      ${this.outcome ? html`<div class=${this.outcome.failed.length ? 'problem' : 'note'} role="status">
        <p>${this.outcome.text}</p>${this.outcome.failed.length ? html`<ul>${this.outcome.failed.slice(0, 20).map(
          text => html`<li>${text}</li>`)}</ul>` : nothing}
        ${button('Close', () => { this.outcome = null; })}</div>` : nothing}`;
  }

  #databases(database) {
    return html`<fieldset><legend>Database</legend>${choice('Database', DATABASES, database,
        name => change({database: name, zone: '', owner: '', record: ''}))}</fieldset>
      ${database === 'public' ? nothing : html`<form class="user" @submit=${submitted(({user}) => this.#actAs(user, database))}><label for="of">Whose</label><input id="of" name="user" type="email" list="people" autocomplete="off" required
        placeholder=${ADDRESS} .value=${this.values.as ?? ''} @input=${event => this.#suggest(event.target.value)}>
        <datalist id="people">${(this.people ?? []).map(email => html`<option value=${email}></option>`)}</datalist>
        <button class="small">Act as them</button>
        <p class="quiet hint">They are told at their account.</p></form>`}`;
  }

  async #actAs(email, database) {
    const {container, environment} = this.target;
    const {still} = this;
    try {
      await actAs({email, container, environment});
      if (still()) change({database, zone: '', owner: '', record: ''});
    } catch (failure) {
      if (still()) this.aroundFailure = failure;
    }
  }

  async #suggest(search) {
    const signal = this.#suggestions.begin();
    try {
      const {users} = await run('user list', {search, limit: 10}, {signal});
      this.people = users.map(({email}) => email);
    } catch {
      if (!signal.aborted) this.people = [];
    }
  }

  #zoneList() {
    if (!this.isReady || !this.zones) return nothing;
    const now = this.values.zone ?? '_defaultZone';
    return html`<h2 id="zones">Zones</h2>${this.zones.length === 0 ? html`<p class="quiet">No zone is here.</p>` : html`
      <ul class="list" aria-labelledby="zones">${this.zones.map(({zoneID: {zoneName, ownerRecordName}}) => {
        const owner = this.target.database === 'shared' ? ownerRecordName : undefined;
        const isHere = zoneName === now && (owner === undefined || owner === this.values.owner);
        return html`<li><button type="button" class="plain" aria-current=${isHere ? 'true' : nothing}
          @click=${() => change({zone: zoneName, owner, record: ''})}><bdi>${zoneName}</bdi></button></li>`;
      })}</ul>`}`;
  }

  #typeList() {
    if (!this.schema) return this.failure ? nothing : this.aroundFailure ? problem(this.aroundFailure, () => this.#loadAround()) : waiting('Looking…');
    return html`<h2 id="types">Record types</h2><ul class="list" aria-labelledby="types">${
      ['', ...this.schema.keys()].map(name => html`<li><button type="button" class="plain"
        aria-current=${name === (this.values.type ?? '') ? 'true' : nothing}
        @click=${() => change({type: name, filters: '', sort: '', columns: '', record: ''})}>${
        name ? html`<bdi>${name}</bdi>` : 'All types'}</button></li>`)}</ul>`;
  }

  #query() {
    if (!this.isReady || this.aroundFailure) return nothing;
    const {type} = this.values;
    const filters = list(this.values.filters);
    const fields = this.#fields();
    const set = changed => change({filters: changed.length ? JSON.stringify(changed) : '', record: ''});
    return html`<div class="query">
      <form class="fetch" @submit=${submitted(({name}) => change({record: name}))}><label class="said" for="by-name">Record by its name</label>
        <input id="by-name" name="name" required placeholder="Record by its name" autocomplete="off" spellcheck="false">
        <button class="second small">Open</button></form>
      ${type ? html`
        ${filters.map((filter, index) => html`<span class="chip">${filter.field} ${
          comparators(filter.type).find(([key]) => key === filter.comparator)?.[1] ?? filter.comparator} ${filter.value}
          ${button('×', () => set(filters.filter((_, each) => each !== index)), {kind: 'plain', label: `Remove the filter of ${filter.field}`})}</span>`)}
        ${popup('Filter', html`
          <form class="menu" @submit=${submitted((given, form) => this.#addFilter(given, form, filters, set))}>
            <label for="filter-field">Field</label><select id="filter-field" name="field" @change=${event => {
              this.filterField = event.target.value; }}>${fields.map(field => html`<option>${field.name}</option>`)}</select>
            ${select({label: 'How', name: 'comparator', list: comparators(
              (fields.find(({name}) => name === this.filterField) ?? fields[0])?.type ?? 'STRING')})}
            <label for="filter-value">Value</label><input id="filter-value" name="value" required autocomplete="off">
            <div class="row"><button class="small">Add</button></div></form>`, 'filter')}
        ${pick('Order', [['', 'last changed first'], ...fields.filter(({isSortable}) => isSortable).flatMap(
          ({name}) => [[`${name} ASC`, `${name} ↑`], [`${name} DESC`, `${name} ↓`]])], this.values.sort ?? '',
        sort => change({sort, record: ''}))}
        ${columnChoice(fields.map(({name}) => [name]), this.#shownFields(fields))}` : nothing}
      ${kept(this, {one: 'query', many: 'queries', names: QUERY,
        of: ({container}) => container === this.values.container})}</div>`;
  }

  #shownFields(fields) {
    const {columns} = this.values;
    return columns ? columns.split(',') : fields.slice(0, 8).map(({name}) => name);
  }

  #addFilter({field, comparator, value}, form, filters, set) {
    const {type} = this.#fields().find(({name}) => name === field);
    set([...filters, {field, comparator, value, type}]);
    emptied(form);
  }

  #body() {
    if (!this.isReady) return empty('Say whose records to look at.');
    if (this.failure && !this.records) {
      return html`${problem(this.failure, () => {
        if (this.aroundFailure) this.#loadAround();
        this.#load();
      })}${offer(this.failure, this.target, this.still, () => {
        say('The index is added.');
        this.#loadAround();
        this.#load();
      }, failure => { this.failure = failure; })}`;
    }
    if (!this.records) return waiting('Looking for records…');
    if (this.records.length === 0) {
      return empty(this.values.filters && this.values.filters !== '[]' ? 'No record meets these filters.'
        : 'No record is here yet.');
    }
    return html`<row-grid .rows=${this.records} .columns=${this.#columns()} .keyOf=${record => record.recordName}
        .selected=${this.selected} .label=${'Records'} .isWhole=${!this.next}
        .sortable=${key => this.#fields().some(({name, isSortable}) => name === key && isSortable)}
        @rowschosen=${event => { this.selected = event.detail; }}
        @openrow=${event => change({record: event.detail.recordName})}
        @sortcolumn=${event => change({sort: `${event.detail} ${this.values.sort === `${event.detail} ASC` ? 'DESC' : 'ASC'}`})}
        @editcell=${event => this.#edit(event.detail)} @needmore=${() => this.#load(true)}></row-grid>
      <p class="quiet foot">${many(this.records.length, 'record')}${this.next ? ', and more as you scroll' : ''}${
        this.loading ? ' · loading…' : ''}</p>${this.failure ? problem(this.failure, () => this.#load(true)) : nothing}`;
  }

  /// One field of one record, from the grid.
  async #edit({row, column, text}) {
    const {name, type} = column.field;
    let value;
    try { value = read(type, text, row.fields?.[name]?.value); } catch (error) {
      this.outcome = {text: `${row.recordName}: ${name} is not changed`, failed: [`expected ${error.message}`]};
      return;
    }
    const {target} = this;
    const saved = await this.#save([{...this.#identity(row), fields: {[name]: {value, type}}}]);
    if (saved && this.#isHere(target)) this.undos = [...this.undos.slice(-49), saved.map(record => ({
      name: record.recordName, type: record.recordType, fields: {[name]: row.fields?.[name] ?? {value: null}}}))];
  }

  /// Whether a target is still the one that is shown.
  #isHere(target) { return this.isConnected && JSON.stringify(target) === JSON.stringify(this.target); }

  #identity({recordName, recordType, recordChangeTag}) { return {recordName, recordType, recordChangeTag}; }

  /// Saves some fields of records; those that are saved, or null where any was not.
  async #save(records) {
    const {target} = this;
    this.outcome = null;
    try {
      const answer = await run('record save', {...target, file: JSON.stringify(records)});
      if (!this.#isHere(target)) return answer.records;
      const failed = answer.records.filter(({serverErrorCode}) => serverErrorCode);
      const saved = answer.records.filter(({serverErrorCode}) => !serverErrorCode);
      saved.forEach(record => this.#took(record));
      if (failed.length) {
        failed.filter(({serverRecord}) => serverRecord).forEach(({serverRecord}) => this.#took(serverRecord));
        this.outcome = {text: failed.some(({serverErrorCode}) => serverErrorCode === 'CONFLICT')
          ? 'Somebody else has changed this meanwhile. You see their version now: look, and change it again.'
          : `${failed.length} of ${records.length} records are not changed.`,
        failed: failed.map(({recordName, reason}) => `${recordName}: ${reason}`)};
      } else {
        say('Saved.');
      }
      return failed.length ? null : saved;
    } catch (failure) {
      this.outcome = {text: failure.message, failed: ['Nothing was changed.']};
      return null;
    }
  }

  async #undo() {
    const step = this.undos.at(-1);
    this.undos = this.undos.slice(0, -1);
    const tags = new Map((this.records ?? []).map(record => [record.recordName, record.recordChangeTag]));
    await this.#save(step.map(({name, type, fields}) => ({
      recordName: name, recordType: type, recordChangeTag: tags.get(name), fields})));
  }

  async #editMany() {
    const dialog = document.createElement('fields-dialog');
    Object.assign(dialog, {count: this.selected.size, fields: this.#fields(), done: async (field, value) => {
      dialog.remove();
      if (!field) return;
      const {target} = this;
      const rows = this.records.filter(({recordName}) => this.selected.has(recordName));
      const before = await this.#before(rows, field.name);
      if (!before) return;
      for (let at = 0; at < rows.length; at += PAGE) {
        const part = rows.slice(at, at + PAGE);
        if (!this.#isHere(target) || !await this.#save(part.map(row => ({
          ...this.#identity(row), fields: {[field.name]: {value, type: field.type}}})))) return;
      }
      if (this.#isHere(target)) this.undos = [...this.undos.slice(-49), before];
    }});
    document.body.append(dialog);
    addEventListener('addresschange', () => dialog.done(), {once: true});
  }

  /// What a field has before it is changed, for it to be brought back; null where that cannot be had. Long values are fetched,
  /// as the rows have them cut short.
  async #before(rows, name) {
    const cut = rows.filter(({fields}) => fields?.[name]?.whole !== undefined).map(({recordName}) => recordName);
    const whole = new Map();
    const {target} = this;
    try {
      for (let at = 0; at < cut.length; at += PAGE) {
        const {records} = await run('record get', {...target, name: cut.slice(at, at + PAGE)});
        for (const {recordName, fields} of records) whole.set(recordName, fields?.[name]);
      }
    } catch (failure) {
      this.outcome = {text: failure.message, failed: ['Nothing was changed.']};
      return null;
    }
    return rows.map(({recordName, recordType, fields}) => ({name: recordName, type: recordType,
      fields: {[name]: (whole.has(recordName) ? whole.get(recordName) : fields?.[name]) ?? {value: null}}}));
  }

  async #delete(names) {
    const meant = await confirm({
      title: `Delete ${many(names.length, 'record')}?`, act: 'Delete',
      typed: names.length > 20 ? String(names.length) : undefined,
      text: html`<p>Records that refer to them with DELETE_SELF go with them. It cannot be undone here.</p>`});
    if (!meant) return;
    this.outcome = null;
    const {target} = this;
    const failed = [];
    try {
      for (let at = 0; at < names.length; at += PAGE) {
        const {records} = await run('record delete', {...target, name: names.slice(at, at + PAGE), yes: true});
        for (const {recordName, reason, deleted} of records) {
          if (deleted) this.#lost(recordName, target); else failed.push(`${recordName}: ${reason}`);
        }
      }
      if (failed.length) this.outcome = {text: `${failed.length} records are not deleted.`, failed};
      else say('Deleted.');
    } catch (failure) {
      this.outcome = {text: 'Not all are deleted.', failed: [failure.message, ...failed]};
    }
  }

  /// What the record panel has saved; what it was before can be brought back.
  #changed({record, before, target}) {
    if (!this.#isHere(target)) return;
    this.#took(record);
    if (before) this.undos = [...this.undos.slice(-49), [{name: record.recordName, type: record.recordType, fields: before}]];
  }

  #took(record) {
    const isKnown = this.records?.some(({recordName}) => recordName === record.recordName);
    if (isKnown) {
      this.records = this.records.map(each => each.recordName === record.recordName ? record : each);
    } else if (this.records) {
      this.records = [record, ...this.records];
    } else if (this.loading) {
      // What is on its way may be older.
      this.#load();
    }
    if (record.recordType && this.schema && !Object.keys(record.fields ?? {}).every(
      name => this.schema.get(record.recordType)?.some(field => field.name === name))) this.#loadAround();
  }

  #lost(name, target) {
    if (!this.#isHere(target)) return;
    this.records = this.records?.filter(({recordName}) => recordName !== name);
    this.selected = new Set([...this.selected].filter(each => each !== name));
  }

  #begin(text) {
    const control = new AbortController();
    this.progress = {text, stop: () => control.abort()};
    return {signal: control.signal, tell: (text, share) => { this.progress = {...this.progress, text, share}; }};
  }

  async #export(event, format) {
    event.target.closest('details').open = false;
    this.outcome = null;
    const {type, sort} = this.values;
    try {
      this.outcome = await exportRecords({
        format, target: this.target, type, sort, filters: this.#filterTexts(), ...this.#begin('Exporting…')});
    } catch (failure) {
      this.outcome = {text: failure.name === 'AbortError' ? 'Export stopped.' : failure.message, failed: []};
    }
    this.progress = null;
  }

  async #import(input) {
    const [file] = input.files;
    if (!file) return;
    let isOffline = false;
    this.outcome = null;
    try {
      this.outcome = await importRecords({target: this.target, type: this.values.type, file, ...this.#begin(`Importing ${file.name}…`)});
    } catch (failure) {
      // What has no code was refused before anything was saved.
      this.outcome = {text: `${failure.name === 'AbortError' ? 'Import stopped.' : failure.message}${
        failure.code ? ' What was saved stays: import the file again to go on.' : ''}`, failed: []};
      isOffline = failure.code === 'OFFLINE';
    }
    input.value = '';
    this.progress = null;
    // To look for more would take away what was said, and the way to go on.
    if (isOffline) return;
    this.#loadAround();
    this.#load();
  }
}
define('data-screen', DataScreen, ['values', 'containers', 'records', 'next', 'failure', 'loading', 'schema', 'zones',
  'aroundFailure', 'selected', 'undos', 'outcome', 'progress', 'people', 'filterField']);
