// One container: its databases, its user, the people known there, shares and notifications.

import {Auth} from './auth.js';
import {Database} from './database.js';
import {localError} from './errors.js';
import {NotificationFeed} from './notifications.js';
import {Requests} from './requests.js';
import {RecordInfosResponse, UserIdentitiesResponse} from './responses.js';
import {Session} from './session.js';
import {list, receivedRecord} from './values.js';

export class Container {
  #given;
  #configuration;
  #requests;
  #session;
  #auth;
  #feed;
  #promised;

  /** `given`: what the app has configured; `configuration`: the same, completed. */
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

  /** Has notices sent to a `PushSubscription` of the browser, also while no page is open. */
  registerPushSubscription(subscription) {
    const {endpoint, keys: {p256dh, auth}} = subscription.toJSON();
    const {apnsEnvironment, clientId} = this.#configuration;
    return this.#promised(async () => {
      await this.#requests.sendOfDevice(
        'tokens/register', {apnsEnvironment, clientId, webPush: {endpoint, p256dh, auth}});
    });
  }

  /**
   * Where notices wait that are told to no listener, also those of this page's own changes:
   * `{webcourierURL, apnsToken}`. It goes on with a token that it had before.
   */
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

  /** Ends what goes on for it: another configuration takes its place. */
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
