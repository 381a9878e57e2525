import CloudKit from '../../cloudkit.js';
import {LenticularStore, mergeByField, StoreError, syncOnPush} from '../../store.js';
import type {LiveChange, StoredRecord} from '../../store.js';

const store: LenticularStore = await LenticularStore.open({
  container: CloudKit.getDefaultContainer(), name: 'notes', zones: ['Notes'],
  merge: versions => versions.mine && versions.theirs ? mergeByField(versions) : null,
});
const notes = store.zone('Notes');
const note: StoredRecord = await notes.save({recordType: 'Note', fields: {text: {value: 'a'}}});
const many: StoredRecord[] = await notes.save([{recordName: note.recordName, parent: null}]);
await notes.delete([note, 'b', ...many]);
const live = notes.live({
  recordType: 'Note', where: record => record.fields.text?.value !== '', limit: 10,
  sortBy: [{systemFieldName: 'modifiedTimestamp', ascending: false}],
});
const stop: () => void = live.subscribe(({records, added}: LiveChange) => {
  console.log(records.length, added[0]?.recordName);
});
stop();
syncOnPush({open: () => LenticularStore.open({container: CloudKit.getDefaultContainer()}),
  notification: {title: 'Notes'}});
store.on('status', ({state, pending}) => console.log(state, pending));
try {
  await store.signOut();
} catch (error) {
  if (error instanceof StoreError && error.code === 'UNSENT_CHANGES') await store.sync();
}
// @ts-expect-error There is no such event.
store.on('nothing', () => {});
// @ts-expect-error A store is opened.
new LenticularStore();
