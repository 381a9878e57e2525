// The buttons to sign in and out: native ones, in the elements that a page has for them.

const looks = {
  black: ['#000', '#fff', '#000'],
  white: ['#fff', '#000', '#fff'],
  'white-with-outline': ['#fff', '#000', '#000'],
};

/** Shows a button in the element with an ID, where there is one; returns it. */
export function showButton({id, theme, text}, onClick) {
  const place = elementOf(id);
  if (!place) return null;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'cloudkit-button';
  button.textContent = text;
  const [background, color, border] = looks[theme] ?? looks.black;
  // Property by property: a strict policy for styles allows that, and no style element.
  Object.assign(button.style, {
    background, color, border: `1px solid ${border}`, borderRadius: '6px', cursor: 'pointer',
    font: '500 1rem/1.25 system-ui, sans-serif', minHeight: '44px', padding: '0 1.25em',
  });
  button.addEventListener('click', onClick);
  place.replaceChildren(button);
  return button;
}

/** Takes the button away again. */
export function hideButton({id}) {
  elementOf(id)?.replaceChildren();
}

function elementOf(id) {
  return typeof document === 'undefined' ? null : document.getElementById(id);
}
