// The change feed of a zone: what an app's sync is told, page by page, and live.

import {Asking, button, change, copy, define, empty, follow, html, many, moment, nothing, problem, run, say, search, short,
  table, waiting} from './screen.js';
import {shown} from './values.js';

const PAGE = 200;
const KEPT = 2000;

class ChangeFeed extends Asking {
  asks() { return [this.target, this.since]; }

  load() {
    this.state = {pages: [], token: this.since || undefined};
    return this.#next();
  }

  #took({records, token, moreComing}) {
    const {pages = []} = this.state;
    const whole = [...pages, ...records.map(record => ({record, at: Date.now()}))].slice(-KEPT);
    this.set({pages: whole, token: token || this.state.token, moreComing, hasAnswer: true, failure: null});
  }

  #command(more, signal, act) { return act('record changes', {...this.target, since: this.state.token, brief: true, limit: PAGE, ...more}, {signal}); }

  /// A command that streams answers an object, whole, where it does not follow.
  #next() {
    this.set({busy: true, live: false, failure: null});
    return this.ask(async signal => {
      const page = await this.#command({}, signal, run);
      this.#took(page);
      this.set({busy: false});
      say(`${many(page.records.length, 'change')}${page.moreComing ? ', and more' : ''}`);
    });
  }

  #follow() {
    this.set({live: true, busy: false, failure: null});
    say('Live.');
    return this.ask(async signal => {
      for await (const page of this.#command({follow: true}, signal, follow)) this.#took(page);
      this.set({live: false});
    }, failure => this.set({live: false, failure}));
  }

  #stop() {
    this.stop();
    this.set({live: false});
    say('Stopped.');
  }

  render() {
    const {pages = [], token, moreComing, live, busy, hasAnswer, failure} = this.state;
    return html`${search(html`${short({label: 'After the token', name: 'since', value: this.since, hint: 'from the beginning'})}
        ${button(live ? 'Live' : 'Go live', () => live ? this.#stop() : this.#follow(), {kind: live ? 'small' : 'second small',
          pressed: String(Boolean(live))})}`, ({since}) => since === (this.since ?? '') ? this.load() : change({since}), 'Show')}
      ${problem(failure, () => this.#next())}
      ${pages.length ? this.#table(pages) : busy ? waiting('Looking for changes…') : hasAnswer ? empty(
        this.since ? 'Nothing has changed after this token.' : 'No change is here yet.') : nothing}
      ${hasAnswer ? html`<div class="foot quiet">${many(pages.length, 'change')}${moreComing ? html`, and more.
          ${button('Next page', () => this.#next(), {disabled: busy})}` : html`.
          ${live ? 'What comes is added.' : button('Look again', () => this.#next(), {disabled: busy})}`}</div>
        ${token ? html`<p class="token quiet">Token: <code>${token}</code> ${button('Copy', event => copy(event, token))}</p>` : nothing}` : nothing}`;
  }

  #table(pages) {
    return table('Changes', ['Record', 'Type', 'Changed', 'What it is now'], pages.map(({record}) => this.#line(record)), 'dense');
  }

  #line({recordName, recordType, deleted, modified, fields}) {
    return html`<tr><th scope="row">${deleted ? html`<bdi>${recordName}</bdi>` : button(html`<bdi>${recordName}</bdi>`,
        () => change({record: recordName}), {kind: 'plain'})}</th>
      <td><bdi>${recordType ?? ''}</bdi></td><td>${modified ? moment(modified.timestamp) : ''}</td>
      <td>${deleted ? html`<b class="bad">deleted</b>` : html`<bdi>${Object.entries(fields ?? {}).map(
        ([name, field]) => `${name}: ${shown(field, 40)}`).join(' · ').slice(0, 200)}</bdi>`}</td></tr>`;
  }
}
define('change-feed', ChangeFeed, ['target', 'since', 'state']);
