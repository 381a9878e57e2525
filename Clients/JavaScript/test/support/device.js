// A device of the tests: its disk outlives the programs that run on it, its network fails, and its
// programs die in the middle of what they do.

import {LenticularStore, MemoryJournal} from '../../src/store/store.js';
import {appOf} from './app.js';

/** What a program has of a disk, on which all is text: nothing more once it is dead. */
class Disk {
  constructor(journal, life) {
    this.journal = journal;
    this.life = life;
  }

  get isPersistent() { return false; }
  async transact(after, decide) {
    return this.#alive().transact(after, rows => {
      const {lists, ...rest} = decide(rows);
      return {...rest, lists: lists.map(list => JSON.parse(JSON.stringify(list)))};
    });
  }

  async read(...all) { return this.#alive().read(...all); }
  async file(...all) { return this.#alive().file(...all); }
  async files(...all) { return this.#alive().files(...all); }
  async putFile(...all) { return this.#alive().putFile(...all); }
  async deleteFile(...all) { return this.#alive().deleteFile(...all); }
  close() {}

  #alive() {
    if (this.life.isOver) throw new Error('this program is dead');
    return this.journal;
  }
}

export class Device {
  journal = new MemoryJournal();
  isOnline = true;
  /** What becomes of a request: 'pass', 'refuse', 'lose', 'cut', 'slow', 'later', or
   *  'forget' (its tokens). */
  fateOf = () => 'pass';
  requests = [];
  #server;
  #token;
  #options;
  #life;

  constructor(server, token, options = {}) {
    this.#server = server;
    this.#token = token;
    this.#options = options;
  }

  async start() {
    const life = this.#life = {isOver: false};
    this.container = appOf(this.#server, this.#token, {
      services: {fetch: (...all) => this.#fetch(life, ...all)}, ...this.#options.app});
    this.store = await LenticularStore.open({
      container: this.container, journal: new Disk(this.journal, life), backoffMilliseconds: 2,
      ...this.#options.store,
    });
    return this.store;
  }

  /** The program ends in the middle: nothing of it reaches the disk or the network any more. */
  kill() {
    this.#life.isOver = true;
    this.store.close();
  }

  /** Syncs until nothing is left to do. */
  async settle() {
    for (let tries = 0; ; tries++) {
      try {
        await this.store.sync();
        if (this.store.status.pending === 0) return;
      } catch (error) {
        if (tries > 50) throw error;
      }
    }
  }

  async #fetch(life, url, options) {
    const endpoint = new URL(url).pathname.split('/').slice(-2).join('/');
    const fate = this.isOnline ? this.fateOf(endpoint, options.body) : 'refuse';
    if (life.isOver || fate === 'refuse') throw new TypeError('no network');
    this.requests.push({endpoint, body: options.body});
    if (fate === 'later') {
      return Response.json({serverErrorCode: 'THROTTLED', reason: 'later', retryAfter: 1}, {status: 429});
    }
    let {body} = options;
    if (fate === 'forget') body = body?.replace(/"syncToken":"[^"]+"/, '"syncToken":"AAAA"');
    if (fate === 'slow') await new Promise(resolve => { setTimeout(resolve, 5); });
    const answer = await fetch(url, {...options, body});
    const text = await answer.text();
    if (life.isOver || fate === 'lose') throw new TypeError('the answer was lost');
    if (fate === 'cut') return new Response(text.slice(0, text.length >> 1), answer);
    return new Response(text || null, answer);
  }
}

/** All records of a zone as the server has them, without what a device has noted of them. */
export async function serverRecords(container, zoneName, scope = 'PRIVATE', ownerRecordName) {
  const found = new Map();
  let syncToken;
  for (let isMore = true; isMore;) {
    const {zones: [zone]} = await container.getDatabaseWithDatabaseScope(scope).request(
      'changes/zone', {zones: [{zoneID: {zoneName, ownerRecordName}, syncToken}]});
    for (const record of zone.records) found.set(record.recordName, record);
    ({syncToken, moreComing: isMore} = zone);
  }
  return plain(found.values());
}

/** Records as plain values, by their names. */
export function plain(records) {
  return Object.fromEntries([...records].map(({recordName, fields, recordChangeTag}) => [recordName, {
    recordChangeTag, ...Object.fromEntries(Object.entries(fields).map(([name, {value}]) => [name, value])),
  }]).sort(([one], [other]) => one < other ? -1 : 1));
}
