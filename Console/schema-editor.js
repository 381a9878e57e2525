// The text of a schema, with numbers beside its lines and what is wrong in one.

import {Part, confirm, define, html, nothing, problem, say} from './parts.js';
import {may, run} from './api.js';
import {mistake} from './schema-text.js';

class SchemaEditor extends Part {
  constructor() {
    super();
    this.state = {};
  }

  willUpdate(changes) {
    // What somebody has typed stays, whatever is loaded meanwhile.
    if (changes.has('text') && !this.state.isTyped) this.state = {...this.state, value: this.text};
  }

  get #mayChange() { return this.values.environment === 'development' && may('schema import'); }

  render() {
    const {value = '', failure, changes, isTyped, prunes, busy} = this.state;
    const wrong = mistake(failure);
    const lines = value.split('\n');
    return html`${this.#mayChange ? html`<p class="quiet">Change the text, or <label class="button small">open a file…<input type="file"
        class="said" @change=${event => this.#open(event)}></label></p>` : nothing}
      <div class="editor">
        <pre class="numbers" aria-hidden="true">${lines.map((_, index) => html`<span class=${
          wrong?.line === index + 1 ? 'bad' : ''}>${index + 1}\n</span>`)}</pre>
        <textarea aria-label="Schema" spellcheck="false" autocapitalize="off" wrap="off" rows="24" .value=${value}
          ?readonly=${!this.#mayChange} aria-invalid=${wrong ? 'true' : nothing}
          aria-describedby=${failure ? 'schema-wrong' : nothing}
          @input=${event => { this.state = {...this.state, value: event.target.value, isTyped: true, failure: null, changes: null}; }}
          @scroll=${event => { this.querySelector('.numbers').scrollTop = event.target.scrollTop; }}
          @keydown=${event => {
            if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return;
            event.preventDefault();
            if (this.#mayChange) this.#import();
          }}></textarea></div>
      <div id="schema-wrong">${wrong ? html`<div class="problem" role="alert"><p><b>Line ${wrong.line}, column ${wrong.column}:</b>
        ${wrong.what}</p></div>` : problem(failure)}</div>
      ${changes ? html`<div class="note" role="status">${changes.length === 0 ? 'Right, and the schema says that already.'
        : html`<p>Right. It would change:</p><ul>${changes.map(each => html`<li><code>${each}</code></li>`)}</ul>`}</div>` : nothing}
      ${this.#mayChange ? html`<div class="check"><input type="checkbox" id="prune" .checked=${Boolean(prunes)}
          @change=${event => { this.state = {...this.state, prunes: event.target.checked}; }}>
          <label for="prune">Also remove what production has, where no record of development has it</label></div>` : nothing}
      <div class="row">${this.#mayChange ? html`<button type="button" ?disabled=${busy} @click=${() => this.#import()}>Import…</button>
        <button type="button" class="second" ?disabled=${busy} @click=${() => this.#check()}>Check</button>` : nothing}
        <button type="button" class="second" @click=${() => this.#download()}>Download</button>
        ${isTyped ? html`<button type="button" class="second" @click=${() => {
          this.state = {value: this.text};
        }}>Give up changes</button>` : nothing}</div>`;
  }

  async #open(event) {
    const [file] = event.target.files;
    if (!file) return;
    this.state = {...this.state, value: await file.text(), isTyped: true, failure: null, changes: null};
    await this.#check();
  }

  #asked() {
    const {container, environment} = this.values;
    return {container, environment, file: this.state.value, prune: Boolean(this.state.prunes)};
  }

  /// - Returns: what would change; null where the text is refused, which is shown.
  async #check() {
    this.state = {...this.state, busy: true, failure: null, changes: null};
    try {
      const {changes} = await run('schema validate', this.#asked());
      this.state = {...this.state, busy: false, changes};
      return changes;
    } catch (failure) {
      this.state = {...this.state, busy: false, failure};
      await this.updateComplete;
      this.#show(mistake(failure));
      return null;
    }
  }

  /// Puts the caret where the text is wrong.
  #show(wrong) {
    if (!wrong) return;
    const area = this.querySelector('textarea');
    const before = area.value.split('\n').slice(0, wrong.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.focus();
    area.setSelectionRange(before + wrong.column - 1, before + wrong.column - 1);
    area.scrollTop = Math.max(0, (wrong.line - 6) * parseFloat(getComputedStyle(area).lineHeight));
  }

  async #import() {
    const changes = await this.#check();
    if (!changes?.length) return;
    const takes = changes.some(each => each.startsWith('-'));
    const meant = await confirm({title: 'Import the schema?', act: 'Import', danger: takes, text: html`
      <ul>${changes.map(each => html`<li><code>${each}</code></li>`)}</ul>`});
    if (!meant) return;
    try {
      await run('schema import', this.#asked());
      this.state = {value: this.state.value};
      say('The schema is imported.');
      this.dispatchEvent(new CustomEvent('imported'));
    } catch (failure) {
      this.state = {...this.state, failure};
    }
  }

  #download() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([this.state.value], {type: 'text/plain'}));
    link.download = `${this.values.container}-${this.values.environment}.ckdb`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
define('schema-editor', SchemaEditor, ['values', 'text', 'isDraft', 'state']);
