// Encrypting values, and the key that does it, in the form that the Swift package has.

const encoder = new TextEncoder();
const keyBytes = 32;
const nonceBytes = 12;
const idBytes = 8;
const version = 1;
/** From 1970 to 2001, from where Apple's systems count. */
const referenceSeconds = 978_307_200;

export function base64(bytes) {
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}

export function bytesOf(text) {
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}

export function joinedBytes(...parts) {
  const all = new Uint8Array(parts.reduce((count, {length}) => count + length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

export function randomBytesOf(count) { return crypto.getRandomValues(new Uint8Array(count)); }
export function newKey() { return randomBytesOf(keyBytes); }

export async function digestOf(text, ...more) {
  const bytes = joinedBytes(encoder.encode(text), ...more);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

const imported = key =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);

/** Nonce, ciphertext and tag, which open with the same associated bytes alone. */
export async function sealedBytes(bytes, key, additionalData) {
  const iv = randomBytesOf(nonceBytes);
  const sealed = await crypto.subtle.encrypt(
    {name: 'AES-GCM', iv, additionalData}, await imported(key), bytes);
  return joinedBytes(iv, new Uint8Array(sealed));
}

/** Rejects for another key, and for what was changed. */
export async function openedBytes(sealed, key, additionalData) {
  const iv = sealed.slice(0, nonceBytes);
  return new Uint8Array(await crypto.subtle.decrypt(
    {name: 'AES-GCM', iv, additionalData}, await imported(key), sealed.slice(nonceBytes)));
}

/** Encrypts and decrypts the values of one account. */
export class ValueCipher {
  #key;
  #head;

  static async of(key) {
    const cipher = new ValueCipher();
    cipher.#key = key;
    const id = (await digestOf('lenticular key ', key)).slice(0, idBytes);
    cipher.#head = joinedBytes([version], id);
    return cipher;
  }

  /** `place`: texts that say where the value belongs, and nowhere else it opens. Base64. */
  async seal(field, place) {
    const text = encoder.encode(JSON.stringify(textOf(field)));
    const sealed = await sealedBytes(text, this.#key, this.#associated(place));
    return base64(joinedBytes(this.#head, sealed));
  }

  /** Undefined for what another key has made, what was moved, and what was changed. */
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

  /** Each part with its length before it, so that no two places have the same bytes. */
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

/** What is encrypted: the value with its type; dates also as Apple's systems count them. */
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
