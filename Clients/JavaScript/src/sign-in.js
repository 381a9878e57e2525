// Leading the user to the server's sign-in page, and taking what it says: from a window beside the
// page, or in the page's own, to which the browser comes back.

import {localError} from './errors.js';

const markKey = 'cloudkit-sign-in';
const markSeconds = 3600;
const closedCheckMilliseconds = 500;

/** Ends listening to the window that was opened last. */
let abandon = () => {};

const failed = (reason, cause) => localError('SIGN_IN_FAILED', reason, cause);

/** Whether this program can show somebody a page. */
export function hasPages() {
  return typeof window !== 'undefined' && typeof window.open === 'function';
}

/**
 * Opens the sign-in page in a window of its own; to be called in the task of a click.
 *
 * `url`: the page's address; or a promise of it, until which the window is empty. What the window
 * tells goes to `take`. Rejects when there is no such window, or no longer.
 */
export async function openWindow(containerIdentifier, url, take) {
  mark(containerIdentifier, 'popup');
  const popup = window.open(
    typeof url === 'string' ? url : 'about:blank', 'cloudkit-sign-in',
    'popup,width=640,height=525');
  if (!popup) {
    throw failed('the browser opened no window: open it by a click, or use signIn: \'redirect\'');
  }
  const origins = [location.origin];
  abandon();
  const told = new Promise(resolve => {
    const hear = ({source, origin, data}) => {
      // The server's page, or the app's own page that the server has sent the window back to.
      if (source !== popup || !origins.includes(origin) || !isOutcome(data)) return;
      abandon();
      resolve(data);
    };
    window.addEventListener('message', hear);
    abandon = () => window.removeEventListener('message', hear);
  });
  try {
    const address = await url;
    origins.push(new URL(address).origin);
    if (typeof url !== 'string') popup.location.replace(address);
  } catch (error) {
    popup.close();
    throw error;
  }
  const watch = new Promise((_, reject) => {
    const timer = setInterval(() => {
      if (!popup.closed) return;
      clearInterval(timer);
      mark(null);
      reject(failed('the window was closed'));
    }, closedCheckMilliseconds);
    told.then(() => {
      clearInterval(timer);
      mark(null);
    });
  });
  // Even after the window has closed: its message may have been on the way.
  const taken = told.then(take);
  return Promise.race([taken, watch]);
}

/** Goes to the sign-in page in the page's own place. */
export async function goThere(containerIdentifier, url) {
  mark(containerIdentifier, 'redirect');
  location.assign(await url);
  // The page ends here.
  return new Promise(() => {});
}

/**
 * What the server has sent the browser back with, or null.
 *
 * The token leaves the address at once, and counts only when this very tab had gone to sign in:
 * a link with somebody else's token signs nobody in.
 */
export function takeReturn(containerIdentifier, warn) {
  if (!hasPages()) return null;
  const url = new URL(location.href);
  const data = Object.fromEntries(['ckWebAuthToken', 'ckSession', 'errorMessage']
    .filter(key => url.searchParams.has(key)).map(key => [key, url.searchParams.get(key)]));
  const marked = readMark();
  if (!isOutcome(data) || marked && marked.containerIdentifier !== containerIdentifier) return null;
  if (!marked && !data.ckWebAuthToken && !data.ckSession) return null;
  for (const key of Object.keys(data)) url.searchParams.delete(key);
  history.replaceState(history.state, '', url);
  if (!marked) {
    warn('A token in the address was left aside: this tab had not gone to sign in.');
    return null;
  }
  mark(null);
  if (marked.by === 'popup' && window.opener) {
    window.opener.postMessage(data, location.origin);
    window.close();
    return null;
  }
  return data;
}

/** The token of an outcome; throws when it has none. */
export function tokenOf(data) {
  const token = data.ckSession ?? data.ckWebAuthToken;
  if (typeof token !== 'string' || !token) {
    throw failed(String(data.errorMessage ?? 'the sign-in page told no token'));
  }
  return token;
}

function isOutcome(data) {
  return data !== null && typeof data === 'object' &&
    ['ckSession', 'ckWebAuthToken', 'errorMessage'].some(key => key in data);
}

/** Notes in this tab, and in the windows that it opens, that it has gone to sign in. */
function mark(containerIdentifier, by) {
  try {
    if (containerIdentifier === null) return sessionStorage.removeItem(markKey);
    sessionStorage.setItem(markKey, JSON.stringify({containerIdentifier, by, at: Date.now()}));
  } catch {
    // Without storage there is the window's message.
  }
}

function readMark() {
  try {
    const found = JSON.parse(sessionStorage.getItem(markKey));
    return found && Date.now() - found.at < markSeconds * 1000 ? found : null;
  } catch {
    return null;
  }
}
