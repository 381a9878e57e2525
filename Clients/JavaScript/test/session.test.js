import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {Session} from '../src/session.js';
import {appOf, TokenStore} from './support/app.js';
import {Proxy} from './support/proxy.js';
import {containerIdentifier, Server} from './support/server.js';

/** The cookies of an origin, as the documents of all its tabs have them. */
class Jar {
  /** After how long what is set is there. */
  milliseconds = 0;
  #cookies = new Map();
  getElementById() { return null; }
  get cookie() { return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '); }
  set cookie(text) {
    if (this.milliseconds) setTimeout(() => this.#set(text), this.milliseconds);
    else this.#set(text);
  }
  #set(text) {
    const [pair, ...attributes] = text.split('; ');
    const [name, value] = pair.split('=');
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

const configuration = {containerIdentifier, environment: 'development', serverURL: 'http://sync.example',
  user: {persist: true}};
const told = session => new Promise(done => { session.onChange = done; });

describe('a session that tabs share', () => {
  let tabs, jar;
  const tab = () => {
    tabs.push(new Session(configuration, {}));
    return tabs.at(-1);
  };

  const each = work => async () => {
    tabs = [];
    jar = new Jar();
    Object.assign(globalThis, {document: jar, location: {protocol: 'https:'}});
    try {
      await work();
    } finally {
      for (const each of tabs) each.close();
      delete globalThis.document;
      delete globalThis.location;
    }
  };

  test('a token that one tab gets is that of the other one', each(async () => {
    const [a, b] = [tab(), tab()];
    assert.equal(await b.current(), null);
    const heard = told(b);
    await a.begin('t1');
    await heard;
    const old = await b.current();
    assert.equal(old.token, 't1');
    await a.follow(await a.current(), 't2');
    assert.equal((await b.current()).token, 't2');
    // An answer that was on its way in the other tab brings an older token.
    await b.follow(old, 't1b');
    assert.equal((await a.current()).token, 't2');
    assert.equal((await tab().current()).token, 't2');
  }));

  test('an older token that got into the cookie gives way to the newer one', each(async () => {
    const a = tab();
    await a.begin('t1');
    const before = jar.cookie;
    await a.follow(await a.current(), 't2');
    jar.cookie = before;
    assert.equal((await a.current()).token, 't2');
    assert.match(jar.cookie, /~1~t2$/);
  }));

  test('signing out ends the session in all tabs, whatever was on its way', each(async () => {
    const [a, b] = [tab(), tab()];
    const session = await a.begin('t1');
    await b.current();
    const heard = told(b);
    await a.end(session);
    await heard;
    assert.equal(await b.current(), null);
    await b.follow(session, 't2');
    assert.equal(jar.cookie, '');
    // Even when the other tab wrote it just before it heard of the end.
    jar.cookie = `${containerIdentifier}=${session.id}~5~t5`;
    while (await b.current()) await new Promise(done => { setImmediate(done); });
    assert.equal(await a.current(), null);
    assert.equal(jar.cookie, '');
  }));

  test('the end of an earlier session leaves that of somebody else alone', each(async () => {
    const [a, b] = [tab(), tab()];
    const first = await a.begin('t1');
    await b.current();
    const second = await b.begin('u1');
    await a.end(first);
    assert.equal((await a.current()).token, 'u1');
    assert.equal((await b.current()).id, second.id);
  }));

  test('a late answer about nobody hides nobody who has signed in meanwhile', each(async () => {
    let answer, ask;
    const held = new Promise(done => { answer = done; });
    const asking = new Promise(done => { ask = done; });
    const fetch = async url => {
      if (url.includes('ckWebAuthToken=t1&')) return Response.json({userRecordName: '_ann'});
      ask();
      await held;
      return Response.json({serverErrorCode: 'AUTHENTICATION_REQUIRED'}, {status: 421});
    };
    const app = appOf({apiToken: 'a'}, null, {serverURL: configuration.serverURL,
      apiTokenAuth: {apiToken: 'a', persist: true}, services: {authTokenStore: undefined, fetch}});
    tabs.push(app);
    const [asked, signedIn] = [app.setUpAuth(), app.whenUserSignsIn()];
    let isSignedOut = false;
    app.whenUserSignsOut().then(() => { isSignedOut = true; });
    await asking;
    await tab().begin('t1');
    assert.equal((await signedIn).userRecordName, '_ann');
    answer();
    assert.equal((await asked)?.userRecordName, '_ann');
    assert.equal(isSignedOut, false);
  }));

  test('a cookie that comes later than the message about it is waited for', each(async () => {
    const [a, b] = [tab(), tab()];
    await b.current();
    const heard = told(b);
    jar.milliseconds = 30;
    await a.begin('t1');
    await heard;
    assert.equal((await b.current()).token, 't1');
  }));

  test("a cookie that is somebody else's is no session", each(async () => {
    for (const value of ['', 'x', 'a~b~c', 'a~1~t!', '%00~1~t']) {
      jar.cookie = `${containerIdentifier}=${value}`;
      assert.equal(await tab().current(), null, value);
    }
  }));

  test('where no cookie is kept, persist is refused', each(async () => {
    await tab().check();
    Object.defineProperty(jar, 'cookie', {get: () => '', set() {}});
    await assert.rejects(tab().check(), {ckErrorCode: 'AUTH_PERSIST_ERROR', remedy: /authTokenStore/});
    delete globalThis.document;
    await assert.rejects(tab().check(), {ckErrorCode: 'AUTH_PERSIST_ERROR'});
  }));
});

describe('signing in and out by tokens', () => {
  let server, proxy;

  before(async () => {
    server = await Server.start('ann', 'bob');
    proxy = await Proxy.before(server);
  });
  after(async () => {
    await proxy.stop();
    await server.stop();
  });

  test('setUpAuth resolves with the user, or with null, as often as it is called', async () => {
    const nobody = appOf(server, null);
    assert.equal(await nobody.setUpAuth(), null);
    assert.equal(await nobody.setUpAuth(), null);
    await assert.rejects(nobody.privateCloudDatabase.fetchAllRecordZones(), error =>
      error.ckErrorCode === 'AUTHENTICATION_REQUIRED' && error.redirectURL.startsWith(server.url) &&
      error.isAuthError);
    const ann = appOf(server, server.tokens.ann);
    const signedIn = ann.whenUserSignsIn();
    const [one, two] = await Promise.all([ann.setUpAuth(), ann.setUpAuth()]);
    assert.deepEqual(one, two);
    assert.equal((await signedIn).userRecordName, one.userRecordName);
    await assert.rejects(ann.signIn(), {ckErrorCode: 'SIGN_IN_FAILED'});
  });

  test("signing out forgets the token in the app's store, and is told once", async () => {
    const store = new TokenStore(server.webToken('ann'));
    const ann = appOf(server, null, {services: {authTokenStore: store}});
    await ann.setUpAuth();
    const [first, second] = [ann.whenUserSignsOut(), ann.whenUserSignsOut()];
    await ann.signOut();
    assert.deepEqual(await Promise.all([first, second]), [{isChosen: true}, {isChosen: true}]);
    assert.equal(store.token, null);
    assert.equal(await ann.setUpAuth(), null);
  });

  test('a token that has ended ends the session, and the error leads to sign in', async () => {
    const store = new TokenStore(server.tokens.bob);
    const bob = appOf(server, null, {services: {authTokenStore: store}});
    assert.equal((await bob.setUpAuth()).nameComponents.givenName, 'bob');
    const signedOut = bob.whenUserSignsOut();
    server.endSessions('bob');
    await assert.rejects(
      bob.privateCloudDatabase.fetchAllRecordZones(), {ckErrorCode: 'AUTHENTICATION_REQUIRED'});
    assert.deepEqual(await signedOut, {isChosen: false});
    assert.equal(store.token, null);
  });

  test('the token of an answer is that of the next request, also of a refusal', async () => {
    const next = {'X-Apple-CloudKit-Web-Auth-Token': server.webToken('ann')};
    const store = new TokenStore(server.tokens.ann);
    const ann = appOf(server, null, {serverURL: proxy.url, services: {authTokenStore: store}});
    proxy.plan = [[400, '{"serverErrorCode":"BAD_REQUEST"}', next]];
    await assert.rejects(ann.privateCloudDatabase.fetchAllRecordZones(), {ckErrorCode: 'BAD_REQUEST'});
    const [token] = Object.values(next);
    assert.equal(store.token, token);
    await ann.privateCloudDatabase.fetchAllRecordZones();
    assert.match(proxy.targets.at(-1), new RegExp(`ckWebAuthToken=${token}&ckAPIToken=${server.apiToken}$`));
  });

  test('an answer to a request of an earlier session brings no token into this one', async () => {
    const store = new TokenStore(server.tokens.ann);
    const ann = appOf(server, null, {serverURL: proxy.url, services: {authTokenStore: store}});
    proxy.plan = [[200, '{"zones":[]}', {'X-Apple-CloudKit-Web-Auth-Token': 'late'}]];
    const late = ann.privateCloudDatabase.fetchAllRecordZones();
    await ann.signOut();
    await late;
    assert.equal(store.token, null);
  });

  test('an app without a store keeps its token in memory, and promises are of its own class', async () => {
    class Promised extends Promise {}
    const app = appOf(server, null, {services: {authTokenStore: undefined, Promise: Promised}});
    assert.ok(app.setUpAuth() instanceof Promised);
    assert.ok(app.publicCloudDatabase.fetchRecords('x') instanceof Promised);
    assert.equal(await app.setUpAuth(), null);
  });
});
