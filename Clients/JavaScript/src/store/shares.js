// Sharing, which needs a network: what others may do is not decided offline.

import {faultOf} from './faults.js';
import {StoreError} from './errors.js';
import {askedZoneID} from './zones.js';

const shareType = 'cloudkit.share';

export class Shares {
  #container;
  #replica;
  #sync;

  /** `sync` resolves once all is sent and read. */
  constructor(container, replica, sync) {
    this.#container = container;
    this.#replica = replica;
    this.#sync = sync;
  }

  /** Shares a record and what lies below it, or changes how that is done; with the share. */
  async share(zone, recordName, {title, ...settings} = {}) {
    await this.#sync();
    const root = this.#sent(zone, recordName);
    const present = root.share && this.#sent(zone, root.share.recordName);
    const share = {
      recordType: shareType, ...settings,
      fields: title === undefined ? {} : {'cloudkit.title': {value: title}},
      ...present ? {recordName: present.recordName, recordChangeTag: present.recordChangeTag}
        : {forRecord: {recordName, recordChangeTag: root.recordChangeTag}},
    };
    const operationType = present ? 'update' : 'create';
    const saved = await this.#modify(zone, {operationType, record: share});
    await this.#sync();
    return saved;
  }

  /** Others lose the record; a participant who calls it leaves. */
  async stop(zone, recordName) {
    await this.#sync();
    const {share} = this.#sent(zone, recordName);
    if (!share) throw new StoreError('NOT_FOUND', `${recordName} is not shared`);
    const {recordName: shareName} = share;
    await this.#modify(zone, {operationType: 'forceDelete', record: {recordName: shareName}});
    await this.#sync();
  }

  /** Takes part in what a link leads to. Resolves with `{zoneID, recordName}`, once it is here. */
  async accept(shortGUID) {
    const {results, errors} = await this.#container.acceptShares(shortGUID);
    if (errors.length > 0) throw errors[0];
    await this.#sync();
    const [{zoneID, rootRecordName: recordName}] = results;
    return {zoneID, recordName};
  }

  #sent({key}, recordName) {
    const {view} = this.#replica.state.entry(key, recordName) ?? {};
    if (!view?.recordChangeTag) {
      throw new StoreError('NOT_FOUND', `the server does not have ${recordName}`);
    }
    return view;
  }

  async #modify(zone, operation) {
    const zoneID = askedZoneID(zone, this.#replica.state.account);
    const {records} = await this.#container.getDatabaseWithDatabaseScope(zone.scope).request(
      'records/modify', {zoneID, atomic: true, operations: [operation]});
    const fault = records.find(({serverErrorCode}) => serverErrorCode);
    if (fault) throw faultOf(fault);
    return records[0];
  }
}
