// Server-to-server keys, for programs in Node and Deno: each request is signed, and no user signs
// in.

import {localError} from './errors.js';

// By variables, so that bundlers for browsers leave the names alone.
const builtIn = name => import(/* webpackIgnore: true */ /* @vite-ignore */ name);

export class RequestSigner {
  #given;
  #key;

  constructor(given) {
    this.#given = given;
  }

  /** The headers that sign a request: `target` is its path with its query, as it is sent. */
  async headers(target, body = '') {
    const {createHash, sign} = await this.#cryptography();
    this.#key ??= this.#load();
    const date = new Date().toISOString().replace(/\.\d+/, '');
    const digest = createHash('sha256').update(body).digest('base64');
    const signed = new TextEncoder().encode(`${date}:${digest}:${target}`);
    return {
      'X-Apple-CloudKit-Request-KeyID': this.#given.keyID,
      'X-Apple-CloudKit-Request-ISO8601Date': date,
      'X-Apple-CloudKit-Request-SignatureV1':
        sign('sha256', signed, await this.#key).toString('base64'),
    };
  }

  async #cryptography() {
    try {
      return await builtIn('node:crypto');
    } catch (error) {
      throw localError(
        'CONFIGURATION_ERROR', 'serverToServerKeyAuth is for programs, not for browsers', error);
    }
  }

  async #load() {
    const {createPrivateKey} = await this.#cryptography();
    const {privateKey, privateKeyFile, privateKeyPassPhrase: passphrase} = this.#given;
    try {
      const key = privateKey ?? await (await builtIn('node:fs/promises')).readFile(privateKeyFile);
      return createPrivateKey({key, passphrase});
    } catch (error) {
      throw localError(
        'CONFIGURATION_ERROR', `the private key cannot be read: ${error.message}`, error);
    }
  }
}
