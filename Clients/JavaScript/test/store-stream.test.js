import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {Device} from './support/device.js';
import {eventSourceOf} from './support/event-source.js';
import {Server} from './support/server.js';

const note = (recordName, text) => ({recordName, recordType: 'Note', fields: {text: {value: text}}});

/** Resolves once a store shows a text. */
const shows = ({store}, text) => new Promise(resolve => {
  const live = store.live({where: ({fields}) => fields.text?.value === text});
  const look = () => {
    if (live.records.length === 0) return;
    live.close();
    resolve();
  };
  live.subscribe(look);
  look();
});

describe('a store that follows by the event stream', () => {
  let server;
  const open = [];
  before(async () => { server = await Server.start('ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'); });
  after(async () => {
    open.forEach(each => each.kill());
    await server.stop();
  });

  /** A device of somebody; with a `fetch` for streams it has them, and is patient with them. */
  async function device(name, fetch, store = {silenceMilliseconds: 1e9}) {
    const EventSource = fetch && eventSourceOf(fetch);
    const made = new Device(server, server.webToken(name), {store: {EventSource, ...store}});
    await made.start();
    open.push(made);
    return Object.assign(made, {streams: EventSource?.all ?? []});
  }

  /** Has a device hear of one note after the other, until it has given its stream up. */
  async function hearUntilClosed(reader, writer) {
    for (let count = 0; reader.streams[0]?.readyState !== 2; count++) {
      const seen = shows(reader, `note ${count}`);
      await writer.store.zone('Notes').save(note('a', `note ${count}`));
      await seen;
    }
    const seen = shows(reader, 'after the stream');
    await writer.store.zone('Notes').save(note('a', 'after the stream'));
    await seen;
  }

  /** Something of somebody's, with a link to it. */
  async function shared(owner) {
    const zone = owner.store.zone('Shared');
    await zone.save(note('a', 'for both'));
    const {shortGUID} = await zone.share(zone.get('a'), {publicPermission: 'READ_WRITE'});
    return {zone, shortGUID};
  }

  const polls = ({requests}) => requests.filter(({body}) => body?.includes('"waitSeconds"'));

  /** Resolves with the next stream that is open. */
  const opened = () => {
    let open;
    const isOpen = new Promise(resolve => { open = resolve; });
    return [isOpen, async (...all) => {
      const answer = await fetch(...all);
      if (answer.ok) open();
      return answer;
    }];
  };

  test('hears what others save, also of zones that are new, and asks for nothing that it waits for', async () => {
    const [isOpen, stream] = opened();
    const [reader, writer] = [await device('ann', stream), await device('ann')];
    await reader.store.sync();
    await isOpen;
    for (const text of ['one', 'two', 'three']) {
      const seen = shows(reader, text);
      await writer.store.zone(`Notes ${text}`).save(note('a', text));
      await seen;
    }
    assert.deepEqual(polls(reader), []);
    assert.equal(reader.streams.length, 1);
  });

  test('a notice that is lost loses no change: it asks by its token when the stream is back', async () => {
    let isHeld = true;
    let held;
    const isHeldNow = new Promise(resolve => { held = resolve; });
    // Nothing of the first stream arrives, and then its connection breaks.
    const reader = await device('bob', async (url, options) => {
      const answer = await fetch(url, options);
      if (!isHeld) return answer;
      held();
      return new Response(new ReadableStream({start(controller) {
        options.signal.addEventListener('abort', () => controller.error(new TypeError('cut')));
      }}));
    });
    await reader.store.sync();
    await isHeldNow;
    const writer = await device('bob');
    await writer.store.zone('Notes').save(note('a', 'unheard of'));
    await writer.store.sync();
    isHeld = false;
    const seen = shows(reader, 'unheard of');
    reader.streams[0].cut();
    await seen;
    assert.deepEqual(polls(reader), []);
  });

  test('hears of what others share', async () => {
    const [isOpen, stream] = opened();
    const [owner, other, reader] = [await device('ann'), await device('fay'), await device('fay', stream)];
    await reader.store.sync();
    await isOpen;
    const {zone, shortGUID} = await shared(owner);
    let seen = shows(reader, 'for both');
    await other.store.acceptShare(shortGUID);
    await seen;
    seen = shows(reader, 'changed');
    await zone.save(note('a', 'changed'));
    await seen;
  });

  /** Resolves once a share that a device takes part in has ended there, by what `end` does. */
  async function seesEnd(reader, owner, end) {
    const {zone, shortGUID} = await shared(owner);
    const {zoneID} = await reader.store.acceptShare(shortGUID);
    const theirs = reader.store.zone(zoneID);
    const live = theirs.live();
    assert.ok(theirs.get('a'));
    const gone = new Promise(resolve => {
      live.subscribe(({records}) => { if (records.length === 0) resolve(); });
    });
    await end(zone);
    await gone;
    assert.equal(theirs.get('a'), undefined);
    assert.ok(!reader.store.zones.some(({key}) => key === theirs.key), 'the zone is still there');
  }
  const stop = zone => zone.stopSharing(zone.get('a'));

  test('hears at once that a share has ended, although no notice tells of that', async () => {
    const [isOpen, stream] = opened();
    const [owner, reader] = [await device('bob'), await device('gil', stream)];
    await isOpen;
    await seesEnd(reader, owner, stop);
    // Another one after that, which ends for those alone who came by its link.
    await seesEnd(reader, owner, zone => zone.share(zone.get('a'), {publicPermission: 'NONE'}));
    assert.ok(polls(reader).every(({endpoint}) => endpoint === 'changes/database'));
  });

  test('hears that a share has ended when no request could be held for that', async () => {
    const [owner, reader] = [await device('bob'), await device('hal', fetch, {silenceMilliseconds: 30})];
    reader.fateOf = (endpoint, body) => body?.includes('"waitSeconds"') ? 'refuse' : 'pass';
    await seesEnd(reader, owner, stop);
  });

  test('a stream that the server refuses gives way to long polls', async () => {
    const reader = await device('cid', async () => new Response('', {status: 401}));
    await hearUntilClosed(reader, await device('cid'));
  });

  test('a stream that never tells gives way, and what it held back is seen', async () => {
    const reader = await device('dan', async (url, {signal}) => new Response(new ReadableStream({
      start(controller) { signal.addEventListener('abort', () => controller.close()); },
    })), {silenceMilliseconds: 30});
    await hearUntilClosed(reader, await device('dan'));
  });

  test('streams that end at once give way', async () => {
    const reader = await device('eve', async () => new Response('retry: 1000\n\n'));
    await hearUntilClosed(reader, await device('eve'));
  });
});
