// The values of fields: how each type is shown in a line, and how people write it.

import {briefMoment, isMoment, parse} from './screen.js';

/// A moment as `datetime-local` fields have it, in the reader's time zone: their ISO form in a time zone of no offset.
const localMoment = milliseconds => {
  const date = new Date(Number(milliseconds));
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
};
export const localMinute = milliseconds => localMoment(milliseconds).slice(0, 'YYYY-MM-DDTHH:MM'.length);

export const isList = type => type.endsWith('_LIST');
const ofList = type => type.slice(0, -'_LIST'.length);

/// Types that a cell of the grid can edit in its line.
export const isShort = type => ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP'].includes(type);
export const TYPES = ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP', 'LOCATION', 'REFERENCE', 'BYTES', 'STRING_LIST',
  'INT64_LIST', 'DOUBLE_LIST', 'TIMESTAMP_LIST', 'LOCATION_LIST', 'REFERENCE_LIST', 'BYTES_LIST'];

const byteCount = base64 => Math.max(0, Math.floor(base64.length * 3 / 4) - (base64.match(/=+$/)?.[0].length ?? 0));

/// A number that a double does not hold stays as it is written.
const plain = value => value?.rawJSON ?? value;

function shownOne(type, value, whole) {
  switch (type) {
    case 'TIMESTAMP': return isMoment(value) ? briefMoment(value) : String(plain(value));
    case 'LOCATION': return `${value.latitude}, ${value.longitude}`;
    case 'REFERENCE': return `→ ${value.recordName}`;
    case 'ASSETID': case 'ASSET': return `${value.size ?? 0} bytes`;
    case 'BYTES': case 'ENCRYPTED_BYTES': return `${whole ?? byteCount(String(value))} bytes`;
    default: return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/// A value in one line, cut where it is long. Rows have the beginnings of long values, and how long the whole is.
export function shown(field, max = 200) {
  if (!field || field.value === undefined || field.value === null) return '';
  const {type = 'STRING', value, whole = value.length} = field;
  const first = Array.isArray(value) && value.slice(0, 20);
  const text = first
    ? first.map(item => shownOne(type.replace(/_LIST$/, ''), item)).join(', ')
      + (whole > first.length ? ` … ${whole} in all` : '')
    : shownOne(type, value, field.whole);
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/// A value as its editor has it: a text.
export function written(type, value) {
  if (value === undefined || value === null) return '';
  if (isList(type)) return JSON.stringify(value);
  switch (type) {
    case 'TIMESTAMP': return isMoment(value) ? localMoment(value) : String(plain(value));
    case 'LOCATION': {
      const {latitude, longitude} = value;
      return `${latitude}, ${longitude}`;
    }
    case 'REFERENCE': return value.recordName;
    case 'STRING': case 'BYTES': return String(value);
    case 'INT64': case 'DOUBLE': return String(plain(value));
    default: return JSON.stringify(value);
  }
}

/// What a text means as a value of a type; the value before gives what the text does not say. An empty text removes
/// the field, but of a text: `null`.
///
/// - Throws: `Error` that says what is expected.
export function read(type, text, before) {
  if (text === '' && type !== 'STRING') return null;
  if (isList(type)) {
    let list;
    try { list = parse(text); } catch { throw new Error('a JSON list, such as ["a", "b"]'); }
    if (!Array.isArray(list)) throw new Error('a JSON list, such as ["a", "b"]');
    return list;
  }
  switch (type) {
    case 'INT64': {
      if (!/^-?\d+$/.test(text.trim())) throw new Error('a whole number');
      const number = Number(text);
      if (Number.isSafeInteger(number)) return number;
      if (!JSON.rawJSON) throw new Error('a whole number of at most 15 digits, in this browser');
      return JSON.rawJSON(text.trim());
    }
    case 'DOUBLE': {
      const number = Number(text);
      if (!Number.isFinite(number)) throw new Error('a number, such as 1.5');
      return number;
    }
    case 'TIMESTAMP': {
      const moment = new Date(text).getTime();
      if (Number.isNaN(moment)) throw new Error('a date and a time, such as 2026-11-26T08:30');
      return moment;
    }
    case 'LOCATION': {
      const [latitude, longitude, ...more] = text.split(',').map(part => Number(part.trim() || NaN));
      if (more.length || !(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180)) {
        throw new Error('latitude and longitude, such as 51.5, -0.1');
      }
      return {...before, latitude, longitude};
    }
    case 'REFERENCE': return {action: 'NONE', ...before, recordName: text.trim()};
    case 'BYTES':
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text.replace(/\s/g, ''))) throw new Error('base64');
      return text.replace(/\s/g, '');
    default: return text;
  }
}

export const isSystem = name => name.startsWith('___');
const bare = name => name.replace(/^"|"$/g, '');

/// Types with their fields and grants, and the container's own roles, as `schema export` writes them.
export function readSchema(text) {
  const schema = {types: [], roles: []};
  let type = null;
  for (const line of text.split('\n')) {
    const words = line.trim().replace(/[,;]$/, '');
    const head = /^RECORD TYPE (\S+) \($/.exec(words);
    const role = /^CREATE ROLE (\S+)$/.exec(words);
    const grant = /^GRANT (.+) TO (\S+)$/.exec(words);
    const field = /^(\S+)\s+(.+)$/.exec(words);
    if (head) schema.types.push(type = {name: bare(head[1]), fields: [], grants: {}});
    else if (role) schema.roles.push(bare(role[1]));
    else if (words === ')') type = null;
    else if (type && grant) type.grants[bare(grant[2])] = grant[1].split(', ');
    else if (type && field) {
      const parts = field[2].split(/ (?=(?:QUERYABLE|SEARCHABLE|SORTABLE)(?: |$))/);
      type.fields.push({name: bare(field[1]), type: parts[0], indexes: parts.slice(1)});
    }
  }
  return schema;
}

/// The record types by name, each with its fields as records have them.
export const types = text => new Map(readSchema(text).types.map(({name, fields}) => [name, fields.map(({name, type, indexes}) => {
  const plain = type.replace('ENCRYPTED ', '');
  return {name, isSystem: isSystem(name), isEncrypted: plain !== type, isSortable: indexes.includes('SORTABLE'),
    type: plain.replace(/^LIST<(.+)>$/, '$1_LIST')};
})]));

const QUOTED = {STRING: 'stringType', INT64: 'int64Type', DOUBLE: 'doubleType', TIMESTAMP: 'timestampType',
  LOCATION: 'locationType', BYTES: 'bytesType', REFERENCE: 'referenceType'};

/// One filter in the server's language, with the type said, so that nothing is guessed.
export function filterText({field, comparator, value}, type = 'STRING') {
  const of = isList(type) ? ofList(type) : type;
  const text = of === 'TIMESTAMP' && value ? new Date(value).toISOString() : value;
  const several = ['IN', 'NOT_IN', 'LIST_CONTAINS_ANY', 'LIST_CONTAINS_ALL'].includes(comparator);
  const spelled = QUOTED[of] && comparator !== 'NEAR' ? `${QUOTED[of]}${several ? 'List' : ''}`.replace('TypeList', 'ListType') : '';
  return `${field} ${comparator} ${spelled ? `${spelled}:` : ''}${text}`;
}

/// The comparators that a type knows, with the words for people.
export const comparators = type => {
  if (isList(type)) return [['LIST_CONTAINS', 'contains']];
  switch (type) {
    case 'STRING': return [['=', 'is'], ['!=', 'is not'], ['BEGINS_WITH', 'begins with'], ['<', 'before'], ['>', 'after']];
    case 'LOCATION': return [['NEAR', 'within lat,lon,metres of']];
    case 'REFERENCE': return [['=', 'is'], ['!=', 'is not']];
    case 'BYTES': return [['=', 'is'], ['!=', 'is not']];
    default: return [['=', '='], ['!=', '≠'], ['<', '<'], ['<=', '≤'], ['>', '>'], ['>=', '≥']];
  }
};
