// The JavaScript client of Lenticular 0.1.0, Apache-2.0.
// Made from the modules in src/ by build.mjs.
(() => {
'use strict';

// errors.js
const remedies = {
  ACCESS_DENIED: 'The user may not do this: check the roles of the record type, or the share.',
  ATOMIC_ERROR: 'Nothing was saved: mend the records with another code, and send all again.',
  AUTHENTICATION_FAILED: 'Check the API token or server key, its environment and origins.',
  AUTHENTICATION_REQUIRED: 'Let the user sign in, by the button or by signIn().',
  BAD_REQUEST: 'The reason says what is wrong with the request; mend that first.',
  CONFLICT: 'Apply your changes to serverRecord, which has the tag to save with, and save that.',
  EXISTS: 'Fetch what exists, and change that.',
  INTERNAL_ERROR: "Try again later; the server's log has more under this uuid.",
  NOT_FOUND: 'It was never there, was deleted, or is not shared with this user.',
  QUOTA_EXCEEDED: 'Delete something, or ask the people who run the server for more room.',
  THROTTLED: 'Wait for retryAfter seconds, and send fewer or larger requests.',
  TRY_AGAIN_LATER: 'Wait for retryAfter seconds, and send it again.',
  VALIDATING_REFERENCE_ERROR: 'Save what the record refers to first, or delete what refers to it.',
  ZONE_NOT_FOUND: 'Create the zone with saveRecordZones(), or forget it: it was deleted.',
  UNIQUE_FIELD_ERROR: 'Another record has this value: choose another one.',
  UNKNOWN_ERROR: 'The reason tells more.',
  NETWORK_ERROR: 'Nobody knows whether the request arrived: fetch before you send a write again.',
  SERVICE_UNAVAILABLE: 'Wait for retryAfter seconds if it is set, or a minute, and send it again.',
  INVALID_ARGUMENTS: 'Mend the call: the reason says what is wrong with it.',
  UNEXPECTED_SERVER_RESPONSE: 'Check serverURL, and what stands before the server.',
  CONFIGURATION_ERROR: 'Mend what CloudKit.configure() is given.',
  AUTH_PERSIST_ERROR: 'Allow cookies, set persist to false, or give an authTokenStore.',
  SIGN_IN_FAILED: 'Let the user try again.',
  SHARE_UI_TIMEOUT: 'Let the user try again.',
};

class CKError extends Error {
  constructor(facts) {
    const code = facts.ckErrorCode ?? facts.serverErrorCode;
    const reason = facts.reason ?? '';
    super(reason || code || 'unknown error');
    this.name = 'CKError';
    this.ckErrorCode = Object.hasOwn(remedies, code) ? code : 'UNKNOWN_ERROR';
    this.reason = reason;
    this.remedy = remedies[this.ckErrorCode];
    for (const key of ['serverErrorCode', 'extensionErrorCode', 'uuid', 'retryAfter', 'recordName',
      'zoneID', 'serverRecord', 'detail', 'changeTokenExpired']) {
      if (facts[key] != null) this[key] = facts[key];
    }
    const redirectURL = facts.redirectURL ?? facts.redirectUrl;
    if (redirectURL != null) this.redirectURL = redirectURL;
    const subscriptionID = facts.subscriptionID ?? facts.subscriptionId;
    if (subscriptionID != null) this.subscriptionID = subscriptionID;
    if (facts.cause) this.cause = facts.cause;
  }

  get isError() { return true; }
  get isCKError() { return true; }
  get isServerError() { return this.serverErrorCode != null; }
  get isServerExtensionError() { return this.extensionErrorCode != null; }
  get isAuthError() { return this.ckErrorCode.startsWith('AUTHENTICATION_'); }

  toJSON() {
    const {cause, name, ...facts} = this;
    return facts;
  }

  toString() {
    const place = this.recordName ?? this.subscriptionID ?? this.zoneID?.zoneName;
    return `CKError ${this.ckErrorCode}${place ? ` (${place})` : ''}: ${this.reason}`;
  }
}

for (const code of Object.keys(remedies)) CKError[code] = code;

function localError(ckErrorCode, reason, cause) {
  return new CKError({ckErrorCode, reason, cause});
}

function isFault(item) {
  return item?.serverErrorCode != null || item?.extensionErrorCode != null;
}

// script.js
const scriptURL = typeof document === 'undefined' ? undefined : document.currentScript?.src;

// configuration.js
const timeoutSeconds = 90;

const servedBy = /^(https?:\/\/.+)\/client\/[^/]+\/cloudkit\.c?js/.exec(scriptURL ?? '')?.[1];

const refuse = reason => { throw localError('CONFIGURATION_ERROR', reason); };

function servicesOf(given = {}) {
  const {fetch, Promise: promise, logger, authTokenStore} = given;
  if (fetch !== undefined && typeof fetch !== 'function') refuse('services.fetch is no function');
  if (promise !== undefined && typeof promise !== 'function') {
    refuse('services.Promise is no class');
  }
  if (authTokenStore &&
    !['putToken', 'getToken'].every(name => typeof authTokenStore[name] === 'function')) {
    refuse('services.authTokenStore needs putToken and getToken');
  }
  return {
    fetch: fetch ?? ((...all) => globalThis.fetch(...all)),
    Promise: promise ?? Promise, logger, authTokenStore,
    timeoutSeconds: given.timeoutSeconds ?? timeoutSeconds,
  };
}

function containerOf(given, shared) {
  const {containerIdentifier, environment} = given;
  if (typeof containerIdentifier !== 'string' || !containerIdentifier) {
    refuse('a container needs a containerIdentifier');
  }
  if (!['development', 'production'].includes(environment)) {
    refuse(`${containerIdentifier}: environment is 'development' or 'production'`);
  }
  const signature = given.serverToServerKeyAuth;
  const user = given.apiTokenAuth ??
    (given.apiToken ? {apiToken: given.apiToken, ...given.auth} : undefined);
  if (!user === !signature) {
    refuse(`${containerIdentifier} needs either apiTokenAuth or serverToServerKeyAuth`);
  }
  if (user && typeof user.apiToken !== 'string') refuse('apiTokenAuth needs an apiToken');
  if (user?.signIn && !['popup', 'redirect'].includes(user.signIn)) {
    refuse("apiTokenAuth.signIn is 'popup' or 'redirect'");
  }
  if (signature && !(signature.keyID && (signature.privateKeyFile || signature.privateKey))) {
    refuse('serverToServerKeyAuth needs keyID and privateKeyFile');
  }
  return {
    containerIdentifier, environment,
    apnsEnvironment: given.apnsEnvironment ?? environment,
    serverURL: serverURLOf(given, shared), user, signature, clientId: shared.clientId,
  };
}

function serverURLOf(given, shared) {
  const url = given.serverURL ?? shared.serverURL ??
    given.privateDatabasePartition ?? given.publicDatabasePartition ?? servedBy;
  if (!url) {
    refuse("where is the server? Give configure() serverURL: 'https://sync.example.org'");
  }
  if (!/^https?:\/\/[^/]/.test(url)) refuse(`serverURL is no address of http or https: ${url}`);
  return String(url).replace(/\/+$/, '');
}

// buttons.js
const looks = {
  black: ['#000', '#fff', '#000'],
  white: ['#fff', '#000', '#fff'],
  'white-with-outline': ['#fff', '#000', '#000'],
};

function showButton({id, theme, text}, onClick) {
  const place = elementOf(id);
  if (!place) return null;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'cloudkit-button';
  button.textContent = text;
  const [background, color, border] = looks[theme] ?? looks.black;
  Object.assign(button.style, {
    background, color, border: `1px solid ${border}`, borderRadius: '6px', cursor: 'pointer',
    font: '500 1rem/1.25 system-ui, sans-serif', minHeight: '44px', padding: '0 1.25em',
  });
  button.addEventListener('click', onClick);
  place.replaceChildren(button);
  return button;
}

function hideButton({id}) {
  elementOf(id)?.replaceChildren();
}

function elementOf(id) {
  return typeof document === 'undefined' ? null : document.getElementById(id);
}

// sign-in.js
const markKey = 'cloudkit-sign-in';
const markSeconds = 3600;
const closedCheckMilliseconds = 500;

let abandon = () => {};

const failed = (reason, cause) => localError('SIGN_IN_FAILED', reason, cause);

function hasPages() {
  return typeof window !== 'undefined' && typeof window.open === 'function';
}

async function openWindow(containerIdentifier, url, take) {
  mark(containerIdentifier, 'popup');
  const popup = window.open(
    typeof url === 'string' ? url : 'about:blank', 'cloudkit-sign-in',
    'popup,width=640,height=525');
  if (!popup) {
    throw failed('the browser opened no window: open it by a click, or use signIn: \'redirect\'');
  }
  const origins = [location.origin];
  abandon();
  const told = new Promise(resolve => {
    const hear = ({source, origin, data}) => {
      if (source !== popup || !origins.includes(origin) || !isOutcome(data)) return;
      abandon();
      resolve(data);
    };
    window.addEventListener('message', hear);
    abandon = () => window.removeEventListener('message', hear);
  });
  try {
    const address = await url;
    origins.push(new URL(address).origin);
    if (typeof url !== 'string') popup.location.replace(address);
  } catch (error) {
    popup.close();
    throw error;
  }
  const watch = new Promise((_, reject) => {
    const timer = setInterval(() => {
      if (!popup.closed) return;
      clearInterval(timer);
      mark(null);
      reject(failed('the window was closed'));
    }, closedCheckMilliseconds);
    told.then(() => {
      clearInterval(timer);
      mark(null);
    });
  });
  const taken = told.then(take);
  return Promise.race([taken, watch]);
}

async function goThere(containerIdentifier, url) {
  mark(containerIdentifier, 'redirect');
  location.assign(await url);
  return new Promise(() => {});
}

function takeReturn(containerIdentifier, warn) {
  if (!hasPages()) return null;
  const url = new URL(location.href);
  const data = Object.fromEntries(['ckWebAuthToken', 'ckSession', 'errorMessage']
    .filter(key => url.searchParams.has(key)).map(key => [key, url.searchParams.get(key)]));
  const marked = readMark();
  if (!isOutcome(data) || marked && marked.containerIdentifier !== containerIdentifier) return null;
  if (!marked && !data.ckWebAuthToken && !data.ckSession) return null;
  for (const key of Object.keys(data)) url.searchParams.delete(key);
  history.replaceState(history.state, '', url);
  if (!marked) {
    warn('A token in the address was left aside: this tab had not gone to sign in.');
    return null;
  }
  mark(null);
  if (marked.by === 'popup' && window.opener) {
    window.opener.postMessage(data, location.origin);
    window.close();
    return null;
  }
  return data;
}

function tokenOf(data) {
  const token = data.ckSession ?? data.ckWebAuthToken;
  if (typeof token !== 'string' || !token) {
    throw failed(String(data.errorMessage ?? 'the sign-in page told no token'));
  }
  return token;
}

function isOutcome(data) {
  return data !== null && typeof data === 'object' &&
    ['ckSession', 'ckWebAuthToken', 'errorMessage'].some(key => key in data);
}

function mark(containerIdentifier, by) {
  try {
    if (containerIdentifier === null) return sessionStorage.removeItem(markKey);
    sessionStorage.setItem(markKey, JSON.stringify({containerIdentifier, by, at: Date.now()}));
  } catch {
  }
}

function readMark() {
  try {
    const found = JSON.parse(sessionStorage.getItem(markKey));
    return found && Date.now() - found.at < markSeconds * 1000 ? found : null;
  } catch {
    return null;
  }
}

// auth.js
const addressMilliseconds = 14 * 60_000;

class Auth {
  onSignOut = () => {};
  #configuration;
  #session;
  #requests;
  #log;
  #isSetUp = false;
  #identity = null;
  #sessionID = null;
  #address = null;
  #waiting = {in: [], out: []};

  constructor(configuration, session, requests, log) {
    this.#configuration = configuration;
    this.#session = session;
    this.#requests = requests;
    this.#log = log;
    requests.onSessionEnd = (ended, error) => this.#sessionEnded(ended, error);
    if (session) session.onChange = () => this.#sessionChanged();
  }

  async setUp() {
    await this.#session?.check();
    this.#isSetUp = true;
    const {containerIdentifier} = this.#configuration;
    const outcome = this.#session &&
      takeReturn(containerIdentifier, text => this.#log('warn', text));
    if (outcome) await this.#take(outcome).catch(error => this.#log('warn', String(error)));
    return this.#ask();
  }

  async caller() {
    return this.#requests.send('public', 'users/caller');
  }

  whenSignedIn() {
    return new Promise((resolve, reject) => this.#waiting.in.push({resolve, reject}));
  }

  whenSignedOut() {
    return new Promise((resolve, reject) => this.#waiting.out.push({resolve, reject}));
  }

  async signIn() {
    if (!this.#session || !hasPages()) {
      throw localError('SIGN_IN_FAILED', 'users sign in where there are pages: in a browser');
    }
    const {containerIdentifier, user} = this.#configuration;
    const isFresh = this.#address && Date.now() - this.#address.at < addressMilliseconds;
    const url = isFresh ? this.#address.url : this.#askAddress();
    if (user.signIn === 'redirect') return goThere(containerIdentifier, url);
    return openWindow(containerIdentifier, url, async data => {
      await this.#take(data);
      return this.#ask();
    });
  }

  async signOut() {
    const session = await this.#session?.current();
    this.#become(null, null, true);
    if (session) await this.#session.end(session);
    if (this.#isSetUp) await this.#ask();
  }

  async #take(outcome) {
    try {
      await this.#session.begin(tokenOf(outcome));
    } catch (error) {
      this.#fulfil('in', 'reject', error);
      throw error;
    }
  }

  async #ask() {
    const session = await this.#session?.current();
    let identity = null;
    try {
      identity = await this.caller();
    } catch (error) {
      if (error.ckErrorCode !== 'AUTHENTICATION_REQUIRED' || !this.#session) throw error;
      this.#keepAddress(error);
    }
    const now = await this.#session?.current();
    if (now?.id !== session?.id) return this.#ask();
    this.#become(identity, session?.id ?? null);
    return identity;
  }

  async #askAddress() {
    if (await this.#ask()) throw localError('SIGN_IN_FAILED', 'somebody is signed in already');
    return this.#address.url;
  }

  #keepAddress({redirectURL}) {
    this.#address = redirectURL ? {url: redirectURL, at: Date.now()} : null;
  }

  async #sessionEnded(session, error) {
    this.#keepAddress(error);
    if (this.#sessionID === session.id) this.#become(null, null);
    await this.#session.end(session);
  }

  async #sessionChanged() {
    const session = await this.#session.current();
    if (!this.#isSetUp || (session?.id ?? null) === this.#sessionID) return;
    await this.#ask().catch(error => this.#log('warn', String(error)));
  }

  #become(identity, sessionID, isChosen = false) {
    const before = this.#identity;
    this.#identity = identity;
    this.#sessionID = sessionID;
    if (this.#session && this.#isSetUp) this.#showButtons();
    const isSame = before?.userRecordName === identity?.userRecordName;
    if (before && !isSame) {
      this.onSignOut();
      this.#fulfil('out', 'resolve', {isChosen});
    }
    if (identity && !isSame) this.#fulfil('in', 'resolve', identity);
  }

  #fulfil(which, how, value) {
    for (const waiting of this.#waiting[which].splice(0)) waiting[how](value);
  }

  #showButtons() {
    const {signInButton, signOutButton} = this.#configuration.user;
    const into = {id: 'apple-sign-in-button', text: 'Sign in', ...signInButton};
    const out = {id: 'apple-sign-out-button', text: 'Sign out', ...signOutButton};
    const [shown, hidden, act] = this.#identity
      ? [out, into, () => this.signOut()] : [into, out, () => this.signIn()];
    hideButton(hidden);
    showButton(shown, () => act().catch(error => this.#log('warn', String(error))));
  }
}

// signature.js
const builtIn = name => import(/* webpackIgnore: true */ /* @vite-ignore */ name);

class RequestSigner {
  #given;
  #key;

  constructor(given) {
    this.#given = given;
  }

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

// values.js
function list(value) {
  if (value == null) throw localError('INVALID_ARGUMENTS', 'an argument is missing');
  return Array.isArray(value) ? value : [value];
}

function zoneIDOf(zone) {
  if (zone == null) return undefined;
  if (typeof zone === 'string') return {zoneName: zone};
  const zoneID = zone.zoneID ?? zone;
  if (typeof zoneID === 'string') return {zoneName: zoneID};
  if (typeof zoneID.zoneName !== 'string') {
    throw localError('INVALID_ARGUMENTS', 'a zone needs a zoneName');
  }
  return zoneID;
}

function recordNameOf(record) {
  const name = typeof record === 'string' ? record : record?.recordName;
  if (typeof name !== 'string') {
    throw localError('INVALID_ARGUMENTS', 'a record needs a recordName');
  }
  return name;
}

const answered = new Set(['created', 'modified', 'deleted', 'pluginFields', 'share', 'shortGUID',
  'stableUrl', 'zoneID']);

function recordToSend(record) {
  if (record === null || typeof record !== 'object') {
    throw localError('INVALID_ARGUMENTS', 'a record is an object with recordType and fields');
  }
  const entries = Object.entries(record).filter(([key]) => !answered.has(key))
    .map(([key, value]) => [key, key === 'fields' ? fieldsToSend(value) : value]);
  return Object.fromEntries(entries);
}

function receivedRecord(record) {
  for (const change of [record.created, record.modified]) {
    if (change && change.user === undefined) change.user = change.userRecordName;
  }
  return record;
}

// version.js
const version = '0.1.0';

// requests.js
const tokenHeaders = ['X-Apple-CloudKit-Web-Auth-Token', 'X-Apple-CloudKit-Session'];

class Requests {
  onSessionEnd = async () => {};
  clockOffset = undefined;
  #configuration;
  #services;
  #session;
  #signer;

  constructor(configuration, services, session) {
    this.#configuration = configuration;
    this.#services = services;
    this.#session = session;
    if (configuration.signature) this.#signer = new RequestSigner(configuration.signature);
  }

  async send(database, endpoint, body, signal) {
    return this.#call(`database/1/${this.#place}/${database}/${endpoint}`, body, signal);
  }

  async sendOfDevice(endpoint, body) {
    return this.#call(`device/1/${this.#place}/${endpoint}`, body);
  }

  async items(database, endpoint, key, body) {
    const answer = await this.send(database, endpoint, body);
    return {answer, ...partedItems(answer, key)};
  }

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

function parsedAnswer(answer, text) {
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

function partedItems(answer, key) {
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

// assets.js
const tokensMax = 200;
const uploadsAtOnce = 4;

const isFile = value => typeof Blob === 'function' && value instanceof Blob;
const isFileField = field => isFile(field?.value) ||
  Array.isArray(field?.value) && field.value.some(isFile);

async function withUploads(requests, database, zoneID, records) {
  const files = [];
  const named = records.map(record => {
    const fields = Object.entries(record.fields ?? {});
    if (!fields.some(([, field]) => isFileField(field))) return record;
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
  const {answer, text} = await requests.fetch(url, {method: 'POST', body: file}, 0);
  const {singleFile} = parsedAnswer(answer, text);
  if (!singleFile) throw localError('UNEXPECTED_SERVER_RESPONSE', 'the upload has no singleFile');
  return singleFile;
}

// batch.js
class RecordsBatchBuilder {
  #commit;
  #operations = [];

  constructor(commit) {
    this.#commit = commit;
  }

  create(records, options) { return this.#save('create', records, options); }
  update(records, options) { return this.#save('update', records, options); }
  forceUpdate(records, options) { return this.#save('forceUpdate', records, options); }
  replace(records, options) { return this.#save('replace', records, options); }
  forceReplace(records, options) { return this.#save('forceReplace', records, options); }
  delete(records) { return this.#delete('delete', records); }
  forceDelete(records) { return this.#delete('forceDelete', records); }

  createOrUpdate(records, options) {
    for (const record of list(records)) {
      this.#save(record?.recordChangeTag ? 'update' : 'create', record, options);
    }
    return this;
  }

  commit() {
    return this.#commit(this.#operations);
  }

  #save(operationType, records, {desiredKeys} = {}) {
    for (const record of list(records)) {
      this.#operations.push({operationType, record, desiredKeys});
    }
    return this;
  }

  #delete(operationType, records) {
    for (const record of list(records)) {
      const {recordChangeTag} = record;
      this.#operations.push({
        operationType, record: {recordName: recordNameOf(record), recordChangeTag},
      });
    }
    return this;
  }
}

// responses.js
class Response {
  constructor(errors, facts) {
    this.errors = errors;
    Object.assign(this, facts);
  }

  get isResponse() { return true; }
  get hasErrors() { return this.errors.length > 0; }

  toString() {
    return `${this.constructor.name} ${JSON.stringify(this)}`;
  }
}

class RecordsResponse extends Response {
  get isRecordsResponse() { return true; }
}

class QueryResponse extends RecordsResponse {
  get isQueryResponse() { return true; }
  get moreComing() { return this.continuationMarker != null; }
}

class DatabaseChangesResponse extends Response {
  get isDatabaseChangesResponse() { return true; }
}

class RecordZoneChangesResponse extends Response {
  get isRecordZoneChangesResponse() { return true; }
}

class RecordZonesResponse extends Response {
  get isRecordZonesResponse() { return true; }
}

class SubscriptionsResponse extends Response {
  get isSubscriptionsResponse() { return true; }
}

class UserIdentitiesResponse extends Response {
  get isUserIdentitiesResponse() { return true; }
}

class RecordInfosResponse extends Response {
  get isRecordInfosResponse() { return true; }
}

// channel.js
const failure = -32000;
const unknownMethod = -32601;

class Channel {
  #peer;
  #methods;
  #origin;
  #waiting = new Map();
  #asked = 0;
  #hear = event => this.#take(event);

  constructor(peer, methods, origin = null) {
    this.#peer = typeof peer === 'function' ? peer : () => peer;
    this.#methods = methods;
    this.#origin = origin;
    addEventListener('message', this.#hear);
  }

  close() {
    removeEventListener('message', this.#hear);
    for (const {reject} of this.#waiting.values()) reject(new Error('the frame was closed'));
    this.#waiting.clear();
  }

  tell(method, params) { this.#post({method, params}); }

  call(method, params) {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#post({id, method, params});
    });
  }

  #post(message) {
    this.#peer()?.postMessage({jsonrpc: '2.0', ...message}, this.#origin ?? '*');
  }

  #take({source, origin, data}) {
    if (!source || source !== this.#peer() || (this.#origin ?? origin) !== origin) return;
    if (data?.jsonrpc !== '2.0') return;
    const {id, method, params, result, error} = data;
    if (typeof method === 'string') {
      this.#origin = origin;
      this.#answer(id, method, params);
      return;
    }
    const waiting = this.#waiting.get(id);
    if (!this.#waiting.delete(id)) return;
    if (error) waiting.reject(Object.assign(new Error(error.message), error.data));
    else waiting.resolve(result);
  }

  async #answer(id, method, params) {
    let outcome;
    try {
      if (!Object.hasOwn(this.#methods, method)) {
        outcome = {error: {code: unknownMethod, message: `there is no method ${method}`}};
      } else {
        outcome = {result: await this.#methods[method](params) ?? null};
      }
    } catch (error) {
      const {ckErrorCode, serverErrorCode, reason, retryAfter} = error;
      outcome = {error: {
        code: failure, message: String(error.message),
        data: {ckErrorCode, serverErrorCode, reason, retryAfter},
      }};
    }
    if (id !== undefined && id !== null) this.#post({id, ...outcome});
  }
}

// share-ui.js
const readySeconds = 15;
const endpoints = ['records/lookup', 'records/modify'];

async function shareByFrame({serverURL, user}, send, options) {
  const asked = await sharedThing(options ?? {});
  if (!user || typeof document === 'undefined') {
    throw localError('SERVICE_UNAVAILABLE', 'sharing has a page where users sign in: in a browser');
  }
  const {dialog, frame} = overlay(serverURL, user.apiToken);
  const request = ({endpoint, body}) => {
    if (!endpoints.includes(endpoint)) throw new Error(`the sheet may not ask for ${endpoint}`);
    return send(endpoint, {...body, zoneID: asked.zoneID});
  };
  let channel;
  try {
    return await new Promise((resolve, reject) => {
      const alarm = setTimeout(() => reject(localError('SHARE_UI_TIMEOUT',
        `the sheet did not come up within ${readySeconds} seconds: has the API token the origin ` +
        `${location.origin}?`)), readySeconds * 1000);
      let isRunning = false;
      const run = () => {
        if (isRunning) return;
        isRunning = true;
        channel.call('run', asked).then(({share}) => resolve({share}), error =>
          reject(error.ckErrorCode ? new CKError(error)
            : localError('UNEXPECTED_SERVER_RESPONSE', error.message, error)));
      };
      channel = new Channel(() => frame.contentWindow, {
        channelDidOpen: run,
        applicationIsReady: ({height}) => {
          clearTimeout(alarm);
          if (height > 0) frame.style.height = `min(${Number(height)}px, calc(100vh - 2rem))`;
        },
        request,
      }, new URL(serverURL).origin);
      dialog.addEventListener('cancel', event => {
        event.preventDefault();
        if (isRunning) channel.tell('close');
        else reject(localError('SHARE_UI_TIMEOUT', 'the sheet was closed before it came up'));
      });
      document.body.append(dialog);
      dialog.showModal();
    });
  } finally {
    channel?.close();
    dialog.remove();
  }
}

async function sharedThing({record, zoneID, shareTitle, shareType, shareThumbnail,
  supportedAccess, supportedPermissions}) {
  const zone = zoneIDOf(zoneID ?? record?.zoneID);
  if (!zone) {
    throw localError('INVALID_ARGUMENTS',
      'shareWithUI() needs a zoneID, or a record that has one: the default zone shares nothing');
  }
  return {
    record: record == null ? undefined : {recordName: recordNameOf(record)}, zoneID: zone,
    shareTitle, shareType, supportedAccess, supportedPermissions,
    shareThumbnail: await pictureBytes(shareThumbnail),
  };
}

async function pictureBytes(picture) {
  if (picture == null || typeof picture === 'string') return picture ?? undefined;
  const bytes = new Uint8Array(picture instanceof Blob ? await picture.arrayBuffer() : picture);
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
}

function overlay(serverURL, apiToken) {
  const dialog = document.createElement('dialog');
  const frame = document.createElement('iframe');
  const {lang} = document.documentElement;
  const query = new URLSearchParams({ckAPIToken: apiToken, ...lang ? {lang} : {}});
  frame.src = `${serverURL}/share-sheet?${query}`;
  frame.title = 'Share';
  frame.allow = 'clipboard-write';
  frame.sandbox = 'allow-scripts allow-same-origin allow-forms';
  dialog.setAttribute('aria-label', frame.title);
  Object.assign(dialog.style, {
    padding: '0', border: '0', borderRadius: '12px', overflow: 'hidden', colorScheme: 'light dark',
    width: 'min(30rem, calc(100vw - 1rem))', maxWidth: 'none', maxHeight: 'none',
  });
  Object.assign(frame.style, {
    display: 'block', width: '100%', height: '12rem', border: '0',
  });
  dialog.append(frame);
  return {dialog, frame};
}

// database.js
class Database {
  #configuration;
  #requests;
  #promised;
  #log;
  #path;

  constructor(containerIdentifier, databaseScope, {configuration, requests, promised, log}) {
    this.containerIdentifier = containerIdentifier;
    this.databaseScope = databaseScope;
    this.#configuration = configuration;
    this.#requests = requests;
    this.#promised = promised;
    this.#log = log;
    this.#path = databaseScope.toLowerCase();
  }

  saveRecords(records, options = {}) {
    return this.#promised(async () => this.#modify(list(records).map(record => ({
      operationType: saveTypeOf(record), record,
    })), options));
  }

  deleteRecords(records, options = {}) {
    return this.#promised(async () => this.#modify(list(records).map(record => ({
      operationType: 'forceDelete', record: {recordName: recordNameOf(record)},
    })), options));
  }

  newRecordsBatch(options = {}) {
    return new RecordsBatchBuilder(
      operations => this.#promised(() => this.#modify(operations, options)));
  }

  fetchRecords(records, {zoneID, desiredKeys, numbersAsStrings} = {}) {
    return this.#promised(async () => {
      const {items, errors} = await this.#items('records/lookup', 'records', {
        records: list(records).map(record => ({recordName: recordNameOf(record)})),
        zoneID: zoneIDOf(zoneID), desiredKeys, numbersAsStrings,
      });
      return new RecordsResponse(errors, {records: items.map(receivedRecord), numbersAsStrings});
    });
  }

  performQuery(query, options = {}) {
    return this.#promised(async () => {
      if (!query) throw localError('INVALID_ARGUMENTS', 'a query is missing');
      const asked = query.isQueryResponse ? {...query, ...options} : {query, ...options};
      const {zoneWide, resultsLimit, desiredKeys, continuationMarker, numbersAsStrings} = asked;
      const kept = {
        query: asked.query, zoneID: zoneIDOf(asked.zoneID), zoneWide, resultsLimit, desiredKeys,
        numbersAsStrings,
      };
      const {answer, items, errors} = await this.#items(
        'records/query', 'records', {...kept, continuationMarker});
      return new QueryResponse(errors, {
        records: items.map(receivedRecord), ...kept, continuationMarker: answer.continuationMarker,
      });
    });
  }

  saveRecordZones(zones) {
    return this.#modifyZones('create', zones);
  }

  deleteRecordZones(zones) {
    return this.#modifyZones('delete', zones);
  }

  fetchRecordZones(zones) {
    return this.#zones('zones/lookup', () => ({zones: list(zones).map(zoneIDOf)}));
  }

  fetchAllRecordZones() {
    return this.#zones('zones/list', () => undefined);
  }

  fetchDatabaseChanges({syncToken, resultsLimit, waitSeconds} = {}) {
    return this.#promised(async () => {
      const {answer, items, errors} = await this.#items(
        'changes/database', 'zones', {syncToken, resultsLimit, waitSeconds});
      return new DatabaseChangesResponse(errors, {
        zones: items, syncToken: answer.syncToken, moreComing: Boolean(answer.moreComing),
        resultsLimit,
      });
    });
  }

  fetchRecordZoneChanges(zones, {waitSeconds} = {}) {
    return this.#promised(async () => {
      const asked = list(zones).map(zone => {
        const {syncToken, desiredKeys, desiredRecordTypes, resultsLimit, numbersAsStrings} = zone;
        return {
          zoneID: zoneIDOf(zone), syncToken, desiredKeys, desiredRecordTypes, resultsLimit,
          numbersAsStrings,
        };
      });
      const {answer, errors} = await this.#items(
        'changes/zone', 'zones', {zones: asked, waitSeconds});
      return new RecordZoneChangesResponse(errors, {
        zones: answer.zones.flatMap((zone, index) =>
          isFault(zone) ? [] : [changesOf(zone, asked[index])]),
      });
    });
  }

  saveSubscriptions(subscriptions) {
    return this.#modifySubscriptions('create', subscriptions, subscription => subscription);
  }

  deleteSubscriptions(subscriptions) {
    return this.#modifySubscriptions('delete', subscriptions, subscriptionIDOf);
  }

  fetchSubscriptions(subscriptions) {
    return this.#subscriptions('subscriptions/lookup', () => ({
      subscriptions: list(subscriptions).map(subscriptionIDOf),
    }));
  }

  fetchAllSubscriptions() {
    return this.#subscriptions('subscriptions/list', () => undefined);
  }

  request(endpoint, body, {signal} = {}) {
    return this.#promised(() => this.#requests.send(this.#path, endpoint, body, signal));
  }

  shareWithUI(options) {
    return this.#promised(async () => {
      if (this.databaseScope === 'PUBLIC') {
        throw localError('INVALID_ARGUMENTS', 'the public database is shared with everybody');
      }
      const {share} = await shareByFrame(this.#configuration,
        (endpoint, body) => this.#requests.send(this.#path, endpoint, body), options);
      return {share: share && receivedRecord(share)};
    });
  }

  toString() {
    return `Database ${this.databaseScope} of ${this.containerIdentifier}`;
  }

  #items(endpoint, key, body) {
    return this.#requests.items(this.#path, endpoint, key, body);
  }

  async #modify(operations, {zoneID, desiredKeys, atomic, numbersAsStrings}) {
    const zone = zoneIDOf(zoneID);
    const records = operations.map(({record}) => record);
    const zoneName = zone?.zoneName ?? '_defaultZone';
    if (records.some(record => (record?.zoneID?.zoneName ?? zoneName) !== zoneName)) {
      this.#log('warn', 'Records are saved in the zone of the options, whatever zone they name.');
    }
    const uploaded = await withUploads(this.#requests, this.#path, zone, records);
    const {items, errors} = await this.#items('records/modify', 'records', {
      operations: operations.map((operation, index) => ({
        ...operation, record: recordToSend(uploaded[index]),
      })),
      zoneID: zone, desiredKeys, atomic, numbersAsStrings,
    });
    return new RecordsResponse(errors, {records: items.map(receivedRecord), numbersAsStrings});
  }

  #modifyZones(operationType, zones) {
    return this.#zones('zones/modify', () => ({
      operations: list(zones).map(zone => ({operationType, zone: {zoneID: zoneIDOf(zone)}})),
    }));
  }

  #zones(endpoint, body) {
    return this.#promised(async () => {
      const {items, errors} = await this.#items(endpoint, 'zones', body());
      return new RecordZonesResponse(errors, {zones: items});
    });
  }

  #modifySubscriptions(operationType, subscriptions, form) {
    return this.#subscriptions('subscriptions/modify', () => ({
      operations: list(subscriptions).map(subscription => ({
        operationType, subscription: form(subscription),
      })),
    }));
  }

  #subscriptions(endpoint, body) {
    return this.#promised(async () => {
      const {items, errors} = await this.#items(endpoint, 'subscriptions', body());
      return new SubscriptionsResponse(errors, {subscriptions: items});
    });
  }
}

function saveTypeOf(record) {
  if (record?.recordChangeTag && record.recordName) return 'update';
  if (record?.recordType && !record.recordChangeTag) return 'create';
  throw localError('INVALID_ARGUMENTS',
    'a record to save has a recordType, or a recordName and recordChangeTag');
}

function subscriptionIDOf(subscription) {
  const subscriptionID =
    typeof subscription === 'string' ? subscription : subscription?.subscriptionID;
  if (typeof subscriptionID !== 'string') {
    throw localError('INVALID_ARGUMENTS', 'a subscription needs a subscriptionID');
  }
  return {subscriptionID};
}

function changesOf(zone, {desiredKeys, desiredRecordTypes, resultsLimit, numbersAsStrings}) {
  const {items, errors} = partedItems(zone, 'records');
  return {
    zoneID: zone.zoneID, records: items.map(receivedRecord), syncToken: zone.syncToken,
    moreComing: Boolean(zone.moreComing), desiredKeys, desiredRecordTypes, resultsLimit,
    numbersAsStrings, errors,
  };
}

// enums.js
const named = (...names) => Object.freeze(Object.fromEntries(names.map(name => [name, name])));
const withNegations = names => names.flatMap(name => [name, `NOT_${name}`]);

const constants = {
  DEVELOPMENT_ENVIRONMENT: 'development',
  PRODUCTION_ENVIRONMENT: 'production',
  CLOUDKIT_LOADED: 'cloudkitloaded',
  WS_API_VERSION: '1',
  DatabaseScope: named('PUBLIC', 'PRIVATE', 'SHARED'),
  QueryFilterComparator: named(
    ...withNegations(['EQUALS', 'IN', 'BEGINS_WITH', 'LIST_CONTAINS', 'LIST_CONTAINS_ANY',
      'LIST_CONTAINS_ALL', 'LIST_MEMBER_BEGINS_WITH']),
    'LESS_THAN', 'LESS_THAN_OR_EQUALS', 'GREATER_THAN', 'GREATER_THAN_OR_EQUALS', 'NEAR',
    'CONTAINS_ALL_TOKENS', 'CONTAINS_ANY_TOKENS'),
  ReferenceAction: named('NONE', 'DELETE_SELF', 'VALIDATE'),
  ShareParticipantAcceptanceStatus: named('UNKNOWN', 'PENDING', 'ACCEPTED'),
  ShareParticipantPermission: named('UNKNOWN', 'NONE', 'READ_ONLY', 'READ_WRITE'),
  ShareParticipantType: named('UNKNOWN', 'OWNER', 'PRIVATE_USER', 'PUBLIC_USER'),
  SubscriptionType: Object.freeze({QUERY: 'query', RECORD_ZONE: 'zone', DATABASE: 'database'}),
  ShareRecordType: Object.freeze({
    NAME: 'cloudkit.share', TITLE_FIELD_NAME: 'cloudkit.title',
    TYPE_FIELD_NAME: 'cloudkit.type',
    THUMBNAIL_IMAGE_DATA_FIELD_NAME: 'cloudkit.thumbnailImageData',
  }),
  AppleIDButtonTheme: Object.freeze({
    BLACK: 'black', WHITE: 'white', WHITE_WITH_OUTLINE: 'white-with-outline',
  }),
  NotificationType: named('NOTIFICATION_TYPE_QUERY', 'NOTIFICATION_TYPE_RECORD_ZONE'),
  QueryNotificationReason: named(
    'QUERY_NOTIFICATION_REASON_RECORD_CREATED', 'QUERY_NOTIFICATION_REASON_RECORD_UPDATED',
    'QUERY_NOTIFICATION_REASON_RECORD_DELETED'),
};

// notifications.js
const reasons = Object.values(constants.QueryNotificationReason);

class Notification {
  constructor({aps = {}, ck}, change) {
    const alert = typeof aps.alert === 'string' ? {body: aps.alert} : aps.alert ?? {};
    Object.assign(this, {
      notificationID: ck.nid, containerIdentifier: ck.cid, subscriptionID: change.sid,
      alertBody: alert.body, alertLocalizationKey: alert['loc-key'],
      alertLocalizationArgs: alert['loc-args'],
      alertActionLocalizationKey: alert['action-loc-key'], alertLaunchImage: alert['launch-image'],
      badge: aps.badge, soundName: aps.sound, category: aps.category, isPruned: Boolean(ck.p),
    });
    if (change.zid !== undefined) {
      this.zoneID = {zoneName: change.zid, ownerRecordName: change.zoid};
    }
  }

  get isNotification() { return true; }
  get isQueryNotification() { return false; }
  get isRecordZoneNotification() { return false; }

  toString() {
    return `${this.constructor.name} ${JSON.stringify(this)}`;
  }
}

class QueryNotification extends Notification {
  constructor(payload, change) {
    super(payload, change);
    this.notificationType = constants.NotificationType.NOTIFICATION_TYPE_QUERY;
    this.recordName = change.rid;
    this.recordFields = change.af ?? {};
    this.queryNotificationReason = reasons[change.fo - 1];
    this.isPublicDatabase = change.dbs === 0;
  }

  get isQueryNotification() { return true; }
}

class RecordZoneNotification extends Notification {
  constructor(payload, change) {
    super(payload, change);
    this.notificationType = constants.NotificationType.NOTIFICATION_TYPE_RECORD_ZONE;
  }

  get isRecordZoneNotification() { return true; }
}

function notificationOf(payload) {
  const {fet, qry, met} = payload.ck;
  if (fet) return new RecordZoneNotification(payload, fet);
  if (qry) return new QueryNotification(payload, qry);
  return new Notification(payload, met ?? {});
}

const rememberedMax = 500;
const failurePauseMillisecondsMax = 30_000;
const pollSeconds = 90;

class NotificationFeed {
  #configuration;
  #requests;
  #log;
  #listeners = new Set();
  #courier = null;
  #running = null;
  #told = new Set();

  constructor(configuration, requests, log) {
    this.#configuration = configuration;
    this.#requests = requests;
    this.#log = log;
  }

  get isRegistered() { return this.#courier !== null; }

  async register({apnsToken, refreshToken = false, dontPoll = false} = {}) {
    if (this.#courier && !apnsToken && !refreshToken) return;
    const kept = refreshToken ? undefined : apnsToken;
    const courier = await this.#token(kept);
    this.unregister();
    this.#courier = {...courier, isPolled: !dontPoll};
    this.#poll();
  }

  unregister() {
    this.#courier = null;
    this.#stop();
  }

  add(listener) {
    this.#listeners.add(listener);
    this.#poll();
  }

  remove(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#stop();
  }

  async #token(apnsToken) {
    const {apnsEnvironment, clientId} = this.#configuration;
    return this.#requests.sendOfDevice(
      apnsToken ? 'tokens/register' : 'tokens/create', {apnsEnvironment, apnsToken, clientId});
  }

  #stop() {
    this.#running?.abort();
    this.#running = null;
  }

  #poll() {
    if (this.#running || !this.#courier?.isPolled || this.#listeners.size === 0) return;
    const running = new AbortController();
    this.#running = running;
    this.#pollUntilStopped(running.signal)
      .catch(error => this.#log('error', `no more notifications: ${error}`))
      .finally(() => { if (this.#running === running) this.unregister(); });
  }

  async #pollUntilStopped(signal) {
    let hasToken = true;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (!hasToken) await this.#renew(signal);
        hasToken = true;
        await this.#take(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (error.ckErrorCode === 'AUTHENTICATION_FAILED' && hasToken) {
          hasToken = false;
          continue;
        }
        if (error.isAuthError) throw error;
        this.#log('warn', `waiting for notifications: ${error}`);
        const milliseconds = error.retryAfter ? error.retryAfter * 1000 : 10 * 4 ** failures++;
        await pause(Math.min(milliseconds, failurePauseMillisecondsMax), signal);
      }
    }
  }

  async #take(signal) {
    const {answer, text} = await this.#requests.fetch(
      this.#courier.webcourierURL, {signal}, pollSeconds);
    if (answer.ok && !text) return;
    const payload = parsedAnswer(answer, text);
    if (!signal.aborted && payload.ck && !isFault(payload)) this.#tell(payload);
  }

  async #renew(signal) {
    const courier = await this.#token(this.#courier.apnsToken);
    if (!signal.aborted) this.#courier = {...this.#courier, ...courier};
  }

  #tell(payload) {
    const notification = notificationOf(payload);
    const key = `${notification.notificationID} ${notification.subscriptionID}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    if (this.#told.size > rememberedMax) this.#told.delete(this.#told.values().next().value);
    for (const listener of [...this.#listeners]) {
      try {
        listener(notification);
      } catch (error) {
        this.#log('error', `a listener failed: ${error?.stack ?? error}`);
      }
    }
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

// tokens.js
const days = 14;

class MemoryTokens {
  #kept = null;

  async read() { return this.#kept; }
  async write(kept) { this.#kept = kept; }
}

class CookieTokens {
  isShared = true;
  #name;

  constructor(containerIdentifier) {
    this.#name = encodeURIComponent(containerIdentifier);
  }

  async read() {
    const start = `${this.#name}=`;
    const found = document.cookie.split('; ').find(cookie => cookie.startsWith(start));
    const parts = /^([\w-]+)~(\d+)~(\w+)$/.exec(found?.slice(start.length) ?? '');
    return parts && {id: parts[1], generation: Number(parts[2]), token: parts[3]};
  }

  async write(kept) {
    const value = kept ? `${kept.id}~${kept.generation}~${kept.token}` : '';
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `${this.#name}=${value}; Path=/; SameSite=Strict${secure}` +
      `; Max-Age=${kept ? days * 86_400 : 0}`;
  }

  async check() {
    let isKept = false;
    try {
      const probe = `${this.#name}-probe`;
      document.cookie = `${probe}=1; Path=/; SameSite=Strict`;
      isKept = document.cookie.split('; ').includes(`${probe}=1`);
      document.cookie = `${probe}=; Path=/; Max-Age=0`;
    } catch {
    }
    if (!isKept) {
      throw localError('AUTH_PERSIST_ERROR', 'this page can keep no cookie for persist: true');
    }
  }
}

class AppTokens {
  #store;
  #container;
  #kept;

  constructor(store, containerIdentifier) {
    this.#store = store;
    this.#container = containerIdentifier;
  }

  async read() {
    if (this.#kept === undefined) {
      const token = await this.#store.getToken(this.#container);
      this.#kept ??= token ? {id: 'kept', generation: 0, token} : null;
    }
    return this.#kept;
  }

  async write(kept) {
    this.#kept = kept;
    await this.#store.putToken(this.#container, kept?.token ?? null);
  }
}

// session.js
const lateCookieMilliseconds = [10, 50, 250, 1000, 1000];

class Session {
  onChange = () => {};
  #tokens;
  #known = undefined;
  #ended = new Set();
  #channel;
  #isClosed = false;

  constructor({containerIdentifier, environment, serverURL, user}, {authTokenStore}) {
    this.#tokens = authTokenStore ? new AppTokens(authTokenStore, containerIdentifier)
      : user.persist ? new CookieTokens(containerIdentifier) : new MemoryTokens();
    if (this.#tokens.isShared && typeof BroadcastChannel === 'function') {
      this.#channel = new BroadcastChannel(
        `cloudkit ${serverURL} ${containerIdentifier} ${environment}`);
      this.#channel.onmessage = ({data}) => this.#hear(data);
    }
  }

  async check() {
    await this.#tokens.check?.();
  }

  close() {
    this.#isClosed = true;
    this.#channel?.close();
  }

  async current() {
    const kept = await this.#tokens.read();
    if (kept && this.#ended.has(kept.id)) {
      await this.#tokens.write(null);
      return this.#know(null);
    }
    const known = this.#known;
    if (kept && known && kept.id === known.id && kept.generation < known.generation) {
      await this.#tokens.write(known);
      return known;
    }
    return this.#know(kept);
  }

  async begin(token) {
    const session = {id: uniqueID(), generation: 0, token};
    this.#known = session;
    await this.#tokens.write(session);
    this.#channel?.postMessage({begun: session.id});
    return session;
  }

  async follow(sent, token) {
    if (!token || token === sent.token) return;
    const current = await this.current();
    if (current?.id !== sent.id || current.generation > sent.generation) return;
    this.#known = {id: sent.id, generation: sent.generation + 1, token};
    await this.#tokens.write(this.#known);
  }

  async end({id}) {
    this.#ended.add(id);
    this.#channel?.postMessage({ended: id});
    await this.current();
    if (this.#known?.id === id) this.#known = null;
  }

  #know(session) {
    const hasChanged = this.#known !== undefined && this.#known?.id !== session?.id;
    this.#known = session;
    if (hasChanged) queueMicrotask(() => this.onChange());
    return session;
  }

  async #hear({begun, ended}) {
    if (ended) this.#ended.add(ended);
    for (const milliseconds of lateCookieMilliseconds) {
      if (this.#isClosed) return;
      const session = await this.current();
      if (!begun || session?.id === begun) return;
      await new Promise(resolve => { setTimeout(resolve, milliseconds); });
    }
  }
}

// container.js
class Container {
  #given;
  #configuration;
  #requests;
  #session;
  #auth;
  #feed;
  #promised;

  constructor(given, configuration, services, log) {
    const {containerIdentifier, environment, apnsEnvironment, user} = configuration;
    this.#given = given;
    this.#configuration = configuration;
    this.containerIdentifier = containerIdentifier;
    this.environment = environment;
    this.apnsEnvironment = apnsEnvironment;
    this.#session = user ? new Session(configuration, services) : null;
    this.#requests = new Requests(configuration, services, this.#session);
    this.#auth = new Auth(configuration, this.#session, this.#requests, log);
    this.#feed = new NotificationFeed(configuration, this.#requests, log);
    this.#auth.onSignOut = () => this.#feed.unregister();
    const {Promise: Promised} = services;
    this.#promised = work => Promised === Promise ? work()
      : new Promised((resolve, reject) => work().then(resolve, reject));
    const shared = {configuration, requests: this.#requests, promised: this.#promised, log};
    this.publicCloudDatabase = new Database(containerIdentifier, 'PUBLIC', shared);
    this.privateCloudDatabase = new Database(containerIdentifier, 'PRIVATE', shared);
    this.sharedCloudDatabase = new Database(containerIdentifier, 'SHARED', shared);
  }

  getDatabaseWithDatabaseScope(scope) {
    const database = [this.publicCloudDatabase, this.privateCloudDatabase, this.sharedCloudDatabase]
      .find(({databaseScope}) => databaseScope === scope);
    if (!database) throw localError('INVALID_ARGUMENTS', `there is no database scope ${scope}`);
    return database;
  }

  get clockOffset() { return this.#requests.clockOffset; }

  getConfig() { return this.#given; }

  setUpAuth() { return this.#promised(() => this.#auth.setUp()); }
  whenUserSignsIn() { return this.#promised(() => this.#auth.whenSignedIn()); }
  whenUserSignsOut() { return this.#promised(() => this.#auth.whenSignedOut()); }
  fetchCurrentUserIdentity() { return this.#promised(() => this.#auth.caller()); }
  signIn() { return this.#promised(() => this.#auth.signIn()); }
  signOut() { return this.#promised(() => this.#auth.signOut()); }

  discoverAllUserIdentities() { return this.#users(() => undefined); }

  discoverUserIdentities(lookupInfos) {
    return this.#users(() => ({lookupInfos: list(lookupInfos)}));
  }

  discoverUserIdentityWithEmailAddress(emailAddress) {
    return this.discoverUserIdentities([{emailAddress}]);
  }

  discoverUserIdentityWithPhoneNumber(phoneNumber) {
    return this.discoverUserIdentities([{phoneNumber}]);
  }

  discoverUserIdentityWithUserRecordName(userRecordName) {
    return this.discoverUserIdentities([{userRecordName}]);
  }

  acceptShares(shortGUIDs) { return this.#shares('records/accept', shortGUIDs); }
  fetchRecordInfos(shortGUIDs) { return this.#shares('records/resolve', shortGUIDs); }

  get isRegisteredForNotifications() { return this.#feed.isRegistered; }

  registerForNotifications(options) {
    return this.#promised(async () => {
      await this.#feed.register(options);
      return this;
    });
  }

  registerPushSubscription(subscription) {
    const {endpoint, keys: {p256dh, auth}} = subscription.toJSON();
    const {apnsEnvironment, clientId} = this.#configuration;
    return this.#promised(async () => {
      await this.#requests.sendOfDevice(
        'tokens/register', {apnsEnvironment, clientId, webPush: {endpoint, p256dh, auth}});
    });
  }

  fetchCourier(apnsToken) {
    const {apnsEnvironment} = this.#configuration;
    return this.#promised(() => this.#requests.sendOfDevice(
      apnsToken ? 'tokens/register' : 'tokens/create',
      {apnsEnvironment, apnsToken, clientId: 'lenticular-store'}));
  }

  unregisterForNotifications() { this.#feed.unregister(); }
  addNotificationListener(listener) { this.#feed.add(listener); }
  removeNotificationListener(listener) { this.#feed.remove(listener); }

  toString() {
    return `Container ${this.containerIdentifier} (${this.environment})`;
  }

  close() {
    this.#feed.unregister();
    this.#session?.close();
  }

  #users(body) {
    return this.#promised(async () => {
      const {items, errors} = await this.#requests.items(
        'public', 'users/discover', 'users', body());
      return new UserIdentitiesResponse(errors, {users: items});
    });
  }

  #shares(endpoint, shortGUIDs) {
    return this.#promised(async () => {
      const asked = list(shortGUIDs)
        .map(guid => typeof guid === 'string' ? {value: guid} : guid);
      const {items, errors} = await this.#requests.items(
        'public', endpoint, 'results', {shortGUIDs: asked});
      for (const {share, rootRecord} of items) {
        [share, rootRecord].filter(Boolean).forEach(receivedRecord);
      }
      return new RecordInfosResponse(errors, {results: items});
    });
  }
}

// cloudkit.js
let containers = [];
let services = servicesOf();

const errorCodes = Object.fromEntries(
  Object.entries(CKError).filter(([, code]) => typeof code === 'string'));

const {NotificationType, QueryNotificationReason, ...published} = constants;

const CloudKit = {
  ...published,
  ...NotificationType,
  ...QueryNotificationReason,
  VERSION: version,
  BUILD_VERSION: version,
  CKError,
  CKErrorCode: Object.freeze(errorCodes),
  logToConsole: false,

  get Promise() { return services.Promise; },

  configure(configuration) {
    const given = configuration?.containers;
    if (!Array.isArray(given) || given.length === 0) {
      throw localError('CONFIGURATION_ERROR', 'configure() needs containers');
    }
    const chosen = servicesOf(configuration.services);
    const {clientId = uniqueID(), serverURL} = configuration;
    const shared = {clientId, serverURL};
    const complete = given.map(container => containerOf(container, shared));
    containers.forEach(container => container.close());
    services = chosen;
    containers = complete.map((each, index) => new Container(given[index], each, chosen, log));
    return CloudKit;
  },

  getDefaultContainer() {
    if (containers.length === 0) {
      throw localError('CONFIGURATION_ERROR', 'call CloudKit.configure() first');
    }
    return containers[0];
  },

  getContainer(containerIdentifier) {
    return containers.find(container => container.containerIdentifier === containerIdentifier);
  },

  getAllContainers() { return [...containers]; },
};

function log(level, text) {
  const logger = services.logger ?? (CloudKit.logToConsole ? console : undefined);
  logger?.[level]?.(text);
}

if (typeof module === 'object' && module.exports) {
  module.exports = CloudKit;
} else {
  globalThis.CloudKit = CloudKit;
  globalThis.dispatchEvent?.(new Event(CloudKit.CLOUDKIT_LOADED));
}
})();
