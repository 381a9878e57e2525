// What stands between records as this device keeps them and as they travel: values are encrypted,
// and files are uploaded.

import {contentOf, difference} from './content.js';
import {entryAfterRefusal} from './entries.js';

export class Wire {
  #container;
  #replica;
  #encryption;
  #files;

  constructor(container, replica, encryption, files) {
    this.#container = container;
    this.#replica = replica;
    this.#encryption = encryption;
    this.#files = files;
  }

  /** Records of an answer with their values decrypted, and what does not open in `sealed`. */
  async received(records, zone) {
    const all = records.map(record => record.serverRecord ?? record)
      .filter(record => takeSealed(record));
    const cipher = all.length > 0 ? await this.#encryption.cipher() : undefined;
    for (const record of all) await this.#open(record, zone, cipher);
    return records;
  }

  /** Uploads the files of records that wait; of their names, those that can be sent now. */
  async prepare(zone, names, signal) {
    const {state} = this.#replica;
    const ready = [];
    for (const name of names) {
      const refusal = await this.#refusal(zone, name, state);
      if (!refusal) {
        await this.#files.upload(zone, name, signal);
        ready.push(name);
      } else {
        await this.#replica.change(() => {
          const entry = state.entry(zone.key, name);
          if (!entry?.edit) return undefined;
          const refused = entryAfterRefusal(entry, entry.edit.version, refusal);
          return {records: [[zone.key, name, refused]]};
        });
      }
    }
    return ready;
  }

  /** Operations with their values encrypted. */
  async sealed(zone, operations) {
    for (const {record} of operations) {
      const {encryptedValues, recordName, recordType, fields} = record;
      if (!encryptedValues) continue;
      const cipher = await this.#encryption.cipherForWriting();
      for (const [key, field] of Object.entries(encryptedValues)) {
        fields[key] = field.value === null ? field : {
          value: await cipher.seal(field, this.#place(zone, recordType, recordName, key)),
          type: 'BYTES', isEncrypted: true,
        };
      }
      delete record.encryptedValues;
    }
    return operations;
  }

  /** This device has got the key: opens what it could not, and sends what has waited for it. */
  async unlocked() {
    const {state} = this.#replica;
    const cipher = await this.#encryption.cipher();
    for (const zone of [...state.zones.values()]) {
      const opened = [];
      for (const [name, {server, edit}] of zone.records) {
        if (server?.sealed) opened.push([name, await this.#open({...server}, zone, cipher)]);
        else if (edit?.refused?.code === 'LOCKED') opened.push([name, server]);
      }
      await this.#replica.change(() => ({
        records: opened.flatMap(([name, server]) => {
          const entry = state.entry(zone.key, name);
          // A newer version came meanwhile, and was opened then.
          if (entry?.server?.recordChangeTag !== server?.recordChangeTag) return [];
          return [[zone.key, name, {server, edit: withoutLock(entry.edit)}]];
        }),
      }));
    }
  }

  /** Opens what is sealed in a record, as far as that is possible. */
  async #open(record, zone, cipher) {
    const {recordType, recordName, sealed} = record;
    delete record.sealed;
    for (const [key, text] of Object.entries(sealed)) {
      const field = await cipher?.open(text, this.#place(zone, recordType, recordName, key));
      const [name, value] = field ? ['encryptedValues', field] : ['sealed', text];
      record[name] = {...record[name], [key]: value};
    }
    return record;
  }

  #place({scope, zoneID}, recordType, recordName, key) {
    const {containerIdentifier} = this.#container;
    const owner = scope === 'PRIVATE' ? this.#replica.state.account : zoneID.ownerRecordName;
    return [containerIdentifier, owner, zoneID.zoneName, recordType, recordName, key];
  }

  /** Why a record's encrypted values cannot be sent; undefined when they can, or there are none. */
  async #refusal(zone, name, state) {
    const {server, edit} = state.entry(zone.key, name) ?? {};
    const {encryptedValues} = edit?.mine && difference(contentOf(server), edit.mine) || {};
    if (!encryptedValues) return undefined;
    if (isShared(zone, name)) {
      return {code: 'INVALID_ARGUMENTS', reason: 'others would get this record, and have no key'};
    }
    if (await this.#encryption.cipherForWriting()) return undefined;
    return {code: 'LOCKED', reason: 'another device has made the key: unlock it here first'};
  }
}

/** Puts encrypted fields of an answer under `sealed`; whether there are any. */
function takeSealed(record) {
  const {fields} = record;
  if (!fields) return false;
  for (const key of Object.keys(fields)) {
    const {isEncrypted, value} = fields[key];
    if (!isEncrypted) continue;
    record.sealed = {...record.sealed, [key]: value};
    delete fields[key];
  }
  return record.sealed !== undefined;
}

function withoutLock(edit) {
  if (edit?.refused?.code !== 'LOCKED') return edit;
  const {refused, ...rest} = edit;
  return rest;
}

/** Whether others take part in a record, by itself, by what it lies below, or by its zone. */
function isShared({scope, records}, name) {
  if (scope === 'SHARED' || records.has('cloudkit.zoneshare')) return true;
  const seen = new Set();
  for (let next = name; next && !seen.has(next);) {
    seen.add(next);
    const {view} = records.get(next) ?? {};
    if (view?.share) return true;
    next = view?.parent?.recordName;
  }
  return false;
}
