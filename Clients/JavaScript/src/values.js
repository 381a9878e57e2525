// What apps hand over, brought to the form of the wire.

import {localError} from './errors.js';
import {fieldsToSend} from './fields.js';

export function list(value) {
  if (value == null) throw localError('INVALID_ARGUMENTS', 'an argument is missing');
  return Array.isArray(value) ? value : [value];
}

/** A zone's ID out of its name, its ID, or a zone; undefined stays so. */
export function zoneIDOf(zone) {
  if (zone == null) return undefined;
  if (typeof zone === 'string') return {zoneName: zone};
  const zoneID = zone.zoneID ?? zone;
  if (typeof zoneID === 'string') return {zoneName: zoneID};
  if (typeof zoneID.zoneName !== 'string') {
    throw localError('INVALID_ARGUMENTS', 'a zone needs a zoneName');
  }
  return zoneID;
}

/** A record's name out of the name, a reference or the record. */
export function recordNameOf(record) {
  const name = typeof record === 'string' ? record : record?.recordName;
  if (typeof name !== 'string') {
    throw localError('INVALID_ARGUMENTS', 'a record needs a recordName');
  }
  return name;
}

// The server says these; sent back, they would only make requests longer.
const answered = new Set(['created', 'modified', 'deleted', 'pluginFields', 'share', 'shortGUID',
  'stableUrl', 'zoneID']);

/** A record as it is sent. The app's own object stays as it is. */
export function recordToSend(record) {
  if (record === null || typeof record !== 'object') {
    throw localError('INVALID_ARGUMENTS', 'a record is an object with recordType and fields');
  }
  const entries = Object.entries(record).filter(([key]) => !answered.has(key))
    .map(([key, value]) => [key, key === 'fields' ? fieldsToSend(value) : value]);
  return Object.fromEntries(entries);
}

/**
 * A record of an answer: `created.user` and `modified.user` are other names of `userRecordName`.
 */
export function receivedRecord(record) {
  for (const change of [record.created, record.modified]) {
    if (change && change.user === undefined) change.user = change.userRecordName;
  }
  return record;
}
