// What becomes of a record's entry when the server has something to say.

import {baseAfterSending, contentOf, isSameContent} from './content.js';

const mergeFailed = 'MERGE_FAILED';

/**
 * The entry once the server has `theirs`, a record or null; null where nothing remains.
 *
 * `merge(edit, base, theirs)` makes one content of two where both have changed.
 */
export function entryAfter(entry, theirs, merge) {
  const edit = entry?.edit && rebased(entry, theirs, merge);
  return theirs || edit ? {server: theirs, edit} : null;
}

/** The entry once the server has saved what was sent. */
export function entryAfterSave(entry, saved, merge) {
  const {edit} = entry;
  if (edit && edit.version !== edit.sent?.version) return entryAfter(entry, saved, merge);
  return saved ? {server: saved} : null;
}

/** The entry with its edit refused, unless there is a newer edit than that version. */
export function entryAfterRefusal({server, edit}, version, {code, reason}) {
  const {sent, ...rest} = edit;
  return {server, edit: edit.version === version ? {...rest, refused: {code, reason}} : rest};
}

/** The entry to be sent once more, after it was refused. */
export function entryAfterRetry({server, edit: {refused, ...edit}}, merge) {
  return 'base' in edit ? entryAfter({server, edit}, server, merge) : {server, edit};
}

/** The edit on top of `theirs`; undefined where nothing is left to send. */
function rebased({server, edit}, theirs, merge) {
  const {sent, base: keptBase, refused, ...rest} = edit;
  const base = baseAfterSending(
    'base' in edit ? keptBase : contentOf(server), sent?.content, theirs);
  const content = contentOf(theirs);
  try {
    const mine = merged(edit, base, content, theirs, merge);
    if (isSameContent(mine, content)) return undefined;
    return {...rest, mine, ...refused && refused.code !== mergeFailed && {refused}};
  } catch (error) {
    return {...rest, base, refused: {code: mergeFailed, reason: String(error)}};
  }
}

function merged(edit, base, content, theirs, merge) {
  if (isSameContent(base, content)) return edit.mine;
  // What this device never had seen there cannot be what it wanted to keep.
  if (edit.mine === null && (base === null || content === null)) return null;
  return merge(edit, base, theirs);
}

/** The entry with an app's change: a content, or null to delete; the same one without a change. */
export function edited(entry, mine, at, version) {
  const {edit, server = null} = entry ?? {};
  const present = edit ? edit.mine : contentOf(server);
  if (entry && isSameContent(present, mine) && !edit?.refused || !entry && !mine) return entry;
  if (server && !edit?.sent && isSameContent(contentOf(server), mine)) return {server};
  const {sent, order = version} = edit ?? {};
  const isUnmerged = edit && 'base' in edit;
  return {server, edit: {
    mine, sent, at, version, order, ...isUnmerged && {base: edit.base, refused: edit.refused},
  }};
}
