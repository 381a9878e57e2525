// The file of an asset: what it is, a picture of it where it is one, and the file itself.

import {Part, bytes, define, html, nothing, problem} from './parts.js';
import {Latest, download} from './api.js';

/// What is shown without being asked, at most.
const SHOWN_BYTES_MAX = 2_000_000;
// By how files begin: nothing is believed that they say of themselves. Pictures that may hold scripts are not among them.
const KINDS = [
  ['image/png', 'png', [0x89, 0x50, 0x4e, 0x47]], ['image/jpeg', 'jpg', [0xff, 0xd8, 0xff]],
  ['image/gif', 'gif', [0x47, 0x49, 0x46, 0x38]], ['image/webp', 'webp', [0x52, 0x49, 0x46, 0x46]],
  ['application/pdf', 'pdf', [0x25, 0x50, 0x44, 0x46]], ['application/zip', 'zip', [0x50, 0x4b, 0x03, 0x04]],
];

async function kindOf(blob) {
  const start = new Uint8Array(await blob.slice(0, 12).arrayBuffer());
  const found = KINDS.find(([, , magic]) => magic.every((byte, index) => start[index] === byte));
  return found && (found[0] !== 'image/webp' || start[8] === 0x57) ? found : ['application/octet-stream', 'bin'];
}

class AssetView extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
    this.#forget();
  }

  #forget() { if (this.state.address) URL.revokeObjectURL(this.state.address); }

  willUpdate(changes) {
    const asked = JSON.stringify([this.target, this.record, this.field, this.index, this.asset.fileChecksum]);
    if (asked === this.asked || !changes.has('asset') && !changes.has('record')) return;
    this.asked = asked;
    this.#forget();
    this.state = {};
    if (this.asset.size <= SHOWN_BYTES_MAX) this.#load();
  }

  async #load() {
    const signal = this.#latest.begin();
    this.state = {busy: true, count: 0};
    try {
      const blob = await download('record asset', {
        ...this.target, name: this.record, field: this.field, index: this.index}, {
        signal, tell: count => { this.state = {...this.state, count}; }});
      const [type, ending] = await kindOf(blob);
      this.state = {type, ending, address: URL.createObjectURL(new Blob([blob], {type}))};
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure};
    }
  }

  render() {
    const {busy, count, type, ending, address, failure} = this.state;
    const {size, fileChecksum} = this.asset;
    return html`<figure class="asset">${address && type.startsWith('image/') ? html`<img src=${address}
        alt=${`Picture in ${this.field}`}>` : nothing}
      <figcaption>${bytes(size)}${type ? html` · ${type}` : nothing} · checksum <code>${fileChecksum}</code>
        ${address ? html`<a href=${address} download=${`${this.record}-${this.field}.${ending}`}>Download</a>`
          : busy ? html`<span role="status">${bytes(count)} of ${bytes(size)}…</span>`
          : html`<button type="button" class="second small" @click=${() => this.#load()}>Load</button>`}</figcaption></figure>
      ${problem(failure)}`;
  }
}
define('asset-view', AssetView, ['target', 'record', 'field', 'index', 'asset', 'state']);
