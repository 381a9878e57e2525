// The JavaScript client of Lenticular 0.1.0, Apache-2.0.
// Made from the modules in src/ by build.mjs.
/* @ts-self-types="./store.d.ts" */

// fields.js
function fieldsToSend(fields) {
  return Object.fromEntries(Object.entries(fields ?? {})
    .map(([name, field]) => [name, fieldToSend(field)]));
}

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

// store/content.js
const sections = ['fields', 'encryptedValues'];

function contentOf(record) {
  if (!record) return null;
  const {recordType, fields, encryptedValues, parent} = record;
  return {recordType, fields, encryptedValues, parent};
}

function changed(content, {recordType, parent, ...given}) {
  const next = {
    recordType: recordType ?? content?.recordType,
    parent: parent === undefined ? content?.parent : parent ?? undefined,
  };
  for (const section of sections) {
    const all = {...content?.[section], ...given[section]};
    next[section] = Object.fromEntries(
      Object.entries(all).filter(([, field]) => field != null && field.value != null));
  }
  return next;
}

function difference(from, to) {
  const parts = {};
  for (const section of sections) {
    const names = namesOf(section, from, to).filter(
      name => !isSameField(fieldOf(from, section, name), fieldOf(to, section, name)));
    if (names.length > 0) {
      parts[section] = Object.fromEntries(
        names.map(name => [name, fieldOf(to, section, name) ?? {value: null}]));
    }
  }
  if (!isSameParent(from?.parent, to.parent)) parts.parent = to.parent ?? null;
  return Object.keys(parts).length > 0 ? parts : null;
}

function isSameContent(one, other) {
  if (!one || !other) return !one === !other;
  return difference(one, other) === null;
}

function mergeByField({base, mine, theirs, isMineNewer}) {
  if (!mine || !theirs) return mine ?? theirs;
  const pick = (isSame, before, own, other) =>
    !isSame(before, own) && (isMineNewer || isSame(before, other)) ? own : other;
  const merged = {
    recordType: theirs.recordType,
    parent: pick(isSameParent, base?.parent, mine.parent, theirs.parent),
  };
  for (const section of sections) {
    merged[section] = Object.fromEntries(namesOf(section, mine, theirs).map(name => [name, pick(
      isSameField, ...[base, mine, theirs].map(content => fieldOf(content, section, name)),
    )]).filter(([, field]) => field));
  }
  return merged;
}

function baseAfterSending(base, sent, theirs) {
  if (sent === undefined) return base;
  if (!sent || !theirs) return sent || theirs ? base : null;
  const pick = (isSame, before, own, other) => isSame(own, other) ? other : before;
  const found = {
    recordType: theirs.recordType,
    parent: pick(isSameParent, base?.parent, sent.parent, theirs.parent),
  };
  for (const section of sections) {
    found[section] = Object.fromEntries(namesOf(section, base, sent, theirs)
      .map(name => [name, pick(
        isSameField, ...[base, sent, theirs].map(content => fieldOf(content, section, name)))])
      .filter(([, field]) => field));
  }
  return found;
}

function fieldOf(content, section, name) {
  const fields = content?.[section];
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function namesOf(section, ...contents) {
  return [...new Set(contents.flatMap(content => Object.keys(content?.[section] ?? {})))];
}

function isSameParent(one, other) {
  return one?.recordName === other?.recordName;
}

function isSameField(one, other) {
  return isSame(one?.value ?? null, other?.value ?? null);
}

function isSame(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') {
    return false;
  }
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((member, index) => isSame(member, other[index]));
  }
  if (one.fileChecksum && other.fileChecksum) return one.fileChecksum === other.fileChecksum;
  const isReference = one.recordName !== undefined && other.recordName !== undefined;
  const keys = Object.keys({...one, ...other})
    .filter(key => !isReference || key in one && key in other);
  return keys.every(key => isSame(one[key], other[key]));
}

// store/cipher.js
const encoder = new TextEncoder();
const keyBytes = 32;
const nonceBytes = 12;
const idBytes = 8;
const version = 1;
const referenceSeconds = 978_307_200;

function base64(bytes) {
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}

function joinedBytes(...parts) {
  const all = new Uint8Array(parts.reduce((count, {length}) => count + length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

function randomBytesOf(count) { return crypto.getRandomValues(new Uint8Array(count)); }
function newKey() { return randomBytesOf(keyBytes); }

async function digestOf(text, ...more) {
  const bytes = joinedBytes(encoder.encode(text), ...more);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

const imported = key =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);

async function sealedBytes(bytes, key, additionalData) {
  const iv = randomBytesOf(nonceBytes);
  const sealed = await crypto.subtle.encrypt(
    {name: 'AES-GCM', iv, additionalData}, await imported(key), bytes);
  return joinedBytes(iv, new Uint8Array(sealed));
}

async function openedBytes(sealed, key, additionalData) {
  const iv = sealed.slice(0, nonceBytes);
  return new Uint8Array(await crypto.subtle.decrypt(
    {name: 'AES-GCM', iv, additionalData}, await imported(key), sealed.slice(nonceBytes)));
}

class ValueCipher {
  #key;
  #head;

  static async of(key) {
    const cipher = new ValueCipher();
    cipher.#key = key;
    const id = (await digestOf('lenticular key ', key)).slice(0, idBytes);
    cipher.#head = joinedBytes([version], id);
    return cipher;
  }

  async seal(field, place) {
    const text = encoder.encode(JSON.stringify(textOf(field)));
    const sealed = await sealedBytes(text, this.#key, this.#associated(place));
    return base64(joinedBytes(this.#head, sealed));
  }

  async open(text, place) {
    try {
      const sealed = bytesOf(text);
      if (this.#head.some((byte, index) => sealed[index] !== byte)) return undefined;
      const opened = await openedBytes(
        sealed.slice(this.#head.length), this.#key, this.#associated(place));
      const {value, type} = JSON.parse(new TextDecoder().decode(opened));
      return {value, type};
    } catch {
      return undefined;
    }
  }

  #associated(place) {
    const parts = place.map(part => {
      const text = encoder.encode(part);
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, text.length);
      return joinedBytes(length, text);
    });
    return joinedBytes(this.#head, ...parts);
  }
}

function textOf({value, type = typeOf(value)}) {
  if (!type.startsWith('TIMESTAMP')) return {value, type};
  return {value, type, seconds: [value].flat().map(date => date / 1000 - referenceSeconds)};
}

function typeOf(value) {
  if (Array.isArray(value)) return value.length > 0 ? `${typeOf(value[0])}_LIST` : 'UNKNOWN_LIST';
  if (typeof value === 'string') return 'STRING';
  if (typeof value === 'number') return Number.isInteger(value) ? 'INT64' : 'DOUBLE';
  return 'latitude' in value ? 'LOCATION' : 'REFERENCE';
}

// store/errors.js
const remedies = {
  STORAGE_FULL: 'Free some room on the device; nothing of this call was kept.',
  UNSENT_CHANGES: 'Wait for sync(), or sign out with {force: true} and lose them.',
  MERGE_FAILED: 'Mend the function that merges, and retry() the record.',
  LOCKED: 'Unlock the encrypted values of this device.',
  WRONG_SECRET: 'Ask for the passphrase or recovery code again.',
  NOT_FOUND: 'It is not on this device.',
  INVALID_ARGUMENTS: 'Mend the call: the reason says what is wrong with it.',
  CLOSED: 'Open the store again.',
};

class StoreError extends Error {
  constructor(code, reason, cause) {
    super(reason, {cause});
    this.name = 'StoreError';
    this.code = code;
    this.remedy = remedies[code];
  }
}

// store/scrypt.js
const words = 256;

async function scrypt(passphrase, salt, cost, count = 32) {
  const bytes = await stretched(passphrase, salt, words * 4);
  const view = new DataView(bytes.buffer);
  const block = Int32Array.from({length: words}, (_, index) => view.getInt32(index * 4, true));
  mixWithMemory(block, cost);
  block.forEach((word, index) => view.setInt32(index * 4, word, true));
  return stretched(passphrase, bytes, count);
}

async function stretched(passphrase, salt, count) {
  const key = await crypto.subtle.importKey('raw', passphrase, 'PBKDF2', false, ['deriveBits']);
  return new Uint8Array(await crypto.subtle.deriveBits(
    {name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 1}, key, count * 8));
}

function mixWithMemory(block, cost) {
  const memory = new Int32Array(words * cost);
  const scratch = new Int32Array(words);
  for (let step = 0; step < cost; step++) {
    memory.set(block, step * words);
    mix(block, scratch);
  }
  for (let step = 0; step < cost; step++) {
    const start = (block[words - 16] & cost - 1) * words;
    for (let index = 0; index < words; index++) block[index] ^= memory[start + index];
    mix(block, scratch);
  }
}

const state = new Int32Array(16);

function mix(block, scratch) {
  state.set(block.subarray(words - 16));
  for (let part = 0; part < 16; part++) {
    for (let index = 0; index < 16; index++) state[index] ^= block[part * 16 + index];
    salsa(state);
    scratch.set(state, ((part >> 1) + (part & 1) * 8) * 16);
  }
  block.set(scratch);
}

function salsa(state) {
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  let i = state[8], j = state[9], k = state[10], l = state[11];
  let m = state[12], n = state[13], o = state[14], p = state[15];
  let word;
  for (let double = 0; double < 4; double++) {
    word = a + m | 0; e ^= word << 7 | word >>> 25;
    word = e + a | 0; i ^= word << 9 | word >>> 23;
    word = i + e | 0; m ^= word << 13 | word >>> 19;
    word = m + i | 0; a ^= word << 18 | word >>> 14;
    word = f + b | 0; j ^= word << 7 | word >>> 25;
    word = j + f | 0; n ^= word << 9 | word >>> 23;
    word = n + j | 0; b ^= word << 13 | word >>> 19;
    word = b + n | 0; f ^= word << 18 | word >>> 14;
    word = k + g | 0; o ^= word << 7 | word >>> 25;
    word = o + k | 0; c ^= word << 9 | word >>> 23;
    word = c + o | 0; g ^= word << 13 | word >>> 19;
    word = g + c | 0; k ^= word << 18 | word >>> 14;
    word = p + l | 0; d ^= word << 7 | word >>> 25;
    word = d + p | 0; h ^= word << 9 | word >>> 23;
    word = h + d | 0; l ^= word << 13 | word >>> 19;
    word = l + h | 0; p ^= word << 18 | word >>> 14;
    word = a + d | 0; b ^= word << 7 | word >>> 25;
    word = b + a | 0; c ^= word << 9 | word >>> 23;
    word = c + b | 0; d ^= word << 13 | word >>> 19;
    word = d + c | 0; a ^= word << 18 | word >>> 14;
    word = f + e | 0; g ^= word << 7 | word >>> 25;
    word = g + f | 0; h ^= word << 9 | word >>> 23;
    word = h + g | 0; e ^= word << 13 | word >>> 19;
    word = e + h | 0; f ^= word << 18 | word >>> 14;
    word = k + j | 0; l ^= word << 7 | word >>> 25;
    word = l + k | 0; i ^= word << 9 | word >>> 23;
    word = i + l | 0; j ^= word << 13 | word >>> 19;
    word = j + i | 0; k ^= word << 18 | word >>> 14;
    word = p + o | 0; m ^= word << 7 | word >>> 25;
    word = m + p | 0; n ^= word << 9 | word >>> 23;
    word = n + m | 0; o ^= word << 13 | word >>> 19;
    word = o + n | 0; p ^= word << 18 | word >>> 14;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  state[8] += i; state[9] += j; state[10] += k; state[11] += l;
  state[12] += m; state[13] += n; state[14] += o; state[15] += p;
}

// store/encryption.js
const keyZoneName = 'LenticularKeys';
const keyRecordName = 'account-key';
const cost = 1 << 17;
const costMax = 1 << 20;
const letters = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789';
const missing = ['NOT_FOUND', 'ZONE_NOT_FOUND'];

class Encryption {
  onUnlock = async () => {};
  #container;
  #journal;
  #accountOf;

  constructor(container, journal, accountOf) {
    this.#container = container;
    this.#journal = journal;
    this.#accountOf = accountOf;
  }

  async status() {
    if (await this.#load()) return 'ready';
    return await this.#wrapped() ? 'locked' : 'notSetUp';
  }

  async setUp(passphrase) {
    const code = await this.#make(passphrase);
    await this.onUnlock();
    return code;
  }

  async recoveryCode() { return (await this.#load())?.code; }

  async unlock({passphrase, recoveryCode}) {
    const wrapped = await this.#wrapped();
    if (!wrapped) throw new StoreError('NOT_FOUND', 'no device has made a key yet');
    const {salt, byCode, byPassphrase} = wrapped;
    try {
      const key = recoveryCode === undefined
        ? await openedBytes(byPassphrase, await slowKey(passphrase, salt, wrapped.cost), salt)
        : await openedBytes(byCode, await codeKey(recoveryCode), salt);
      await this.#keep({key, code: recoveryCode});
    } catch (error) {
      throw new StoreError('WRONG_SECRET', 'the passphrase or code does not open the key', error);
    }
    await this.onUnlock();
  }

  async setPassphrase(passphrase) {
    const [held, wrapped] = [await this.#load(), await this.#wrapped()];
    if (!held || !wrapped) throw new StoreError('LOCKED', 'this device does not have the key');
    const byPassphrase = await byPassphraseOf(held.key, passphrase, wrapped.salt, wrapped.cost);
    await this.#save('update', {recordChangeTag: wrapped.recordChangeTag, fields: {byPassphrase}});
  }

  async lock() {
    await this.#journal.deleteFile(this.#fileName);
  }

  async cipher() {
    const held = await this.#load();
    return held && ValueCipher.of(held.key);
  }

  async cipherForWriting() {
    if (!await this.#load() && !await this.#wrapped()) await this.#make();
    return this.cipher();
  }

  #load() { return this.#journal.file(this.#fileName); }
  #keep({key, code}) { return this.#journal.putFile({name: this.#fileName, key, code}); }
  get #fileName() { return `key of ${this.#accountOf()}`; }

  async #make(passphrase) {
    const [key, code, salt] = [newKey(), newCode(), randomBytesOf(16)];
    const fields = {
      salt: bytesField(salt), cost: {value: cost, type: 'INT64'},
      byCode: bytesField(await sealedBytes(key, await codeKey(code), salt)),
    };
    if (passphrase !== undefined) {
      fields.byPassphrase = await byPassphraseOf(key, passphrase, salt, cost);
    }
    const {errors: [fault]} = await this.#database.saveRecordZones(keyZoneName);
    if (fault) throw fault;
    await this.#save('create', {fields});
    await this.#keep({key, code});
    return code;
  }

  get #database() { return this.#container.privateCloudDatabase; }

  async #save(operation, record) {
    const batch = this.#database.newRecordsBatch({zoneID: keyZoneName});
    const {errors: [fault]} = await batch[operation](
      {recordName: keyRecordName, recordType: 'LenticularKey', ...record}).commit();
    if (fault) throw fault;
  }

  async #wrapped() {
    const {records: [record], errors} = await this.#database.fetchRecords(
      keyRecordName, {zoneID: keyZoneName}).catch(error => {
      if (error.ckErrorCode !== 'ZONE_NOT_FOUND') throw error;
      return {records: [], errors: []};
    });
    if (!record) {
      const fault = errors.find(({ckErrorCode}) => !missing.includes(ckErrorCode));
      if (fault) throw fault;
      return null;
    }
    const {fields, recordChangeTag} = record;
    const bytes = name => fields[name] && bytesOf(fields[name].value);
    const found = {
      recordChangeTag, cost: fields.cost.value, salt: bytes('salt'), byCode: bytes('byCode'),
      byPassphrase: bytes('byPassphrase'),
    };
    const isPower = (found.cost & found.cost - 1) === 0;
    return found.cost >= 2 && found.cost <= costMax && isPower ? found : null;
  }
}

const bytesField = bytes => ({value: base64(bytes), type: 'BYTES'});

function newCode() {
  const all = Array.from(randomBytesOf(32), byte => letters[byte % letters.length]).join('');
  return all.match(/.{4}/g).join('-');
}

function codeKey(code) {
  const typed = code.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');
  return digestOf(`lenticular recovery ${typed}`);
}

function slowKey(passphrase, salt, memoryCost) {
  return scrypt(new TextEncoder().encode(passphrase.normalize('NFKC')), salt, memoryCost);
}

async function byPassphraseOf(key, passphrase, salt, memoryCost) {
  return bytesField(await sealedBytes(key, await slowKey(passphrase, salt, memoryCost), salt));
}

// store/entries.js
const mergeFailed = 'MERGE_FAILED';

function entryAfter(entry, theirs, merge) {
  const edit = entry?.edit && rebased(entry, theirs, merge);
  return theirs || edit ? {server: theirs, edit} : null;
}

function entryAfterSave(entry, saved, merge) {
  const {edit} = entry;
  if (edit && edit.version !== edit.sent?.version) return entryAfter(entry, saved, merge);
  return saved ? {server: saved} : null;
}

function entryAfterRefusal({server, edit}, version, {code, reason}) {
  const {sent, ...rest} = edit;
  return {server, edit: edit.version === version ? {...rest, refused: {code, reason}} : rest};
}

function entryAfterRetry({server, edit: {refused, ...edit}}, merge) {
  return 'base' in edit ? entryAfter({server, edit}, server, merge) : {server, edit};
}

function rebased({server, edit}, theirs, merge) {
  const {sent, base: keptBase, refused, ...rest} = edit;
  const base = baseAfterSending(
    'base' in edit ? keptBase : contentOf(server), sent?.content, theirs);
  const content = contentOf(theirs);
  try {
    const mine = merged(edit, base, content, theirs, merge);
    if (isSameContent(mine, content)) return undefined;
    return {...rest, mine, ...refused && refused.code !== mergeFailed && {refused}};
  } catch (error) {
    return {...rest, base, refused: {code: mergeFailed, reason: String(error)}};
  }
}

function merged(edit, base, content, theirs, merge) {
  if (isSameContent(base, content)) return edit.mine;
  if (edit.mine === null && (base === null || content === null)) return null;
  return merge(edit, base, theirs);
}

function edited(entry, mine, at, version) {
  const {edit, server = null} = entry ?? {};
  const present = edit ? edit.mine : contentOf(server);
  if (entry && isSameContent(present, mine) && !edit?.refused || !entry && !mine) return entry;
  if (server && !edit?.sent && isSameContent(contentOf(server), mine)) return {server};
  const {sent, order = version} = edit ?? {};
  const isUnmerged = edit && 'base' in edit;
  return {server, edit: {
    mine, sent, at, version, order, ...isUnmerged && {base: edit.base, refused: edit.refused},
  }};
}

// unique.js
function uniqueID() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = randomBytes(16);
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const digits = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function randomBytes(count) {
  const bytes = new Uint8Array(count);
  return globalThis.crypto ? crypto.getRandomValues(bytes)
    : bytes.map(() => Math.floor(Math.random() * 256));
}

// store/faults.js
const passing = new Set([
  'TRY_AGAIN_LATER', 'THROTTLED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'ATOMIC_ERROR',
]);

function faultOf({serverErrorCode, reason, ...facts}) {
  return Object.assign(new Error(reason), {ckErrorCode: serverErrorCode, reason, ...facts});
}

function isTokenRefused({ckErrorCode, changeTokenExpired, reason = ''}) {
  return ckErrorCode === 'BAD_REQUEST' &&
    (changeTokenExpired === true || reason.includes('Unknown sync continuation'));
}

function isPassing({ckErrorCode}) { return passing.has(ckErrorCode); }

// store/zones.js
function zoneKey(scope, {zoneName, ownerRecordName}) {
  return scope === 'PRIVATE' ? `PRIVATE//${zoneName}` : `SHARED/${ownerRecordName}/${zoneName}`;
}

function zoneOf(zone, account) {
  const zoneID = typeof zone === 'string' ? {zoneName: zone} : zone?.zoneID ?? zone;
  if (typeof zoneID?.zoneName !== 'string' || zoneID.zoneName.startsWith('_')) {
    throw new StoreError('INVALID_ARGUMENTS', 'a zone needs a zoneName, and is not a default zone');
  }
  const {ownerRecordName} = zoneID;
  const scope = ownerRecordName && ownerRecordName !== account ? 'SHARED' : 'PRIVATE';
  return {key: zoneKey(scope, zoneID), scope, zoneID};
}

function askedZoneID({scope, zoneID: {zoneName, ownerRecordName}}, account) {
  return {zoneName, ownerRecordName: scope === 'PRIVATE' ? account : ownerRecordName};
}

// store/files.js
const partBytes = 4 << 20;
const sweptMilliseconds = 3_600_000;
const tus = {'Tus-Resumable': '1.0.0'};

const isBlob = value => typeof Blob === 'function' && value instanceof Blob;

class Files {
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

  async taken(record) {
    const fields = {...record.fields};
    for (const [key, field] of Object.entries(fields)) {
      if ([field?.value].flat().some(isBlob)) {
        fields[key] = {...field, value: await mapped(field.value, value => this.#take(value))};
      }
    }
    return {...record, fields};
  }

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

  async upload(zone, recordName, signal) {
    const {edit} = this.#replica.state.entry(zone.key, recordName) ?? {};
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
    const {records: [record]} = await this.#request(
      zone, 'records/lookup', {records: [{recordName}], desiredKeys: [fieldName]});
    if (record.serverErrorCode) throw faultOf(record);
    const value = valueAt(record.fields[fieldName], index);
    if (!value) throw new StoreError('NOT_FOUND', `${fieldName} has no file any more`);
    return (await this.#ask(value.downloadURL.replace('${f}', 'file'))).blob();
  }

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

// store/journal.js
const journalName = 'journal';
const fileStoreName = 'files';

class MemoryJournal {
  isPersistent = false;
  #rows = [];
  #key = 0;
  #files = new Map();

  async transact(after, decide) {
    const {lists, isWhole} = decide(await this.read(after));
    if (isWhole) this.#rows = [];
    for (const list of lists) this.#rows.push({key: ++this.#key, list});
    return this.#key;
  }

  async read(after) {
    return after === this.#key ? [] : this.#rows.filter(({key}) => key > after);
  }

  async file(name) { return this.#files.get(name); }
  async files() { return [...this.#files.values()]; }
  async putFile(file) { this.#files.set(file.name, file); }
  async deleteFile(name) { this.#files.delete(name); }
  close() {}
}

class IndexedJournal {
  isPersistent = true;
  #database;

  static async open(name) {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(journalName, {keyPath: 'key', autoIncrement: true});
      opening.result.createObjectStore(fileStoreName, {keyPath: 'name'});
    };
    return new IndexedJournal(await resultOf(opening));
  }

  constructor(database) {
    this.#database = database;
    database.onversionchange = () => database.close();
  }

  transact(after, decide) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(journalName, 'readwrite');
      const rows = transaction.objectStore(journalName);
      let last = after;
      let failure;
      const note = ({target}) => { last = target.result; };
      rows.getAll(IDBKeyRange.lowerBound(after, true)).onsuccess = ({target}) => {
        try {
          last = target.result.at(-1)?.key ?? after;
          const {lists, isWhole} = decide(target.result.map(opened));
          if (isWhole) rows.delete(IDBKeyRange.upperBound(last));
          for (const list of lists) rows.add({text: JSON.stringify(list)}).onsuccess = note;
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(last);
      transaction.onabort = () => reject(storageError(failure ?? transaction.error));
    });
  }

  async read(after) {
    const range = IDBKeyRange.lowerBound(after, true);
    return (await this.#get(journalName, rows => rows.getAll(range))).map(opened);
  }

  file(name) { return this.#get(fileStoreName, files => files.get(name)); }
  files() { return this.#get(fileStoreName, files => files.getAll()); }
  putFile(file) { return this.#change(files => files.put(file)); }
  deleteFile(name) { return this.#change(files => files.delete(name)); }
  close() { this.#database.close(); }

  #get(name, ask) {
    return resultOf(ask(this.#database.transaction(name).objectStore(name)));
  }

  #change(act) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(fileStoreName, 'readwrite');
      act(transaction.objectStore(fileStoreName));
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(storageError(transaction.error));
    });
  }
}

function opened({key, text}) {
  return {key, get list() { return JSON.parse(text); }};
}

function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(storageError(request.error));
  });
}

function storageError(error) {
  return error?.name === 'QuotaExceededError'
    ? new StoreError('STORAGE_FULL', 'the browser has no more room for this site', error) : error;
}

// store/listeners.js
function callAll(listeners, value) {
  for (const listener of [...listeners]) {
    try {
      listener(value);
    } catch (error) {
      if (typeof reportError === 'function') reportError(error);
      else console.error(error);
    }
  }
}

// store/orders.js
const unusedMax = 8;
const fewMax = 32;

class Orders {
  #state;
  #orders = new Set();

  constructor(state) { this.#state = state; }

  take(zoneKey, sortBy) {
    const order = [...this.#orders].find(order => order.isOf(zoneKey, sortBy)) ??
      new Order(this.#state, zoneKey, sortBy);
    order.users += 1;
    this.#orders.add(order);
    return order;
  }

  release(order) {
    order.users -= 1;
    this.#orders.delete(order);
    this.#orders.add(order);
    const unused = [...this.#orders].filter(({users}) => users === 0);
    for (const oldest of unused.slice(0, -unusedMax)) this.#orders.delete(oldest);
  }

  update(changes) {
    for (const order of this.#orders) order.update(changes);
  }
}

class Order {
  users = 0;
  compare;
  #state;
  #zoneKey;
  #sortBy;
  #keysOf;
  #items;

  constructor(state, zoneKey, sortBy) {
    this.#state = state;
    this.#zoneKey = zoneKey;
    this.#sortBy = sortBy;
    this.#keysOf = keysOf(sortBy);
    this.compare = ordering(sortBy);
  }

  isOf(zoneKey, sortBy) {
    return this.#zoneKey === zoneKey && (this.#sortBy === sortBy ||
      Array.isArray(sortBy) && JSON.stringify(this.#sortBy) === JSON.stringify(sortBy));
  }

  get items() {
    this.#items ??= Array.from(this.#state.records(this.#zoneKey), record => this.item(record))
      .sort(this.compare);
    return this.#items;
  }

  item(record) { return {record, keys: this.#keysOf(record)}; }

  update(changes) {
    if (!this.#items) return;
    const own = changes.filter(({key}) => this.#zoneKey === undefined || this.#zoneKey === key);
    const isDone = own.length > fewMax ? this.#merge(own) : own.every(change => this.#move(change));
    if (!isDone) this.#items = undefined;
  }

  #merge(changes) {
    const gone = new Set(changes.map(({before}) => before?.view).filter(Boolean));
    const added = changes.filter(({after}) => after?.view).map(({after}) => this.item(after.view))
      .sort(this.compare);
    const stay = gone.size > 0 ? this.#items.filter(({record}) => !gone.has(record)) : this.#items;
    if (stay.length + gone.size !== this.#items.length) return false;
    const items = [];
    let from = 0;
    for (const item of added) {
      const to = indexOf(stay, item, this.compare);
      while (from < to) items.push(stay[from++]);
      items.push(item);
    }
    while (from < stay.length) items.push(stay[from++]);
    this.#items = items;
    return true;
  }

  #move({before, after}) {
    if (before?.view) {
      const index = indexOf(this.#items, this.item(before.view), this.compare);
      if (this.#items[index]?.record !== before.view) return false;
      this.#items.splice(index, 1);
    }
    if (after?.view) {
      const item = this.item(after.view);
      this.#items.splice(indexOf(this.#items, item, this.compare), 0, item);
    }
    return true;
  }
}

function indexOf(items, item, compare) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(items[middle], item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nameOf({recordName, zoneID}) {
  return `${recordName} ${zoneID.zoneName} ${zoneID.ownerRecordName ?? ''}`;
}

const systemFields = {
  recordName: record => record.recordName,
  createdTimestamp: record => record.created.timestamp,
  modifiedTimestamp: record => record.modified.timestamp,
};

function keysOf(sortBy) {
  if (typeof sortBy === 'function') return () => [];
  const readers = sortBy.map(({fieldName, systemFieldName}) => systemFields[systemFieldName] ??
    (record => record.fields[fieldName]?.value));
  return record => readers.map(read => read(record));
}

function ordering(sortBy) {
  if (typeof sortBy === 'function') {
    return (one, other) => sortBy(one.record, other.record) || byName(one.record, other.record);
  }
  const signs = sortBy.map(({ascending = true}) => ascending ? 1 : -1);
  return (one, other) => {
    for (let index = 0; index < signs.length; index++) {
      const a = one.keys[index];
      const b = other.keys[index];
      if (a === b) continue;
      if (a === undefined || b !== undefined && a < b) return -signs[index];
      if (b === undefined || a > b) return signs[index];
    }
    return byName(one.record, other.record);
  };
}

function byName(one, other) {
  if (one.recordName !== other.recordName) return one.recordName < other.recordName ? -1 : 1;
  const [a, b] = [nameOf(one), nameOf(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}

// store/live.js
const rebuiltPart = 8;

class LiveQuery {
  #key;
  #order;
  #matching;
  #limit;
  #items = [];
  #shown = [];
  #listeners = new Set();
  #onClose;

  constructor(orders, {recordType, zone, where, sortBy = [], limit = Infinity} = {}, onClose) {
    this.#matching = record => record !== undefined &&
      (recordType === undefined || record.recordType === recordType) &&
      (where === undefined || Boolean(where(record)));
    this.#key = zone?.key;
    if (!(limit >= 1)) throw new StoreError('INVALID_ARGUMENTS', 'a limit is at least 1');
    this.#limit = limit;
    this.#order = orders.take(zone?.key, sortBy);
    this.#onClose = () => {
      orders.release(this.#order);
      onClose(this);
    };
    this.#rebuild();
    this.#shown = this.#items.map(({record}) => record);
  }

  get records() { return this.#shown; }

  subscribe = listener => {
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  };

  close() {
    this.#listeners.clear();
    this.#onClose();
    this.#onClose = () => {};
  }

  update(changes) {
    const own = changes.filter(({key}) => this.#key === undefined || this.#key === key)
      .map(({before, after}) => [this.#matched(before?.view), this.#matched(after?.view)])
      .filter(([before, after]) => before || after);
    if (own.length === 0) return;
    if (own.length * rebuiltPart > this.#items.length) this.#rebuild();
    else if (!own.every(([before, after]) => this.#move(before, after))) this.#rebuild();
    const records = this.#items.map(({record}) => record);
    const told = this.#limit === Infinity ? parted(own) : windowChanges(this.#shown, records);
    if (Object.values(told).every(({length}) => length === 0)) return;
    this.#shown = records;
    callAll(this.#listeners, {records, ...told});
  }

  #matched(record) { return this.#matching(record) ? record : undefined; }

  #rebuild() {
    this.#items = [];
    for (const item of this.#order.items) {
      if (this.#items.length >= this.#limit) return;
      if (this.#matching(item.record)) this.#items.push(item);
    }
  }

  #move(before, after) {
    const wasFull = this.#items.length === this.#limit;
    let hasLost = false;
    if (before) {
      const index = this.#indexOf(this.#order.item(before));
      hasLost = this.#items[index]?.record === before;
      if (!hasLost && !(wasFull && index === this.#limit)) return false;
      if (hasLost) this.#items.splice(index, 1);
    }
    const {length} = this.#items;
    const isInside = Boolean(after) && this.#insert(this.#order.item(after)) < length;
    return !(wasFull && hasLost) || isInside;
  }

  #insert(item) {
    const index = this.#indexOf(item);
    if (index >= this.#limit) return index;
    this.#items.splice(index, 0, item);
    if (this.#items.length > this.#limit) this.#items.pop();
    return index;
  }

  #indexOf(item) { return indexOf(this.#items, item, this.#order.compare); }
}

function parted(changes) {
  const told = {added: [], changed: [], removed: []};
  for (const [before, after] of changes) {
    if (!before) told.added.push(after);
    else if (!after) told.removed.push(before);
    else told.changed.push(after);
  }
  return told;
}

function windowChanges(shown, records) {
  const before = new Map(shown.map(record => [nameOf(record), record]));
  const told = {added: [], changed: [], removed: []};
  for (const record of records) {
    const name = nameOf(record);
    const present = before.get(name);
    if (!present) told.added.push(record);
    else if (present !== record) told.changed.push(record);
    before.delete(name);
  }
  told.removed = [...before.values()];
  return told;
}

// store/push.js
const syncMilliseconds = 20_000;

async function enablePush(container, scopes, registration, applicationServerKey) {
  const subscription = await registration.pushManager.subscribe(
    {userVisibleOnly: true, applicationServerKey});
  await container.registerPushSubscription(subscription);
  await subscribe(container, scopes);
}

async function subscribe(container, scopes) {
  await Promise.all(scopes.map(async scope => {
    const {errors: [fault]} = await container.getDatabaseWithDatabaseScope(scope).saveSubscriptions({
      subscriptionID: 'lenticular-store', subscriptionType: 'database',
      notificationInfo: {shouldSendContentAvailable: true},
    });
    if (fault) throw fault;
  }));
}

function syncOnPush({open, notification: {title, ...options}, url = './'}) {
  addEventListener('push', event => event.waitUntil(answer(open, title, options)));
  addEventListener('notificationclick', event => {
    event.notification.close();
    event.waitUntil(windowsOf().then(([page]) => page ? page.focus() : clients.openWindow(url)));
  });
}

async function answer(open, title, options) {
  await syncOnce(open).catch(() => {});
  const windows = await windowsOf();
  if (windows.some(({visibilityState}) => visibilityState === 'visible')) return;
  await registration.showNotification(title, {tag: title, ...options});
}

async function syncOnce(open) {
  const store = await open();
  let timer;
  const late = new Promise(resolve => { timer = setTimeout(resolve, syncMilliseconds); });
  try {
    await Promise.race([store.sync(), late]);
  } finally {
    clearTimeout(timer);
    store.close();
  }
}

const windowsOf = () => clients.matchAll({type: 'window', includeUncontrolled: true});

// store/state.js
class Entry {
  #zone;
  #name;
  #view;

  constructor(zone, name, {server, edit}) {
    this.server = server ?? null;
    this.edit = edit;
    this.#zone = zone;
    this.#name = name;
  }

  get view() {
    if (this.edit ? this.edit.mine === null : this.server === null) return undefined;
    return this.#view ??= made(this.#zone, this.#name, this);
  }
}

class State {
  account = null;
  tokens = {};
  zones = new Map();
  edits = new Map();
  version = 0;
  count = 0;
  #before = new Map();

  apply({reset, account, tokens, zones = [], records = []}) {
    if (reset) this.#clear();
    if (account !== undefined) this.account = account;
    if (tokens) this.tokens = {...this.tokens, ...tokens};
    for (const [key, zone] of zones) this.#setZone(key, zone);
    for (const [key, name, entry] of records) this.#setRecord(this.zones.get(key), name, entry);
  }

  * records(key) {
    const zones = key === undefined ? [...this.zones.values()] : [this.zones.get(key)];
    for (const zone of zones) {
      for (const {view} of zone?.records.values() ?? []) if (view) yield view;
    }
  }

  entry(key, name) { return this.zones.get(key)?.records.get(name); }

  takeChanges() {
    const found = [...this.#before.values()].map(({key, name, before}) => ({
      key, before, after: this.entry(key, name),
    }));
    this.#before.clear();
    return found;
  }

  snapshot(recordsMax = 500) {
    const rows = [{
      reset: true, account: this.account, tokens: this.tokens,
      zones: [...this.zones.values()].map(zone => zoneFact(zone)),
    }];
    let records = [];
    for (const [key, zone] of this.zones) {
      for (const [name, entry] of zone.records) {
        if (records.push([key, name, entry]) < recordsMax) continue;
        rows.push({records});
        records = [];
      }
    }
    if (records.length > 0) rows.push({records});
    return rows;
  }

  #clear() {
    for (const key of [...this.zones.keys()]) this.#setZone(key, null);
    this.account = null;
    this.tokens = {};
  }

  #setZone(key, zone) {
    const present = this.zones.get(key);
    if (zone) {
      if (present) Object.assign(present, zone);
      else this.zones.set(key, {...zone, key, records: new Map()});
    } else if (present) {
      for (const name of [...present.records.keys()]) this.#setRecord(present, name, null);
      this.zones.delete(key);
    }
  }

  #setRecord(zone, name, entry) {
    const id = `${zone.key}\n${name}`;
    const present = zone.records.get(name);
    if (!this.#before.has(id)) {
      this.#before.set(id, {key: zone.key, name, before: present});
    }
    if (entry?.edit) {
      this.edits.set(id, {key: zone.key, name});
      this.version = Math.max(this.version, entry.edit.version, entry.edit.order);
    } else {
      this.edits.delete(id);
    }
    this.count += (entry ? 1 : 0) - (present ? 1 : 0);
    if (entry) zone.records.set(name, new Entry(zone, name, entry));
    else zone.records.delete(name);
  }
}

function zoneFact({key, records, ...zone}, changes) {
  return [key, {...zone, ...changes}];
}

const unsaid = new Set(['pluginFields', 'deleted', 'zoneID']);

function kept(record) {
  const rest = {};
  for (const key of Object.keys(record)) if (!unsaid.has(key)) rest[key] = record[key];
  return rest;
}

function made(zone, name, {server, edit}) {
  const own = {recordName: name, zoneID: zone.zoneID, isPending: Boolean(edit)};
  const view = Object.assign({recordName: '', zoneID: null, isPending: false}, server, own);
  if (edit) {
    const {mine, at, refused} = edit;
    const now = {timestamp: at};
    Object.assign(view, mine, {modified: now, created: server?.created ?? now});
    if (refused) view.refused = refused;
  }
  for (const fields of [view.fields, view.encryptedValues]) {
    if (!fields) continue;
    for (const name of Object.keys(fields)) Object.freeze(fields[name]);
    Object.freeze(fields);
  }
  return Object.freeze(view);
}

// store/replica.js
const rowsMax = 1000;
const goneMax = 1000;

class Replica {
  onChange = () => {};
  onAppend = () => {};
  state = new State();
  #journal;
  #key = 0;
  #rows = 0;
  #told = 0;
  #waiting = [];
  #isRunning = false;
  #isShortening = false;
  #isClosed = false;

  constructor(journal) {
    this.#journal = journal;
  }

  async load() {
    this.#take(await this.#journal.read(this.#key));
    this.onChange(this.state.takeChanges());
  }

  change(decide) {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreError('CLOSED', 'the store is closed'));
      this.#waiting.push({decide, resolve, reject});
      if (!this.#isRunning) this.#run();
    });
  }

  refresh() {
    return this.change(() => undefined);
  }

  async erase(facts = {}) {
    this.#isShortening = true;
    await this.change(() => ({reset: true, ...facts}));
  }

  async shorten() {
    const {count} = this.state;
    if (this.#rows <= rowsMax + count / 20 && this.#told - count <= goneMax + count) return;
    this.#isShortening = true;
    await this.refresh();
  }

  close() {
    this.#isClosed = true;
    this.#journal.close();
  }

  async #run() {
    this.#isRunning = true;
    await undefined;
    while (this.#waiting.length > 0) await this.#runOnce(this.#waiting.splice(0));
    this.#isRunning = false;
  }

  async #runOnce(calls) {
    const failed = new Map();
    let hasAppended = false;
    try {
      this.#key = await this.#journal.transact(this.#key, rows => {
        this.#take(rows);
        const facts = calls.map(call => this.#decided(call, failed)).filter(Boolean);
        hasAppended = facts.length > 0 || this.#isShortening;
        if (this.#isShortening) return this.#shortened();
        if (hasAppended) this.#rows += 1;
        return {lists: hasAppended ? [facts] : []};
      });
    } catch (error) {
      await this.#reload(error, calls);
      return;
    }
    this.onChange(this.state.takeChanges());
    if (hasAppended) this.onAppend();
    for (const call of calls) {
      if (failed.has(call)) call.reject(failed.get(call));
      else call.resolve();
    }
  }

  #shortened() {
    this.#isShortening = false;
    const snapshot = this.state.snapshot();
    Object.assign(snapshot[0], {isOf: this.#key, rows: snapshot.length});
    this.#rows = snapshot.length;
    this.#told = this.state.count;
    return {lists: snapshot.map(facts => [facts]), isWhole: true};
  }

  #decided(call, failed) {
    try {
      const facts = call.decide(this.state);
      if (facts) this.#apply(facts);
      return facts;
    } catch (error) {
      failed.set(call, error);
      return undefined;
    }
  }

  async #reload(error, calls) {
    const rows = await this.#journal.read(0).catch(() => null);
    if (rows) {
      this.state.apply({reset: true});
      this.#take(rows);
      this.onChange(this.state.takeChanges());
    }
    for (const call of calls) call.reject(error);
  }

  #take(rows) {
    let known = 0;
    for (const row of rows) {
      if (known > 0) known -= 1;
      else known = this.#takeList(row.list);
      this.#rows += 1;
      this.#key = row.key;
    }
  }

  #takeList(list) {
    if (list[0]?.isOf === this.#key && this.#key > 0) return list[0].rows - 1;
    list.forEach(facts => this.#apply(facts));
    return 0;
  }

  #apply(facts) {
    if (facts.reset) this.#told = this.#rows = 0;
    this.#told += facts.records?.length ?? 0;
    this.state.apply(facts);
  }
}

// store/shares.js
const shareType = 'cloudkit.share';

class Shares {
  #container;
  #replica;
  #sync;

  constructor(container, replica, sync) {
    this.#container = container;
    this.#replica = replica;
    this.#sync = sync;
  }

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

  async stop(zone, recordName) {
    await this.#sync();
    const {share} = this.#sent(zone, recordName);
    if (!share) throw new StoreError('NOT_FOUND', `${recordName} is not shared`);
    const {recordName: shareName} = share;
    await this.#modify(zone, {operationType: 'forceDelete', record: {recordName: shareName}});
    await this.#sync();
  }

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

// store/stream.js
const closed = 2;
const silenceMillisecondsMax = 60_000;
const shortMilliseconds = 5_000;
const barrenMax = 3;

class Stream {
  #context;

  constructor({silenceMilliseconds = silenceMillisecondsMax, ...context}) {
    this.#context = {...context, silenceMilliseconds};
  }

  async follow(signal, {note, ask}) {
    const {EventSource, silenceMilliseconds} = this.#context;
    const url = EventSource && await this.#courier().catch(() => null);
    if (!url || signal.aborted) return;
    const watch = new StreamWatch(new EventSource(url));
    const abort = () => watch.mustAsk();
    signal.addEventListener('abort', abort, {once: true});
    try {
      for (;;) {
        const {isDue, told} = await watch.waited(silenceMilliseconds);
        if (signal.aborted) return;
        if (told.length > 0 && await note(told) && !isDue) continue;
        const hasNews = await ask();
        const isSilent = !isDue && told.length === 0 && !watch.isAwake;
        if (watch.isOver || hasNews && isSilent) return;
      }
    } finally {
      watch.close();
      signal.removeEventListener('abort', abort);
    }
  }

  async #courier() {
    const {container, replica, scopes} = this.#context;
    await subscribe(container, scopes);
    const kept = replica.state.tokens.courier;
    const {webcourierURL, apnsToken} = await container.fetchCourier(kept);
    if (apnsToken !== kept) await replica.change(() => ({tokens: {courier: apnsToken}}));
    return webcourierURL;
  }
}

class StreamWatch {
  isOver = false;
  #isDue = false;
  #told = [];
  #source;
  #wake = () => {};
  #barren = 0;

  constructor(source) {
    this.#source = source;
    let isBarren = true;
    let since = Date.now();
    source.onopen = () => {
      since = Date.now();
      this.mustAsk();
    };
    source.onmessage = ({data}) => {
      isBarren = false;
      const {met} = JSON.parse(data).ck ?? {};
      if (met) this.#told.push(met);
      this.#wake();
    };
    source.onerror = () => {
      this.#barren = isBarren && Date.now() - since < shortMilliseconds ? this.#barren + 1 : 0;
      this.isOver = source.readyState === closed || this.#barren >= barrenMax;
      isBarren = true;
      since = Date.now();
      this.mustAsk();
    };
  }

  get isAwake() { return this.#isDue || this.#told.length > 0; }

  mustAsk() {
    this.#isDue = true;
    this.#wake();
  }

  async waited(milliseconds) {
    if (!this.isAwake) {
      await new Promise(resolve => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const found = {isDue: this.#isDue, told: this.#told.splice(0)};
    this.#isDue = false;
    return found;
  }

  close() { this.#source.close(); }
}

// store/feeds.js
const waitSeconds = 50;
const quickMilliseconds = 1000;
const pagesMax = 4;

class Feeds {
  #context;
  #stream;
  #onShare = () => {};

  constructor(context) {
    this.#context = context;
    this.#stream = new Stream(context);
  }

  get #state() { return this.#context.replica.state; }

  #request(scope, endpoint, body, signal) {
    return this.#context.container.getDatabaseWithDatabaseScope(scope)
      .request(endpoint, body, {signal});
  }

  async readDatabases(signal) {
    const found = await Promise.all(
      this.#context.scopes.map(scope => this.#readDatabase(scope, {}, signal)));
    return found.includes(true);
  }

  async watchDatabases(signal, onNews) {
    const calling = async work => {
      const isDone = await work;
      if (isDone) onNews();
      return isDone;
    };
    await withEnd(signal, ending => Promise.race([
      this.#stream.follow(ending, {
        note: told => calling(this.#noteZones(told)),
        ask: () => calling(this.readDatabases(ending)),
      }),
      this.#followShares(ending, onNews),
    ]));
    if (!signal.aborted) await this.#poll(signal, onNews);
  }

  async #followShares(signal, onNews) {
    while (!signal.aborted) {
      const isHeld = this.#hasShares &&
        await this.#wait('SHARED', signal, onNews).catch(() => false);
      if (!isHeld) await new Promise(resolve => { this.#onShare = resolve; });
    }
    await new Promise(() => {});
  }

  get #hasShares() {
    return this.#context.scopes.includes('SHARED') &&
      [...this.#state.zones.values()].some(({scope, isMade}) => scope === 'SHARED' && isMade);
  }

  async #noteZones(told) {
    let areKnown = false;
    await this.#context.replica.change(state => {
      const zones = told.map(({dbs, zid, zoid}) => state.zones.get(zoneKey(
        dbs === 2 ? 'SHARED' : 'PRIVATE', {zoneName: zid, ownerRecordName: zoid})));
      areKnown = zones.every(zone => zone?.isMade);
      return areKnown ? {
        zones: [...new Set(zones)].map(zone => zoneFact(zone, {news: zone.news + 1})),
      } : undefined;
    });
    return areKnown;
  }

  async #poll(signal, onNews) {
    await withEnd(signal, ending => Promise.all(this.#context.scopes.map(async scope => {
      while (!ending.aborted) {
        if (!await this.#wait(scope, ending, onNews)) await pause(quickMilliseconds, ending);
      }
    })));
  }

  async #wait(scope, signal, onNews) {
    const began = Date.now();
    const hasNews = await this.#readDatabase(scope, {waitSeconds}, signal);
    if (hasNews) onNews();
    return hasNews || Date.now() - began >= quickMilliseconds;
  }

  async #readDatabase(scope, more, signal) {
    let syncToken = this.#state.tokens[scope] ?? undefined;
    let listed = syncToken ? null : new Set();
    let hasNews = false;
    for (let isMore = true; isMore;) {
      const answer = await this.#request(
        scope, 'changes/database', {syncToken, ...syncToken && more}, signal,
      ).catch(error => {
        if (!syncToken || !isTokenRefused(error)) throw error;
      });
      if (!answer) {
        await this.#context.identify();
        [syncToken, listed] = [undefined, new Set()];
        continue;
      }
      const zones = answer.zones.filter(zone => this.#isFollowed(scope, zone));
      for (const {zoneID} of zones) listed?.add(zoneKey(scope, zoneID));
      ({syncToken, moreComing: isMore} = answer);
      const gone = listed && !isMore ? this.#unlisted(scope, listed) : [];
      if (zones.length + gone.length > 0) hasNews = true;
      await this.#context.replica.change(state => {
        const token = listed && isMore ? undefined : syncToken;
        const isNew = zones.length + gone.length > 0 || token && state.tokens[scope] !== token;
        return isNew ? zoneFacts(state, scope, zones, gone, token) : undefined;
      });
    }
    if (this.#hasShares) this.#onShare();
    return hasNews;
  }

  #isFollowed(scope, {zoneID: {zoneName}}) {
    const {zones} = this.#context;
    return zoneName !== keyZoneName && (scope === 'SHARED' || !zones || zones.includes(zoneName));
  }

  #unlisted(scope, listed) {
    return [...this.#state.zones.values()]
      .filter(zone => zone.scope === scope && zone.isMade && !listed.has(zone.key));
  }

  async readZone(signal) {
    const zone = [...this.#state.zones.values()].find(({news, read}) => news !== read);
    if (!zone) return false;
    const {key, scope, news} = zone;
    let {token} = zone;
    let seen = !token && zone.records.size > 0 ? new Set() : null;
    const ask = syncToken => this.#request(scope, 'changes/zone', {
      zones: [{zoneID: askedZoneID(zone, this.#state.account), syncToken: syncToken ?? undefined}],
    }, signal);
    let asked = ask(token);
    const keeping = new Pages(this.#context.replica);
    for (let isMore = true; isMore;) {
      const [page] = (await asked).zones;
      if (page.serverErrorCode) {
        await this.#context.identify();
        if (page.serverErrorCode === 'ZONE_NOT_FOUND') {
          await this.#context.replica.change(state => zoneFacts(state, scope, [], [zone]));
          return true;
        }
        if (!token || !isTokenRefused(faultOf(page))) throw faultOf(page);
        [token, seen] = [null, new Set()];
        await keeping.all();
        await this.#context.replica.change(() => ({zones: [zoneFact(zone, {token})]}));
        asked = ask(token);
        continue;
      }
      token = page.syncToken;
      isMore = page.moreComing;
      if (isMore) asked = ask(token);
      asked.catch(() => {});
      const records = await this.#context.wire.received(page.records, zone);
      for (const {recordName} of records) seen?.add(recordName);
      const facts = {
        merge: this.#context.merge, seen, isLast: !isMore, token, news, zoneID: page.zoneID,
      };
      await keeping.add(state => pageFacts(state, key, records, facts));
    }
    await keeping.all();
    return true;
  }
}

class Pages {
  #replica;
  #keeping = [];
  #failure;

  constructor(replica) { this.#replica = replica; }

  async add(decide) {
    const kept = this.#replica.change(state => {
      if (this.#failure) throw this.#failure;
      return decide(state);
    });
    kept.catch(error => { this.#failure ??= error; });
    if (this.#keeping.push(kept) > pagesMax) await this.#keeping.shift();
  }

  async all() { await Promise.all(this.#keeping.splice(0)); }
}

function zoneFacts(state, scope, zones, gone, token) {
  const facts = {zones: [], records: []};
  if (token) facts.tokens = {[scope]: token};
  const removed = [...gone, ...zones.filter(({deleted}) => deleted)
    .map(({zoneID}) => state.zones.get(zoneKey(scope, zoneID))).filter(Boolean)];
  for (const zone of removed) {
    const edits = [...zone.records].filter(([, {edit}]) => edit);
    facts.zones.push(edits.length > 0
      ? zoneFact(zone, {isMade: false, token: null, read: zone.news}) : [zone.key, null]);
    if (edits.length === 0) continue;
    for (const [name, entry] of zone.records) {
      facts.records.push([zone.key, name, entry.edit ? entryAfterRefusal(
        {...entry, server: null}, entry.edit.version,
        {code: 'ZONE_NOT_FOUND', reason: 'the zone was deleted'}) : null]);
    }
  }
  for (const {zoneID} of zones.filter(({deleted}) => !deleted)) {
    const key = zoneKey(scope, zoneID);
    const zone = state.zones.get(key) ?? {key, scope, token: null, read: 0, news: 0};
    facts.zones.push(zoneFact(zone, {zoneID, isMade: true, news: zone.news + 1}));
  }
  return facts;
}

function pageFacts(state, key, records, {merge, seen, isLast, token, news, zoneID}) {
  const zone = state.zones.get(key);
  if (!zone) return undefined;
  const facts = {zones: [], records: []};
  const take = (name, theirs) => {
    const entry = zone.records.get(name);
    if (entry ? isSameVersion(entry.server, theirs) : !theirs) return;
    facts.records.push([key, name, entryAfter(entry, theirs, merge)]);
  };
  for (const record of records) take(record.recordName, record.deleted ? null : kept(record));
  if (isLast && seen) for (const name of zone.records.keys()) if (!seen.has(name)) take(name, null);
  const changes = {zoneID, ...(isLast || !seen) && {token}, ...isLast && {read: news}};
  facts.zones.push(zoneFact(zone, changes));
  return facts;
}

function isSameVersion(one, other) {
  return one?.recordChangeTag === other?.recordChangeTag;
}

async function withEnd(signal, work) {
  const ending = new AbortController();
  const abort = () => ending.abort();
  signal.addEventListener('abort', abort, {once: true});
  try {
    return await work(ending.signal);
  } finally {
    abort();
    signal.removeEventListener('abort', abort);
  }
}

function pause(milliseconds, signal) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, {once: true});
  });
}

// store/sender.js
const operationsMax = 200;
const bytesMax = 1_000_000;

class Sender {
  #context;
  #countMax = operationsMax;

  constructor(context) {
    this.#context = context;
  }

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

// store/sync.js
const failureMillisecondsMax = 60_000;

class Synchronizer {
  onStatus = () => {};
  #container;
  #replica;
  #options;
  #feeds;
  #sender;
  #isIdentified = false;
  #isFeedRead = false;
  #isWoken = false;
  #hasFailed = false;
  #isHeld = false;
  #wakeUp = () => {};
  #waiting = [];
  #watching = null;

  constructor(container, replica, options) {
    this.#container = container;
    this.#replica = replica;
    this.#options = options;
    const context = {...options, container, replica, identify: () => this.#identify()};
    this.#feeds = new Feeds(context);
    this.#sender = new Sender(context);
  }

  async run(signal) {
    signal.addEventListener('abort', () => this.#wakeUp(), {once: true});
    for (let failures = 0; !signal.aborted;) {
      const waiting = this.#waiting.splice(0);
      this.#isWoken = false;
      try {
        await this.#round(signal);
        failures = 0;
        waiting.forEach(({resolve}) => resolve());
        if (!this.#isWoken && !signal.aborted) await this.#pause();
      } catch (error) {
        this.#isFeedRead = false;
        this.#hasFailed = true;
        this.#isHeld = error.retryAfter > 0;
        waiting.forEach(({reject}) => reject(error));
        if (!signal.aborted) await this.#pause(this.#failed(error, failures++));
        this.#hasFailed = this.#isHeld = false;
      }
    }
  }

  wake() {
    this.#isWoken = true;
    if (!this.#hasFailed) this.#wakeUp();
  }

  hurry() {
    this.#isWoken = true;
    if (!this.#isHeld) this.#wakeUp();
  }

  userMayHaveChanged() {
    this.#isIdentified = false;
    this.hurry();
  }

  synced() {
    return new Promise((resolve, reject) => {
      this.#waiting.push({resolve, reject});
      this.#isFeedRead = false;
      this.hurry();
    });
  }

  async #round(signal) {
    this.onStatus({state: 'syncing'});
    if (!this.#isIdentified) await this.#identify();
    if (!this.#isFeedRead) {
      this.#isFeedRead = true;
      await this.#feeds.readDatabases(signal);
    }
    while (await this.#feeds.readZone(signal) || await this.#sender.sendSome(signal));
    this.#watching ??= this.#watch(signal);
    await this.#replica.shorten();
    this.onStatus({state: 'current', error: undefined});
  }

  async #watch(signal) {
    try {
      await this.#feeds.watchDatabases(signal, () => this.wake());
    } catch {
      await new Promise(resolve => { setTimeout(resolve, this.#options.backoffMilliseconds); });
      this.#isFeedRead = false;
      this.wake();
    } finally {
      this.#watching = null;
    }
  }

  async #identify() {
    const {userRecordName} = await this.#container.fetchCurrentUserIdentity();
    const before = this.#replica.state.account;
    this.#isIdentified = true;
    if (before === userRecordName) return;
    await this.#options.onAccount(userRecordName, before);
    this.#isFeedRead = false;
    if (before !== null) throw new Error('another user has signed in');
  }

  #failed(error, failures) {
    const milliseconds = error.retryAfter ? error.retryAfter * 1000
      : Math.min(this.#options.backoffMilliseconds * 2 ** failures, failureMillisecondsMax);
    if (error.isAuthError) this.#isIdentified = false;
    this.onStatus({
      state: error.isAuthError ? 'signedOut'
        : error.ckErrorCode === 'NETWORK_ERROR' ? 'offline' : 'failing',
      error,
    });
    return error.isAuthError ? failureMillisecondsMax : milliseconds * (1 + Math.random() / 2);
  }

  #pause(milliseconds) {
    return new Promise(resolve => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

// store/tabs.js
class Tabs {
  onMessage = () => {};
  #name;
  #locks;
  #channel;
  #closing = new AbortController();

  constructor(name, {locks = globalThis.navigator?.locks, isAlone = false} = {}) {
    this.#name = name;
    this.#locks = isAlone ? undefined : locks;
    if (isAlone || typeof BroadcastChannel !== 'function') return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({data}) => this.onMessage(data);
    this.#channel.unref?.();
  }

  async lead(work) {
    const {signal} = this.#closing;
    if (!this.#locks) return work(signal);
    try {
      await this.#locks.request(this.#name, {signal}, () => work(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  tell(message) { if (!this.#closing.signal.aborted) this.#channel?.postMessage(message); }

  close() {
    this.#closing.abort();
    this.#channel?.close();
  }
}

// store/wire.js
class Wire {
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

  async received(records, zone) {
    const all = records.map(record => record.serverRecord ?? record)
      .filter(record => takeSealed(record));
    const cipher = all.length > 0 ? await this.#encryption.cipher() : undefined;
    for (const record of all) await this.#open(record, zone, cipher);
    return records;
  }

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
          if (entry?.server?.recordChangeTag !== server?.recordChangeTag) return [];
          return [[zone.key, name, {server, edit: withoutLock(entry.edit)}]];
        }),
      }));
    }
  }

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

// store/zone.js
class StoreZone {
  #replica;
  #act;

  constructor({key, scope, zoneID}, replica, act) {
    this.key = key;
    this.scope = scope;
    this.zoneID = zoneID;
    this.#replica = replica;
    this.#act = act;
  }

  get(recordName) {
    return this.#replica.state.entry(this.key, recordName)?.view;
  }

  get records() { return [...this.#replica.state.records(this.key)]; }

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

  file(record, fieldName, index) {
    return this.#act.files.file(this, this.get(recordNameOf(record)) ?? record, fieldName, index);
  }

  async delete(records) {
    await this.#act.save(this, [records].flat().map(record => [recordNameOf(record), null]));
  }

  share(record, settings) { return this.#act.shares.share(this, recordNameOf(record), settings); }

  stopSharing(record) { return this.#act.shares.stop(this, recordNameOf(record)); }

  live(query) { return this.#act.live({...query, zone: this}); }
}

const recordNameOf = record => record.recordName ?? record;

// store/store.js
class LenticularStore {
  #container;
  #options;
  #merge;
  #journal;
  #replica;
  #tabs;
  #sync;
  #shares;
  #files;
  #queries = new Set();
  #orders;
  #listeners = new Map();
  #status = {state: 'starting', error: undefined, isLeader: false};
  #asked = new Map();
  #isClosed = false;

  static async open({container, name = 'default', storage = 'browser', ...options}) {
    if (!container) throw new StoreError('INVALID_ARGUMENTS', 'open() needs a container');
    const {containerIdentifier, environment} = container;
    const fullName = `lenticular ${containerIdentifier} ${environment} ${name}`;
    const journal = options.journal ?? await journalOf(fullName, storage);
    const store = new LenticularStore(container, fullName, journal, options);
    await store.#start();
    return store;
  }

  constructor(container, name, journal, {
    zones, hasShared = true, merge = mergeByField, keepsOnSignOut = false,
    onAccountChange = 'drop', locks, backoffMilliseconds = 1000, cacheBytesMax = 50 << 20,
    fetch = (...all) => globalThis.fetch(...all),
    EventSource = globalThis.EventSource, silenceMilliseconds,
  }) {
    this.#container = container;
    const scopes = hasShared ? ['PRIVATE', 'SHARED'] : ['PRIVATE'];
    this.#options = {keepsOnSignOut, onAccountChange, scopes};
    this.#merge = (edit, base, theirs) => this.#merged(merge, edit, base, theirs);
    this.#journal = journal;
    this.#replica = new Replica(journal);
    this.#orders = new Orders(this.#replica.state);
    this.#tabs = new Tabs(name, {locks, isAlone: !journal.isPersistent && !locks});
    this.#files = new Files(container, this.#replica, journal, {fetch, cacheBytesMax});
    this.encryption = new Encryption(container, journal, () => this.account);
    const wire = new Wire(container, this.#replica, this.encryption, this.#files);
    this.encryption.onUnlock = () => wire.unlocked();
    this.#shares = new Shares(container, this.#replica, () => this.sync());
    this.#sync = new Synchronizer(container, this.#replica, {
      zones, scopes, backoffMilliseconds, EventSource, silenceMilliseconds,
      merge: this.#merge,
      onAccount: (account, before) => this.#becomeUser(account, before),
      wire,
    });
  }

  async #start() {
    await this.#replica.load();
    this.#replica.onChange = changes => this.#tell(changes);
    this.#replica.onAppend = () => {
      this.#tabs.tell({appended: true});
      this.#sync.wake();
    };
    this.#sync.onStatus = changes => this.#setStatus(changes, true);
    this.#tabs.onMessage = message => this.#hear(message);
    this.#tabs.tell({asksStatus: true});
    this.#followUser();
    const online = () => this.#sync.hurry();
    globalThis.addEventListener?.('online', online);
    this.#lead().catch(error => this.#setStatus({state: 'failing', error}))
      .finally(() => globalThis.removeEventListener?.('online', online));
  }

  get status() { return this.#status; }

  get account() { return this.#replica.state.account; }

  get zones() {
    return [...this.#replica.state.zones.values()].map(({zoneID}) => this.zone(zoneID));
  }

  zone(zone) {
    return new StoreZone(zoneOf(zone, this.account), this.#replica, {
      live: query => this.live(query), save: (...all) => this.#save(...all), shares: this.#shares,
      files: this.#files,
    });
  }

  live(query) {
    this.#tell(this.#replica.state.takeChanges());
    const live = new LiveQuery(this.#orders, query, () => this.#queries.delete(live));
    this.#queries.add(live);
    return live;
  }

  on(event, listener) {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => { listeners.delete(listener); };
  }

  async sync() {
    if (this.#status.isLeader) return this.#sync.synced();
    const id = Math.random();
    return new Promise((resolve, reject) => {
      this.#asked.set(id, {resolve, reject});
      this.#tabs.tell({asksSync: id});
    });
  }

  acceptShare(shortGUID) { return this.#shares.accept(shortGUID); }

  enablePush(registration, applicationServerKey) {
    return enablePush(this.#container, this.#options.scopes, registration, applicationServerKey);
  }

  get refused() {
    const {state} = this.#replica;
    return [...state.edits.values()].filter(({key, name}) => state.entry(key, name).edit.refused)
      .map(({key, name}) => refusedView(state.entry(key, name), state.zones.get(key)));
  }

  async retry(record) {
    await this.#changeEdit(record, entry => entryAfterRetry(entry, this.#merge));
  }

  async discard(record) {
    await this.#changeEdit(record, ({server}) => server && {server});
  }

  async signOut({force = false} = {}) {
    if (!force && !this.#options.keepsOnSignOut && this.#replica.state.edits.size > 0) {
      throw new StoreError('UNSENT_CHANGES', 'there are changes that were not sent');
    }
    if (!this.#options.keepsOnSignOut) await this.erase();
    await this.#container.signOut();
    this.#sync.userMayHaveChanged();
  }

  async erase() {
    await this.#replica.erase();
    for (const {name} of await this.#journal.files()) await this.#journal.deleteFile(name);
  }

  close() {
    this.#isClosed = true;
    this.#setStatus({state: 'closed', isLeader: false});
    this.#tabs.close();
    this.#replica.close();
    this.#queries.forEach(live => live.close());
    const error = new StoreError('CLOSED', 'the store is closed');
    for (const {reject} of this.#asked.values()) reject(error);
  }

  async #lead() {
    await this.#tabs.lead(async signal => {
      this.#setStatus({isLeader: true});
      await this.#replica.refresh();
      await this.#files.sweep();
      this.#tabs.tell({leads: true});
      for (const [id, {resolve, reject}] of this.#asked) {
        this.#asked.delete(id);
        this.#sync.synced().then(resolve, reject);
      }
      await this.#sync.run(signal);
    });
  }

  async #followUser() {
    while (!this.#isClosed) {
      const {isChosen} = await Promise.race([
        this.#container.whenUserSignsOut(),
        this.#container.whenUserSignsIn().then(() => ({}), () => ({})),
      ]);
      if (this.#isClosed) return;
      if (isChosen && !this.#options.keepsOnSignOut) await this.erase();
      this.#sync.userMayHaveChanged();
    }
  }

  async #becomeUser(account, before) {
    const {state} = this.#replica;
    if (before === null) {
      await this.#replica.change(() => ({account}));
    } else if (this.#options.onAccountChange === 'keep') {
      await this.#replica.erase(handedOver(state, account));
    } else {
      await this.erase();
      await this.#replica.change(() => ({account}));
    }
    this.#emit('account', {account, before});
  }

  #merged(merge, edit, base, theirs) {
    const clockOffset = this.#container.clockOffset ?? 0;
    const isMineNewer = edit.at + clockOffset > (theirs?.modified?.timestamp ?? Infinity);
    const result = merge({
      base, mine: edit.mine, theirs: contentOf(theirs), isMineNewer, record: theirs,
    });
    return result && given(null, {recordType: (edit.mine ?? theirs).recordType, ...result});
  }

  async #save(zone, changes) {
    const now = Date.now();
    await this.#replica.change(state => {
      const facts = {zones: [], records: []};
      const present = state.zones.get(zone.key);
      if (!present) {
        const {key, scope, zoneID} = zone;
        facts.zones.push([key, {scope, zoneID, token: null, isMade: false, news: 0, read: 0}]);
      }
      let {version} = state;
      for (const [name, record] of changes) {
        const entry = present?.records.get(name);
        const content = entry?.edit ? entry.edit.mine : contentOf(entry?.server);
        const next = edited(entry, record && given(content, record), now, version + 1);
        if (next === entry) continue;
        version += 1;
        facts.records.push([zone.key, name, next]);
      }
      return facts.records.length > 0 ? facts : undefined;
    });
  }

  async #changeEdit({recordName, zoneID}, make) {
    const {key} = zoneOf(zoneID, this.account);
    await this.#replica.change(state => {
      const entry = state.entry(key, recordName);
      if (!entry?.edit) throw new StoreError('NOT_FOUND', `nothing of ${recordName} waits`);
      return {records: [[key, recordName, make(entry)]]};
    });
  }

  #tell(changes) {
    if (changes.length > 0) {
      this.#orders.update(changes);
      for (const live of [...this.#queries]) live.update(changes);
    }
    for (const {key, after, before} of changes) {
      if (!after?.edit?.refused || before?.edit?.refused) continue;
      this.#emit('refused', refusedView(after, this.#replica.state.zones.get(key)));
    }
    this.#setStatus({});
  }

  #setStatus(changes, isTold = false) {
    if (this.#status.state === 'closed') return;
    const {state} = this.#replica;
    const refused = [...state.edits.values()]
      .filter(({key, name}) => state.entry(key, name).edit.refused).length;
    const next = {
      ...this.#status, ...changes, isPersistent: this.#journal.isPersistent,
      pending: state.edits.size - refused, refused,
    };
    if (Object.keys(next).every(key => next[key] === this.#status[key])) return;
    this.#status = next;
    if (isTold) this.#tellStatus();
    this.#emit('status', next);
  }

  #tellStatus() {
    const {state, error} = this.#status;
    const {ckErrorCode, code, message} = error ?? {};
    this.#tabs.tell({status: {state, error: error && {ckErrorCode, code, message}}});
  }

  async #hear({appended, leads, status, asksStatus, asksSync, synced, failed}) {
    if (appended) {
      await this.#replica.refresh().catch(() => {});
      this.#sync.wake();
    }
    if (this.#status.isLeader) {
      if (asksStatus) this.#tellStatus();
      if (asksSync) {
        this.#sync.synced().then(() => this.#tabs.tell({synced: asksSync}), error => {
          this.#tabs.tell({synced: asksSync, failed: String(error)});
        });
      }
      return;
    }
    if (leads) for (const id of this.#asked.keys()) this.#tabs.tell({asksSync: id});
    if (status) this.#setStatus(status);
    if (synced && this.#asked.has(synced)) {
      const {resolve, reject} = this.#asked.get(synced);
      this.#asked.delete(synced);
      await this.#replica.refresh().catch(() => {});
      if (failed) reject(new Error(failed));
      else resolve();
    }
  }

  #emit(event, value) {
    callAll(this.#listeners.get(event) ?? [], value);
  }
}

function refusedView({view, server, edit}, {zoneID}) {
  return view ?? {...server, zoneID, isDeleted: true, refused: edit.refused};
}

async function journalOf(name, storage) {
  if (storage === 'memory' || typeof indexedDB === 'undefined') return new MemoryJournal();
  return IndexedJournal.open(name).catch(() => new MemoryJournal());
}

function given(content, record) {
  const {fields, encryptedValues} = record;
  return changed(content, {
    ...record, fields: fieldsToSend(fields), encryptedValues: fieldsToSend(encryptedValues),
  });
}

function handedOver(state, account) {
  const facts = {account, zones: [], records: []};
  let {version} = state;
  for (const {key, scope, zoneID: {zoneName}, records} of state.zones.values()) {
    if (scope !== 'PRIVATE') continue;
    facts.zones.push([key, {
      key, scope, zoneID: {zoneName}, token: null, isMade: false, news: 0, read: 0,
    }]);
    for (const [name, {view, edit}] of records) {
      if (!view) continue;
      version += 1;
      facts.records.push([key, name, {server: null, edit: {
        mine: contentOf(view), at: edit?.at ?? view.modified.timestamp, version, order: version,
      }}]);
    }
  }
  return facts;
}

export {LenticularStore, StoreError, mergeByField, syncOnPush};
