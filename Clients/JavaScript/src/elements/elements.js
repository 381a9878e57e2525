// The elements: of use with and without the other files of the client.

import {ShareFrame} from './share-frame.js';
import {SharePage} from './share-page.js';
import {ShareSheet} from './share-sheet.js';
import {shareSource} from './share-source.js';
import {SignInButton} from './sign-in-button.js';
import {englishTexts} from './texts.js';

const elements = {
  'share-sheet': ShareSheet, 'share-frame': ShareFrame, 'share-page': SharePage,
  'sign-in-button': SignInButton,
};

for (const [name, element] of Object.entries(elements)) {
  const {customElements} = globalThis;
  if (customElements && !customElements.get(name)) customElements.define(name, element);
}

export {ShareFrame, SharePage, ShareSheet, SignInButton, englishTexts, shareSource};
