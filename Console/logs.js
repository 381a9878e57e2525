// What the server did for whom, request by request: searched, and live.

import {Part, bytes, define, empty, html, many, nothing, number, problem, say, time, waiting} from './parts.js';
import {Latest, follow, may, run} from './api.js';
import {change, to} from './address.js';
import {give} from './transfer.js';

const PAGE = 500;
const KEPT = 5000;
const SAVED = 'lenticular-console-searches';
const WINDOWS = [['', 'All that is kept'], ['1', 'The last hour'], ['24', 'The last day'], ['168', 'The last week']];
const SEARCHED = ['container', 'user', 'operation', 'error', 'hours', 'since', 'until', 'columns'];

const sum = entry => ['waiting', 'reading', 'deciding', 'committing', 'sending'].reduce(
  (total, part) => total + (entry[`${part}Microseconds`] ?? 0), 0) / 1000;
const failed = entry => entry.error ?? entry.code ?? entry.failed?.[0]?.code ?? (entry.status >= 400 ? '' : null);

/// What a line may show: its key, its title, whether it is a number, and its text.
const COLUMNS = [
  ['operation', 'Operation', false, entry => entry.operation ?? '–'],
  ['status', 'Status', false, entry => html`<span class=${failed(entry) === null ? nothing : 'bad'}>${entry.status} ${failed(entry)}</span>`],
  ['user', 'User', false, entry => html`<bdi>${entry.user ?? '–'}</bdi>`],
  ['app', 'App', false, entry => html`<bdi>${entry.app ?? '–'}</bdi>`],
  ['device', 'Device', false, entry => html`<bdi>${entry.device ?? '–'}</bdi>`],
  ['container', 'Container', false, entry => html`<bdi>${entry.container ?? '–'}</bdi>`],
  ['environment', 'Environment', false, entry => entry.environment ?? '–'],
  ['database', 'Database', false, entry => entry.database ?? '–'],
  ['zones', 'Zones', false, entry => html`<bdi>${(entry.zones ?? []).map(({zoneName}) => zoneName).join(', ') || '–'}</bdi>`],
  ['items', 'Items', true, entry => number(entry.items ?? 0)],
  ['records', 'Records', true, entry => number(entry.records ?? 0)],
  ['bytesIn', 'In', true, entry => bytes(entry.bytesIn)],
  ['bytesOut', 'Out', true, entry => bytes(entry.bytesOut)],
  ['ms', 'ms', true, entry => sum(entry).toFixed(1)],
];
const USUAL = ['operation', 'status', 'user', 'app', 'bytesIn', 'bytesOut', 'ms'];

const twoDigits = value => String(value).padStart(2, '0');
/// A moment as `datetime-local` fields have it, in the reader's time zone; exact to the minute.
const local = milliseconds => {
  const date = new Date(Number(milliseconds));
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}T${
    twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
};
const stamp = milliseconds => new Date(Number(milliseconds)).toISOString().replace(/\.\d+Z$/, 'Z');

class LogsScreen extends Part {
  #latest = new Latest();

  constructor() {
    super();
    Object.assign(this, {entries: null, opened: new Set()});
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  willUpdate(changes) {
    if (!changes.has('values')) return;
    const {container, user, operation, error, hours, since, until, live} = this.values;
    const asked = JSON.stringify([container, user, operation, error, hours, since, until, live]);
    if (asked === this.asked) return;
    this.asked = asked;
    if (live) this.#follow(); else this.#load();
  }

  #selection() {
    const {container, user, operation, error, hours, since, until, live} = this.values;
    const from = since ? Number(since) : hours ? Date.now() - Number(hours) * 3_600_000 : undefined;
    return {container, user, operation, error, since: from && stamp(from), until: until && !live ? stamp(until) : undefined};
  }

  async #load() {
    const signal = this.#latest.begin();
    [this.entries, this.failure, this.next] = [null, null, undefined];
    try {
      await this.#page(signal);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  /// A page of lines, and then those before them: the latest come first.
  async #page(signal) {
    const page = await run('logs', {...this.#selection(), limit: PAGE, after: this.next}, {signal});
    this.entries = [...this.entries ?? [], ...page.requests.reverse()];
    this.next = page.after;
  }

  /// One request that goes on: the server sends each line when it has it.
  async #follow() {
    const signal = this.#latest.begin();
    [this.entries, this.failure, this.next] = [this.entries ?? [], null, undefined];
    const known = new Set(this.entries.map(({request}) => request));
    say('Live.');
    try {
      for await (const entry of follow('logs', {...this.#selection(), limit: PAGE, follow: true}, {signal})) {
        if (known.has(entry.request)) continue;
        known.add(entry.request);
        this.entries = [entry, ...this.entries].slice(0, KEPT);
      }
      if (this.values.live) change({live: ''}, {replaces: true});
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    const {live} = this.values;
    return html`<div class="head"><h1>Logs</h1><div class="row tools">
        <button type="button" class=${live ? '' : 'second'} aria-pressed=${live ? 'true' : 'false'}
          @click=${() => change({live: live ? '' : '1', until: ''})}>${live ? 'Live' : 'Go live'}</button>
        <button type="button" class="second" ?disabled=${!this.entries?.length} @click=${() => this.#export()}>Export</button></div></div>
      ${this.#search()}
      ${problem(this.failure, () => live ? this.#follow() : this.#load())}
      ${!this.entries ? this.failure ? nothing : waiting('Looking for requests…')
        : this.entries.length === 0 ? empty(live ? 'Nothing has come yet.' : 'No request is here.') : this.#table()}`;
  }

  #search() {
    const {container, user, operation, error, hours, since, until} = this.values;
    const saved = Object.keys(this.#saved());
    return html`<form class="query search" role="search" @submit=${event => {
      event.preventDefault();
      const {elements} = event.target;
      const moment = name => elements[name].value ? String(new Date(elements[name].value).getTime()) : '';
      const exact = name => elements[name].value === (this.values[name] ? local(this.values[name]) : '') ? this.values[name] : moment(name);
      change({...Object.fromEntries(['container', 'user', 'operation', 'error', 'hours'].map(
        name => [name, elements[name].value.trim()])), since: exact('since'), until: exact('until')});
    }}><label>App <select name="container"><option value="">all</option>${(this.containers ?? []).map(({id, name}) => html`
        <option value=${id} ?selected=${id === container}>${name || id}</option>`)}</select></label>
      <label>User <input name="user" type="email" class="short" .value=${user ?? ''} placeholder="E-mail address" autocomplete="off"></label>
      <label>Operation <input name="operation" class="short" .value=${operation ?? ''} placeholder="records/modify" autocomplete="off"></label>
      <label>Error <input name="error" class="short" .value=${error ?? ''} placeholder="CONFLICT" autocomplete="off"></label>
      <label>When <select name="hours">${WINDOWS.map(([value, words]) => html`<option value=${value}
        ?selected=${value === (hours ?? '')}>${words}</option>`)}</select></label>
      <label>From <input name="since" type="datetime-local" class="short" .value=${since ? local(since) : ''}></label>
      <label>Until <input name="until" type="datetime-local" class="short" .value=${until ? local(until) : ''}></label>
      <button class="small">Search</button></form>
      <div class="query">${saved.length ? html`<label>Saved <select @change=${event => {
          const query = this.#saved()[event.target.value];
          event.target.value = '';
          if (query) change({...Object.fromEntries(SEARCHED.map(name => [name, ''])), live: '', ...query});
        }}><option value="">searches…</option>${saved.map(name => html`<option>${name}</option>`)}</select></label>` : nothing}
      ${this.#columnChoice()}
      <details class="popup"><summary class="button second small">Keep</summary><form class="menu" @submit=${event => this.#keep(event)}>
        <label for="keep-search">Name of this search</label><input id="keep-search" name="name" required maxlength="60">
        <div class="row"><button class="small">Keep</button></div>
        ${saved.length ? html`<p>Kept</p><ul class="list">${saved.map(name => html`<li><bdi>${name}</bdi> <button type="button"
          class="plain" aria-label=${`Forget ${name}`} @click=${() => this.#store({[name]: undefined})}>×</button></li>`)}</ul>` : nothing}
        <p class="quiet hint">In this browser. The address leads here, too.</p></form></details></div>`;
  }

  get #columns() {
    const wanted = this.values.columns ? this.values.columns.split(',') : USUAL;
    return COLUMNS.filter(([key]) => wanted.includes(key));
  }

  #columnChoice() {
    const chosen = this.#columns.map(([key]) => key);
    return html`<details class="popup"><summary class="button second small">Columns</summary><div class="menu">${
      COLUMNS.map(([key, title]) => html`<div class="check"><input type="checkbox" id=${`log-${key}`} .checked=${chosen.includes(key)}
        @change=${event => {
          const next = event.target.checked ? [...chosen, key] : chosen.filter(each => each !== key);
          change({columns: COLUMNS.map(([each]) => each).filter(each => next.includes(each)).join(',') || '-'}, {replaces: true});
        }}><label for=${`log-${key}`}>${title}</label></div>`)}</div></details>`;
  }

  #saved() { try { return JSON.parse(localStorage.getItem(SAVED)) ?? {}; } catch { return {}; } }

  #store(more) {
    localStorage.setItem(SAVED, JSON.stringify({...this.#saved(), ...more}));
    this.requestUpdate();
  }

  #keep(event) {
    event.preventDefault();
    const name = event.target.elements.name.value.trim();
    this.#store({[name]: Object.fromEntries(SEARCHED.filter(each => this.values[each]).map(each => [each, this.values[each]]))});
    event.target.reset();
    event.target.closest('details').open = false;
    say('The search is kept.');
  }

  #table() {
    const columns = this.#columns;
    return html`<div class="wide" tabindex="0" role="group" aria-label="Requests"><table class="dense"><thead><tr><th scope="col">Time</th>
      ${columns.map(([, title, isNumber]) => html`<th scope="col" class=${isNumber ? 'number' : nothing}>${title}</th>`)}</tr></thead>
      <tbody>${this.entries.map(entry => this.#line(entry, columns))}</tbody></table></div>
      <p class="quiet foot">${many(this.entries.length, 'request')}, the latest first.${this.next ? html`
        <button type="button" class="second small" @click=${() => this.#page(this.#latest.begin()).catch(
          failure => { if (failure.name !== 'AbortError') this.failure = failure; })}>Go on</button>` : nothing}</p>`;
  }

  #line(entry, columns) {
    const isOpen = this.opened.has(entry.request);
    return html`<tr><td><button type="button" class="plain" aria-expanded=${isOpen ? 'true' : 'false'} @click=${() => {
        const opened = new Set(this.opened);
        if (!opened.delete(entry.request)) opened.add(entry.request);
        this.opened = opened;
      }}>${time(Date.parse(entry.time))}</button></td>
      ${columns.map(([, , isNumber, shown]) => html`<td class=${isNumber ? 'number' : nothing}>${shown(entry)}</td>`)}</tr>
      ${isOpen ? html`<tr><td colspan=${columns.length + 1}>${this.#more(entry)}</td></tr>` : nothing}`;
  }

  /// All of a line, and where it leads.
  #more(entry) {
    const {container, environment, user} = entry;
    return html`<dl class="about">${Object.entries(entry).map(([key, value]) => html`<div><dt>${key}</dt><dd><bdi>${
        typeof value === 'object' ? JSON.stringify(value) : value}</bdi></dd></div>`)}</dl>
      <div class="row tools">${container && may('record list') ? html`<a class="button second small"
          href=${to('data', {container, environment})}>The data of this app</a>` : nothing}
        ${container && user && may('user sync') ? html`<a class="button second small"
          href=${to('people', {user, container, environment})}>This user's sync</a>` : nothing}</div>`;
  }

  #export() {
    const lines = this.entries.map(entry => JSON.stringify(entry)).join('\n');
    give('requests.jsonl', 'application/jsonl', [`${lines}\n`]);
  }
}
define('logs-screen', LogsScreen, ['values', 'containers', 'entries', 'next', 'failure', 'opened']);
