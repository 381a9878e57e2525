// What screens of lists and buttons do alike: they load when what they are asked for changes, do things by a button,
// and say what came of it.

import {Part, confirm, html, nothing, problem, say, waiting} from './parts.js';
import {Latest, run} from './api.js';

const AT_ONCE = 4;

/// Goes through items, a few at a time.
export async function each(items, act) {
  const left = [...items];
  const step = async () => { while (left.length) await act(left.shift()); };
  await Promise.all(Array.from({length: AT_ONCE}, step));
}

/// - heads: an empty one is that of the buttons.
export const table = (label, heads, rows) => html`<div class="wide" tabindex="0" role="group" aria-label=${label}><table class="steady">
  <thead><tr>${heads.map(head => html`<th scope="col">${head || html`<span class="said">Action</span>`}</th>`)}</tr></thead>
  <tbody>${rows}</tbody></table></div>`;

/// An element that shows what one or several commands have found. Its subclasses say what they ask for, and find it.
export class Listing extends Part {
  #latest = new Latest();

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
  }

  /// What another one of makes it load again.
  asks() { return [this.values.container, this.values.environment]; }

  willUpdate(changes) {
    if (!changes.has('values')) return;
    const asked = JSON.stringify(this.asks());
    if (asked === this.asked) return;
    this.asked = asked;
    [this.done, this.doFailure] = [null, null];
    this.load();
  }

  /// - keeps: whether what is shown stays until there is something newer.
  async load({keeps = false} = {}) {
    const signal = this.#latest.begin();
    this.failure = null;
    if (!keeps) this.found = null;
    try {
      this.found = await this.find(signal);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  /// What was found; or that it is looked for, or why it was not.
  shown(word, render) {
    return html`${problem(this.failure, () => this.load())}${this.found ? render(this.found)
      : this.failure ? nothing : waiting(word)}`;
  }

  /// Does something, after a question where there is one. Its answer, or null.
  async act(command, values, done, question) {
    if (question && !await confirm(question)) return null;
    [this.done, this.doFailure, this.busy] = [null, null, true];
    try {
      const answer = await run(command, values);
      this.done = typeof done === 'function' ? done(answer) : done;
      say(this.done);
      return answer;
    } catch (failure) {
      this.doFailure = failure;
      return null;
    } finally {
      this.busy = false;
    }
  }

  outcome() {
    return html`${this.done ? html`<p class="note">${this.done}</p>` : nothing}${problem(this.doFailure)}`;
  }
}

/// The properties that each of them has.
export const LISTING = ['values', 'found', 'failure', 'done', 'doFailure', 'busy'];

/// The parts of a screen, each with an address.
export const views = (label, shown, chosen, address) => html`<nav class="views" aria-label=${label}>${shown.map(
  ([name, title]) => html`<a href=${address(name)} aria-current=${name === chosen ? 'page' : nothing}>${title}</a>`)}</nav>`;
