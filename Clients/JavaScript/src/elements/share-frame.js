// <share-frame>: the share sheet in a frame of the server, for a page of another site.
//
// It has no session and no token. What it reads and changes, the page around it asks the server
// for: that page's user acts, by that page's token.

import {Channel} from '../channel.js';
import {ElementBase, make} from './dom.js';
import {shareSource} from './share-source.js';
import {englishTexts} from './texts.js';

/** Around the sheet, so that no outline is cut. */
const marginPixels = 24;

export class ShareFrame extends ElementBase {
  #channel;
  #sheet;
  #finish = null;

  connectedCallback() {
    const texts = {...englishTexts, ...JSON.parse(this.dataset.texts ?? '{}')};
    if (window.parent === window || this.#channel) {
      this.replaceChildren(make('p', {role: 'alert'}, texts.sheetFailed));
      return;
    }
    this.#sheet = make('share-sheet', {texts});
    this.replaceChildren(this.#sheet);
    this.#channel = new Channel(window.parent, {
      run: options => this.#run(options ?? {}),
      close: () => this.#close(),
    });
    this.#channel.tell('channelDidOpen');
    new ResizeObserver(() => this.#tellSize()).observe(this.#sheet);
    addEventListener('keydown', event => {
      // A dialog of the sheet takes the key for itself.
      if (event.key === 'Escape' && !event.defaultPrevented && !this.#isAsking) this.#close();
    });
  }

  get #isAsking() { return this.#sheet.shadowRoot.querySelector('dialog') !== null; }

  #tellSize() {
    const {width, bottom} = this.#sheet.getBoundingClientRect();
    this.#channel.tell('applicationIsReady', {
      width: Math.ceil(width), height: Math.ceil(bottom + scrollY + marginPixels),
    });
  }

  /** Shows a share until somebody closes the sheet; resolves with it. */
  #run(options) {
    const {record, zoneID, supportedAccess, supportedPermissions} = options;
    if (this.#finish) throw new Error('the sheet runs already');
    const database = {
      request: (endpoint, body) => this.#channel.call('request', {endpoint, body}),
    };
    this.#sheet.options = {
      hasDone: true, ...supportedAccess ? {access: supportedAccess} : {},
      ...supportedPermissions ? {permissions: supportedPermissions} : {},
    };
    this.#sheet.addEventListener('share-done', () => this.#close());
    const over = new Promise(resolve => { this.#finish = resolve; });
    this.#sheet.source = shareSource({
      database, record, zoneID, serverURL: this.dataset.server, title: options.shareTitle,
      type: options.shareType, thumbnail: options.shareThumbnail,
    });
    return over;
  }

  #close() {
    this.#finish?.({share: this.#sheet.share ?? null});
  }
}
