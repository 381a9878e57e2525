// Building nodes, never markup: nothing that somebody has typed becomes an element.

/** What elements extend; where there is none, as in Node, they can be imported all the same. */
export const ElementBase = globalThis.HTMLElement ?? class {};

/**
 * An element. Of its properties, `on…` are listeners, those with a hyphen and `role`, `for` and
 * `autocomplete` are attributes.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.includes('-') || ['role', 'for', 'autocomplete'].includes(name)) {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

export const button = (text, onclick, properties = {}) =>
  make('button', {type: 'button', onclick, ...properties}, text);

export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
