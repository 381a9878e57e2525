// Records in the orders that queries ask for. An order is kept after its last query, so that the next
// one finds it sorted, and is moved as its records are.

/** How many orders are kept that no query uses. */
const unusedMax = 8;
/** So many changes at once are taken in one by one; more of them by one walk through all records. */
const fewMax = 32;

export class Orders {
  #state;
  /** The one used last stands last. */
  #orders = new Set();

  constructor(state) { this.#state = state; }

  /** The order of a zone's records, or of all, for one more query. */
  take(zoneKey, sortBy) {
    const order = [...this.#orders].find(order => order.isOf(zoneKey, sortBy)) ??
      new Order(this.#state, zoneKey, sortBy);
    order.users += 1;
    this.#orders.add(order);
    return order;
  }

  /** A query needs an order no more. */
  release(order) {
    order.users -= 1;
    this.#orders.delete(order);
    this.#orders.add(order);
    const unused = [...this.#orders].filter(({users}) => users === 0);
    for (const oldest of unused.slice(0, -unusedMax)) this.#orders.delete(oldest);
  }

  /** Takes changes in: `{key, before, after}`, of a zone, each an entry or undefined. */
  update(changes) {
    for (const order of this.#orders) order.update(changes);
  }
}

class Order {
  users = 0;
  compare;
  #state;
  #zoneKey;
  #sortBy;
  #keysOf;
  /** Undefined once only a look at all records says what it is. */
  #items;

  constructor(state, zoneKey, sortBy) {
    this.#state = state;
    this.#zoneKey = zoneKey;
    this.#sortBy = sortBy;
    this.#keysOf = keysOf(sortBy);
    this.compare = ordering(sortBy);
  }

  isOf(zoneKey, sortBy) {
    return this.#zoneKey === zoneKey && (this.#sortBy === sortBy ||
      Array.isArray(sortBy) && JSON.stringify(this.#sortBy) === JSON.stringify(sortBy));
  }

  /** All records, in order: `{record, keys}`. */
  get items() {
    this.#items ??= Array.from(this.#state.records(this.#zoneKey), record => this.item(record))
      .sort(this.compare);
    return this.#items;
  }

  item(record) { return {record, keys: this.#keysOf(record)}; }

  update(changes) {
    if (!this.#items) return;
    const own = changes.filter(({key}) => this.#zoneKey === undefined || this.#zoneKey === key);
    const isDone = own.length > fewMax ? this.#merge(own) : own.every(change => this.#move(change));
    if (!isDone) this.#items = undefined;
  }

  /** As `#move`, of many. */
  #merge(changes) {
    const gone = new Set(changes.map(({before}) => before?.view).filter(Boolean));
    const added = changes.filter(({after}) => after?.view).map(({after}) => this.item(after.view))
      .sort(this.compare);
    const stay = gone.size > 0 ? this.#items.filter(({record}) => !gone.has(record)) : this.#items;
    if (stay.length + gone.size !== this.#items.length) return false;
    const items = [];
    let from = 0;
    for (const item of added) {
      const to = indexOf(stay, item, this.compare);
      while (from < to) items.push(stay[from++]);
      items.push(item);
    }
    while (from < stay.length) items.push(stay[from++]);
    this.#items = items;
    return true;
  }

  /** False where `sortBy` says something else of a record than it did. */
  #move({before, after}) {
    if (before?.view) {
      const index = indexOf(this.#items, this.item(before.view), this.compare);
      if (this.#items[index]?.record !== before.view) return false;
      this.#items.splice(index, 1);
    }
    if (after?.view) {
      const item = this.item(after.view);
      this.#items.splice(indexOf(this.#items, item, this.compare), 0, item);
    }
    return true;
  }
}

/** Where an item is among others in order, or would be. */
export function indexOf(items, item, compare) {
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

function keysOf(sortBy) {
  if (typeof sortBy === 'function') return () => [];
  const readers = sortBy.map(({fieldName, systemFieldName}) => systemFields[systemFieldName] ??
    (record => record.fields[fieldName]?.value));
  return record => readers.map(read => read(record));
}

/** Records without the field come first, as in queries of the server; equal ones by their names. */
function ordering(sortBy) {
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
