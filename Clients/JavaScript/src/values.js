// What apps hand over, brought to the form of the wire.

import {localError} from './errors.js';

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

function fieldsToSend(fields) {
  // From entries, so that no name of a field has a meaning of its own.
  return Object.fromEntries(Object.entries(fields ?? {})
    .map(([name, field]) => [name, fieldToSend(field)]));
}

/**
 * Dates and large integers are no JSON: they leave as milliseconds and as digits, with their type.
 */
function fieldToSend(field) {
  const value = field?.value;
  const isList = Array.isArray(value);
  const first = isList ? value[0] : value;
  const [type, form] = first instanceof Date ? ['TIMESTAMP', date => date.getTime()]
    : typeof first === 'bigint' ? ['INT64', String] : [];
  if (!type) return field;
  return {
    type: isList ? `${type}_LIST` : type, ...field,
    value: isList ? value.map(form) : form(value),
  };
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

/** 122 random bits as a UUID. `randomUUID` is missing in pages that came by plain HTTP. */
export function uniqueID() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = randomBytes(16);
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const digits = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function randomBytes(count) {
  const bytes = new Uint8Array(count);
  // Node 18 has no crypto among its globals; that no two are the same is all that counts here.
  return globalThis.crypto ? crypto.getRandomValues(bytes)
    : bytes.map(() => Math.floor(Math.random() * 256));
}
