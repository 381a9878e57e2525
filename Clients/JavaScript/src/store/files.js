// Files in fields: kept on the device until they are uploaded, in parts that go on where they
// ended; and kept for a while when they were downloaded.

import {uniqueID} from '../unique.js';
import {faultOf} from './faults.js';
import {StoreError} from './errors.js';
import {askedZoneID} from './zones.js';

const partBytes = 4 << 20;
/** A file is kept a moment before its record is. */
const sweptMilliseconds = 3_600_000;
const tus = {'Tus-Resumable': '1.0.0'};

const isBlob = value => typeof Blob === 'function' && value instanceof Blob;

export class Files {
  #container;
  #replica;
  #journal;
  #fetch;
  #cacheBytesMax;

  constructor(container, replica, journal, {fetch, cacheBytesMax}) {
    this.#container = container;
    this.#replica = replica;
    this.#journal = journal;
    this.#fetch = fetch;
    this.#cacheBytesMax = cacheBytesMax;
  }

  /** A record with its files kept on the device, and their names there as values. */
  async taken(record) {
    const fields = {...record.fields};
    for (const [key, field] of Object.entries(fields)) {
      if ([field?.value].flat().some(isBlob)) {
        fields[key] = {...field, value: await mapped(field.value, value => this.#take(value))};
      }
    }
    return {...record, fields};
  }

  /** Forgets files of records that do not wait any more. */
  async sweep() {
    const {state} = this.#replica;
    const edits = [...state.edits.values()].map(({key, name}) => state.entry(key, name).edit);
    const waiting = JSON.stringify(edits);
    for (const {name, isWaiting, at} of await this.#journal.files()) {
      const isOld = isWaiting && Date.now() - at > sweptMilliseconds;
      if (isOld && !waiting.includes(name)) await this.#journal.deleteFile(name);
    }
  }

  async #take(blob) {
    if (!isBlob(blob)) return blob;
    const name = uniqueID();
    await this.#journal.putFile({name, blob, isWaiting: true, at: Date.now()});
    return {localFile: name, size: blob.size};
  }

  /** Uploads the files of a record that waits, and puts what they became in their place. */
  async upload(zone, recordName, signal) {
    const {edit} = this.#replica.state.entry(zone.key, recordName) ?? {};
    // What was sent already goes again as it was.
    if (!edit?.mine || edit.sent) return;
    for (const [fieldName, {value}] of Object.entries(edit.mine.fields)) {
      for (const {localFile} of [value].flat()) {
        if (!localFile) continue;
        const token = {recordName, recordType: edit.mine.recordType, fieldName};
        const uploaded = await this.#send(zone, token, localFile, signal);
        await this.#replace(zone, recordName, fieldName, localFile, uploaded);
      }
    }
  }

  /** A file of a record, from the device or from the server. */
  async file(zone, {recordName, fields}, fieldName, index) {
    const value = valueAt(fields[fieldName], index);
    if (!value) throw new StoreError('NOT_FOUND', `${fieldName} has no file`);
    const {localFile, fileChecksum} = value;
    const kept = await this.#journal.file(localFile ?? fileChecksum);
    if (kept) return kept.blob;
    if (!fileChecksum) throw new StoreError('NOT_FOUND', 'the file is not on this device');
    const blob = await this.#download(zone, recordName, fieldName, index);
    await this.#cache(fileChecksum, blob);
    return blob;
  }

  async #send(zone, token, localFile, signal) {
    const file = await this.#journal.file(localFile);
    if (!file) throw new StoreError('NOT_FOUND', 'the file is not on this device');
    let {url} = file;
    let offset = url === undefined ? undefined : await this.#offset(url, signal);
    if (offset === undefined) {
      url = await this.#begin(zone, token, file.blob.size, signal);
      await this.#journal.putFile({...file, url});
      offset = 0;
    }
    while (offset < file.blob.size) {
      const body = file.blob.slice(offset, offset + partBytes);
      const answer = await this.#ask(url, {method: 'PATCH', body, signal, headers: {
        ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream',
      }});
      offset = Number(answer.headers.get('Upload-Offset'));
    }
    const {singleFile} = await (await this.#ask(url, {headers: tus, signal})).json();
    return singleFile;
  }

  async #begin(zone, token, size, signal) {
    const {tokens: [item]} = await this.#request(zone, 'assets/upload', {tokens: [token]}, signal);
    if (item.serverErrorCode) throw faultOf(item);
    const headers = {...tus, 'Upload-Length': String(size)};
    await this.#ask(item.url, {method: 'POST', headers, signal});
    return item.url;
  }

  /** How much the server has of an upload; undefined when it has forgotten it. */
  async #offset(url, signal) {
    const answer = await this.#ask(url, {method: 'HEAD', headers: tus, signal}, [403, 404, 410]);
    return answer.ok ? Number(answer.headers.get('Upload-Offset')) : undefined;
  }

  async #replace({key}, recordName, fieldName, localFile, uploaded) {
    await this.#replica.change(state => {
      const {server, edit} = state.entry(key, recordName) ?? {};
      const field = edit?.mine?.fields[fieldName];
      if (!field) return undefined;
      const put = value => value.localFile === localFile ? uploaded : value;
      const isList = Array.isArray(field.value);
      const next = {
        type: isList ? 'ASSETID_LIST' : 'ASSETID',
        value: isList ? field.value.map(put) : put(field.value),
      };
      const mine = {...edit.mine, fields: {...edit.mine.fields, [fieldName]: next}};
      return {records: [[key, recordName, {server, edit: {...edit, mine}}]]};
    });
    const {blob} = await this.#journal.file(localFile);
    await this.#cache(uploaded.fileChecksum, blob);
    await this.#journal.deleteFile(localFile);
  }

  async #download(zone, recordName, fieldName, index) {
    // The link of the record here may have expired.
    const {records: [record]} = await this.#request(
      zone, 'records/lookup', {records: [{recordName}], desiredKeys: [fieldName]});
    if (record.serverErrorCode) throw faultOf(record);
    const value = valueAt(record.fields[fieldName], index);
    if (!value) throw new StoreError('NOT_FOUND', `${fieldName} has no file any more`);
    return (await this.#ask(value.downloadURL.replace('${f}', 'file'))).blob();
  }

  /** Keeps a file in place of those that were not used the longest. */
  async #cache(name, blob) {
    if (blob.size > this.#cacheBytesMax) return;
    const kept = (await this.#journal.files()).filter(file => file.blob && !file.isWaiting)
      .sort((one, other) => one.at - other.at);
    let bytes = kept.reduce((sum, file) => sum + file.blob.size, blob.size);
    for (const file of kept) {
      if (bytes <= this.#cacheBytesMax) break;
      bytes -= file.blob.size;
      await this.#journal.deleteFile(file.name);
    }
    // Without room it is downloaded again.
    await this.#journal.putFile({name, blob, at: Date.now()}).catch(() => {});
  }

  #request(zone, endpoint, body, signal) {
    return this.#container.getDatabaseWithDatabaseScope(zone.scope).request(
      endpoint, {...body, zoneID: askedZoneID(zone, this.#replica.state.account)}, {signal});
  }

  async #ask(url, options, allowed = []) {
    const answer = await this.#fetch(url, {credentials: 'omit', ...options}).catch(error => {
      throw faultOf({serverErrorCode: 'NETWORK_ERROR', reason: String(error)});
    });
    if (answer.ok || allowed.includes(answer.status)) return answer;
    throw faultOf(await answer.json().catch(
      () => ({serverErrorCode: 'SERVICE_UNAVAILABLE', reason: `status ${answer.status}`})));
  }
}

const valueAt = (field, index = 0) => [field?.value].flat()[index];

async function mapped(value, change) {
  return Array.isArray(value) ? Promise.all(value.map(change)) : change(value);
}
