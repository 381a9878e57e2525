// What production lacks of development's schema, what it costs to bring it there, and the way back.

import {Part, bytes, confirm, define, empty, html, many, nothing, problem, say, waiting} from './parts.js';
import {Latest, may, run} from './api.js';
import {change} from './address.js';

class SchemaDeploy extends Part {
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
    const {container, prune} = this.values;
    const asked = `${container} ${prune}`;
    if (!changes.has('values') || this.asked === asked) return;
    this.asked = asked;
    this.#load();
  }

  async #load() {
    const {container, prune} = this.values;
    const signal = this.#latest.begin();
    this.state = {};
    try {
      const [difference, {environments}] = await Promise.all([
        asked('schema deploy', {container, prune: prune === '1'}, signal),
        run('size', {container, environment: 'production'}, {signal})]);
      this.state = {difference, size: environments[0] ?? {records: 0, recordBytes: 0}};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure};
    }
  }

  render() {
    const {failure, difference} = this.state;
    const prunes = this.values.prune === '1';
    return html`<section aria-labelledby="deploy"><h2 id="deploy">From development to production</h2>
      <div class="check"><input type="checkbox" id="deploy-prune" .checked=${prunes}
        @change=${event => change({prune: event.target.checked ? '1' : ''})}>
        <label for="deploy-prune">Also remove what development does not have and no record of production has</label></div>
      ${failure ? problem(failure, () => this.#load()) : !difference ? waiting('Comparing the two…') : this.#difference()}</section>
      ${may('schema reset') && may('schema import') ? html`<section aria-labelledby="reset"><h2 id="reset">Reset development</h2>
        <p>Gives development production's schema, and deletes <b>all of development's data</b>.</p>
        <div class="row"><button type="button" class="danger" @click=${() => this.#reset()}>Reset development…</button></div>
        ${problem(this.state.resetFailure)}</section>` : nothing}`;
  }

  #difference() {
    const {difference: {changes}, size, deployFailure} = this.state;
    return html`${changes.length === 0 ? empty('Production has all that development has.') : html`<ul class="difference">${changes.map(
        line => html`<li class=${line.startsWith('-') ? 'gone' : ''}><code>${line}</code></li>`)}</ul>
      <p>${this.#cost(changes, size)}</p>`}
      ${problem(deployFailure)}
      ${changes.length && may('schema import') ? html`<div class="row"><button type="button" @click=${() => this.#deploy()}>
        Deploy to production…</button></div>` : nothing}`;
  }

  #cost(changes, {records, recordBytes}) {
    const indexed = changes.filter(line => /QUERYABLE|SEARCHABLE|SORTABLE/.test(line)).length;
    return html`${indexed === 0 ? 'No index comes with it. It is done at once.' : html`Types and fields are there at once. Indexes
      are made when a query first needs them, from the ${many(records, 'record')} (${bytes(recordBytes)}) of production at most,
      beside the work of apps; queries wait for theirs. From then on each takes room, and each save writes to it.`}`;
  }

  async #deploy() {
    const {container, prune} = this.values;
    const {changes} = this.state.difference;
    const takes = changes.some(line => line.startsWith('-'));
    const meant = await confirm({title: 'Deploy to production?', act: 'Deploy', danger: takes,
      typed: takes ? 'production' : undefined, text: html`<p>${many(changes.length, 'change')} for the apps of
        <b><bdi>${container}</bdi></b>, at once.</p><ul>${changes.map(line => html`<li><code>${line}</code></li>`)}</ul>`});
    if (!meant) return;
    try {
      await run('schema deploy', {container, prune: prune === '1', yes: true});
      say('Production has it.');
      this.dispatchEvent(new CustomEvent('changed'));
      this.#load();
    } catch (failure) {
      this.state = {...this.state, deployFailure: failure};
    }
  }

  async #reset() {
    const {container} = this.values;
    try {
      const {changes} = await asked('schema reset', {container});
      const meant = await confirm({title: 'Reset development?', act: 'Reset', typed: container, text: html`<p>All data of
        development is deleted, for ever.</p>${changes.length ? html`<ul>${changes.map(line => html`<li><code>${line}</code></li>`)}</ul>`
        : nothing}`});
      if (!meant) return;
      await run('schema reset', {container, yes: true});
      say('Development is reset.');
      this.dispatchEvent(new CustomEvent('changed'));
      this.#load();
    } catch (failure) {
      this.state = {...this.state, resetFailure: failure};
    }
  }
}
define('schema-deploy', SchemaDeploy, ['values', 'state']);

/// What a command would do, which it shows before it is told to.
async function asked(name, values, signal) {
  try {
    return await run(name, values, {signal});
  } catch (failure) {
    if (failure.code === 'NEEDS_YES' && failure.shown) return failure.shown;
    throw failure;
  }
}
