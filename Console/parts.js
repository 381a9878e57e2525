// What all screens are made of.

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
  createRenderRoot() { return this; }
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
const numbers = new Intl.NumberFormat();

/// A moment as people read it, exact to the second; the time zone is the reader's.
export const moment = milliseconds => milliseconds === undefined || milliseconds === null ? '–'
  : moments.format(Number(milliseconds));

/// A moment as an element that a machine reads, too.
export const time = milliseconds => milliseconds === undefined || milliseconds === null ? '–' : html`
  <time datetime=${new Date(Number(milliseconds)).toISOString()}>${moment(milliseconds)}</time>`;

export const bytes = count => {
  if (count === undefined || count === null) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(count);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
};

export const number = value => numbers.format(Number(value));

/// A number of things, by the word for one of them.
export const many = (count, word) => `${number(count)} ${count === 1 ? word : `${word}s`}`;

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

/// A question before something is done that cannot be undone. Its promise is true for yes.
export function confirm({title, text, act, danger = true, typed}) {
  return new Promise(done => {
    const dialog = document.createElement('confirm-dialog');
    Object.assign(dialog, {title, text, act, danger, typed, done: answer => { dialog.remove(); done(answer); }});
    document.body.append(dialog);
  });
}

class ConfirmDialog extends Part {
  firstUpdated() { this.querySelector('dialog').showModal(); }

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
