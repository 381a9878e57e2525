import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {Device, plain, serverRecords} from './support/device.js';
import {eventSourceOf} from './support/event-source.js';
import {randomOf, seed} from './support/random.js';
import {Server} from './support/server.js';

const steps = Number(process.env.MODEL_STEPS ?? 5000);
const zoneName = 'Model';

describe('two devices whose network and programs fail at random', () => {
  let server;
  before(async () => { server = await Server.start('ann'); });
  after(() => server.stop());

  test(`end with what the server has, and nothing is lost or doubled (${steps} steps, seed ${seed})`, async context => {
    context.diagnostic(`MODEL_SEED=${seed}`);
    const random = randomOf(seed);
    const below = count => Math.floor(random() * count);
    // One of them follows by the event stream, the other one by long polls.
    const EventSource = eventSourceOf(async (...all) => {
      if (!devices[1].isOnline) throw new TypeError('no network');
      return fetch(...all);
    });
    const devices = ['a', 'b'].map((name, index) => Object.assign(
      new Device(server, server.webToken('ann'), {store: index === 1 ? {EventSource} : {}}),
      {name, made: 0, own: {}, last: {}}));
    let isQuiet = false;
    for (const device of devices) {
      device.fateOf = () => isQuiet ? 'pass'
        : ['refuse', 'lose', 'cut', 'slow', 'forget', ...Array(15).fill('pass')][below(20)];
      await device.start();
    }
    let count = 0;
    const zone = device => device.store.zone(zoneName);
    const save = (device, recordName, fields) => zone(device).save({recordName, recordType: 'Thing',
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, {value}]))});
    const acts = {
      // A record of this device alone: at the end it is there once, as it was saved last.
      async own(device) {
        const recordName = `${device.name}${device.made++}`;
        device.own[recordName] = {text: `${++count}`};
        await save(device, recordName, device.own[recordName]);
      },
      async changeOwn(device) {
        const names = Object.keys(device.own);
        if (names.length === 0) return;
        const recordName = names[below(names.length)];
        if (random() < 0.2) {
          delete device.own[recordName];
          return zone(device).delete(recordName);
        }
        Object.assign(device.own[recordName], {[`f${below(3)}`]: ++count});
        await save(device, recordName, device.own[recordName]);
      },
      // A record of both, each with a field of its own and one of both.
      async shared(device) {
        const recordName = `shared${below(6)}`;
        device.last[recordName] = ++count;
        await save(device, recordName, {[device.name]: count, both: count});
      },
      // Here they also delete.
      async fought(device) {
        const recordName = `fought${below(6)}`;
        if (random() < 0.4) await zone(device).delete(recordName);
        else await save(device, recordName, {both: ++count});
      },
      async sync(device) { await device.store.sync().catch(() => {}); },
      async beginSync(device) { device.store.sync().catch(() => {}); },
      async network(device) {
        device.isOnline = random() < 0.7;
        if (device === devices[1]) EventSource.all.at(-1)?.cut();
      },
      async die(device) {
        device.kill();
        await device.start();
      },
      async wait() { await new Promise(resolve => { setTimeout(resolve, below(3)); }); },
    };
    const chosen = [...Array(6).fill('own'), ...Array(12).fill('changeOwn'), ...Array(10).fill('shared'),
      ...Array(8).fill('fought'), 'sync', 'beginSync', 'network', 'die', 'wait', 'wait'];
    for (let step = 0; step < steps; step++) {
      await acts[chosen[below(chosen.length)]](devices[below(2)]);
    }
    isQuiet = true;
    for (const device of [...devices, ...devices, ...devices]) {
      device.isOnline = true;
      await device.settle();
    }
    const expected = await serverRecords(devices[0].container, zoneName);
    for (const device of devices) {
      const {store, own, last, name} = device;
      assert.deepEqual(store.refused, [], name);
      assert.deepEqual(plain(zone(device).records), expected, name);
      // What the disk says after all that is the same.
      device.kill();
      await device.start();
      assert.deepEqual(plain(zone(device).records), expected, `${name}, opened again`);
      for (const [recordName, fields] of Object.entries(own)) {
        const {recordChangeTag, ...found} = expected[recordName] ?? {};
        assert.deepEqual(found, fields, recordName);
      }
      for (const [recordName, value] of Object.entries(last)) {
        assert.equal(expected[recordName]?.[name], value, `${recordName}.${name}`);
      }
      const names = Object.keys(expected).filter(each => each.startsWith(name) && /\d$/.test(each));
      assert.deepEqual(names.filter(each => !(each in own)), [], 'what was deleted came back');
      context.diagnostic(`${name}: ${device.requests.length} requests, ${names.length} own records`);
    }
    devices.forEach(device => device.kill());
  });
});
