// What all screens are made of: elements, and the templates of what they have alike; and what those that ask the server do alike.

import {Latest, may, run} from './api.js';
import {to, whenLeaving} from './address.js';
import {LitElement, html, nothing} from './lit-core.min.js';

export {html, nothing};

const meta = name => document.querySelector(`meta[name="lenticular-${name}"]`)?.content ?? '';
/// Where apps and people reach the server.
export const serverURL = meta('server');
export const serverName = meta('name');
/// Where the server has its JavaScript client.
export const clientPath = meta('client');
export const files = meta('files');

/// An element in the page's own tree, so that the one style sheet is the style of all.
export class Part extends LitElement {
  #child;

  createRenderRoot() { return this; }

  /// The one element within it that changes, such as a screen or a part of one.
  child(name, properties) {
    // What was away begins anew: nobody told it of anything meanwhile.
    if (this.#child?.localName !== name || !this.#child.isConnected) this.#child = document.createElement(name);
    return Object.assign(this.#child, properties);
  }

  /// The parts of a screen, each with a name in the address, a title, a command that it needs and an element; and the one that is
  /// shown.
  views(label, all, address) {
    const {values, containers} = this;
    const shown = all.filter(([, , needs]) => may(needs));
    const {view = ''} = values;
    const found = shown.find(([name]) => name === view);
    return html`${views(label, shown, view, address)}${found ? this.child(found[3], {values, containers: containers ?? []})
      : problem({code: 'FORBIDDEN', message: ''})}`;
  }
}

/// Defines an element by its class and the names of its properties, which are not attributes.
export function define(name, type, properties) {
  Object.defineProperty(type, 'properties', {
    value: Object.fromEntries(properties.map(property => [property, {attribute: false}]))});
  customElements.define(name, type);
}

const WORDS = {
  FORBIDDEN: 'You have no right to this.',
  OFFLINE: 'The server cannot be reached.',
  WAIT: 'Too many attempts.',
  UNAVAILABLE: 'The server is busy.',
  FAILED: 'The server failed.',
};

/// What went wrong, beside where it did, until it is mended; with a button to try again.
export const problem = (failure, again) => failure ? html`
  <div class="problem" role="alert">
    <p>${WORDS[failure.code] ? html`<b>${WORDS[failure.code]}</b> ` : nothing}${failure.message}${failure.retryAfter
      ? ` Come again in ${failure.retryAfter} seconds.` : nothing}</p>
    ${again ? html`<button type="button" class="second" @click=${again}>Try again</button>` : nothing}
  </div>` : nothing;

/// Said while something is awaited.
export const waiting = text => html`<p class="quiet waiting" role="status">${text}</p>`;

export const empty = (text, more = nothing) => html`<div class="empty"><p>${text}</p>${more}</div>`;

// Made once: a formatter costs more than all that it formats on a screen.
const moments = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium'});
const briefMoments = new Intl.DateTimeFormat(undefined, {dateStyle: 'short', timeStyle: 'medium'});
const numbers = new Intl.NumberFormat();

/// A moment as people read it, exact to the second; the time zone is the reader's.
export const moment = milliseconds => milliseconds === undefined || milliseconds === null ? '–'
  : moments.format(Number(milliseconds));

/// Whether a number is a moment that a browser can tell; apps save others, too.
export const isMoment = value => typeof value === 'number' && Math.abs(value) <= 8.64e15;

/// The same where there is little room.
export const briefMoment = milliseconds => briefMoments.format(Number(milliseconds));

/// A moment as an element that a machine reads, too.
export const time = milliseconds => milliseconds === undefined || milliseconds === null ? '–' : html`
  <time datetime=${new Date(Number(milliseconds)).toISOString()}>${moment(milliseconds)}</time>`;

export const bytes = count => {
  if (count === undefined || count === null) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(count);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)}\u00a0${units[unit]}`;
};

export const number = value => numbers.format(Number(value));

const PLURALS = {entry: 'entries', person: 'people'};

/// A number of things, by the word for one of them.
export const many = (count, word) => `${number(count)} ${count === 1 ? word : PLURALS[word] ?? `${word}s`}`;

/// What several screens say of an operator who only looks.
export const LOOKS_ONLY = 'You look, and change nothing.';

/// A moment as commands take it.
export const stamp = milliseconds => new Date(Number(milliseconds)).toISOString().replace(/\.\d+Z$/, 'Z');

/// A button beside what it does: small, and less than the one that a screen is for, unless its kind says otherwise.
export const button = (text, act, {label = nothing, kind = 'second small', disabled = false, pressed = nothing} = {}) => html`
  <button type="button" class=${kind} aria-label=${label} aria-pressed=${pressed} ?disabled=${disabled} @click=${act}>${text}</button>`;

/// Does something with what a form holds, by name and without spaces around it, when it is sent.
export const submitted = act => event => {
  event.preventDefault();
  const given = [...new FormData(event.target)].map(([name, value]) => [name, value.trim?.() ?? value]);
  act(Object.fromEntries(given), event.target);
};

/// A table. A head is its text, or that and the class of its cells; an empty one is that of the buttons.
export const table = (label, heads, rows, kind = 'steady') => html`<div class="wide" tabindex="0" role="group" aria-label=${label}>
  <table class=${kind}><thead><tr>${heads.map(head => [head].flat()).map(([text, type = nothing]) => html`
    <th scope="col" class=${type}>${text || html`<span class="said">Action</span>`}</th>`)}</tr></thead>
  <tbody>${rows}</tbody></table></div>`;

/// How many there are, and the way to more of them.
export const foot = (text, next, act) => html`<p class="quiet foot">${text}${next ? html`, and more.
  ${button('Show more', act)}` : nothing}</p>`;

/// One of several, each with its key and its word, of which one is taken.
export const choice = (label, options, chosen, act, kind = 'switch') => html`<div class=${kind} role="group" aria-label=${label}>${
  options.map(([key, word = key]) => button(word, () => act(key), {kind: nothing, pressed: String(key === chosen)}))}</div>`;

const ENVIRONMENTS = [['development'], ['production']];
export const environments = (chosen = 'development', act) => choice('Environment', ENVIRONMENTS, chosen, act);

/// Tabs over one panel; the arrows go from one to the next.
export const tabs = (label, options, chosen, panel, act) => html`<div role="tablist" aria-label=${label} @keydown=${event => {
  const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!by) return;
  event.preventDefault();
  const {currentTarget} = event;
  const keys = options.map(([key]) => key);
  act(keys.at((keys.indexOf(chosen) + by) % keys.length));
  // The screen is drawn before the next task.
  setTimeout(() => currentTarget.querySelector('[aria-selected=true]').focus());
}}>${options.map(([key, word]) => html`<button type="button" role="tab" id=${`tab-${key}`} aria-controls=${panel}
  aria-selected=${String(key === chosen)} tabindex=${key === chosen ? 0 : -1} @click=${() => act(key)}>${word}</button>`)}</div>`;

/// Lines of a schema, or of what changes in one.
export const codes = lines => html`<ul>${lines.map(line => html`<li><code>${line}</code></li>`)}</ul>`;

/// Several things that are wrong, the first of them.
export const problems = (text, lines) => html`<div class="problem" role="alert"><p>${text}</p><ul>${lines.slice(0, 200).map(
  line => html`<li>${line}</li>`)}</ul></div>`;

/// What something is, by name.
export const facts = (pairs, kind = 'about') => html`<dl class=${kind}>${pairs.filter(Boolean).map(([name, value, type = nothing]) => html`
  <div><dt>${name}</dt><dd class=${type}>${value}</dd></div>`)}</dl>`;

/// Copies a text, and says so on the button.
export async function copy(event, text) {
  const button = event.currentTarget;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector('pre, code'));
    button.textContent = 'Selected: press Ctrl-C';
  }
}

/// A text to copy, such as a secret that is shown once.
export const copyable = (text, label) => html`
  <div class="copyable"><pre aria-label=${label} tabindex="0">${text}</pre>
    <button type="button" class="second" @click=${event => copy(event, text)}>Copy</button></div>`;

let fieldCount = 0;
/// A field with its label, and what is wrong with it.
export const field = ({label, name, value = '', type = 'text', hint, required = false, list, ...more}) => {
  const id = `field-${name}-${fieldCount += 1}`;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input id=${id} name=${name} type=${type} .value=${value} ?required=${required}
      autocomplete=${more.autocomplete ?? 'off'} list=${list ?? nothing} maxlength=${more.maxlength ?? nothing}
      inputmode=${more.inputmode ?? nothing} pattern=${more.pattern ?? nothing} ?autofocus=${more.autofocus ?? false}
      aria-describedby=${hint ? `${id}-hint` : nothing} spellcheck="false" autocapitalize="off">
    ${hint ? html`<p class="quiet hint" id=${`${id}-hint`}>${hint}</p>` : nothing}</div>`;
};

const options = (list, chosen) => list.map(([value, word = value]) => html`<option value=${value}
  ?selected=${value === chosen}>${word}</option>`);

/// A choice with its label above it, as a field of a form.
export const select = ({label, name, list, value, hint}) => html`<div class="field"><label for=${`choice-${name}`}>${label}</label>
  <select id=${`choice-${name}`} name=${name}>${options(list, value)}</select>${hint ? html`<p class="quiet hint">${hint}</p>` : nothing}</div>`;

export const environmentField = (first, hint) => select({label: 'Environment', name: 'environment', list: [...first ? [['', first]] : [],
  ...ENVIRONMENTS], hint});

/// A choice in a line; what is chosen is told at once, where somebody listens.
export const pick = (label, list, value, act, name) => html`<label>${label} <select name=${name ?? nothing}
  @change=${event => act?.(event.target.value, event.target)}>${options(list, value)}</select></label>`;

/// A field in a line.
export const short = ({label, name, value = '', type = 'text', hint}) => html`<label>${label} <input name=${name} type=${type}
  class="short" .value=${value} placeholder=${hint ?? nothing} autocomplete="off" spellcheck="false"></label>`;

export const ADDRESS = 'E-mail address';
/// Whose: a field in a line.
export const user = value => short({label: 'User', name: 'user', type: 'email', value, hint: ADDRESS});

/// A line in which one says what is looked for.
export const search = (fields, act, word = 'Search') => html`<form class="query" role="search" @submit=${submitted(act)}>${fields}
  <button class="second small">${word}</button></form>`;

/// Something that is so or not.
export const check = (label, name, checked, act, type = 'checkbox', value = 'on') => html`<div class="check"><input type=${type}
  id=${`check-${name}-${value}`} name=${name} value=${value} .checked=${Boolean(checked)} @change=${event => act?.(event.target.checked)}>
  <label for=${`check-${name}-${value}`}>${label}</label></div>`;

/// Containers to choose from, by the names that people know.
export const named = (containers, first) => [...first ? [['', first]] : [], ...(containers ?? []).map(
  ({id, name}) => [id, name ? `${name} (${id})` : id])];

/// The way to a new container, and what is said where there is none.
export const newContainer = () => may('container create') ? html`<a class="button" href=${to('start')}>New container</a>` : nothing;
export const noContainer = () => empty('No container is here yet. A container holds the data of one app.', newContainer());

/// What becomes of an invitation.
export const invited = (email, link) => link ? html`No mail is set up here, so send <bdi>${email}</bdi> this link. It makes their account.`
  : html`A letter is on its way to <bdi>${email}</bdi>.`;

/// How far an index is that is not whole.
export const indexWork = (label, {state, percent}) => html`<progress max="100" value=${percent} aria-label=${label}></progress>
  ${state === 'filling' ? `being filled, ${percent} %` : 'being removed'}`;

/// A dialog over the screen.
export class Modal extends Part {
  firstUpdated() { this.querySelector('dialog').showModal(); }
}

/// A question before something is done that cannot be undone. Its promise is true for yes.
export function confirm({title, text, act, danger = true, typed}) {
  return new Promise(done => {
    const dialog = document.createElement('confirm-dialog');
    Object.assign(dialog, {title, text, act, danger, typed, done: answer => { dialog.remove(); done(answer); }});
    document.body.append(dialog);
    // What it asks about is gone with the address.
    addEventListener('addresschange', () => dialog.done(false), {once: true});
  });
}

class ConfirmDialog extends Modal {
  render() {
    return html`<dialog aria-labelledby="confirm-title" @close=${() => this.done(this.answer === true)}>
      <form method="dialog" @submit=${event => this.#submit(event)}>
        <h2 id="confirm-title">${this.title}</h2>
        <div>${this.text}</div>
        ${this.typed ? field({label: `Type ${this.typed} to go on`, name: 'typed'}) : nothing}
        <div class="row">
          <button class=${this.danger ? 'danger' : ''}>${this.act}</button>
          <button type="button" class="second" @click=${() => this.querySelector('dialog').close()}>Cancel</button>
        </div>
      </form></dialog>`;
  }

  #submit(event) {
    if (this.typed && event.target.elements.typed.value !== this.typed) {
      event.preventDefault();
      event.target.elements.typed.focus();
      return;
    }
    this.answer = true;
  }
}
define('confirm-dialog', ConfirmDialog, ['title', 'text', 'act', 'danger', 'typed']);

/// Says something to everybody without taking the keyboard or covering anything; screen readers read it.
export function say(text) {
  const line = document.getElementById('said');
  if (line) line.textContent = text;
}

/// Hands the browser a file.
export function give(name, type, parts) {
  const address = URL.createObjectURL(new Blob(parts, {type}));
  const link = document.createElement('a');
  Object.assign(link, {href: address, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const open = new Set();
/// The question before what somebody has typed, or does, is lost with what is shown; nothing where nothing is.
const losing = address => [...open].map(each => each.loses(address)).find(Boolean);
whenLeaving(address => {
  const question = losing(address);
  return question && confirm({act: 'Leave', ...question});
});
addEventListener('beforeunload', event => { if (losing('')) event.preventDefault(); });

/// An element that asks the server for something when what it is about changes, and gives up when it goes. `state` is what it
/// has found, and what it is about to do.
export class Asking extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  connectedCallback() {
    super.connectedCallback();
    open.add(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    open.delete(this);
    this.stop();
  }

  /// What is asked before another address is shown, where something would be lost.
  loses() {}

  stop() { this.#latest.end(); }

  /// Tells later on whether it still shows what it shows now; else what comes is of something else.
  get still() {
    const {asked} = this;
    return () => this.isConnected && asked === this.asked;
  }

  /// Whether a failure is of what is shown; or says why that is another one, as nobody is acted as any more.
  isOf(failure, still) { return still() || this.isConnected && failure.code === 'ACTING_CHANGED'; }

  /// What another one of makes it load again.
  asks() { return [this.values.container, this.values.environment]; }

  willUpdate() {
    const asked = JSON.stringify(this.asks());
    if (asked === this.asked) return;
    this.asked = asked;
    [this.done, this.doFailure] = [null, null];
    this.load();
  }

  load() {}

  /// Changes some of its state.
  set(more) { this.state = {...this.state, ...more}; }

  /// Asks for something, in place of what it asked for before.
  async ask(work, failed = failure => this.set({failure, busy: false})) {
    const signal = this.#latest.begin();
    try {
      await work(signal);
    } catch (failure) {
      if (!signal.aborted) failed(failure);
    }
  }

  /// What the operator may ask for; null where they may not, or where it cannot be had: that is said, and hides no other part.
  async part(name, values, signal) {
    if (!may(name)) return null;
    try {
      return await run(name, values, {signal});
    } catch (failure) {
      if (failure.name === 'AbortError') throw failure;
      this.partFailure = failure;
      return null;
    }
  }

  /// Does something; what goes wrong stands in the state by a name of its own.
  ///
  /// - work: is given what tells whether the same is still shown.
  async attempt(work, name = 'failure') {
    const {still} = this;
    this.set({[name]: null});
    try {
      await work(still);
    } catch (failure) {
      if (this.isOf(failure, still)) this.set({[name]: failure, busy: false});
      else say(failure.message);
    }
  }
}

const POLL_MILLISECONDS = 2000;

/// An element that shows what one or several commands have found. Its subclasses say what they ask for, and find it.
export class Listing extends Asking {
  /// - keeps: whether what is shown stays until there is something newer.
  async load({keeps = false} = {}) {
    this.failure = null;
    if (!keeps) [this.found, this.next] = [null, undefined];
    await this.ask(async signal => { this.found = await this.find(signal); }, failure => { this.failure = failure; });
  }

  /// The next page of a list, behind those that were found.
  async page(command, key, values, signal) {
    const page = await run(command, {limit: 100, ...values, after: this.next}, {signal});
    const earlier = this.next ? this.found[key] : [];
    this.next = page.after;
    return {...page, [key]: [...earlier, ...page[key]]};
  }

  /// How many are shown, and a button for the next ones.
  foot(text) { return foot(text, this.next, () => this.load({keeps: true})); }

  /// What was found; or that it is looked for, or why it was not.
  shown(word, render) {
    return html`${problem(this.failure, () => this.load())}${this.found ? render(this.found)
      : this.failure ? nothing : waiting(word)}`;
  }

  again(options) { return button('Look again', () => this.load(options), {kind: 'second'}); }

  /// Runs a command, after a question where there is one. Its answer, or null.
  async act(command, values, done, question) {
    if (question && !await confirm(question)) return null;
    const {still} = this;
    return this.perform(async () => {
      const answer = await run(command, values);
      const words = typeof done === 'function' ? done(answer) : done;
      if (still()) this.done = words;
      say(words);
      return answer;
    });
  }

  /// A button that does something with one of those that are listed, by its name.
  doing(word, name, act) { return button(word, act, {label: `${word} ${name}`, disabled: this.busy}); }

  /// A button that removes one of those that are listed, after a question.
  removing(command, name, values, title, text) {
    return may(command) ? this.doing('Remove', name, async () => {
      if (await this.act(command, values, `${name} is removed.`, {title, act: 'Remove', text: html`<p>${text}</p>`})) this.load({keeps: true});
    }) : nothing;
  }

  /// Looks again while something is under way.
  watch(isUnderWay) {
    clearTimeout(this.timer);
    if (isUnderWay && this.isConnected) this.timer = setTimeout(() => this.load({keeps: true}), POLL_MILLISECONDS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  /// Does something, and says what went wrong.
  async perform(work) {
    const {still} = this;
    [this.done, this.doFailure, this.busy] = [null, null, true];
    try {
      return await work();
    } catch (failure) {
      if (this.isOf(failure, still)) this.doFailure = failure;
      else say(failure.message);
      return null;
    } finally {
      this.busy = false;
    }
  }

  /// A button that opens the form above the list.
  opener(word, command) {
    return may(command) && !this.adding ? button(word, () => { [this.adding, this.made] = [true, null]; }, {kind: ''}) : nothing;
  }

  /// The form, or what it has made, which is shown this once; what came of it stands below.
  form(fields, act, shown, word = 'Add') {
    if (!this.adding) return this.outcome();
    return html`<form class="card narrow" @submit=${submitted(act)}>${shown ?? fields}${this.outcome()}
      <div class="row">${shown ? nothing : html`<button ?disabled=${this.busy}>${word}</button>`}
        ${button(shown ? 'Close' : 'Cancel', () => this.close(), {kind: 'second'})}</div></form>`;
  }

  close() { [this.adding, this.made, this.done, this.doFailure] = [false, null, null, null]; }

  outcome() {
    return html`${this.done ? html`<p class="note" role="status">${this.done}</p>` : nothing}${problem(this.doFailure)}`;
  }
}

/// The properties that each of them has.
export const LISTING = ['values', 'containers', 'found', 'next', 'failure', 'done', 'doFailure', 'busy', 'adding', 'made'];

/// The parts of a screen, each with an address.
export const views = (label, shown, chosen, address) => html`<nav class="views" aria-label=${label}>${shown.map(
  ([name, title]) => html`<a href=${address(name)} aria-current=${name === chosen ? 'page' : nothing}>${title}</a>`)}</nav>`;
