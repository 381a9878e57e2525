// One zone, as an app works with it.

import {uniqueID} from '../unique.js';
import {StoreError} from './errors.js';

export class StoreZone {
  #replica;
  #act;

  /** `act`: how the store saves and asks. */
  constructor({key, scope, zoneID}, replica, act) {
    this.key = key;
    this.scope = scope;
    this.zoneID = zoneID;
    this.#replica = replica;
    this.#act = act;
  }

  /** A record by its name, or undefined. */
  get(recordName) {
    return this.#replica.state.entry(this.key, recordName)?.view;
  }

  /** All records. */
  get records() { return [...this.#replica.state.records(this.key)]; }

  /**
   * Saves a record, or several together. Fields that are not named stay as they are;
   * `{value: null}` takes one away. Without a `recordName` it is a new record.
   *
   * Resolves with what is saved on this device; it is sent when the network allows.
   */
  async save(records) {
    const all = [records].flat();
    const changes = [];
    for (const record of all) {
      const name = record.recordName ?? uniqueID();
      if (!record.recordType && !this.get(name)) {
        throw new StoreError('INVALID_ARGUMENTS', 'a new record needs a recordType');
      }
      changes.push([name, await this.#act.files.taken(record)]);
    }
    await this.#act.save(this, changes);
    const saved = changes.map(([name]) => this.get(name));
    return Array.isArray(records) ? saved : saved[0];
  }

  /** The file in a field of a record, as a Blob; of a list, the one at an index. */
  file(record, fieldName, index) {
    return this.#act.files.file(this, this.get(recordNameOf(record)) ?? record, fieldName, index);
  }

  /** Deletes records, by themselves or by their names. */
  async delete(records) {
    await this.#act.save(this, [records].flat().map(record => [recordNameOf(record), null]));
  }

  /**
   * Shares a record and all whose `parent` leads to it, or changes how it is shared:
   * `{title, publicPermission, participants}`. Resolves with the share, with its `shortGUID`.
   */
  share(record, settings) { return this.#act.shares.share(this, recordNameOf(record), settings); }

  /** Ends sharing; a participant leaves. */
  stopSharing(record) { return this.#act.shares.stop(this, recordNameOf(record)); }

  /** A live query of this zone. */
  live(query) { return this.#act.live({...query, zone: this}); }
}

const recordNameOf = record => record.recordName ?? record;
