import assert from 'node:assert/strict';
import {test} from 'node:test';
import {records} from '../extras/svelte.js';
import {appOf} from './support/app.js';
import {LenticularStore, syncOnPush} from '../store.js';

test('a push syncs the store of a service worker, and shows the notification unless a page is seen', async context => {
  const listeners = {};
  const shown = [];
  let windows = [{visibilityState: 'hidden', focus: () => 'focused'}];
  const worker = {
    addEventListener: (name, listener) => { listeners[name] = listener; },
    registration: {showNotification: async (...all) => { shown.push(all); }},
    clients: {matchAll: async () => windows, openWindow: async url => `opened ${url}`},
  };
  Object.assign(globalThis, worker);
  context.after(() => { for (const name of Object.keys(worker)) delete globalThis[name]; });
  const done = [];
  let sync = async () => { done.push('sync'); };
  syncOnPush({open: async () => ({sync: () => sync(), close: () => { done.push('close'); }}),
    notification: {title: 'Notes', body: 'New'}, url: '/app'});
  const dispatch = async (name, more = {}) => {
    let ended;
    listeners[name]({waitUntil: promise => { ended = promise; }, ...more});
    return ended;
  };
  await dispatch('push');
  assert.deepEqual(done, ['sync', 'close']);
  assert.deepEqual(shown, [['Notes', {tag: 'Notes', body: 'New'}]]);
  sync = async () => { throw new Error('no network'); };
  await dispatch('push');
  assert.equal(shown.length, 2);
  windows = [{visibilityState: 'visible'}];
  await dispatch('push');
  assert.equal(shown.length, 2);
  windows = [];
  assert.equal(await dispatch('notificationclick', {notification: {close() {}}}), 'opened /app');
});

test('the Svelte store shows what matches, and what is saved later', async () => {
  const server = {url: 'http://127.0.0.1:9', apiToken: 'a'};
  const store = await LenticularStore.open({container: appOf(server, 'b')});
  const shown = [];
  const stop = records(store, {recordType: 'Note'}).subscribe(all => shown.push(all.length));
  await store.zone('Notes').save({recordType: 'Note', fields: {}});
  stop();
  await store.zone('Notes').save({recordType: 'Note', fields: {}});
  assert.deepEqual(shown, [0, 1]);
  store.close();
});
