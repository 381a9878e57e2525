// The key that encrypts a user's values on their devices. The server has it only wrapped: by a
// recovery code, and by a passphrase if there is one.

import {
  base64, bytesOf, digestOf, newKey, openedBytes, randomBytesOf, sealedBytes, ValueCipher,
} from './cipher.js';
import {StoreError} from './errors.js';
import {scrypt} from './scrypt.js';

export const keyZoneName = 'LenticularKeys';
const keyRecordName = 'account-key';
/** Half a second and 128 MiB for each guess of a passphrase. */
const cost = 1 << 17;
const costMax = 1 << 20;
/** 32, without letters that are taken for digits. */
const letters = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789';
const missing = ['NOT_FOUND', 'ZONE_NOT_FOUND'];

export class Encryption {
  /** Called when this device has got the key. */
  onUnlock = async () => {};
  #container;
  #journal;
  #accountOf;

  /** `accountOf` returns whose key it is. */
  constructor(container, journal, accountOf) {
    this.#container = container;
    this.#journal = journal;
    this.#accountOf = accountOf;
  }

  /** 'ready'; 'locked', when another device has made the key; or 'notSetUp'. */
  async status() {
    if (await this.#load()) return 'ready';
    return await this.#wrapped() ? 'locked' : 'notSetUp';
  }

  /** Makes the key. Resolves with the recovery code, to be shown once and kept by its owner. */
  async setUp(passphrase) {
    const code = await this.#make(passphrase);
    await this.onUnlock();
    return code;
  }

  /** The recovery code; undefined on a device that has not made the key. */
  async recoveryCode() { return (await this.#load())?.code; }

  /** Takes the key from the server, by `{passphrase}` or `{recoveryCode}`. */
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

  /** Wraps the key by another passphrase, on a device that has it. */
  async setPassphrase(passphrase) {
    const [held, wrapped] = [await this.#load(), await this.#wrapped()];
    if (!held || !wrapped) throw new StoreError('LOCKED', 'this device does not have the key');
    const byPassphrase = await byPassphraseOf(held.key, passphrase, wrapped.salt, wrapped.cost);
    await this.#save('update', {recordChangeTag: wrapped.recordChangeTag, fields: {byPassphrase}});
  }

  /** Forgets the key on this device. */
  async lock() {
    await this.#journal.deleteFile(this.#fileName);
  }

  /** What encrypts and decrypts; undefined while this device has no key. */
  async cipher() {
    const held = await this.#load();
    return held && ValueCipher.of(held.key);
  }

  /** The same for values that are to be sent; the first ones of an account make its key. */
  async cipherForWriting() {
    if (!await this.#load() && !await this.#wrapped()) await this.#make();
    return this.cipher();
  }

  // Read each time: another tab may have locked it.
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

/** The same however the code is typed. */
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
