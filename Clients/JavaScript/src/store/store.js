// The store: records of a container's zones on this device, which sync while there is a network.

import {fieldsToSend} from '../fields.js';
import {changed, contentOf, mergeByField} from './content.js';
import {Encryption} from './encryption.js';
import {edited, entryAfterRetry} from './entries.js';
import {StoreError} from './errors.js';
import {Files} from './files.js';
import {IndexedJournal, MemoryJournal} from './journal.js';
import {callAll} from './listeners.js';
import {LiveQuery} from './live.js';
import {Orders} from './orders.js';
import {enablePush, syncOnPush} from './push.js';
import {Replica} from './replica.js';
import {Shares} from './shares.js';
import {Synchronizer} from './sync.js';
import {Tabs} from './tabs.js';
import {Wire} from './wire.js';
import {StoreZone} from './zone.js';
import {zoneOf} from './zones.js';

export class LenticularStore {
  #container;
  #options;
  #merge;
  #journal;
  #replica;
  #tabs;
  #sync;
  #shares;
  #files;
  #queries = new Set();
  #orders;
  #listeners = new Map();
  #status = {state: 'starting', error: undefined, isLeader: false};
  #asked = new Map();
  #isClosed = false;

  /**
   * Opens what this device has, and begins to sync.
   *
   * `container`: of cloudkit.js. `name`: of this store among the app's. `zones`: names of the
   * private zones to follow, all by default. `hasShared`: whether to follow the shared database.
   * `merge`: in place of `mergeByField`. `keepsOnSignOut`, `onAccountChange`: what becomes of the
   * data. `storage`: 'browser', or 'memory'.
   */
  static async open({container, name = 'default', storage = 'browser', ...options}) {
    if (!container) throw new StoreError('INVALID_ARGUMENTS', 'open() needs a container');
    const {containerIdentifier, environment} = container;
    const fullName = `lenticular ${containerIdentifier} ${environment} ${name}`;
    const journal = options.journal ?? await journalOf(fullName, storage);
    const store = new LenticularStore(container, fullName, journal, options);
    await store.#start();
    return store;
  }

  /** Stores are made by `open`. */
  constructor(container, name, journal, {
    zones, hasShared = true, merge = mergeByField, keepsOnSignOut = false,
    onAccountChange = 'drop', locks, backoffMilliseconds = 1000, cacheBytesMax = 50 << 20,
    fetch = (...all) => globalThis.fetch(...all),
    EventSource = globalThis.EventSource, silenceMilliseconds,
  }) {
    this.#container = container;
    const scopes = hasShared ? ['PRIVATE', 'SHARED'] : ['PRIVATE'];
    this.#options = {keepsOnSignOut, onAccountChange, scopes};
    this.#merge = (edit, base, theirs) => this.#merged(merge, edit, base, theirs);
    this.#journal = journal;
    this.#replica = new Replica(journal);
    this.#orders = new Orders(this.#replica.state);
    this.#tabs = new Tabs(name, {locks, isAlone: !journal.isPersistent && !locks});
    this.#files = new Files(container, this.#replica, journal, {fetch, cacheBytesMax});
    this.encryption = new Encryption(container, journal, () => this.account);
    const wire = new Wire(container, this.#replica, this.encryption, this.#files);
    this.encryption.onUnlock = () => wire.unlocked();
    this.#shares = new Shares(container, this.#replica, () => this.sync());
    this.#sync = new Synchronizer(container, this.#replica, {
      zones, scopes, backoffMilliseconds, EventSource, silenceMilliseconds,
      merge: this.#merge,
      onAccount: (account, before) => this.#becomeUser(account, before),
      wire,
    });
  }

  async #start() {
    await this.#replica.load();
    this.#replica.onChange = changes => this.#tell(changes);
    this.#replica.onAppend = () => {
      this.#tabs.tell({appended: true});
      this.#sync.wake();
    };
    this.#sync.onStatus = changes => this.#setStatus(changes, true);
    this.#tabs.onMessage = message => this.#hear(message);
    this.#tabs.tell({asksStatus: true});
    this.#followUser();
    const online = () => this.#sync.hurry();
    globalThis.addEventListener?.('online', online);
    this.#lead().catch(error => this.#setStatus({state: 'failing', error}))
      .finally(() => globalThis.removeEventListener?.('online', online));
  }

  /** `{state, error, pending, refused, isLeader, isPersistent}`; a new one after each change. */
  get status() { return this.#status; }

  /** The user record name of whom the data is; null before anybody signed in. */
  get account() { return this.#replica.state.account; }

  /** The zones that this device knows. */
  get zones() {
    return [...this.#replica.state.zones.values()].map(({zoneID}) => this.zone(zoneID));
  }

  /** A zone by its name, or by an ID with its owner's name. It is made when something is saved. */
  zone(zone) {
    return new StoreZone(zoneOf(zone, this.account), this.#replica, {
      live: query => this.live(query), save: (...all) => this.#save(...all), shares: this.#shares,
      files: this.#files,
    });
  }

  /** A query that stays true: `{recordType, zone, where, sortBy, limit}`, all of them optional. */
  live(query) {
    // What it begins with, it is not told of as a change.
    this.#tell(this.#replica.state.takeChanges());
    const live = new LiveQuery(this.#orders, query, () => this.#queries.delete(live));
    this.#queries.add(live);
    return live;
  }

  /** Calls a listener with each 'status', 'refused' or 'account'. Returns how to stop. */
  on(event, listener) {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => { listeners.delete(listener); };
  }

  /** Resolves once all that was saved is sent and all news are read; rejects where that fails. */
  async sync() {
    if (this.#status.isLeader) return this.#sync.synced();
    const id = Math.random();
    return new Promise((resolve, reject) => {
      this.#asked.set(id, {resolve, reject});
      this.#tabs.tell({asksSync: id});
    });
  }

  /** Takes part in what a link leads to, by its short identifier: `{zoneID, recordName}`. */
  acceptShare(shortGUID) { return this.#shares.accept(shortGUID); }

  /** Has changes wake the service worker of a registration; to be called after a click. */
  enablePush(registration, applicationServerKey) {
    return enablePush(this.#container, this.#options.scopes, registration, applicationServerKey);
  }

  /** Records whose changes the server does not take; `refused` of each says why. */
  get refused() {
    const {state} = this.#replica;
    return [...state.edits.values()].filter(({key, name}) => state.entry(key, name).edit.refused)
      .map(({key, name}) => refusedView(state.entry(key, name), state.zones.get(key)));
  }

  /** Sends what was refused once more. */
  async retry(record) {
    await this.#changeEdit(record, entry => entryAfterRetry(entry, this.#merge));
  }

  /** Forgets what this device has made of a record and not sent: it is as on the server. */
  async discard(record) {
    await this.#changeEdit(record, ({server}) => server && {server});
  }

  /**
   * Signs the user out, and forgets all data unless the app has chosen to keep it. Rejects with
   * UNSENT_CHANGES rather than forget what was not sent, unless it is forced.
   */
  async signOut({force = false} = {}) {
    if (!force && !this.#options.keepsOnSignOut && this.#replica.state.edits.size > 0) {
      throw new StoreError('UNSENT_CHANGES', 'there are changes that were not sent');
    }
    if (!this.#options.keepsOnSignOut) await this.erase();
    await this.#container.signOut();
    this.#sync.userMayHaveChanged();
  }

  /** Forgets all data of this device. What is on the server comes again with the next sync. */
  async erase() {
    await this.#replica.erase();
    for (const {name} of await this.#journal.files()) await this.#journal.deleteFile(name);
  }

  /** Ends syncing in this tab; what waits to be sent stays on the device. */
  close() {
    this.#isClosed = true;
    this.#setStatus({state: 'closed', isLeader: false});
    this.#tabs.close();
    this.#replica.close();
    this.#queries.forEach(live => live.close());
    const error = new StoreError('CLOSED', 'the store is closed');
    for (const {reject} of this.#asked.values()) reject(error);
  }

  async #lead() {
    await this.#tabs.lead(async signal => {
      this.#setStatus({isLeader: true});
      await this.#replica.refresh();
      await this.#files.sweep();
      this.#tabs.tell({leads: true});
      // What was asked of a leader that is gone.
      for (const [id, {resolve, reject}] of this.#asked) {
        this.#asked.delete(id);
        this.#sync.synced().then(resolve, reject);
      }
      await this.#sync.run(signal);
    });
  }

  async #followUser() {
    while (!this.#isClosed) {
      const {isChosen} = await Promise.race([
        this.#container.whenUserSignsOut(),
        this.#container.whenUserSignsIn().then(() => ({}), () => ({})),
      ]);
      if (this.#isClosed) return;
      if (isChosen && !this.#options.keepsOnSignOut) await this.erase();
      this.#sync.userMayHaveChanged();
    }
  }

  async #becomeUser(account, before) {
    const {state} = this.#replica;
    if (before === null) {
      await this.#replica.change(() => ({account}));
    } else if (this.#options.onAccountChange === 'keep') {
      await this.#replica.erase(handedOver(state, account));
    } else {
      await this.erase();
      await this.#replica.change(() => ({account}));
    }
    this.#emit('account', {account, before});
  }

  #merged(merge, edit, base, theirs) {
    const clockOffset = this.#container.clockOffset ?? 0;
    const isMineNewer = edit.at + clockOffset > (theirs?.modified?.timestamp ?? Infinity);
    const result = merge({
      base, mine: edit.mine, theirs: contentOf(theirs), isMineNewer, record: theirs,
    });
    return result && given(null, {recordType: (edit.mine ?? theirs).recordType, ...result});
  }

  async #save(zone, changes) {
    const now = Date.now();
    await this.#replica.change(state => {
      const facts = {zones: [], records: []};
      const present = state.zones.get(zone.key);
      if (!present) {
        const {key, scope, zoneID} = zone;
        facts.zones.push([key, {scope, zoneID, token: null, isMade: false, news: 0, read: 0}]);
      }
      let {version} = state;
      for (const [name, record] of changes) {
        const entry = present?.records.get(name);
        const content = entry?.edit ? entry.edit.mine : contentOf(entry?.server);
        const next = edited(entry, record && given(content, record), now, version + 1);
        if (next === entry) continue;
        version += 1;
        facts.records.push([zone.key, name, next]);
      }
      return facts.records.length > 0 ? facts : undefined;
    });
  }

  async #changeEdit({recordName, zoneID}, make) {
    const {key} = zoneOf(zoneID, this.account);
    await this.#replica.change(state => {
      const entry = state.entry(key, recordName);
      if (!entry?.edit) throw new StoreError('NOT_FOUND', `nothing of ${recordName} waits`);
      return {records: [[key, recordName, make(entry)]]};
    });
  }

  #tell(changes) {
    if (changes.length > 0) {
      this.#orders.update(changes);
      for (const live of [...this.#queries]) live.update(changes);
    }
    for (const {key, after, before} of changes) {
      if (!after?.edit?.refused || before?.edit?.refused) continue;
      this.#emit('refused', refusedView(after, this.#replica.state.zones.get(key)));
    }
    this.#setStatus({});
  }

  #setStatus(changes, isTold = false) {
    if (this.#status.state === 'closed') return;
    const {state} = this.#replica;
    const refused = [...state.edits.values()]
      .filter(({key, name}) => state.entry(key, name).edit.refused).length;
    const next = {
      ...this.#status, ...changes, isPersistent: this.#journal.isPersistent,
      pending: state.edits.size - refused, refused,
    };
    if (Object.keys(next).every(key => next[key] === this.#status[key])) return;
    this.#status = next;
    if (isTold) this.#tellStatus();
    this.#emit('status', next);
  }

  #tellStatus() {
    const {state, error} = this.#status;
    const {ckErrorCode, code, message} = error ?? {};
    this.#tabs.tell({status: {state, error: error && {ckErrorCode, code, message}}});
  }

  async #hear({appended, leads, status, asksStatus, asksSync, synced, failed}) {
    if (appended) {
      await this.#replica.refresh().catch(() => {});
      this.#sync.wake();
    }
    if (this.#status.isLeader) {
      if (asksStatus) this.#tellStatus();
      if (asksSync) {
        this.#sync.synced().then(() => this.#tabs.tell({synced: asksSync}), error => {
          this.#tabs.tell({synced: asksSync, failed: String(error)});
        });
      }
      return;
    }
    // The former leader may have gone with what it was asked.
    if (leads) for (const id of this.#asked.keys()) this.#tabs.tell({asksSync: id});
    if (status) this.#setStatus(status);
    if (synced && this.#asked.has(synced)) {
      const {resolve, reject} = this.#asked.get(synced);
      this.#asked.delete(synced);
      await this.#replica.refresh().catch(() => {});
      if (failed) reject(new Error(failed));
      else resolve();
    }
  }

  #emit(event, value) {
    callAll(this.#listeners.get(event) ?? [], value);
  }
}

/** A record whose change was refused, also where that is its deletion. */
function refusedView({view, server, edit}, {zoneID}) {
  return view ?? {...server, zoneID, isDeleted: true, refused: edit.refused};
}

async function journalOf(name, storage) {
  if (storage === 'memory' || typeof indexedDB === 'undefined') return new MemoryJournal();
  // Some private windows have no databases.
  return IndexedJournal.open(name).catch(() => new MemoryJournal());
}

/** What an app hands over, on top of a content. */
export function given(content, record) {
  const {fields, encryptedValues} = record;
  return changed(content, {
    ...record, fields: fieldsToSend(fields), encryptedValues: fieldsToSend(encryptedValues),
  });
}

/** Everything of one user's own zones as new and unsent, for another one. */
function handedOver(state, account) {
  const facts = {account, zones: [], records: []};
  let {version} = state;
  for (const {key, scope, zoneID: {zoneName}, records} of state.zones.values()) {
    if (scope !== 'PRIVATE') continue;
    facts.zones.push([key, {
      key, scope, zoneID: {zoneName}, token: null, isMade: false, news: 0, read: 0,
    }]);
    for (const [name, {view, edit}] of records) {
      if (!view) continue;
      version += 1;
      facts.records.push([key, name, {server: null, edit: {
        mine: contentOf(view), at: edit?.at ?? view.modified.timestamp, version, order: version,
      }}]);
    }
  }
  return facts;
}

export {MemoryJournal, StoreError, mergeByField, syncOnPush};
