import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {appOf} from './support/app.js';
import {Server} from './support/server.js';

describe('zones, changes, shares and people', () => {
  let server, ann, bob;

  before(async () => {
    server = await Server.start('ann', 'bob');
    ann = appOf(server, server.tokens.ann);
    bob = appOf(server, server.tokens.bob);
  });
  after(() => server.stop());

  test('zones are made, listed, looked up and deleted', async () => {
    const database = ann.privateCloudDatabase;
    const {zones} = await database.saveRecordZones(['One', {zoneID: {zoneName: 'Two'}}]);
    assert.deepEqual(zones.map(({zoneID}) => zoneID.zoneName), ['One', 'Two']);
    const all = await database.fetchAllRecordZones();
    assert.equal(all.isRecordZonesResponse, true);
    assert.deepEqual(all.zones.map(({zoneID}) => zoneID.zoneName).sort(), ['One', 'Two', '_defaultZone']);
    const found = await database.fetchRecordZones([zones[0], 'Three']);
    assert.equal(found.zones.length, 1);
    assert.equal(found.errors[0].ckErrorCode, 'ZONE_NOT_FOUND');
    assert.equal(found.errors[0].zoneID.zoneName, 'Three');
    assert.equal((await database.deleteRecordZones(zones)).hasErrors, false);
  });

  test('what has changed is followed by tokens, page by page', async () => {
    const database = ann.privateCloudDatabase;
    const start = await database.fetchDatabaseChanges();
    await database.saveRecordZones('Log');
    const save = numbers => database.newRecordsBatch({zoneID: 'Log'}).create(numbers.map(n => ({
      recordType: 'Entry', recordName: `e${n}`, fields: {n: {value: n}}}))).commit();
    await save([1, 2, 3]);
    const changed = await database.fetchDatabaseChanges(start);
    assert.deepEqual(changed.zones.map(({zoneID}) => zoneID.zoneName), ['Log']);
    assert.equal(changed.moreComing, false);
    let zones = changed.zones.map(zone => ({...zone, resultsLimit: 2}));
    const seen = [];
    for (let more = true; more;) {
      ({zones} = await database.fetchRecordZoneChanges(zones));
      seen.push(...zones[0].records);
      more = zones[0].moreComing;
      assert.equal(zones[0].resultsLimit, 2);
    }
    assert.deepEqual(seen.map(({recordName}) => recordName), ['e1', 'e2', 'e3']);
    await database.deleteRecords('e2', {zoneID: 'Log'});
    ({zones} = await database.fetchRecordZoneChanges(zones));
    assert.deepEqual(zones[0].records.map(({recordName, deleted}) => [recordName, deleted]), [['e2', true]]);
  });

  test('zones of one name but two owners are answered each with its own options', async () => {
    const mine = await ann.privateCloudDatabase.fetchRecordZoneChanges([
      {zoneID: 'Nowhere'}, {zoneID: {zoneName: 'Log'}, desiredKeys: ['n'], resultsLimit: 7}]);
    assert.equal(mine.errors[0].ckErrorCode, 'ZONE_NOT_FOUND');
    assert.deepEqual(mine.zones.map(({desiredKeys, resultsLimit}) => [desiredKeys, resultsLimit]), [[['n'], 7]]);
  });

  test('an answer without news may be waited for', async () => {
    const database = ann.privateCloudDatabase;
    const now = await database.fetchDatabaseChanges();
    const waiting = database.fetchDatabaseChanges({syncToken: now.syncToken, waitSeconds: 30});
    await database.saveRecordZones('Late');
    const {zones} = await waiting;
    assert.deepEqual(zones.map(({zoneID}) => zoneID.zoneName), ['Late']);
  });

  test('a record is shared by its link, accepted, and read in the shared database', async () => {
    const database = ann.privateCloudDatabase;
    await database.saveRecordZones('Notes');
    const {records: [root]} = await database.saveRecords({
      recordType: 'Note', recordName: 'r', fields: {text: {value: 'for all'}}, createShortGUID: true,
    }, {zoneID: 'Notes'});
    const {records: [share], errors} = await database.newRecordsBatch({zoneID: 'Notes', atomic: true})
      .create({recordType: 'cloudkit.share', fields: {}, publicPermission: 'READ_ONLY',
        forRecord: {recordName: 'r', recordChangeTag: root.recordChangeTag}}).commit();
    assert.deepEqual(errors, []);
    assert.equal(share.shortGUID, root.shortGUID);
    const seen = await bob.fetchRecordInfos({value: root.shortGUID, shouldFetchRootRecord: true});
    assert.equal(seen.isRecordInfosResponse, true);
    assert.equal(seen.results[0].rootRecord.fields.text.value, 'for all');
    const {results: [info]} = await bob.acceptShares(root.shortGUID);
    assert.equal(info.participantStatus, 'ACCEPTED');
    assert.equal(info.share.created.user, info.ownerIdentity.userRecordName);
    const {records} = await bob.sharedCloudDatabase.fetchRecords('r', {zoneID: info.zoneID});
    assert.equal(records[0].fields.text.value, 'for all');
    const {zones} = await bob.sharedCloudDatabase.fetchDatabaseChanges();
    assert.deepEqual(zones.map(({zoneID}) => zoneID.zoneName), ['Notes']);
    await assert.rejects(bob.acceptShares('nothing'), {ckErrorCode: 'NOT_FOUND'});
    await assert.rejects(
      database.shareWithUI({record: root}), {ckErrorCode: 'SERVICE_UNAVAILABLE', reason: /in a browser/});
  });

  test('people are found by what they are known by', async () => {
    const me = await ann.fetchCurrentUserIdentity();
    assert.equal(me.nameComponents.givenName, 'ann');
    const {users: [user]} = await bob.discoverUserIdentityWithUserRecordName(me.userRecordName);
    assert.equal(user.lookupInfo.userRecordName, me.userRecordName);
    const {users} = await bob.discoverUserIdentities([
      {emailAddress: 'ann@example.org'}, {emailAddress: 'nobody@example.org'}]);
    assert.deepEqual(users.map(({lookupInfo}) => lookupInfo.emailAddress),
      ['ann@example.org', 'nobody@example.org']);
    assert.equal((await bob.discoverUserIdentityWithEmailAddress('x@example.org')).users.length, 1);
    assert.equal((await bob.discoverUserIdentityWithPhoneNumber('+15550100')).users.length, 1);
    assert.equal((await bob.discoverAllUserIdentities()).isUserIdentitiesResponse, true);
  });
});
