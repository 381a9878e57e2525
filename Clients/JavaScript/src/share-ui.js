// The server's share sheet in a frame over the page.
//
// The frame shows and asks; what is read and changed is asked for here, by the page's own session,
// and only in the zone of what is shared. The frame never gets a token.

import {Channel} from './channel.js';
import {CKError, localError} from './errors.js';
import {recordNameOf, zoneIDOf} from './values.js';

const readySeconds = 15;
const endpoints = ['records/lookup', 'records/modify'];

/**
 * Shows the sheet until it is closed. Resolves with `{share}`, null where nothing is shared then.
 *
 * `send(endpoint, body)` asks the database that `options` are of. Rejects with SHARE_UI_TIMEOUT
 * when the frame does not come up: the API token has no origins, or this page's is not among them.
 */
export async function shareByFrame({serverURL, user}, send, options) {
  const asked = await sharedThing(options ?? {});
  if (!user || typeof document === 'undefined') {
    throw localError('SERVICE_UNAVAILABLE', 'sharing has a page where users sign in: in a browser');
  }
  const {dialog, frame} = overlay(serverURL, user.apiToken);
  const request = ({endpoint, body}) => {
    if (!endpoints.includes(endpoint)) throw new Error(`the sheet may not ask for ${endpoint}`);
    return send(endpoint, {...body, zoneID: asked.zoneID});
  };
  let channel;
  try {
    return await new Promise((resolve, reject) => {
      const alarm = setTimeout(() => reject(localError('SHARE_UI_TIMEOUT',
        `the sheet did not come up within ${readySeconds} seconds: has the API token the origin ` +
        `${location.origin}?`)), readySeconds * 1000);
      let isRunning = false;
      const run = () => {
        if (isRunning) return;
        isRunning = true;
        channel.call('run', asked).then(({share}) => resolve({share}), error =>
          reject(error.ckErrorCode ? new CKError(error)
            : localError('UNEXPECTED_SERVER_RESPONSE', error.message, error)));
      };
      channel = new Channel(() => frame.contentWindow, {
        channelDidOpen: run,
        applicationIsReady: ({height}) => {
          clearTimeout(alarm);
          if (height > 0) frame.style.height = `min(${Number(height)}px, calc(100vh - 2rem))`;
        },
        request,
      }, new URL(serverURL).origin);
      dialog.addEventListener('cancel', event => {
        event.preventDefault();
        if (isRunning) channel.tell('close');
        else reject(localError('SHARE_UI_TIMEOUT', 'the sheet was closed before it came up'));
      });
      document.body.append(dialog);
      dialog.showModal();
    });
  } finally {
    channel?.close();
    dialog.remove();
  }
}

async function sharedThing({record, zoneID, shareTitle, shareType, shareThumbnail,
  supportedAccess, supportedPermissions}) {
  const zone = zoneIDOf(zoneID ?? record?.zoneID);
  if (!zone) {
    throw localError('INVALID_ARGUMENTS',
      'shareWithUI() needs a zoneID, or a record that has one: the default zone shares nothing');
  }
  return {
    record: record == null ? undefined : {recordName: recordNameOf(record)}, zoneID: zone,
    shareTitle, shareType, supportedAccess, supportedPermissions,
    shareThumbnail: await pictureBytes(shareThumbnail),
  };
}

/** A picture in base64, out of a Blob or bytes; a text is in base64 already. */
async function pictureBytes(picture) {
  if (picture == null || typeof picture === 'string') return picture ?? undefined;
  const bytes = new Uint8Array(picture instanceof Blob ? await picture.arrayBuffer() : picture);
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
}

function overlay(serverURL, apiToken) {
  const dialog = document.createElement('dialog');
  const frame = document.createElement('iframe');
  const {lang} = document.documentElement;
  const query = new URLSearchParams({ckAPIToken: apiToken, ...lang ? {lang} : {}});
  frame.src = `${serverURL}/share-sheet?${query}`;
  frame.title = 'Share';
  frame.allow = 'clipboard-write';
  // It opens no window, and leads this page nowhere.
  frame.sandbox = 'allow-scripts allow-same-origin allow-forms';
  dialog.setAttribute('aria-label', frame.title);
  // Property by property: a strict policy for styles allows that, and no style element.
  Object.assign(dialog.style, {
    padding: '0', border: '0', borderRadius: '12px', overflow: 'hidden', colorScheme: 'light dark',
    width: 'min(30rem, calc(100vw - 1rem))', maxWidth: 'none', maxHeight: 'none',
  });
  Object.assign(frame.style, {
    display: 'block', width: '100%', height: '12rem', border: '0',
  });
  dialog.append(frame);
  return {dialog, frame};
}
