// The indexes of all containers that are being filled or removed, and how far each has come.

import {define, empty, html, many, nothing} from './parts.js';
import {all, run} from './api.js';
import {to} from './address.js';
import {LISTING, Listing, each, table} from './listing.js';

const POLL_MILLISECONDS = 2000;

class IndexWork extends Listing {
  asks() { return []; }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  async find(signal) {
    clearTimeout(this.timer);
    const {items} = await all('container list', 'containers', {}, {signal});
    const work = [];
    const refused = [];
    await each(items, async ({container}) => {
      try {
        // Those that hold something: to ask for the indexes of another one would begin it.
        const {environments} = await run('size', {container}, {signal});
        for (const {environment} of environments) {
          const {indexes} = await run('schema indexes', {container, environment}, {signal});
          work.push(...indexes.filter(({state}) => state !== 'whole').map(index => ({container, environment, ...index})));
        }
      } catch (failure) {
        if (failure.name === 'AbortError' || failure.code === 'OFFLINE') throw failure;
        refused.push(`${container}: ${failure.message}`);
      }
    });
    if (work.length && this.isConnected) this.timer = setTimeout(() => this.load({keeps: true}), POLL_MILLISECONDS);
    return {work: work.sort((one, other) => JSON.stringify(one) < JSON.stringify(other) ? -1 : 1), refused};
  }

  render() {
    return html`<div class="head"><h2>Index work</h2><button type="button" class="second" @click=${() => this.load()}>Look again</button></div>
      <p class="quiet">An index is filled when a query first needs it, and removed when the schema no longer has it. Apps go on meanwhile.</p>
      ${this.shown('Looking at the indexes of all containers…', ({work, refused}) => html`${
        work.length ? table('Index work', ['Container', 'Environment', 'Field', 'Index', 'How far'], work.map(
          ({container, environment, type, field, kind, state, percent}) => html`<tr><th scope="row"><a
            href=${to('schema', {container, environment, type})}><bdi>${container}</bdi></a></th><td>${environment}</td>
            <td><code>${type}.${field}</code></td><td>${kind}</td><td><progress max="100" value=${percent}
              aria-label=${`${kind} index of ${type}.${field}`}></progress> ${state === 'filling' ? `being filled, ${percent} %`
              : 'being removed'}</td></tr>`)) : empty('No index is being filled or removed.')}
        ${refused.length ? html`<div class="problem" role="alert"><p>${many(refused.length, 'container')} could not be looked at.</p>
          <ul>${refused.slice(0, 20).map(text => html`<li>${text}</li>`)}</ul></div>` : nothing}`)}`;
  }
}
define('index-work', IndexWork, LISTING);
