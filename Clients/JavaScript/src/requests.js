// One request: its address, its credentials, its answer or its error.

import {CKError, isFault, localError} from './errors.js';
import {RequestSigner} from './signature.js';
import {receivedRecord} from './values.js';
import {version} from './version.js';

const tokenHeaders = ['X-Apple-CloudKit-Web-Auth-Token', 'X-Apple-CloudKit-Session'];

/** Sends the requests of one container. */
export class Requests {
  /** Called when a token was refused: the session is over. */
  onSessionEnd = async () => {};
  /** Milliseconds that the server's clock is ahead of this one, as last heard. */
  clockOffset = undefined;
  #configuration;
  #services;
  #session;
  #signer;

  /** `session`: null where a server key signs. */
  constructor(configuration, services, session) {
    this.#configuration = configuration;
    this.#services = services;
    this.#session = session;
    if (configuration.signature) this.#signer = new RequestSigner(configuration.signature);
  }

  /** Sends to an endpoint of a database, such as `records/query`; without a body it is a GET. */
  async send(database, endpoint, body, signal) {
    return this.#call(`database/1/${this.#place}/${database}/${endpoint}`, body, signal);
  }

  /** Sends to an endpoint that belongs to this device. */
  async sendOfDevice(endpoint, body) {
    return this.#call(`device/1/${this.#place}/${endpoint}`, body);
  }

  /** As `send`, for what is answered by an array: its items, parted from its errors. */
  async items(database, endpoint, key, body) {
    const answer = await this.send(database, endpoint, body);
    return {answer, ...partedItems(answer, key)};
  }

  /** An answer of any address, by the app's fetch, within the time that it may take. */
  async fetch(url, options = {}, seconds = this.#services.timeoutSeconds) {
    const {signal, ...rest} = options;
    const controller = new AbortController();
    const abort = () => controller.abort();
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    const alarm = seconds && setTimeout(abort, seconds * 1000);
    try {
      const answer = await this.#services.fetch(
        url, {credentials: 'omit', ...rest, signal: controller.signal});
      return {answer, text: await answer.text()};
    } catch (error) {
      throw localError('NETWORK_ERROR', controller.signal.aborted && !signal?.aborted
        ? `no answer within ${seconds} seconds` : `the request failed: ${error?.message}`, error);
    } finally {
      clearTimeout(alarm);
      signal?.removeEventListener('abort', abort);
    }
  }

  get #place() {
    const {containerIdentifier, environment} = this.#configuration;
    return `${encodeURIComponent(containerIdentifier)}/${environment}`;
  }

  async #call(path, body, signal) {
    const session = await this.#session?.current();
    try {
      return await this.#callAs(session, path, body, signal);
    } catch (error) {
      if (!session || error.ckErrorCode !== 'AUTHENTICATION_REQUIRED') throw error;
      // Another tab may have a newer token; what was answered so has done nothing.
      const now = await this.#session.current();
      if (now && now.token !== session.token) return this.#callAs(now, path, body, signal);
      await this.onSessionEnd(session, error);
      throw error;
    }
  }

  async #callAs(session, path, body, signal) {
    const {serverURL, clientId, user} = this.#configuration;
    const query = [`ckjsVersion=${version}`, `clientId=${encodeURIComponent(clientId)}`];
    if (session) query.push(`ckWebAuthToken=${encodeURIComponent(session.token)}`);
    if (user) query.push(`ckAPIToken=${encodeURIComponent(user.apiToken)}`);
    const url = `${serverURL}/${path}?${query.join('&')}`;
    // Text needs no preflight.
    const options = {signal, ...body === undefined ? {method: 'GET'}
      : {method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'text/plain'}}};
    if (this.#signer) {
      const {pathname, search} = new URL(url);
      options.headers = {
        ...options.headers, ...await this.#signer.headers(pathname + search, options.body),
      };
    }
    const {answer, text} = await this.fetch(url, options);
    const now = Date.parse(answer.headers.get('Date'));
    if (now) this.clockOffset = now - Date.now();
    if (session) {
      const next = tokenHeaders.map(name => answer.headers.get(name)).find(Boolean);
      await this.#session.follow(session, next);
    }
    return parsedAnswer(answer, text);
  }
}

/** What an answer says, or the error that it is. */
export function parsedAnswer(answer, text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    if (answer.status !== 503) {
      throw localError('UNEXPECTED_SERVER_RESPONSE', `status ${answer.status} without JSON`, error);
    }
    throw withWait(
      localError('SERVICE_UNAVAILABLE', 'the server takes no requests now', error), answer);
  }
  if (!answer.ok) {
    throw withWait(new CKError({serverErrorCode: 'UNKNOWN_ERROR', ...found}), answer);
  }
  if (found === null || typeof found !== 'object') {
    throw localError('UNEXPECTED_SERVER_RESPONSE', 'the answer is no object');
  }
  return found;
}

function withWait(error, answer) {
  const seconds = Number(answer.headers.get('Retry-After') ?? NaN);
  if (error.retryAfter === undefined && seconds >= 0) error.retryAfter = seconds;
  return error;
}

/** The items under a key of an answer, parted from the errors among them. */
export function partedItems(answer, key) {
  const all = answer[key];
  if (!Array.isArray(all)) {
    throw localError('UNEXPECTED_SERVER_RESPONSE', `the answer has no ${key}`);
  }
  return {
    items: all.filter(item => !isFault(item)),
    errors: all.filter(isFault).map(fault => new CKError({
      ...fault, serverRecord: fault.serverRecord && receivedRecord(fault.serverRecord),
    })),
  };
}
