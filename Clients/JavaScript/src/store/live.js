// Queries that stay true: each keeps the records that match, in their order, and moves only what a
// change moves.

import {StoreError} from './errors.js';
import {callAll} from './listeners.js';
import {indexOf, nameOf} from './orders.js';

/** With more changes at once than this part of its records, a query is made anew. */
const rebuiltPart = 8;

export class LiveQuery {
  /** Of the zone, where there is one. */
  #key;
  #order;
  #matching;
  #limit;
  /** What is shown, in order: `{record, keys}`. */
  #items = [];
  #shown = [];
  #listeners = new Set();
  #onClose;

  constructor(orders, {recordType, zone, where, sortBy = [], limit = Infinity} = {}, onClose) {
    this.#matching = record => record !== undefined &&
      (recordType === undefined || record.recordType === recordType) &&
      (where === undefined || Boolean(where(record)));
    this.#key = zone?.key;
    if (!(limit >= 1)) throw new StoreError('INVALID_ARGUMENTS', 'a limit is at least 1');
    this.#limit = limit;
    this.#order = orders.take(zone?.key, sortBy);
    this.#onClose = () => {
      orders.release(this.#order);
      onClose(this);
    };
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
    this.#onClose();
    this.#onClose = () => {};
  }

  /** Takes changes in that its order has taken in: as `Orders.update`. */
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

  #rebuild() {
    this.#items = [];
    for (const item of this.#order.items) {
      if (this.#items.length >= this.#limit) return;
      if (this.#matching(item.record)) this.#items.push(item);
    }
  }

  /** False where only a look at all records says what is shown now. */
  #move(before, after) {
    const wasFull = this.#items.length === this.#limit;
    let hasLost = false;
    if (before) {
      const index = this.#indexOf(this.#order.item(before));
      hasLost = this.#items[index]?.record === before;
      // Beyond the limit, or `where` or `sortBy` say something else than before.
      if (!hasLost && !(wasFull && index === this.#limit)) return false;
      if (hasLost) this.#items.splice(index, 1);
    }
    const {length} = this.#items;
    const isInside = Boolean(after) && this.#insert(this.#order.item(after)) < length;
    // One from beyond the limit may come in.
    return !(wasFull && hasLost) || isInside;
  }

  /** Inserts an item where it belongs, unless that is beyond the limit; at which index. */
  #insert(item) {
    const index = this.#indexOf(item);
    if (index >= this.#limit) return index;
    this.#items.splice(index, 0, item);
    if (this.#items.length > this.#limit) this.#items.pop();
    return index;
  }

  #indexOf(item) { return indexOf(this.#items, item, this.#order.compare); }
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
