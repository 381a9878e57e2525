import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {notificationOf} from '../src/notifications.js';
import {appOf} from './support/app.js';
import {Proxy} from './support/proxy.js';
import {Server} from './support/server.js';

describe('subscriptions and notifications', () => {
  let server, proxy, writer;

  before(async () => {
    server = await Server.start('ann');
    proxy = await Proxy.before(server);
    writer = appOf(server, server.tokens.ann).privateCloudDatabase;
    await writer.saveRecordZones('Shelf');
  });
  after(async () => {
    await proxy.stop();
    await server.stop();
  });

  const query = {subscriptionID: 'cups', subscriptionType: 'query', firesOn: ['create', 'update', 'delete'],
    query: {recordType: 'Cup'}, notificationInfo: {alertBody: 'A cup', additionalFields: ['name']}};

  /** What a listener has been told, and the next of it. */
  class Ear {
    heard = [];
    #waiting = [];
    listen = notification => {
      this.heard.push(notification);
      this.#waiting.shift()?.();
    };
    async next() {
      if (this.heard.length === 0) await new Promise(done => this.#waiting.push(done));
      return this.heard.shift();
    }
  }

  test('subscriptions are made, listed, looked up and deleted', async () => {
    const {subscriptions: [made]} = await writer.saveSubscriptions(query);
    assert.equal(made.subscriptionID, 'cups');
    assert.equal((await writer.fetchAllSubscriptions()).subscriptions.length, 1);
    const found = await writer.fetchSubscriptions([made, 'none']);
    assert.equal(found.isSubscriptionsResponse, true);
    assert.equal(found.errors[0].subscriptionID, 'none');
    await writer.deleteSubscriptions(made);
    assert.deepEqual((await writer.fetchAllSubscriptions()).subscriptions, []);
  });

  test('a listener hears of changes through polls that fail in every way', async () => {
    const app = appOf(server, server.tokens.ann, {serverURL: proxy.url, services: {
      // The place to wait at is asked for through the proxy, too.
      fetch: (url, options) => fetch(url.replace(server.url, proxy.url), options)}});
    await writer.saveSubscriptions([query, {subscriptionID: 'zone', subscriptionType: 'zone',
      zoneID: {zoneName: 'Shelf'}}]);
    const ear = new Ear();
    app.addNotificationListener(ear.listen);
    app.addNotificationListener(() => { throw new Error('of a listener'); });
    assert.equal(app.isRegisteredForNotifications, false);
    assert.equal(await app.registerForNotifications(), app);
    assert.equal(app.isRegisteredForNotifications, true);
    await writer.saveRecords({recordType: 'Cup', recordName: 'c', fields: {name: {value: 'Ida'}}});
    const created = await ear.next();
    assert.equal(created.isQueryNotification, true);
    assert.equal(created.notificationType, 'NOTIFICATION_TYPE_QUERY');
    assert.equal(created.queryNotificationReason, 'QUERY_NOTIFICATION_REASON_RECORD_CREATED');
    assert.deepEqual([created.recordName, created.subscriptionID, created.alertBody],
      ['c', 'cups', 'A cup']);
    assert.deepEqual(created.recordFields, {name: 'Ida'});
    assert.equal(created.isPublicDatabase, false);
    proxy.plan = ['refuse', [502, 'x'], [200, 'half {'],
      [401, '{"serverErrorCode":"AUTHENTICATION_FAILED"}'], [503, 'busy']];
    await writer.deleteRecords('c');
    assert.equal((await ear.next()).queryNotificationReason, 'QUERY_NOTIFICATION_REASON_RECORD_DELETED');
    await writer.saveRecords({recordType: 'Jar'}, {zoneID: 'Shelf'});
    const zone = await ear.next();
    assert.equal(zone.isRecordZoneNotification, true);
    assert.equal(zone.zoneID.zoneName, 'Shelf');
    app.unregisterForNotifications();
    assert.equal(app.isRegisteredForNotifications, false);
  });

  test('a repeat is told once, and a device does not hear of its own changes', async () => {
    const app = appOf(server, server.tokens.ann, {clientId: 'me', services: {
      fetch: (url, options) => fetch(url.replace(server.url, proxy.url), options)}});
    const payload = {aps: {}, ck: {nid: 'n1', cid: 'x', qry: {sid: 'cups', rid: 'twice', fo: 1, dbs: 0}}};
    const ear = new Ear();
    await app.registerForNotifications();
    proxy.plan = Array(2).fill([200, JSON.stringify(payload)]);
    app.addNotificationListener(ear.listen);
    assert.equal((await ear.next()).recordName, 'twice');
    await app.privateCloudDatabase.saveRecords({recordType: 'Cup', recordName: 'mine'});
    await writer.saveRecords({recordType: 'Cup', recordName: 'other'});
    assert.equal((await ear.next()).recordName, 'other');
    app.removeNotificationListener(ear.listen);
  });

  test('without a listener, or without polling, nothing waits', async () => {
    const app = appOf(server, server.tokens.ann, {serverURL: proxy.url, clientId: 'still'});
    await app.registerForNotifications({dontPoll: true});
    app.addNotificationListener(() => {});
    await app.registerForNotifications();
    const sent = proxy.targets.filter(target => target.includes('clientId=still'));
    assert.deepEqual(sent.map(target => target.split('?')[0].split('/').at(-1)), ['create']);
    await assert.rejects(appOf(server, null).registerForNotifications(),
      {ckErrorCode: 'AUTHENTICATION_REQUIRED'});
  });

  test('notices of each kind are read', () => {
    const alert = {body: 'b', 'loc-key': 'k', 'loc-args': ['a'], 'action-loc-key': 'l',
      'launch-image': 'i'};
    const ck = {nid: 'n', cid: 'c'};
    const query = notificationOf({aps: {alert, badge: 1, sound: 's', category: 'c'},
      ck: {...ck, p: 1, qry: {sid: 's', fo: 2, dbs: 0}}});
    assert.deepEqual({...query}, {
      notificationID: 'n', containerIdentifier: 'c', subscriptionID: 's', alertBody: 'b',
      alertLocalizationKey: 'k', alertLocalizationArgs: ['a'], alertActionLocalizationKey: 'l',
      alertLaunchImage: 'i', badge: 1, soundName: 's', category: 'c', isPruned: true,
      notificationType: 'NOTIFICATION_TYPE_QUERY', recordName: undefined, recordFields: {},
      queryNotificationReason: 'QUERY_NOTIFICATION_REASON_RECORD_UPDATED', isPublicDatabase: true});
    const database = notificationOf({ck: {...ck, met: {sid: 's', dbs: 1, zid: 'z', zoid: 'o'}}});
    assert.equal(database.isQueryNotification || database.isRecordZoneNotification, false);
    assert.deepEqual(database.zoneID, {zoneName: 'z', ownerRecordName: 'o'});
  });
});
