// What this device knows, as the journal's rows make it. A row is a list of facts:
//
//   {reset: true}                all before is gone
//   {account: name}              whose data this is
//   {tokens: {PRIVATE: '…'}}     how far the feed of a database was read
//   {zones: [[key, zone]]}       a zone, or null: it is gone with its records
//   {records: [[key, name, entry]]}
//
// An entry of a record is what the server has, as last heard (`server`, or null), and what this
// device makes of it until that is sent (`edit`, or undefined):
//
//   mine      the content, or null to delete the record
//   sent      what was sent and not yet answered: {content, version}. It is sent again as it was,
//             until the answer is known
//   at        when it was made, by this device's clock
//   version   a number that no other edit has
//   order     its place in the queue
//   refused   why it is not sent any more: {code, reason}
//   base      what `mine` was made of, where it could not be merged with what the server has

class Entry {
  #zone;
  #name;
  #view;

  constructor(zone, name, {server, edit}) {
    this.server = server ?? null;
    this.edit = edit;
    this.#zone = zone;
    this.#name = name;
  }

  /** The record as the app sees it, always the same frozen object; undefined for a deleted one. */
  get view() {
    if (this.edit ? this.edit.mine === null : this.server === null) return undefined;
    return this.#view ??= made(this.#zone, this.#name, this);
  }
}

export class State {
  account = null;
  tokens = {};
  /** Zones by their keys: `{key, scope, zoneID, token, isMade, isBehind, records}`. */
  zones = new Map();
  /** The entries that wait to be sent, or were refused, by key and name. */
  edits = new Map();
  /** The highest number that an edit has. */
  version = 0;
  /** How many records there are. */
  count = 0;
  /** What has changed since somebody asked: the entries before, by key and name. */
  #before = new Map();

  apply({reset, account, tokens, zones = [], records = []}) {
    if (reset) this.#clear();
    if (account !== undefined) this.account = account;
    if (tokens) this.tokens = {...this.tokens, ...tokens};
    for (const [key, zone] of zones) this.#setZone(key, zone);
    for (const [key, name, entry] of records) this.#setRecord(this.zones.get(key), name, entry);
  }

  /** The records of a zone, or of all. */
  * records(key) {
    const zones = key === undefined ? [...this.zones.values()] : [this.zones.get(key)];
    for (const zone of zones) {
      for (const {view} of zone?.records.values() ?? []) if (view) yield view;
    }
  }

  entry(key, name) { return this.zones.get(key)?.records.get(name); }

  /** What has changed since the last call: `{key, before, after}`, entries or undefined. */
  takeChanges() {
    const found = [...this.#before.values()].map(({key, name, before}) => ({
      key, before, after: this.entry(key, name),
    }));
    this.#before.clear();
    return found;
  }

  /** Rows that make all of this, each with so many records at most. */
  snapshot(recordsMax = 500) {
    const rows = [{
      reset: true, account: this.account, tokens: this.tokens,
      zones: [...this.zones.values()].map(zone => zoneFact(zone)),
    }];
    let records = [];
    for (const [key, zone] of this.zones) {
      for (const [name, entry] of zone.records) {
        if (records.push([key, name, entry]) < recordsMax) continue;
        rows.push({records});
        records = [];
      }
    }
    if (records.length > 0) rows.push({records});
    return rows;
  }

  #clear() {
    for (const key of [...this.zones.keys()]) this.#setZone(key, null);
    this.account = null;
    this.tokens = {};
  }

  #setZone(key, zone) {
    const present = this.zones.get(key);
    if (zone) {
      if (present) Object.assign(present, zone);
      else this.zones.set(key, {...zone, key, records: new Map()});
    } else if (present) {
      for (const name of [...present.records.keys()]) this.#setRecord(present, name, null);
      this.zones.delete(key);
    }
  }

  #setRecord(zone, name, entry) {
    const id = `${zone.key}\n${name}`;
    const present = zone.records.get(name);
    if (!this.#before.has(id)) {
      this.#before.set(id, {key: zone.key, name, before: present});
    }
    if (entry?.edit) {
      this.edits.set(id, {key: zone.key, name});
      this.version = Math.max(this.version, entry.edit.version, entry.edit.order);
    } else {
      this.edits.delete(id);
    }
    this.count += (entry ? 1 : 0) - (present ? 1 : 0);
    if (entry) zone.records.set(name, new Entry(zone, name, entry));
    else zone.records.delete(name);
  }
}

/** A zone with changes, as a fact. */
export function zoneFact({key, records, ...zone}, changes) {
  return [key, {...zone, ...changes}];
}

// These say nothing here.
const unsaid = new Set(['pluginFields', 'deleted', 'zoneID']);

/** A record of an answer, as it is kept. */
export function kept(record) {
  const rest = {};
  for (const key of Object.keys(record)) if (!unsaid.has(key)) rest[key] = record[key];
  return rest;
}

function made(zone, name, {server, edit}) {
  // Not by spreading: engines then give each object a shape of its own, and reading takes long.
  const own = {recordName: name, zoneID: zone.zoneID, isPending: Boolean(edit)};
  const view = Object.assign({recordName: '', zoneID: null, isPending: false}, server, own);
  if (edit) {
    const {mine, at, refused} = edit;
    const now = {timestamp: at};
    Object.assign(view, mine, {modified: now, created: server?.created ?? now});
    if (refused) view.refused = refused;
  }
  for (const fields of [view.fields, view.encryptedValues]) {
    if (!fields) continue;
    for (const name of Object.keys(fields)) Object.freeze(fields[name]);
    Object.freeze(fields);
  }
  return Object.freeze(view);
}
