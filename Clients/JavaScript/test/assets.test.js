import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import {after, before, describe, test} from 'node:test';
import {appOf} from './support/app.js';
import {Server} from './support/server.js';

describe('assets', () => {
  let server, database;

  before(async () => {
    server = await Server.start('ann');
    database = appOf(server, server.tokens.ann).privateCloudDatabase;
  });
  after(() => server.stop());

  const bytesOf = async ({downloadURL}) =>
    new Uint8Array(await (await fetch(downloadURL.replace('${f}', 'x'))).arrayBuffer());
  const random = size => new Uint8Array(randomBytes(size));

  test('files of one and of several records are uploaded with them', async () => {
    const [photo, first, second] = [random(60_000), random(10), new Uint8Array(0)];
    const picture = new Blob([photo], {type: 'image/png'});
    const files = [first, second].map(bytes => new Blob([bytes]));
    const record = {recordType: 'Photo', fields: {
      picture: {value: picture}, files: {value: files}, name: {value: 'x'}}};
    const {records, errors} = await database.saveRecords([record, {
      recordType: 'Photo', recordName: 'same', fields: {picture: {value: picture}}}]);
    assert.deepEqual(errors.map(String), []);
    const {fields} = records[0];
    assert.deepEqual(await bytesOf(fields.picture.value), photo);
    assert.equal(fields.files.type, 'ASSETID_LIST');
    assert.deepEqual(await bytesOf(fields.files.value[0]), first);
    assert.deepEqual(await bytesOf(fields.files.value[1]), second);
    assert.deepEqual(await bytesOf(records[1].fields.picture.value), photo);
    assert.equal(record.recordName, undefined, "the app's own object stays as it is");
    assert.equal(record.fields.picture.value, picture);
  });

  test('a list may hold files that are there and new ones, and is saved again as it is', async () => {
    const [one, two] = [random(5), random(6)];
    const {records: [saved]} = await database.saveRecords({
      recordType: 'Photo', fields: {files: {value: [new Blob([one])]}}});
    saved.fields.files.value.push(new Blob([two]));
    const {records: [grown], errors} = await database.saveRecords(saved);
    assert.deepEqual(errors.map(String), []);
    assert.deepEqual(await Promise.all(grown.fields.files.value.map(bytesOf)), [one, two]);
  });

  test('an upload that fails rejects, and nothing is saved', async () => {
    const failing = appOf(server, server.tokens.ann, {services: {
      fetch: (url, options) => options.body instanceof Blob
        ? Promise.resolve(new Response('too large', {status: 413})) : fetch(url, options),
    }}).privateCloudDatabase;
    await assert.rejects(failing.saveRecords({
      recordType: 'Photo', recordName: 'lost', fields: {picture: {value: new Blob(['x'])}}}),
    {ckErrorCode: 'UNEXPECTED_SERVER_RESPONSE'});
    assert.equal((await database.fetchRecords('lost')).errors[0].ckErrorCode, 'NOT_FOUND');
  });
});
