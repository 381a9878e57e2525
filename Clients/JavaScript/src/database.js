// The operations of one database.

import {withUploads} from './assets.js';
import {RecordsBatchBuilder} from './batch.js';
import {isFault, localError} from './errors.js';
import {partedItems} from './requests.js';
import {
  DatabaseChangesResponse, QueryResponse, RecordsResponse, RecordZoneChangesResponse,
  RecordZonesResponse, SubscriptionsResponse,
} from './responses.js';
import {shareByFrame} from './share-ui.js';
import {list, receivedRecord, recordNameOf, recordToSend, zoneIDOf} from './values.js';

export class Database {
  #configuration;
  #requests;
  #promised;
  #log;
  #path;

  /** `promised` makes what a method returns out of its work. */
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

  /** `query`: or a response, to ask for what follows it. */
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

  /** `zones`: what to ask of each; the `zones` of responses will do. */
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
        // Each stands where it was asked for.
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

  /** Sends to any endpoint of this database, such as `changes/zone`; resolves with the answer. */
  request(endpoint, body, {signal} = {}) {
    return this.#promised(() => this.#requests.send(this.#path, endpoint, body, signal));
  }

  /** Shows the server's share sheet over the page, until it is closed. */
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

/** The changes of one zone, with what was asked for, so that they can be handed in again. */
function changesOf(zone, {desiredKeys, desiredRecordTypes, resultsLimit, numbersAsStrings}) {
  const {items, errors} = partedItems(zone, 'records');
  return {
    zoneID: zone.zoneID, records: items.map(receivedRecord), syncToken: zone.syncToken,
    moreComing: Boolean(zone.moreComing), desiredKeys, desiredRecordTypes, resultsLimit,
    numbersAsStrings, errors,
  };
}
