// A grid of many rows, of which only those in sight are elements. The keyboard moves over its cells as in a sheet.

import {Part, define, html, nothing} from './screen.js';

const ROW = 36;
const BEYOND = 8;

/// - rows: of any kind; - columns: {key, title, rem, text(row), field}; - keyOf(row): what a selection remembers.
/// Events: `openrow`, `editcell` ({row, column, text}), `rowschosen`, `needmore`.
class RowGrid extends Part {
  constructor() {
    super();
    this.rows = [];
    this.columns = [];
    this.selected = new Set();
    this.active = [0, 0];
    this.top = 0;
    this.height = 600;
  }

  firstUpdated() {
    this.observer = new ResizeObserver(([entry]) => { this.height = entry.contentRect.height; });
    this.observer.observe(this.#box);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.observer?.disconnect();
  }

  get #box() { return this.querySelector('.rows'); }

  render() {
    const first = Math.max(0, Math.floor(this.top / ROW) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.top + this.height) / ROW) + BEYOND);
    const template = `2.75rem ${this.columns.map(({rem}) => `minmax(${rem}rem,1fr)`).join(' ')}`;
    const width = `max(100%, ${this.columns.reduce((sum, {rem}) => sum + rem, 2.75)}rem)`;
    const all = this.rows.length > 0 && this.selected.size === this.rows.length;
    return html`<div class="rows" role="grid" aria-label=${this.label} aria-rowcount=${this.isWhole ? this.rows.length + 1 : -1}
        aria-colcount=${this.columns.length + 1} aria-multiselectable="true" tabindex="-1"
        @scroll=${() => this.#scrolled()} @keydown=${event => this.#key(event)}>
      <div class="line headline" role="row" aria-rowindex="1" .style=${`grid-template-columns:${template};width:${width}`}>
        <div role="columnheader"><input type="checkbox" aria-label="Select all" tabindex="-1" .checked=${all}
          @change=${() => this.#select(all ? [] : this.rows.map(this.keyOf))}></div>
        ${this.columns.map(({key, title, sort, isNumber}) => html`<div role="columnheader" class=${isNumber ? 'number' : nothing} aria-sort=${sort ?? nothing}>${
          this.sortable?.(key) ? html`<button type="button" class="plain" tabindex="-1"
            @click=${() => this.dispatchEvent(new CustomEvent('sortcolumn', {detail: key}))}>${title}${
            sort === 'ascending' ? ' ↑' : sort === 'descending' ? ' ↓' : ''}</button>` : title}</div>`)}</div>
      <div class="space" .style=${`height:${this.rows.length * ROW}px;width:${width}`}>
        ${this.rows.slice(first, last).map((row, offset) => this.#line(row, first + offset, template))}</div></div>`;
  }

  #line(row, index, template) {
    const key = this.keyOf(row);
    const isSelected = this.selected.has(key);
    return html`<div class=${isSelected ? 'line chosen' : 'line'} role="row" aria-rowindex=${index + 2}
        aria-selected=${isSelected ? 'true' : 'false'}
        .style=${`grid-template-columns:${template};transform:translateY(${index * ROW}px)`}>
      <div role="gridcell"><input type="checkbox" tabindex="-1" aria-label=${`Select ${key}`} .checked=${isSelected}
        @change=${() => this.#toggle(key)}></div>
      ${this.columns.map((column, at) => this.#cell(row, column, index, at))}</div>`;
  }

  #cell(row, column, index, at) {
    const isActive = this.active[0] === index && this.active[1] === at;
    if (this.editing && isActive) {
      return html`<div role="gridcell"><input class="inline" aria-label=${column.title} .value=${this.editing.text}
        @keydown=${event => this.#editKey(event, row, column)} @blur=${event => this.#keep(event.target, row, column)}></div>`;
    }
    return html`<div role="gridcell" tabindex=${isActive ? 0 : -1} data-at=${`${index}.${at}`}
      class=${column.isNumber ? 'number' : nothing}
      @click=${() => { this.active = [index, at]; }} @dblclick=${() => this.#open(row)}>${
      at === 0 ? html`<button type="button" class="plain" tabindex="-1"
        @click=${() => this.#open(row)}>${column.text(row)}</button>` : column.text(row)}</div>`;
  }

  #open(row) { this.dispatchEvent(new CustomEvent('openrow', {detail: row})); }

  #scrolled() {
    const {scrollTop, scrollHeight, clientHeight} = this.#box;
    this.top = scrollTop;
    if (scrollTop + clientHeight > scrollHeight - 40 * ROW) this.dispatchEvent(new CustomEvent('needmore'));
  }

  #select(keys) {
    this.dispatchEvent(new CustomEvent('rowschosen', {detail: new Set(keys)}));
  }

  #toggle(key) {
    const keys = new Set(this.selected);
    if (!keys.delete(key)) keys.add(key);
    this.#select(keys);
  }

  #key(event) {
    if (this.editing || event.target.matches('input')) return;
    const [row, column] = this.active;
    const page = Math.max(1, Math.floor(this.height / ROW) - 2);
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1], PageDown: [row + page, column], PageUp: [row - page, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [this.rows.length - 1, column] : [row, this.columns.length - 1]};
    if (moves[event.key]) {
      event.preventDefault();
      this.move(...moves[event.key]);
    } else if (event.key === 'Enter' && this.rows[row]) {
      event.preventDefault();
      if (!this.#edit(row, column)) this.#open(this.rows[row]);
    } else if (event.key === 'F2' && this.rows[row]) {
      event.preventDefault();
      this.#edit(row, column);
    } else if (event.key === ' ' && this.rows[row]) {
      event.preventDefault();
      this.#toggle(this.keyOf(this.rows[row]));
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#select(this.rows.map(this.keyOf));
    }
  }

  /// Moves to a cell, and brings it into sight.
  async move(row, column) {
    this.active = [Math.min(Math.max(row, 0), this.rows.length - 1),
      Math.min(Math.max(column, 0), this.columns.length - 1)];
    const [at] = this.active;
    const box = this.#box;
    if (at * ROW < box.scrollTop) box.scrollTop = at * ROW;
    const below = (at + 2) * ROW - box.clientHeight;
    if (below > box.scrollTop) box.scrollTop = below;
    this.top = box.scrollTop;
    await this.updateComplete;
    this.querySelector(`[data-at="${this.active.join('.')}"]`)?.focus({preventScroll: true});
  }

  #edit(row, column) {
    const text = this.columns[column]?.editable?.(this.rows[row]);
    if (text === undefined) return false;
    this.editing = {text};
    this.updateComplete.then(() => {
      const input = this.querySelector('.inline');
      input?.focus();
      input?.select();
    });
    return true;
  }

  #editKey(event, row, column) {
    event.stopPropagation();
    if (event.key === 'Escape') this.#endEdit();
    if (event.key === 'Enter') {
      event.preventDefault();
      this.#keep(event.target, row, column);
    }
  }

  #keep(input, row, column) {
    if (!this.editing) return;
    const {text} = this.editing;
    this.#endEdit();
    if (input.value !== text) {
      this.dispatchEvent(new CustomEvent('editcell', {detail: {row, column, text: input.value}}));
    }
  }

  #endEdit() {
    this.editing = null;
    this.move(...this.active);
  }
}
define('row-grid', RowGrid, ['rows', 'columns', 'keyOf', 'selected', 'active', 'top', 'height', 'editing', 'label',
  'isWhole', 'sortable']);
