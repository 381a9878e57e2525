// Reading the feeds: which zones have news, and the records of each.

import {keyZoneName} from './encryption.js';
import {entryAfter, entryAfterRefusal} from './entries.js';
import {faultOf, isTokenRefused} from './faults.js';
import {kept, zoneFact} from './state.js';
import {Stream} from './stream.js';
import {askedZoneID, zoneKey} from './zones.js';

const waitSeconds = 50;
const quickMilliseconds = 1000;
const pagesMax = 4;

export class Feeds {
  #context;
  #stream;
  #onShare = () => {};

  /** `context`: `{container, replica, scopes, zones, merge, identify, wire}`, and the stream's. */
  constructor(context) {
    this.#context = context;
    this.#stream = new Stream(context);
  }

  get #state() { return this.#context.replica.state; }

  #request(scope, endpoint, body, signal) {
    return this.#context.container.getDatabaseWithDatabaseScope(scope)
      .request(endpoint, body, {signal});
  }

  /** Notes which zones have news; whether there are any. */
  async readDatabases(signal) {
    const found = await Promise.all(
      this.#context.scopes.map(scope => this.#readDatabase(scope, {}, signal)));
    return found.includes(true);
  }

  /** Notes which zones have news, over and over; `onNews` is called after each time. */
  async watchDatabases(signal, onNews) {
    const calling = async work => {
      const isDone = await work;
      if (isDone) onNews();
      return isDone;
    };
    await withEnd(signal, ending => Promise.race([
      this.#stream.follow(ending, {
        note: told => calling(this.#noteZones(told)),
        ask: () => calling(this.readDatabases(ending)),
      }),
      this.#followShares(ending, onNews),
    ]));
    if (!signal.aborted) await this.#poll(signal, onNews);
  }

  /**
   * Holds a request in the shared database as long as others share something: notices do not tell
   * that a share has ended, as they never tell of what somebody may not see. Never resolves.
   */
  async #followShares(signal, onNews) {
    while (!signal.aborted) {
      const isHeld = this.#hasShares &&
        await this.#wait('SHARED', signal, onNews).catch(() => false);
      // Whatever is wrong, who asks because of the stream meets it, too.
      if (!isHeld) await new Promise(resolve => { this.#onShare = resolve; });
    }
    await new Promise(() => {});
  }

  get #hasShares() {
    return this.#context.scopes.includes('SHARED') &&
      [...this.#state.zones.values()].some(({scope, isMade}) => scope === 'SHARED' && isMade);
  }

  /** Notes news of the zones that notices name; false, and nothing, where one is not known. */
  async #noteZones(told) {
    let areKnown = false;
    await this.#context.replica.change(state => {
      const zones = told.map(({dbs, zid, zoid}) => state.zones.get(zoneKey(
        dbs === 2 ? 'SHARED' : 'PRIVATE', {zoneName: zid, ownerRecordName: zoid})));
      areKnown = zones.every(zone => zone?.isMade);
      return areKnown ? {
        zones: [...new Set(zones)].map(zone => zoneFact(zone, {news: zone.news + 1})),
      } : undefined;
    });
    return areKnown;
  }

  async #poll(signal, onNews) {
    await withEnd(signal, ending => Promise.all(this.#context.scopes.map(async scope => {
      while (!ending.aborted) {
        if (!await this.#wait(scope, ending, onNews)) await pause(quickMilliseconds, ending);
      }
    })));
  }

  /** Waits for news of a database; false where the server holds no more requests of this user. */
  async #wait(scope, signal, onNews) {
    const began = Date.now();
    const hasNews = await this.#readDatabase(scope, {waitSeconds}, signal);
    if (hasNews) onNews();
    return hasNews || Date.now() - began >= quickMilliseconds;
  }

  /** Notes which zones have news; whether there are any. */
  async #readDatabase(scope, more, signal) {
    let syncToken = this.#state.tokens[scope] ?? undefined;
    // From the beginning, all zones are listed, and no deletions.
    let listed = syncToken ? null : new Set();
    let hasNews = false;
    for (let isMore = true; isMore;) {
      const answer = await this.#request(
        scope, 'changes/database', {syncToken, ...syncToken && more}, signal,
      ).catch(error => {
        if (!syncToken || !isTokenRefused(error)) throw error;
      });
      if (!answer) {
        await this.#context.identify();
        [syncToken, listed] = [undefined, new Set()];
        continue;
      }
      const zones = answer.zones.filter(zone => this.#isFollowed(scope, zone));
      for (const {zoneID} of zones) listed?.add(zoneKey(scope, zoneID));
      ({syncToken, moreComing: isMore} = answer);
      const gone = listed && !isMore ? this.#unlisted(scope, listed) : [];
      if (zones.length + gone.length > 0) hasNews = true;
      await this.#context.replica.change(state => {
        // A list that was not read to its end is read anew.
        const token = listed && isMore ? undefined : syncToken;
        const isNew = zones.length + gone.length > 0 || token && state.tokens[scope] !== token;
        return isNew ? zoneFacts(state, scope, zones, gone, token) : undefined;
      });
    }
    if (this.#hasShares) this.#onShare();
    return hasNews;
  }

  #isFollowed(scope, {zoneID: {zoneName}}) {
    const {zones} = this.#context;
    return zoneName !== keyZoneName && (scope === 'SHARED' || !zones || zones.includes(zoneName));
  }

  #unlisted(scope, listed) {
    return [...this.#state.zones.values()]
      .filter(zone => zone.scope === scope && zone.isMade && !listed.has(zone.key));
  }

  /** Reads what is new of a zone that has news; whether there was one. */
  async readZone(signal) {
    const zone = [...this.#state.zones.values()].find(({news, read}) => news !== read);
    if (!zone) return false;
    const {key, scope, news} = zone;
    let {token} = zone;
    // Without a token no deletions are told: what is not seen is gone.
    let seen = !token && zone.records.size > 0 ? new Set() : null;
    const ask = syncToken => this.#request(scope, 'changes/zone', {
      zones: [{zoneID: askedZoneID(zone, this.#state.account), syncToken: syncToken ?? undefined}],
    }, signal);
    let asked = ask(token);
    const keeping = new Pages(this.#context.replica);
    for (let isMore = true; isMore;) {
      const [page] = (await asked).zones;
      if (page.serverErrorCode) {
        await this.#context.identify();
        if (page.serverErrorCode === 'ZONE_NOT_FOUND') {
          await this.#context.replica.change(state => zoneFacts(state, scope, [], [zone]));
          return true;
        }
        if (!token || !isTokenRefused(faultOf(page))) throw faultOf(page);
        [token, seen] = [null, new Set()];
        await keeping.all();
        await this.#context.replica.change(() => ({zones: [zoneFact(zone, {token})]}));
        asked = ask(token);
        continue;
      }
      token = page.syncToken;
      isMore = page.moreComing;
      // While the page is kept, the next one comes.
      if (isMore) asked = ask(token);
      asked.catch(() => {});
      const records = await this.#context.wire.received(page.records, zone);
      for (const {recordName} of records) seen?.add(recordName);
      const facts = {
        merge: this.#context.merge, seen, isLast: !isMore, token, news, zoneID: page.zoneID,
      };
      await keeping.add(state => pageFacts(state, key, records, facts));
    }
    await keeping.all();
    return true;
  }
}

/** Pages that are being kept, a few at once: what waits for the disk goes there together. */
class Pages {
  #replica;
  #keeping = [];
  #failure;

  constructor(replica) { this.#replica = replica; }

  /** Resolves once there is room for another page. */
  async add(decide) {
    const kept = this.#replica.change(state => {
      // Without the page before it, a page's token would say too much.
      if (this.#failure) throw this.#failure;
      return decide(state);
    });
    kept.catch(error => { this.#failure ??= error; });
    if (this.#keeping.push(kept) > pagesMax) await this.#keeping.shift();
  }

  async all() { await Promise.all(this.#keeping.splice(0)); }
}

function zoneFacts(state, scope, zones, gone, token) {
  const facts = {zones: [], records: []};
  if (token) facts.tokens = {[scope]: token};
  const removed = [...gone, ...zones.filter(({deleted}) => deleted)
    .map(({zoneID}) => state.zones.get(zoneKey(scope, zoneID))).filter(Boolean)];
  for (const zone of removed) {
    // What was never sent stays for the app to decide on.
    const edits = [...zone.records].filter(([, {edit}]) => edit);
    facts.zones.push(edits.length > 0
      ? zoneFact(zone, {isMade: false, token: null, read: zone.news}) : [zone.key, null]);
    if (edits.length === 0) continue;
    for (const [name, entry] of zone.records) {
      facts.records.push([zone.key, name, entry.edit ? entryAfterRefusal(
        {...entry, server: null}, entry.edit.version,
        {code: 'ZONE_NOT_FOUND', reason: 'the zone was deleted'}) : null]);
    }
  }
  for (const {zoneID} of zones.filter(({deleted}) => !deleted)) {
    const key = zoneKey(scope, zoneID);
    const zone = state.zones.get(key) ?? {key, scope, token: null, read: 0, news: 0};
    facts.zones.push(zoneFact(zone, {zoneID, isMade: true, news: zone.news + 1}));
  }
  return facts;
}

function pageFacts(state, key, records, {merge, seen, isLast, token, news, zoneID}) {
  const zone = state.zones.get(key);
  if (!zone) return undefined;
  const facts = {zones: [], records: []};
  const take = (name, theirs) => {
    const entry = zone.records.get(name);
    if (entry ? isSameVersion(entry.server, theirs) : !theirs) return;
    facts.records.push([key, name, entryAfter(entry, theirs, merge)]);
  };
  for (const record of records) take(record.recordName, record.deleted ? null : kept(record));
  if (isLast && seen) for (const name of zone.records.keys()) if (!seen.has(name)) take(name, null);
  // A walk through all of a zone begins anew when it was not finished.
  const changes = {zoneID, ...(isLast || !seen) && {token}, ...isLast && {read: news}};
  facts.zones.push(zoneFact(zone, changes));
  return facts;
}

function isSameVersion(one, other) {
  return one?.recordChangeTag === other?.recordChangeTag;
}

/** Calls `work` with a signal that is aborted once it has settled, and when `signal` is. */
async function withEnd(signal, work) {
  const ending = new AbortController();
  const abort = () => ending.abort();
  signal.addEventListener('abort', abort, {once: true});
  try {
    return await work(ending.signal);
  } finally {
    abort();
    signal.removeEventListener('abort', abort);
  }
}

function pause(milliseconds, signal) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, {once: true});
  });
}
