// Files in records: each is uploaded first, and what the upload is answered with becomes the
// field's value.

import {localError} from './errors.js';
import {parsedAnswer} from './requests.js';
import {uniqueID} from './unique.js';

/** As many as a request may name. */
const tokensMax = 200;
/** Fewer than a browser's connections to one host, so that other requests come through. */
const uploadsAtOnce = 4;

const isFile = value => typeof Blob === 'function' && value instanceof Blob;
const isFileField = field => isFile(field?.value) ||
  Array.isArray(field?.value) && field.value.some(isFile);

/** Uploads the files among the fields of records, and returns the records with what they became. */
export async function withUploads(requests, database, zoneID, records) {
  const files = [];
  const named = records.map(record => {
    const fields = Object.entries(record.fields ?? {});
    if (!fields.some(([, field]) => isFileField(field))) return record;
    // Named here, so that all files of a new record are of the same one.
    const recordName = record.recordName ?? uniqueID();
    for (const [fieldName, {value}] of fields) {
      for (const file of [value].flat().filter(isFile)) {
        files.push({file, token: {recordName, recordType: record.recordType, fieldName}});
      }
    }
    return {...record, recordName};
  });
  if (files.length === 0) return records;
  const uploaded = await upload(requests, database, zoneID, files);
  return named.map(record => ({...record, fields: replaced(record, uploaded)}));
}

function replaced({recordName, fields}, uploaded) {
  const valueOf = (fieldName, value) =>
    isFile(value) ? uploaded.get(value)[`${recordName} ${fieldName}`] : value;
  return fields && Object.fromEntries(Object.entries(fields).map(([name, field]) => {
    if (!isFileField(field)) return [name, field];
    const isList = Array.isArray(field.value);
    const value = isList
      ? field.value.map(each => valueOf(name, each)) : valueOf(name, field.value);
    return [name, {...field, value, type: isList ? 'ASSETID_LIST' : 'ASSETID'}];
  }));
}

/** The values of files: for each file, by record and field. */
async function upload(requests, database, zoneID, files) {
  const values = new Map(files.map(({file}) => [file, {}]));
  for (let start = 0; start < files.length; start += tokensMax) {
    const part = files.slice(start, start + tokensMax);
    const {items, errors} = await requests.items(database, 'assets/upload', 'tokens',
      {tokens: part.map(({token}) => token), zoneID});
    if (errors.length > 0) throw errors[0];
    if (items.length !== part.length) {
      throw localError('UNEXPECTED_SERVER_RESPONSE', 'not every file has got an address');
    }
    const waiting = part.map(({file, token}, index) => ({file, token, url: items[index].url}));
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const {recordName, fieldName} = next.token;
        values.get(next.file)[`${recordName} ${fieldName}`] = await send(requests, next);
      }
    };
    await Promise.all(Array.from({length: uploadsAtOnce}, work));
  }
  return values;
}

async function send(requests, {file, url}) {
  // However long it takes.
  const {answer, text} = await requests.fetch(url, {method: 'POST', body: file}, 0);
  const {singleFile} = parsedAnswer(answer, text);
  if (!singleFile) throw localError('UNEXPECTED_SERVER_RESPONSE', 'the upload has no singleFile');
  return singleFile;
}
