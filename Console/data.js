// The records of one database: which ones, and in which columns.

import {ADDRESS, Latest, actAs, briefMoment, button, change, choice, define, empty, foot, html, many, may, nothing, number, pick, problem, run,
  say, select, submitted, to, waiting} from './screen.js';
import {comparators, filterText, isShort, shown, types, written} from './values.js';
import './rows.js';
import './record.js';
import './changes.js';
import {BATCHES, RecordBatches} from './batches.js';
import {columnChoice, emptied, kept, offer, popup} from './queries.js';

const PAGE = 200;
const QUERY = ['container', 'environment', 'database', 'zone', 'type', 'filters', 'sort', 'columns'];
/// In which a moment, and two coordinates, stand whole.
const MOMENT = 12;
const WIDTHS = {TIMESTAMP: MOMENT, LOCATION: 10.4};
const DATABASES = [['public', 'Public'], ['private', 'Private'], ['shared', 'Shared']];

const list = text => { try { return JSON.parse(text ?? '[]'); } catch { return []; } };

/// A text that a field of one line has whole; undefined for others, which the field would make one line of.
const oneLine = text => /[\r\n]/.test(text) ? undefined : text;

class DataScreen extends RecordBatches {
  #zones = new Latest();
  #suggestions = new Latest();

  constructor() {
    super();
    Object.assign(this, {records: null, schema: null, zones: null, found: ''});
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
      this.lookAround();
    }
    this.selected = new Set();
    this.look();
  }

  async lookAround() {
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
  async look(more = false) {
    if (more && (this.loading || !this.next)) return;
    this.stop();
    this.loading = false;
    if (!more) [this.records, this.next] = [null, undefined];
    this.failure = null;
    if (!this.isReady || this.values.view === 'changes') return;
    this.loading = true;
    const {type, sort} = this.values;
    const filters = this.filterTexts();
    await this.ask(async signal => {
      const isQuery = Boolean(type && (filters.length || sort));
      const page = await run(isQuery ? 'record query' : 'record list', {
        ...this.target, type, brief: true, limit: PAGE, after: more ? this.next : undefined,
        filter: isQuery && filters.length ? filters : undefined,
        'sort-by': isQuery && sort ? [sort] : undefined}, {signal});
      this.records = more ? [...this.records, ...page.records] : page.records;
      this.next = page.after;
      this.damaged = (more ? this.damaged : 0) + (page.damaged ?? 0);
      if (!more) say(`${many(page.records.length, 'record')}${page.after ? ', and more' : ''}`);
      this.loading = false;
    }, failure => { [this.failure, this.loading] = [failure, false]; });
  }

  fields() {
    const {type} = this.values;
    if (type) return (this.schema?.get(type) ?? []).filter(({isSystem}) => !isSystem);
    return [];
  }

  filterTexts() {
    const fields = new Map((this.schema?.get(this.values.type) ?? []).map(field => [field.name, field]));
    return list(this.values.filters).map(filter => filterText(filter, filter.type ?? fields.get(filter.field)?.type));
  }

  #columns() {
    const {sort = '', type} = this.values;
    const [sorted, order] = sort.split(' ');
    const direction = key => key !== sorted ? undefined : order === 'DESC' ? 'descending' : 'ascending';
    const fields = this.fields();
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
            ? oneLine(written(field.type, record.fields?.[name]?.value)) : undefined,
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
        .type=${this.values.type} .schema=${this.schema ?? (this.aroundFailure && new Map())}
        @changed=${event => this.changed(event.detail)} @gone=${({detail: {name, target}}) => this.lost(name, target)}></record-panel>` : nothing}`;
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
    if (!this.isReady) return nothing;
    if (this.aroundFailure) return this.told();
    const count = this.selected.size;
    // What is under way is one thing at a time.
    return html`<div class="row tools">
      ${may('record save') ? button('New record', () => change({record: '', new: '1'}), {kind: ''}) : nothing}
      ${this.progress ? nothing : html`${this.step ? button('Undo', () => this.undo(), {kind: 'second', disabled: this.undoing}) : nothing}
      ${count && may('record save') && this.values.type ? button(`Edit ${number(count)}…`, () => this.editMany(), {kind: 'second'}) : nothing}
      ${count && may('record delete') ? button(`Delete ${number(count)}…`, () => this.delete([...this.selected]), {kind: 'danger'}) : nothing}
      <details class="popup export"><summary class="button second">Export</summary><div class="menu">
        ${button('JSON lines', event => this.export(event, 'jsonl'), {kind: 'plain'})}
        ${this.target.database === 'shared' ? nothing : html`${button('CSV', event => this.export(event, 'csv'), {kind: 'plain', disabled: !this.values.type})}${this.values.type ? nothing : html`<p class="quiet hint">
          A table has the fields of one record type: choose it first.</p>`}`}</div></details>
      ${may('record save') ? html`<label class="button second">Import<input type="file" class="said" accept=".json,.jsonl,.csv"
        @change=${event => this.import(event.target)}></label>` : nothing}`}
    </div>${this.told()}`;
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
    const lost = problem(this.aroundFailure, () => this.lookAround());
    if (!this.schema) return this.failure ? nothing : this.aroundFailure ? lost : waiting('Looking…');
    return html`${lost}<h2 id="types">Record types</h2><ul class="list" aria-labelledby="types">${
      ['', ...this.schema.keys()].map(name => html`<li><button type="button" class="plain"
        aria-current=${name === (this.values.type ?? '') ? 'true' : nothing}
        @click=${() => change({type: name, filters: '', sort: '', columns: '', record: ''})}>${
        name ? html`<bdi>${name}</bdi>` : 'All types'}</button></li>`)}</ul>`;
  }

  #query() {
    if (!this.isReady || this.aroundFailure) return nothing;
    const {type} = this.values;
    const filters = list(this.values.filters);
    const fields = this.fields();
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
    const {type} = this.fields().find(({name}) => name === field);
    set([...filters, {field, comparator, value, type}]);
    emptied(form);
  }

  #body() {
    if (!this.isReady) return empty('Say whose records to look at.');
    if (this.failure && !this.records) {
      return html`${problem(this.failure, () => {
        if (this.aroundFailure) this.lookAround();
        this.look();
      })}${offer(this.failure, this.target, this.still, () => {
        say('The index is added.');
        this.lookAround();
        this.look();
      }, failure => { this.failure = failure; })}`;
    }
    if (!this.records) return waiting('Looking for records…');
    const count = this.records.length;
    return html`${this.damaged ? html`<p class="problem" role="status">Left out, as they are damaged: ${many(this.damaged, 'record')}.
        ${may('check') ? html`<a href=${to('operations', {view: 'checks'})}>Checks</a>` : nothing}</p>` : nothing}
      ${count ? this.#grid() : empty(this.next ? 'No record so far.'
        : this.values.filters && this.values.filters !== '[]' ? 'No record meets these filters.' : 'No record is here yet.')}
      ${count || this.next ? foot(`${many(count, 'record')}${this.loading ? ', loading…' : ''}`, this.next, () => this.look(true)) : nothing}
      ${problem(this.failure, () => this.look(true))}`;
  }

  #grid() {
    return html`<row-grid .rows=${this.records} .columns=${this.#columns()} .keyOf=${record => record.recordName}
        .selected=${this.selected} .label=${'Records'} .isWhole=${!this.next}
        .sortable=${key => this.fields().some(({name, isSortable}) => name === key && isSortable)}
        @rowschosen=${event => { this.selected = event.detail; }}
        @openrow=${event => change({record: event.detail.recordName})}
        @sortcolumn=${event => change({sort: `${event.detail} ${this.values.sort === `${event.detail} ASC` ? 'DESC' : 'ASC'}`})}
        @editcell=${event => this.edit(event.detail)} @needmore=${() => this.look(true)}></row-grid>`;
  }
}
define('data-screen', DataScreen, ['values', 'containers', 'records', 'next', 'failure', 'loading', 'schema', 'zones',
  'aroundFailure', 'people', 'filterField', ...BATCHES]);
