// An index that a query lacks: the server's refusal names it, and an operator who may adds it to development's schema.

import {bytes, confirm, html, many, may, nothing, run} from './screen.js';

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
  const meant = await confirm({title: 'Add the index?', act: 'Add', danger: false, text: html`<ul>${changes.map(
    change => html`<li><code>${change}</code></li>`)}</ul><p>It is filled beside the work of apps, from
    ${many(records, 'record')} (${bytes(recordBytes)}) at most. From then on each save that changes the field writes to it, too, and
    it takes room on the disk.</p>`});
  if (!meant) return false;
  await run('schema import', {container, environment, file});
  return true;
}
