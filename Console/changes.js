// The change feed of a zone: what an app's sync is told, page by page, and live.

import {Part, copy, define, empty, html, many, nothing, problem, say, waiting} from './parts.js';
import {Latest, follow, run} from './api.js';
import {change} from './address.js';
import {moment} from './parts.js';
import {shown} from './values.js';

const PAGE = 200;
const KEPT = 2000;

class ChangeFeed extends Part {
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
    if (!changes.has('target') && !changes.has('since')) return;
    const asked = JSON.stringify([this.target, this.since]);
    if (asked === this.asked) return;
    this.asked = asked;
    this.state = {pages: [], token: this.since || undefined};
    this.#next();
  }

  #took({records, token, moreComing}) {
    const {pages = []} = this.state;
    const whole = [...pages, ...records.map(record => ({record, at: Date.now()}))].slice(-KEPT);
    this.state = {...this.state, pages: whole, token: token || this.state.token, moreComing, hasAnswer: true, failure: null};
  }

  async #next() {
    const signal = this.#latest.begin();
    this.state = {...this.state, busy: true, live: false, failure: null};
    try {
      const page = await this.#page(signal);
      this.#took(page);
      this.state = {...this.state, busy: false};
      say(`${many(page.records.length, 'change')}${page.moreComing ? ', and more' : ''}`);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, busy: false, failure};
    }
  }

  /// A command that streams answers an object, whole, where it does not follow.
  #page(signal) {
    return run('record changes', {...this.target, since: this.state.token, limit: PAGE}, {signal});
  }

  async #follow() {
    const signal = this.#latest.begin();
    this.state = {...this.state, live: true, busy: false, failure: null};
    say('Live.');
    try {
      const pages = follow('record changes', {...this.target, since: this.state.token, limit: PAGE, follow: true}, {signal});
      for await (const page of pages) this.#took(page);
      this.state = {...this.state, live: false};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {...this.state, live: false, failure};
    }
  }

  #stop() {
    this.#latest.end();
    this.state = {...this.state, live: false};
    say('Stopped.');
  }

  render() {
    const {pages = [], token, moreComing, live, busy, hasAnswer, failure} = this.state;
    return html`<form class="query" @submit=${event => {
        event.preventDefault();
        const since = event.target.elements.since.value.trim();
        if (since === (this.since ?? '')) { this.asked = null; this.requestUpdate('target'); } else change({since});
      }}><label>After the token <input name="since" class="short" .value=${this.since ?? ''} autocomplete="off" spellcheck="false"
        placeholder="from the beginning"></label><button class="second small">Show</button>
        <button type="button" class=${live ? 'small' : 'second small'} aria-pressed=${live ? 'true' : 'false'}
          @click=${() => live ? this.#stop() : this.#follow()}>${live ? 'Live' : 'Go live'}</button></form>
      ${problem(failure, () => this.#next())}
      ${pages.length ? this.#table(pages) : busy ? waiting('Looking for changes…') : hasAnswer ? empty(
        this.since ? 'Nothing has changed after this token.' : 'No change is here yet.') : nothing}
      ${hasAnswer ? html`<div class="foot quiet">${many(pages.length, 'change')}${moreComing ? html`, and more.
          <button type="button" class="second small" ?disabled=${busy} @click=${() => this.#next()}>Next page</button>` : html`.
          ${live ? 'What comes is added.' : html`<button type="button" class="second small" ?disabled=${busy}
            @click=${() => this.#next()}>Look again</button>`}`}</div>
        ${token ? html`<p class="token quiet">Token: <code>${token}</code> <button type="button" class="second small"
          @click=${event => copy(event, token)}>Copy</button></p>` : nothing}` : nothing}`;
  }

  #table(pages) {
    return html`<div class="wide" tabindex="0" role="group" aria-label="Changes"><table class="dense"><thead><tr>
      <th scope="col">Record</th><th scope="col">Type</th><th scope="col">Changed</th><th scope="col">What it is now</th></tr></thead>
      <tbody>${pages.map(({record}) => this.#line(record))}</tbody></table></div>`;
  }

  #line({recordName, recordType, deleted, modified, fields}) {
    return html`<tr><th scope="row">${deleted ? html`<bdi>${recordName}</bdi>` : html`<button type="button" class="plain"
        @click=${() => change({record: recordName})}><bdi>${recordName}</bdi></button>`}</th>
      <td><bdi>${recordType ?? ''}</bdi></td><td>${modified ? moment(modified.timestamp) : ''}</td>
      <td>${deleted ? html`<b class="bad">deleted</b>` : html`<bdi>${Object.entries(fields ?? {}).map(
        ([name, field]) => `${name}: ${shown(field, 40)}`).join(' · ').slice(0, 200)}</bdi>`}</td></tr>`;
  }
}
define('change-feed', ChangeFeed, ['target', 'since', 'state']);
