// The values of fields: how each type is shown in a line, and how people write it.

import {parse} from './json.js';
import {moment} from './parts.js';

const twoDigits = value => String(value).padStart(2, '0');

/// A moment as `datetime-local` fields have it, in the reader's time zone.
const localMoment = milliseconds => {
  const date = new Date(milliseconds);
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}T${
    twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}.${
    String(date.getMilliseconds()).padStart(3, '0')}`;
};

export const isList = type => type.endsWith('_LIST');
export const ofList = type => type.slice(0, -'_LIST'.length);

/// Types that a cell of the grid can edit in its line.
export const isShort = type => ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP'].includes(type);
export const TYPES = ['STRING', 'INT64', 'DOUBLE', 'TIMESTAMP', 'LOCATION', 'REFERENCE', 'BYTES', 'STRING_LIST',
  'INT64_LIST', 'DOUBLE_LIST', 'TIMESTAMP_LIST', 'LOCATION_LIST', 'REFERENCE_LIST', 'BYTES_LIST'];

const byteCount = base64 => Math.max(0, Math.floor(base64.length * 3 / 4) - (base64.match(/=+$/)?.[0].length ?? 0));

/// A number that a double does not hold stays as it is written.
const plain = value => value?.rawJSON ?? value;

function shownOne(type, value) {
  switch (type) {
    case 'TIMESTAMP': return moment(value);
    case 'LOCATION': return `${value.latitude}, ${value.longitude}`;
    case 'REFERENCE': return `→ ${value.recordName}`;
    case 'ASSETID': case 'ASSET': return `${value.size ?? 0} bytes`;
    case 'BYTES': case 'ENCRYPTED_BYTES': return `${byteCount(String(value))} bytes`;
    default: return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/// A value in one line, cut where it is long.
export function shown(field, max = 200) {
  if (!field || field.value === undefined || field.value === null) return '';
  const {type = 'STRING', value} = field;
  const text = Array.isArray(value)
    ? value.slice(0, 20).map(item => shownOne(type.replace(/_LIST$/, ''), item)).join(', ')
      + (value.length > 20 ? ` … ${value.length} in all` : '')
    : shownOne(type, value);
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/// A value as its editor has it: a text.
export function written(type, value) {
  if (value === undefined || value === null) return '';
  if (isList(type)) return JSON.stringify(value);
  switch (type) {
    case 'TIMESTAMP': return localMoment(value);
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

/// Record types with their fields, from a schema as the server writes it.
export function types(schema) {
  const found = new Map();
  let current;
  for (const line of schema.split('\n')) {
    const head = /^\s*RECORD TYPE "?([^"\s(]+)"? \($/.exec(line);
    if (head) {
      current = [];
      found.set(head[1], current);
      continue;
    }
    const field = /^\s*("(?<quoted>[^"]+)"|(?<bare>\w+))\s+(?<encrypted>ENCRYPTED )?(?<type>LIST<\w+>|\w+)(?<marks>[ \w]*),?$/.exec(line);
    if (!current || !field || field.groups.bare === 'GRANT') continue;
    const {quoted, bare, encrypted, type, marks} = field.groups;
    current.push({
      name: quoted ?? bare, isSystem: Boolean(quoted?.startsWith('___')), isEncrypted: Boolean(encrypted),
      type: type.startsWith('LIST<') ? `${type.slice(5, -1)}_LIST` : type,
      isQueryable: marks.includes('QUERYABLE'), isSortable: marks.includes('SORTABLE'),
      isSearchable: marks.includes('SEARCHABLE')});
  }
  return found;
}

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
