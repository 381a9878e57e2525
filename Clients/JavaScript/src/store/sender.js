// Sending what waits: in the order in which it was made, many records of one zone at once.

import {contentOf, difference} from './content.js';
import {entryAfter, entryAfterRefusal, entryAfterSave} from './entries.js';
import {faultOf, isPassing} from './faults.js';
import {kept, zoneFact} from './state.js';
import {askedZoneID} from './zones.js';

const operationsMax = 200;
const bytesMax = 1_000_000;

export class Sender {
  #context;
  /** Fewer after a request that was refused as a whole, until it is known for which record. */
  #countMax = operationsMax;

  /** `context`: `{container, replica, merge, identify, wire}`. */
  constructor(context) {
    this.#context = context;
  }

  /** Sends what has waited longest, with more of its zone; whether there was something. */
  async sendSome(signal) {
    const {replica, wire} = this.#context;
    const found = this.#next(replica.state);
    if (!found) return false;
    const zone = found.zone;
    if (!zone.isMade && zone.scope === 'PRIVATE' && !await this.#make(zone, signal)) return true;
    const names = await wire.prepare(zone, found.names, signal);
    if (names.length === 0) return true;
    let batch;
    await replica.change(state => {
      batch = sentEntries(state.zones.get(zone.key), names);
      return {records: batch};
    });
    if (batch.length === 0) return true;
    const operations = await wire.sealed(
      zone, batch.map(([, name, entry]) => operationOf(name, entry)));
    const answer = await this.#request(zone, 'records/modify', {
      zoneID: askedZoneID(zone, replica.state.account), atomic: false, operations,
    }, signal).catch(error => this.#refused(error, zone, batch));
    if (!answer) return true;
    this.#countMax = Math.min(operationsMax, this.#countMax * 2);
    const results = await wire.received(answer.records, zone);
    await replica.change(state => this.#facts(state, zone.key, batch, results));
    const passing = results.find(item => item.serverErrorCode && isPassing(faultOf(item)));
    if (passing) throw faultOf(passing);
    return true;
  }

  #request({scope}, endpoint, body, signal) {
    return this.#context.container.getDatabaseWithDatabaseScope(scope)
      .request(endpoint, body, {signal});
  }

  #next(state) {
    const waiting = [...state.edits.values()].map(({key, name}) => {
      const {edit} = state.entry(key, name);
      return {key, name, order: edit.order, isRefused: Boolean(edit.refused), edit};
    }).filter(({isRefused}) => !isRefused).sort((one, other) => one.order - other.order);
    if (waiting.length === 0) return undefined;
    const zone = state.zones.get(waiting[0].key);
    let bytes = 0;
    const names = waiting.filter(({key}) => key === zone.key).slice(0, this.#countMax)
      .filter(({edit}, index) => {
        bytes += JSON.stringify(edit.mine).length;
        return index === 0 || bytes <= bytesMax;
      }).map(({name}) => name);
    return {zone, names};
  }

  /** Makes a zone that nobody has made yet; false where what is in it is refused for that. */
  async #make(zone, signal) {
    const zoneID = askedZoneID(zone, this.#context.replica.state.account);
    const {zones: [item]} = await this.#request(
      zone, 'zones/modify', {operations: [{operationType: 'create', zone: {zoneID}}]}, signal);
    if (!item.serverErrorCode) {
      await this.#context.replica.change(state => ({
        zones: [zoneFact(state.zones.get(zone.key), {zoneID: item.zoneID, isMade: true})],
      }));
      return true;
    }
    if (isPassing(faultOf(item))) throw faultOf(item);
    await this.#refuse(zone, [...zone.records].filter(([, {edit}]) => edit && !edit.refused)
      .map(([name, entry]) => [zone.key, name, entry]), faultOf(item));
    return false;
  }

  /** A request has failed as a whole: throws where another try may help. */
  async #refused(error, zone, batch) {
    if (error.ckErrorCode === 'ZONE_NOT_FOUND') {
      await this.#context.identify();
      if (zone.scope === 'PRIVATE' && zone.token === null) {
        await this.#context.replica.change(() => ({zones: [zoneFact(zone, {isMade: false})]}));
      } else {
        await this.#refuse(zone, batch, error);
      }
    } else if (!['BAD_REQUEST', 'ACCESS_DENIED', 'QUOTA_EXCEEDED'].includes(error.ckErrorCode)) {
      throw error;
    } else if (batch.length > 1) {
      this.#countMax = Math.ceil(batch.length / 2);
    } else {
      await this.#refuse(zone, batch, error);
    }
  }

  #refuse({key}, batch, {ckErrorCode, reason}) {
    return this.#context.replica.change(state => ({
      records: batch.filter(([, name]) => state.entry(key, name)?.edit)
        .map(([, name, {edit}]) => [key, name, entryAfterRefusal(
          state.entry(key, name), (edit.sent ?? edit).version, {code: ckErrorCode, reason})]),
    }));
  }

  #facts(state, key, batch, results) {
    const hasSaved = results.some(item => !item.serverErrorCode);
    const isAll = state.edits.size === batch.length;
    let {version: order} = state;
    const records = [];
    batch.forEach(([, name, {edit}], index) => {
      const entry = state.entry(key, name);
      if (!entry) return;
      const next = this.#entryAfter(entry, edit, results[index]);
      if (!next?.isLater) return records.push([key, name, next]);
      // What it refers to may be among what is sent after it.
      const {server, edit: {sent, ...rest}} = entry;
      records.push([key, name, hasSaved || !isAll ? {server, edit: {...rest, order: ++order}}
        : entryAfterRefusal(entry, edit.sent.version, codeOf(results[index]))]);
    });
    return {records};
  }

  #entryAfter(entry, {sent: {version, content}}, item) {
    const {merge} = this.#context;
    if (!item.serverErrorCode) {
      return entryAfterSave(entry, item.deleted ? null : kept(item), merge);
    }
    const error = faultOf(item);
    if (isPassing(error)) return entry;
    switch (error.ckErrorCode) {
    case 'CONFLICT':
      if (item.serverRecord) return entryAfter(entry, kept(item.serverRecord), merge);
      break;
    case 'NOT_FOUND':
      if (content === null) return entryAfterSave(entry, null, merge);
      if (entry.server) return entryAfter(entry, null, merge);
      break;
    case 'VALIDATING_REFERENCE_ERROR':
      return {isLater: true};
    }
    return entryAfterRefusal(entry, version, codeOf(item));
  }
}

const codeOf = ({serverErrorCode, reason}) => ({code: serverErrorCode, reason});

/** Notes of each what is sent, so that an answer that never comes is understood. */
function sentEntries(zone, names) {
  return names.map(name => [name, zone.records.get(name)])
    .filter(([, entry]) => entry?.edit && !entry.edit.refused)
    .map(([name, {server, edit}]) => {
      const sent = edit.sent ?? {content: edit.mine, version: edit.version};
      return [zone.key, name, {server, edit: {...edit, sent}}];
    });
}

function operationOf(recordName, {server, edit: {sent: {content}}}) {
  const {recordChangeTag} = server ?? {};
  if (content === null) return {operationType: 'delete', record: {recordName, recordChangeTag}};
  const {recordType} = content;
  const parts = difference(contentOf(server), content);
  return {
    operationType: server ? 'update' : 'create',
    record: {recordName, recordType, recordChangeTag, fields: {}, ...parts},
  };
}
