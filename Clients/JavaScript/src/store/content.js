// What of a record an app sets: its type, fields, encrypted values and parent; and how two versions
// of that differ.

const sections = ['fields', 'encryptedValues'];

/** The content of a record, or null for no record. */
export function contentOf(record) {
  if (!record) return null;
  const {recordType, fields, encryptedValues, parent} = record;
  return {recordType, fields, encryptedValues, parent};
}

/** A content with an app's changes: what is not named stays, and null takes away. */
export function changed(content, {recordType, parent, ...given}) {
  const next = {
    recordType: recordType ?? content?.recordType,
    parent: parent === undefined ? content?.parent : parent ?? undefined,
  };
  for (const section of sections) {
    const all = {...content?.[section], ...given[section]};
    next[section] = Object.fromEntries(
      Object.entries(all).filter(([, field]) => field != null && field.value != null));
  }
  return next;
}

/** What has to be sent so that `from` becomes `to`; null where nothing has. */
export function difference(from, to) {
  const parts = {};
  for (const section of sections) {
    const names = namesOf(section, from, to).filter(
      name => !isSameField(fieldOf(from, section, name), fieldOf(to, section, name)));
    if (names.length > 0) {
      parts[section] = Object.fromEntries(
        names.map(name => [name, fieldOf(to, section, name) ?? {value: null}]));
    }
  }
  if (!isSameParent(from?.parent, to.parent)) parts.parent = to.parent ?? null;
  return Object.keys(parts).length > 0 ? parts : null;
}

export function isSameContent(one, other) {
  if (!one || !other) return !one === !other;
  return difference(one, other) === null;
}

/**
 * The default merge: of each field the version of the side that changed it; of both, the newer by the
 * server's time. A change wins over a deletion.
 */
export function mergeByField({base, mine, theirs, isMineNewer}) {
  if (!mine || !theirs) return mine ?? theirs;
  const pick = (isSame, before, own, other) =>
    !isSame(before, own) && (isMineNewer || isSame(before, other)) ? own : other;
  const merged = {
    recordType: theirs.recordType,
    parent: pick(isSameParent, base?.parent, mine.parent, theirs.parent),
  };
  for (const section of sections) {
    merged[section] = Object.fromEntries(namesOf(section, mine, theirs).map(name => [name, pick(
      isSameField, ...[base, mine, theirs].map(content => fieldOf(content, section, name)),
    )]).filter(([, field]) => field));
  }
  return merged;
}

/**
 * The base of a merge, when a version had been sent whose answer never came: what of `theirs` is as
 * it was sent is this device's own, and nobody else's change.
 */
export function baseAfterSending(base, sent, theirs) {
  if (sent === undefined) return base;
  if (!sent || !theirs) return sent || theirs ? base : null;
  const pick = (isSame, before, own, other) => isSame(own, other) ? other : before;
  const found = {
    recordType: theirs.recordType,
    parent: pick(isSameParent, base?.parent, sent.parent, theirs.parent),
  };
  for (const section of sections) {
    found[section] = Object.fromEntries(namesOf(section, base, sent, theirs)
      .map(name => [name, pick(
        isSameField, ...[base, sent, theirs].map(content => fieldOf(content, section, name)))])
      .filter(([, field]) => field));
  }
  return found;
}

/** A field may be called as what all objects inherit. */
function fieldOf(content, section, name) {
  const fields = content?.[section];
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function namesOf(section, ...contents) {
  return [...new Set(contents.flatMap(content => Object.keys(content?.[section] ?? {})))];
}

function isSameParent(one, other) {
  return one?.recordName === other?.recordName;
}

function isSameField(one, other) {
  return isSame(one?.value ?? null, other?.value ?? null);
}

function isSame(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') {
    return false;
  }
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((member, index) => isSame(member, other[index]));
  }
  // A file is its contents, whatever link leads to it; a reference, what it leads to.
  if (one.fileChecksum && other.fileChecksum) return one.fileChecksum === other.fileChecksum;
  const isReference = one.recordName !== undefined && other.recordName !== undefined;
  const keys = Object.keys({...one, ...other})
    .filter(key => !isReference || key in one && key in other);
  return keys.every(key => isSame(one[key], other[key]));
}
