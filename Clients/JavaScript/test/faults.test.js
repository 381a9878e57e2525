import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {CKError, CloudKit} from '../cloudkit.js';
import {appOf} from './support/app.js';
import {Proxy} from './support/proxy.js';
import {containerIdentifier, Server} from './support/server.js';

describe('what goes wrong', () => {
  let server, proxy, database, hasty;

  before(async () => {
    server = await Server.start('ann');
    proxy = await Proxy.before(server);
    const at = services => appOf(server, server.tokens.ann, {serverURL: proxy.url, services}).privateCloudDatabase;
    database = at({});
    hasty = at({timeoutSeconds: 1});
  });
  after(async () => {
    await proxy.stop();
    await server.stop();
  });

  const refused = async (fate, expected, asked = database) => {
    proxy.plan = [fate];
    await assert.rejects(asked.fetchRecords('x'), error => {
      assert.equal(error instanceof Error && error.isCKError && error.isError, true);
      assert.notEqual(error.remedy, '');
      assert.match(String(error), new RegExp(`^CKError ${expected.ckErrorCode}`));
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(error[key], value, key);
      return true;
    });
  };

  test('an answer that is lost, cut or late is a NETWORK_ERROR', async () => {
    for (const fate of ['lose', 'cut']) {
      await refused(fate, {ckErrorCode: 'NETWORK_ERROR', isServerError: false});
    }
    await refused('hold', {ckErrorCode: 'NETWORK_ERROR', isServerError: false, reason: 'no answer within 1 seconds'}, hasty);
  });

  test('a request is never sent again by itself: the write whose answer was lost is there once', async () => {
    const start = proxy.targets.length;
    proxy.plan = ['lose'];
    await assert.rejects(database.saveRecords({recordType: 'Once', recordName: 'once'}),
      {ckErrorCode: 'NETWORK_ERROR', remedy: /fetch before/});
    assert.equal(proxy.targets.length, start + 1);
    assert.equal((await database.fetchRecords('once')).records.length, 1);
    const again = await database.saveRecords({recordType: 'Once', recordName: 'once'});
    assert.equal(again.errors[0].ckErrorCode, 'CONFLICT');
  });

  test('what is no answer of the server has the code for it', async () => {
    await refused([502, '<html>'], {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    await refused([200, '<html>'], {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    await refused([200, ''], {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    await refused([200, 'null'], {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    await refused([200, '{"other":[]}'], {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    await refused([503, 'busy', {'Retry-After': '7'}], {ckErrorCode: 'SERVICE_UNAVAILABLE', retryAfter: 7});
    await refused([500, '{}'], {ckErrorCode: 'UNKNOWN_ERROR'});
    await refused([500, '[]'], {ckErrorCode: 'UNKNOWN_ERROR'});
    await refused([500, '"text"'], {ckErrorCode: 'UNKNOWN_ERROR'});
  });

  test("the server's faults have their facts", async () => {
    const fault = {uuid: 'u', serverErrorCode: 'THROTTLED', reason: 'slow', retryAfter: 2.5};
    await refused([429, JSON.stringify(fault), {'Retry-After': '3'}], {
      ckErrorCode: 'THROTTLED', serverErrorCode: 'THROTTLED', reason: 'slow', retryAfter: 2.5, uuid: 'u',
      isServerError: true, isServerExtensionError: false, isAuthError: false});
    await refused([400, '{"serverErrorCode":"NEW","redirectUrl":"https://a.example","subscriptionId":"s"}'],
      {ckErrorCode: 'UNKNOWN_ERROR', serverErrorCode: 'NEW', redirectURL: 'https://a.example',
        subscriptionID: 's'});
    await refused([400, '{"extensionErrorCode":"E","serverErrorCode":"toString"}'],
      {ckErrorCode: 'UNKNOWN_ERROR', isServerExtensionError: true});
    await assert.rejects(database.performQuery({recordType: 'None'}), {ckErrorCode: 'NOT_FOUND'});
    const expired = await database.fetchDatabaseChanges({syncToken: 'AAAA'}).catch(error => error);
    assert.equal(expired.ckErrorCode, 'BAD_REQUEST');
    assert.equal(CKError.CONFLICT, 'CONFLICT');
    assert.equal(JSON.parse(JSON.stringify(expired)).ckErrorCode, 'BAD_REQUEST');
  });

  test('a wrong API token is told by setUpAuth', async () => {
    const wrong = appOf({...server, url: server.url, apiToken: 'f'.repeat(64)}, null);
    await assert.rejects(wrong.setUpAuth(), {ckErrorCode: 'AUTHENTICATION_FAILED', isAuthError: true});
  });

  test('a configuration that cannot work is refused with what is wrong', () => {
    const container = {containerIdentifier, environment: 'development', apiTokenAuth: {apiToken: 'a'}};
    const wrong = [
      [undefined, /needs containers/], [{containers: []}, /needs containers/],
      [{containers: [container]}, /serverURL/],
      [{serverURL: 'sync.example.org', containers: [container]}, /http or https/],
      [{serverURL: server.url, containers: [{...container, environment: 'x'}]}, /environment/],
      [{serverURL: server.url, containers: [{...container, apiTokenAuth: undefined}]}, /either/],
      [{serverURL: server.url, containers: [{...container, apiTokenAuth: {}}]}, /apiToken/],
      [{serverURL: server.url, containers: [{...container, containerIdentifier: ''}]}, /containerId/],
      [{serverURL: server.url, containers: [container], services: {fetch: 1}}, /fetch/],
      [{serverURL: server.url, containers: [container], services: {authTokenStore: {}}}, /putToken/],
    ];
    for (const [configuration, reason] of wrong) {
      assert.throws(() => CloudKit.configure(configuration), {ckErrorCode: 'CONFIGURATION_ERROR', reason});
    }
    assert.throws(() => CloudKit.getDefaultContainer(), {ckErrorCode: 'CONFIGURATION_ERROR'});
  });
});
