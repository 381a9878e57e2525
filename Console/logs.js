// What the server did for whom, request by request: searched, and live.

import {Part, bytes, define, empty, html, many, nothing, problem, time, waiting} from './parts.js';
import {Latest, run} from './api.js';
import {change, to} from './address.js';

const LIVE_MILLISECONDS = 2000;
const KEPT = 2000;
const WINDOWS = [['', 'All that is kept'], ['1', 'The last hour'], ['24', 'The last day'], ['168', 'The last week']];

const sum = entry => ['waiting', 'reading', 'deciding', 'committing', 'sending'].reduce(
  (total, part) => total + (entry[`${part}Microseconds`] ?? 0), 0) / 1000;

class LogsScreen extends Part {
  #latest = new Latest();

  constructor() {
    super();
    Object.assign(this, {entries: null, opened: new Set()});
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
    clearTimeout(this.timer);
  }

  willUpdate(changes) {
    if (!changes.has('values')) return;
    const {container, user, operation, error, hours, live} = this.values;
    const asked = JSON.stringify([container, user, operation, error, hours]);
    if (asked !== this.asked) {
      this.asked = asked;
      this.#load();
    }
    clearTimeout(this.timer);
    if (live) this.#follow();
  }

  #selection() {
    const {container, user, operation, error, hours} = this.values;
    const since = hours ? new Date(Date.now() - Number(hours) * 3_600_000).toISOString().replace(/\.\d+Z/, 'Z') : undefined;
    return {container, user, operation, error, since};
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

  async #page(signal) {
    const page = await run('logs', {...this.#selection(), limit: 500, after: this.next}, {signal});
    this.entries = [...this.entries ?? [], ...page.requests].slice(-KEPT);
    this.next = page.after ?? this.next;
    this.isWhole = page.requests.length < 500;
  }

  #follow() {
    this.timer = setTimeout(async () => {
      try {
        if (this.entries) await this.#page(this.#latest.begin());
        this.failure = null;
      } catch (failure) {
        if (failure.name !== 'AbortError') this.failure = failure;
      }
      if (this.isConnected && this.values.live) this.#follow();
    }, LIVE_MILLISECONDS);
  }

  render() {
    const {live} = this.values;
    return html`<div class="head"><h1>Logs</h1><div class="row tools">
        <button type="button" class=${live ? '' : 'second'} aria-pressed=${live ? 'true' : 'false'}
          @click=${() => change({live: live ? '' : '1'})}>${live ? 'Live' : 'Go live'}</button>
        <button type="button" class="second" ?disabled=${!this.entries?.length} @click=${() => this.#export()}>Export</button></div></div>
      ${this.#search()}
      ${problem(this.failure, () => this.#load())}
      ${!this.entries ? this.failure ? nothing : waiting('Looking for requests…')
        : this.entries.length === 0 ? empty('No request is here.') : this.#table()}`;
  }

  #search() {
    const {container, user, operation, error, hours} = this.values;
    return html`<form class="query" role="search" @submit=${event => {
      event.preventDefault();
      const {elements} = event.target;
      change(Object.fromEntries(['container', 'user', 'operation', 'error', 'hours'].map(
        name => [name, elements[name].value.trim()])));
    }}><label>App <select name="container"><option value="">all</option>${(this.containers ?? []).map(({id, name}) => html`
        <option value=${id} ?selected=${id === container}>${name || id}</option>`)}</select></label>
      <label>User <input name="user" type="email" class="short" .value=${user ?? ''} placeholder="E-mail address" autocomplete="off"></label>
      <label>Operation <input name="operation" class="short" .value=${operation ?? ''} placeholder="records/modify" autocomplete="off"></label>
      <label>Error <input name="error" class="short" .value=${error ?? ''} placeholder="CONFLICT" autocomplete="off"></label>
      <label>When <select name="hours">${WINDOWS.map(([value, words]) => html`<option value=${value}
        ?selected=${value === (hours ?? '')}>${words}</option>`)}</select></label>
      <button class="second small">Search</button></form>`;
  }

  #table() {
    const shown = [...this.entries].reverse();
    return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table class="dense"><thead><tr><th scope="col">Time</th><th scope="col">Operation</th>
      <th scope="col">Status</th><th scope="col">User</th><th scope="col">App</th><th scope="col">In</th><th scope="col">Out</th>
      <th scope="col">ms</th></tr></thead><tbody>${shown.slice(0, 500).map(entry => this.#line(entry))}</tbody></table></div>
      <p class="quiet foot">${many(this.entries.length, 'request')}, the latest first.${this.isWhole ? nothing : html`
        <button type="button" class="second small" @click=${() => this.#page(this.#latest.begin()).catch(
          failure => { this.failure = failure; })}>Go on</button>`}</p>`;
  }

  #line(entry) {
    const isOpen = this.opened.has(entry.request);
    const failed = entry.error ?? entry.code ?? (entry.status >= 400 ? entry.status : null);
    return html`<tr><td><button type="button" class="plain" aria-expanded=${isOpen ? 'true' : 'false'} @click=${() => {
        const opened = new Set(this.opened);
        if (!opened.delete(entry.request)) opened.add(entry.request);
        this.opened = opened;
      }}>${time(Date.parse(entry.time))}</button></td>
      <td>${entry.operation}</td><td class=${failed ? 'bad' : nothing}>${entry.status} ${failed && failed !== entry.status ? failed : ''}</td>
      <td><bdi>${entry.user ?? '–'}</bdi></td><td><bdi>${entry.app ?? '–'}</bdi></td><td class="number">${bytes(entry.bytesIn)}</td>
      <td class="number">${bytes(entry.bytesOut)}</td><td class="number">${sum(entry).toFixed(1)}</td></tr>
      ${isOpen ? html`<tr><td colspan="8"><pre>${JSON.stringify(entry, null, 2)}</pre>${entry.container ? html`<a
        href=${to('data', {container: entry.container, environment: entry.environment})}>The data of this app</a>` : nothing}</td></tr>` : nothing}`;
  }

  #export() {
    const lines = this.entries.map(entry => JSON.stringify(entry)).join('\n');
    const address = URL.createObjectURL(new Blob([`${lines}\n`], {type: 'application/jsonl'}));
    const link = document.createElement('a');
    Object.assign(link, {href: address, download: 'requests.jsonl'});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
}
define('logs-screen', LogsScreen, ['values', 'containers', 'entries', 'failure', 'opened', 'isWhole']);
