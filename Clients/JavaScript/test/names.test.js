import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {describe, test} from 'node:test';
import {CKError, CloudKit} from '../cloudkit.js';
import {notificationOf} from '../src/notifications.js';

// The names that pages written for the original use.
const {missing, ...names} = JSON.parse(readFileSync(new URL('names.json', import.meta.url)));

/** Answers as a server would, so that each class can be looked at. */
const answers = {
  records: [], zones: [{zoneID: {zoneName: 'z'}, records: []}], subscriptions: [], users: [], results: [],
  syncToken: 't', continuationMarker: 'm',
};

async function samples() {
  CloudKit.configure({
    serverURL: 'https://sync.example.org',
    services: {fetch: async () => Response.json(answers)},
    containers: [{containerIdentifier: 'x', environment: 'development', apiTokenAuth: {apiToken: 'a'}}],
  });
  const container = CloudKit.getDefaultContainer();
  const database = container.privateCloudDatabase;
  const zoneChanges = await database.fetchRecordZoneChanges({zoneID: 'z'});
  return {
    CloudKit, Container: container, Database: database,
    RecordsBatchBuilder: database.newRecordsBatch(),
    RecordsResponse: await database.saveRecords({recordType: 'A'}),
    QueryResponse: await database.performQuery({recordType: 'A'}),
    DatabaseChangesResponse: await database.fetchDatabaseChanges(),
    RecordZoneChangesResponse: zoneChanges, RecordZoneChanges: zoneChanges.zones[0],
    RecordZonesResponse: await database.fetchAllRecordZones(),
    SubscriptionsResponse: await database.fetchAllSubscriptions(),
    UserIdentitiesResponse: await container.discoverAllUserIdentities(),
    RecordInfosResponse: await container.acceptShares('a'),
    Notification: notificationOf({aps: {}, ck: {fet: {zid: 'z'}}}),
    QueryNotification: notificationOf({aps: {}, ck: {qry: {zid: 'z', fo: 1}}}),
    RecordZoneNotification: notificationOf({aps: {}, ck: {fet: {zid: 'z'}}}),
    CKError: new CKError({
      serverErrorCode: 'CONFLICT', extensionErrorCode: 'e', uuid: 'u', retryAfter: 1, redirectURL: 'r',
      recordName: 'n', zoneID: {}, subscriptionID: 's'}),
    ...Object.fromEntries(Object.keys(names).filter(name => typeof CloudKit[name] === 'object')
      .map(name => [name, CloudKit[name]])),
  };
}

describe('the names that apps know', () => {
  test('each is there, but for those that are listed with a reason', async () => {
    const found = await samples();
    for (const [type, members] of Object.entries(names)) {
      for (const member of members) assert.ok(member in found[type], `${type}.${member}`);
    }
    const all = [...Object.keys(names), ...Object.values(names).flat()];
    for (const [gone, reason] of Object.entries(missing)) {
      assert.ok(reason.length > 20);
      for (const name of gone.split(', ')) assert.ok(!all.includes(name), name);
    }
  });

  test('there is no constant beside the listed ones, and each has the value that it is known by', () => {
    for (const name of ['DatabaseScope', 'QueryFilterComparator', 'ReferenceAction', 'CKErrorCode',
      'ShareParticipantAcceptanceStatus', 'ShareParticipantPermission', 'ShareParticipantType']) {
      assert.deepEqual(Object.keys(CloudKit[name]).sort(), [...names[name]].sort());
      for (const [key, value] of Object.entries(CloudKit[name])) assert.equal(value, key);
    }
    assert.deepEqual(CloudKit.SubscriptionType, {QUERY: 'query', RECORD_ZONE: 'zone', DATABASE: 'database'});
    assert.equal(CloudKit.CLOUDKIT_LOADED, 'cloudkitloaded');
    assert.equal(CloudKit.DEVELOPMENT_ENVIRONMENT, 'development');
    assert.equal(CloudKit.PRODUCTION_ENVIRONMENT, 'production');
    assert.equal(CloudKit.AppleIDButtonTheme.WHITE_WITH_OUTLINE, 'white-with-outline');
  });

  test('the latest configuration counts, and its containers are found by their names', () => {
    const container = {environment: 'development', apiTokenAuth: {apiToken: 'a'}};
    const containers = ['one', 'two'].map(containerIdentifier => ({...container, containerIdentifier}));
    const promise = class extends Promise {};
    assert.equal(CloudKit.configure({
      serverURL: 'https://a.example/', services: {Promise: promise}, containers}), CloudKit);
    assert.equal(CloudKit.Promise, promise);
    assert.equal(CloudKit.getDefaultContainer(), CloudKit.getContainer('one'));
    assert.equal(CloudKit.getContainer('two').getConfig(), containers[1]);
    assert.equal(CloudKit.getContainer('three'), undefined);
    assert.equal(CloudKit.getAllContainers().length, 2);
    assert.equal(CloudKit.getDefaultContainer().apnsEnvironment, 'development');
  });
});
