// All state of the console is in the address: /console/SCREEN?name=value. Who sends a link sends what they see.

const ROOT = '/console/';

/// What the address says: its screen, and its values by name.
export function read() {
  const path = location.pathname.startsWith(ROOT) ? location.pathname.slice(ROOT.length) : '';
  const values = Object.fromEntries(new URLSearchParams(location.search));
  return {screen: path.split('/')[0] || 'overview', values};
}

/// The address of a screen.
export function to(screen, values = {}) {
  const kept = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== '');
  const query = new URLSearchParams(kept).toString();
  return ROOT + (screen === 'overview' ? '' : screen) + (query ? `?${query}` : '');
}

const here = () => location.pathname + location.search;
/// What is shown: while somebody is asked, no longer what the browser says.
let shown = here();
addEventListener('addresschange', () => { shown = here(); });

let leaves = () => null;
/// - who: called before another address is shown; its promise is whether to go on, where something would be lost.
export const whenLeaving = who => { leaves = who; };

/// Whether one goes on to an address, or the promise of it.
export const mayLeave = address => leaves(address) || true;

/// Shows an address, unless somebody would rather stay. Whether it is shown, or the promise of it.
///
/// - by: how the browser gets there; undefined where it is there.
function show(address, by) {
  const arrive = goes => {
    if (goes && by) history[by](null, '', address);
    if (!goes && !by) history.pushState(null, '', shown);
    if (goes) dispatchEvent(new Event('addresschange'));
    return goes;
  };
  const goes = mayLeave(address);
  return goes === true ? arrive(true) : goes.then(arrive);
}

/// Goes to a screen, with these values and no others. Whether it is shown, or the promise of it.
export function go(screen, values = {}, {replaces = false} = {}) {
  const address = to(screen, values);
  return address === here() || show(address, replaces ? 'replaceState' : 'pushState');
}

/// Changes values of the screen that is shown.
export function change(values, options) {
  const now = read();
  return go(now.screen, {...now.values, ...values}, options);
}

addEventListener('popstate', () => show(here()));

// Links within the console are followed without a new document.
addEventListener('click', event => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey ||
    link.target || link.origin !== location.origin || !link.pathname.startsWith(ROOT) ||
    link.pathname.startsWith(ROOT + 'api') || link.pathname.startsWith(ROOT + 'files')) return;
  event.preventDefault();
  show(link.pathname + link.search, 'pushState');
});
