// <share-page>: the share sheet on the server's own page of a share, below the link that the page
// shows without scripts.
//
// The browser's session acts, by a form of that page: its guard is handed in.

import {ElementBase, make} from './dom.js';
import {shareSource} from './share-source.js';

export class SharePage extends ElementBase {
  connectedCallback() {
    if (this.querySelector('share-sheet')) return;
    const database = {request: (_, {operations = []}) => this.#ask(operations[0])};
    const sheet = make('share-sheet', {
      texts: JSON.parse(this.dataset.texts ?? '{}'), options: {hasTitle: false},
      source: shareSource({database}),
    });
    // The rest of the page is about a share that is there.
    sheet.addEventListener('share-change', ({detail: {share}}) => { if (!share) this.#leave(); });
    this.append(sheet);
  }

  /** The share, once an operation on it is carried out. */
  async #ask(operation) {
    const body = new URLSearchParams({guard: this.dataset.guard, do: 'sheet'});
    if (operation) body.set('operation', JSON.stringify(operation));
    const {pathname} = location;
    const answer = await fetch(pathname, {method: 'POST', body}).catch(error => {
      throw Object.assign(error, {code: 'NETWORK_ERROR'});
    });
    const found = await answer.json().catch(() => {
      // Somebody has signed out: the page says how to go on.
      if (answer.ok) this.#leave();
      return {serverErrorCode: 'SERVICE_UNAVAILABLE'};
    });
    if (found.records) return found;
    throw Object.assign(new Error(found.serverErrorCode), found);
  }

  #leave() { location.replace(location.pathname); }
}
