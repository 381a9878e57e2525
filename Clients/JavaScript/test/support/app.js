// An app of the tests: a container of its own configuration, signed in as somebody.

import {containerOf, servicesOf} from '../../src/configuration.js';
import {Container} from '../../src/container.js';
import {containerIdentifier} from './server.js';

/** Keeps a token as an app's own store does. */
export class TokenStore {
  constructor(token) { this.token = token; }
  getToken() { return this.token; }
  putToken(_, token) { this.token = token; }
}

let devices = 0;

/** The container of somebody's app; several may be open in one test. */
export function appOf(server, token, {services = {}, clientId, serverURL, ...more} = {}) {
  const given = {
    containerIdentifier, environment: 'development', apiTokenAuth: {apiToken: server.apiToken},
    ...more,
  };
  const shared = {serverURL: serverURL ?? server.url, clientId: clientId ?? `device-${++devices}`};
  const all = servicesOf({authTokenStore: new TokenStore(token), ...services});
  return new Container(given, containerOf(given, shared), all, (level, text) => {
    services.logger?.[level]?.(text);
  });
}
