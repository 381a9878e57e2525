// Queries that stay true: each keeps the records that match, in their order, and moves only what a
// change moves.

import {StoreError} from './errors.js';
import {callAll} from './listeners.js';
import {indexIn, keysOf, nameOf, ordering} from './orderings.js';

/** With more changes at once than this part of its records, a query begins anew. */
const rebuiltPart = 8;

export class LiveQuery {
  #all;
  /** All records in the order of this query, or null where none is kept. */
  #ordered;
  /** Of the zone, where there is one. */
  #key;
  #matching;
  #limit;
  #compare;
  #keysOf;
  /** What is shown, in order: `{record, keys}`. */
  #items = [];
  #shown = [];
  #listeners = new Set();
  #onClose;

  constructor({state, orderings}, query = {}, onClose) {
    const {recordType, zone, where, sortBy = [], limit = Infinity} = query;
    this.#matching = record => record !== undefined &&
      (recordType === undefined || record.recordType === recordType) &&
      (where === undefined || Boolean(where(record)));
    this.#key = zone?.key;
    if (!(limit >= 1)) throw new StoreError('INVALID_ARGUMENTS', 'a limit is at least 1');
    this.#limit = limit;
    this.#compare = ordering(sortBy);
    this.#keysOf = keysOf(sortBy);
    this.#onClose = onClose;
    this.#all = () => state.records(zone?.key);
    this.#ordered = () => orderings.items(zone?.key, sortBy);
    this.#rebuild();
    this.#shown = this.#items.map(({record}) => record);
  }

  /** What matches now: an array that stays the same one until something in it changes. */
  get records() { return this.#shown; }

  /**
   * Calls a listener with each change: `{records, added, changed, removed}`. Returns how to stop.
   */
  subscribe = listener => {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  };

  close() {
    this.#listeners.clear();
    this.#onClose(this);
  }

  /** Takes changes in: `{key, before, after}`, of a zone, each an entry or undefined. */
  update(changes) {
    const own = changes.filter(({key}) => this.#key === undefined || this.#key === key)
      .map(({before, after}) => [this.#matched(before?.view), this.#matched(after?.view)])
      .filter(([before, after]) => before || after);
    if (own.length === 0) return;
    if (own.length * rebuiltPart > this.#items.length) this.#rebuild();
    else if (!own.every(([before, after]) => this.#move(before, after))) this.#rebuild();
    const records = this.#items.map(({record}) => record);
    const told = this.#limit === Infinity ? parted(own) : windowChanges(this.#shown, records);
    if (Object.values(told).every(({length}) => length === 0)) return;
    this.#shown = records;
    callAll(this.#listeners, {records, ...told});
  }

  #matched(record) { return this.#matching(record) ? record : undefined; }
  #item(record) { return {record, keys: this.#keysOf(record)}; }

  #rebuild() {
    this.#items = [];
    const ordered = this.#ordered();
    if (ordered) {
      for (const item of ordered) {
        if (!this.#matched(item.record)) continue;
        if (this.#items.push(item) === this.#limit) break;
      }
      return;
    }
    for (const record of this.#all()) {
      if (!this.#matching(record)) continue;
      if (this.#limit === Infinity) this.#items.push(this.#item(record));
      else this.#insert(this.#item(record));
    }
    if (this.#limit === Infinity) this.#items.sort(this.#compare);
  }

  /** Inserts an item where it belongs, unless that is beyond the limit; at which index. */
  #insert(item) {
    const {length} = this.#items;
    const isBeyond = length === this.#limit && this.#compare(this.#items[length - 1], item) < 0;
    const index = isBeyond ? length : this.#indexOf(item);
    if (isBeyond) return index;
    this.#items.splice(index, 0, item);
    if (length === this.#limit) this.#items.pop();
    return index;
  }

  /** False where only a look at all records says what is shown now. */
  #move(before, after) {
    const wasFull = this.#items.length === this.#limit;
    let hasLost = false;
    if (before) {
      const index = this.#indexOf(this.#item(before));
      hasLost = this.#items[index]?.record === before;
      // Beyond the limit, or `where` or `sortBy` say something else than before.
      if (!hasLost && !(wasFull && index === this.#limit)) return false;
      if (hasLost) this.#items.splice(index, 1);
    }
    const {length} = this.#items;
    const isInside = Boolean(after) && this.#insert(this.#item(after)) < length;
    // One from beyond the limit may come in.
    return !(wasFull && hasLost) || isInside;
  }

  #indexOf(item) { return indexIn(this.#items, item, this.#compare); }
}

/** What changes do where all that matches is shown. */
function parted(changes) {
  const told = {added: [], changed: [], removed: []};
  for (const [before, after] of changes) {
    if (!before) told.added.push(after);
    else if (!after) told.removed.push(before);
    else told.changed.push(after);
  }
  return told;
}

/** What is different in a list that others come into when one goes. */
function windowChanges(shown, records) {
  const before = new Map(shown.map(record => [nameOf(record), record]));
  const told = {added: [], changed: [], removed: []};
  for (const record of records) {
    const name = nameOf(record);
    const present = before.get(name);
    if (!present) told.added.push(record);
    else if (present !== record) told.changed.push(record);
    before.delete(name);
  }
  told.removed = [...before.values()];
  return told;
}
