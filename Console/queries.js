// How records and logs are asked for: searches that are kept, and columns; and the index that a query lacks, as the server's refusal
// names it, which an operator who may adds to development's schema.

import {bytes, button, change, check, codes, confirm, html, many, may, nothing, pick, run, say, submitted} from './screen.js';

/// A list by name, in this browser.
const stored = key => { try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; } };

/// What opens below its button.
export const popup = (word, content, id = nothing) => html`<details class="popup" id=${id}><summary class="button second small">${word}</summary>${content}</details>`;

/// Closes the popup that a form stands in, for the next one to be written.
export function emptied(form) {
  form.reset();
  form.closest('details').open = false;
}

/// The choice of what is kept, and the form that keeps what is shown.
///
/// - screen: drawn again when the list changes; - one, many: what is kept; - names: of which values; - of: which are shown.
export function kept(screen, {one, many, names, of = () => true}) {
  const key = `lenticular-console-${many}`;
  const list = Object.entries(stored(key)).filter(([, values]) => of(values)).map(([name]) => name);
  const store = more => {
    localStorage.setItem(key, JSON.stringify({...stored(key), ...more}));
    screen.requestUpdate();
  };
  return html`${list.length ? pick('Saved', [['', `${many}…`], ...list.map(name => [name])], '', (name, choice) => {
    const values = stored(key)[name];
    choice.value = '';
    if (values) change({...Object.fromEntries(names.map(each => [each, ''])), live: '', record: '', ...values});
  }) : nothing}
  ${popup('Keep', html`<form class="menu" @submit=${submitted(({name}, form) => {
    store({[name]: Object.fromEntries(names.map(each => [each, screen.values[each]]))});
    emptied(form);
    say(`The ${one} is kept.`);
  })}><label for="keep-name">Name of this ${one}</label><input id="keep-name" name="name" required maxlength="60">
    <div class="row"><button class="small">Keep</button></div>
    ${list.length ? html`<p>Kept</p><ul class="list">${list.map(name => html`<li><bdi>${name}</bdi> ${button('×',
      () => store({[name]: undefined}), {kind: 'plain', label: `Forget ${name}`})}</li>`)}</ul>` : nothing}
    <p class="quiet hint">In this browser.</p></form>`)}`;
}

/// Which columns are shown, in the order that they have.
export const columnChoice = (columns, chosen) => popup('Columns', html`<div class="menu">${
  columns.length === 0 ? html`<p>The type has no fields yet.</p>` : columns.map(([key, title = key], index) => html`
    ${check(title, `column-${index}`, chosen.includes(key), is => {
      const next = is ? [...chosen, key] : chosen.filter(each => each !== key);
      change({columns: columns.map(([each]) => each).filter(each => next.includes(each)).join(',') || '-'}, {replaces: true});
    })}`)}</div>`);

const NAMED = /let record type (\S+) of the schema have ((\S+) .+?), and import it/;

/// The type, the field and its new line, as a refusal names them; null for any other refusal.
function lacking(failure) {
  const found = NAMED.exec(failure?.message ?? '');
  return found && {type: found[1], line: found[2], field: found[3]};
}

/// A schema's text with one field's line changed.
function changed(schema, {type, field, line}) {
  let isInside = false;
  return schema.split('\n').map(each => {
    const head = /^\s*RECORD TYPE "?([^"\s(]+)"? \(/.exec(each);
    if (head) isInside = head[1] === type;
    const known = /^(\s*)("?)(\w+)\2\s/.exec(each);
    if (!isInside || known?.[3] !== field.replaceAll('"', '')) return each;
    return `${known[1]}${line}${each.trimEnd().endsWith(',') ? ',' : ''}`;
  }).join('\n');
}

/// A button that adds the index; nothing where the refusal is another one.
///
/// - still: whether the query is still shown.
/// - done: called when the schema has it.
/// - failed: called with what went wrong.
export function offer(failure, {container, environment}, still, done, failed) {
  const index = lacking(failure);
  if (!index) return nothing;
  if (environment !== 'development') {
    return html`<p class="note">Add the index in development, and bring it to production with <code>schema deploy</code>.</p>`;
  }
  if (!may('schema import')) return nothing;
  return html`<p><button type="button" @click=${async () => {
    try {
      if (await add(index, {container, environment}, still) && still()) done();
    } catch (error) { if (still()) failed(error); }
  }}>Add the index…</button></p>`;
}

async function add(index, {container, environment}, still) {
  const {schema} = await run('schema export', {container, environment});
  const file = changed(schema, index);
  const {changes} = await run('schema validate', {container, environment, file});
  const {environments: [{records, recordBytes}]} = await run('size', {container, environment});
  if (!still()) return false;
  const meant = await confirm({title: 'Add the index?', act: 'Add', danger: false, text: html`${codes(changes)}<p>It is filled beside the work of apps, from
    ${many(records, 'record')} (${bytes(recordBytes)}) at most. From then on each save that changes the field writes to it, too, and
    it takes room on the disk.</p>`});
  if (!meant) return false;
  await run('schema import', {container, environment, file});
  return true;
}
