// What CloudKit.configure() is given, checked and completed.

import {localError} from './errors.js';
import {scriptURL} from './script.js';

/** Longer than the server holds an answer for `waitSeconds`. */
const timeoutSeconds = 90;

/** The server that this file came from, where one serves it. */
const servedBy = /^(https?:\/\/.+)\/client\/[^/]+\/cloudkit\.c?js/.exec(scriptURL ?? '')?.[1];

const refuse = reason => { throw localError('CONFIGURATION_ERROR', reason); };

export function servicesOf(given = {}) {
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
    // Looked up at each call, so that a page may replace the global one.
    fetch: fetch ?? ((...all) => globalThis.fetch(...all)),
    Promise: promise ?? Promise, logger, authTokenStore,
    timeoutSeconds: given.timeoutSeconds ?? timeoutSeconds,
  };
}

export function containerOf(given, shared) {
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
