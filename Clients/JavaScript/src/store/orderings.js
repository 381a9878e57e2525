// The orders that live queries have asked for. One is made once and kept, and each change moves what
// it moves in it, so that the next query of that order need not sort.

/** So many orders are kept: those that were asked for last. */
const keptMax = 8;
/** With more changes at once than this part of its records, an order is made anew when asked for. */
const remadePart = 8;

export class Orderings {
  #state;
  /** By what they are of: `{key, compare, keysOf, items}`; the one that was asked for last is last. */
  #kept = new Map();

  constructor(state) {
    this.#state = state;
  }

  /**
   * The records of a zone, or of all, as `{record, keys}` in an order; null for an order that is a
   * function, of which nobody knows whether it says the same as before.
   */
  items(key, sortBy) {
    if (typeof sortBy === 'function') return null;
    const id = JSON.stringify([key, sortBy]);
    const order = this.#kept.get(id) ?? this.#made(key, sortBy);
    this.#kept.delete(id);
    this.#kept.set(id, order);
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value);
    return order.items;
  }

  /** Takes changes in, before the queries do: `{key, before, after}`, each an entry or undefined. */
  update(changes) {
    for (const [id, order] of this.#kept) {
      const own = changes.filter(({key}) => order.key === undefined || order.key === key);
      if (own.length * remadePart > order.items.length || !own.every(each => moved(order, each))) {
        this.#kept.delete(id);
      }
    }
  }

  #made(key, sortBy) {
    const order = {key, compare: ordering(sortBy), keysOf: keysOf(sortBy), items: []};
    for (const record of this.#state.records(key)) {
      order.items.push({record, keys: order.keysOf(record)});
    }
    order.items.sort(order.compare);
    return order;
  }
}

/** False where the order is not what the change began with. */
function moved({compare, keysOf, items}, {before, after}) {
  const [gone, come] = [before?.view, after?.view]
    .map(record => record && {record, keys: keysOf(record)});
  if (gone) {
    const index = indexIn(items, gone, compare);
    if (items[index]?.record !== gone.record) return false;
    items.splice(index, 1);
  }
  if (come) {
    const index = indexIn(items, come, compare);
    // Made when the change was known already, but not yet told.
    if (items[index]?.record === come.record) return false;
    items.splice(index, 0, come);
  }
  return true;
}

/** Where an item is among sorted ones, or would be. */
export function indexIn(items, item, compare) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(items[middle], item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What tells records apart. */
export function nameOf({recordName, zoneID}) {
  return `${recordName} ${zoneID.zoneName} ${zoneID.ownerRecordName ?? ''}`;
}

const systemFields = {
  recordName: record => record.recordName,
  createdTimestamp: record => record.created.timestamp,
  modifiedTimestamp: record => record.modified.timestamp,
};

export function keysOf(sortBy) {
  if (typeof sortBy === 'function') return () => [];
  const readers = sortBy.map(({fieldName, systemFieldName}) => systemFields[systemFieldName] ??
    (record => record.fields[fieldName]?.value));
  return record => readers.map(read => read(record));
}

/** Records without the field come first, as in queries of the server; equal ones by their names. */
export function ordering(sortBy) {
  if (typeof sortBy === 'function') {
    return (one, other) => sortBy(one.record, other.record) || byName(one.record, other.record);
  }
  const signs = sortBy.map(({ascending = true}) => ascending ? 1 : -1);
  return (one, other) => {
    for (let index = 0; index < signs.length; index++) {
      const a = one.keys[index];
      const b = other.keys[index];
      if (a === b) continue;
      if (a === undefined || b !== undefined && a < b) return -signs[index];
      if (b === undefined || a > b) return signs[index];
    }
    return byName(one.record, other.record);
  };
}

function byName(one, other) {
  if (one.recordName !== other.recordName) return one.recordName < other.recordName ? -1 : 1;
  const [a, b] = [nameOf(one), nameOf(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}
