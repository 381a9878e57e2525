import assert from 'node:assert/strict';
import {test} from 'node:test';
import {records} from '../extras/svelte.js';
import {appOf} from './support/app.js';
import {LenticularStore} from '../store.js';

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
