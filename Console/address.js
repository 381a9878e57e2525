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

/// Goes to a screen, with these values and no others.
export function go(screen, values = {}, {replaces = false} = {}) {
  const address = to(screen, values);
  if (address === location.pathname + location.search) return;
  history[replaces ? 'replaceState' : 'pushState'](null, '', address);
  dispatchEvent(new Event('addresschange'));
}

/// Changes values of the screen that is shown.
export function change(values, options) {
  const now = read();
  go(now.screen, {...now.values, ...values}, options);
}

addEventListener('popstate', () => dispatchEvent(new Event('addresschange')));

// Links within the console are followed without a new document.
addEventListener('click', event => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey ||
    link.target || link.origin !== location.origin || !link.pathname.startsWith(ROOT) ||
    link.pathname.startsWith(ROOT + 'api') || link.pathname.startsWith(ROOT + 'files')) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  dispatchEvent(new Event('addresschange'));
});
