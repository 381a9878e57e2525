// The share sheet alone, as the server's console takes it.

import {ShareSheet} from './share-sheet.js';

customElements.define('share-sheet', ShareSheet);
