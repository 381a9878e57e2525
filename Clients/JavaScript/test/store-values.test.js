import assert from 'node:assert/strict';
import {scryptSync} from 'node:crypto';
import {after, before, describe, test} from 'node:test';
import {ValueCipher} from '../src/store/cipher.js';
import {scrypt} from '../src/store/scrypt.js';
import {Device} from './support/device.js';
import {Server} from './support/server.js';

const bytes = text => new TextEncoder().encode(text);
const hex = all => Buffer.from(all).toString('hex');

describe('encrypted values', () => {
  let server;
  const open = [];
  const device = async name => {
    const made = new Device(server, server.webToken(name));
    await made.start();
    open.push(made);
    return made;
  };
  before(async () => { server = await Server.start('ann', 'bob'); });
  after(async () => {
    open.forEach(each => each.kill());
    await server.stop();
  });

  test("scrypt is that of RFC 7914 and of the system's library", async () => {
    // The Swift package has the same ones, compared with OpenSSL.
    for (const [passphrase, salt, cost] of [['', '', 16], ['pleaseletmein', 'SodiumChloride', 16],
      ['ü 🍵', 'salt', 256], ['long '.repeat(40), 'salt', 64]]) {
      const theirs = scryptSync(passphrase, salt, 32, {N: cost, r: 8, p: 1});
      assert.equal(hex(await scrypt(bytes(passphrase), bytes(salt), cost)), hex(theirs), passphrase);
    }
    const slow = await scrypt(bytes('pleaseletmein'), bytes('SodiumChloride'), 16384, 64);
    assert.equal(hex(slow), hex(scryptSync('pleaseletmein', 'SodiumChloride', 64, {N: 16384, r: 8, p: 1})));
  });

  test('a value opens only where it was, with its key, unchanged', async () => {
    const [cipher, another] = [await ValueCipher.of(new Uint8Array(32)), await ValueCipher.of(new Uint8Array(32).fill(1))];
    const place = ['container', '_ann', 'Diary', 'Day', 'today', 'secret'];
    for (const field of [{value: 'nobody ü', type: 'STRING'}, {value: 7, type: 'INT64'}, {value: [1.5], type: 'DOUBLE_LIST'},
      {value: 1795641085369, type: 'TIMESTAMP'}]) {
      const sealed = await cipher.seal(field, place);
      assert.deepEqual(await cipher.open(sealed, place), field);
      assert.equal(await another.open(sealed, place), undefined);
      assert.equal(await cipher.open(sealed, ['container', '_an', 'nDiary', 'Day', 'today', 'secret']), undefined);
      const changed = Buffer.from(sealed, 'base64');
      changed[changed.length - 1] ^= 1;
      assert.equal(await cipher.open(changed.toString('base64'), place), undefined);
    }
    assert.deepEqual(await cipher.open(await cipher.seal({value: 'a'}, place), place), {value: 'a', type: 'STRING'});
    assert.equal(await cipher.open('', place), undefined);
  });

  test('a value of the Swift package opens; its tests have one of these', async () => {
    const cipher = await ValueCipher.of(Uint8Array.from({length: 32}, (_, index) => index));
    const place = ['iCloud.org.example.Diary', '_ann', 'Diary', 'Day', 'today', 'secret'];
    assert.deepEqual(await cipher.open(
      'Afl20ivvEDfSQZMc1gN5UaE+/Q4dFl2SJGxCliZxIwpAQMy73rcDc97xUVRXocng5PXOO9UEzW9Dad1Vcuh8hoJf0ON24vQ7+GnNbt+nxlw=',
      place), {value: 'nobody ü knows', type: 'STRING'});
  });

  test('a second device reads after unlocking, and the server never', async () => {
    const one = await device('ann');
    assert.equal(await one.store.encryption.status(), 'notSetUp');
    const code = await one.store.encryption.setUp('correct horse');
    const zone = one.store.zone('Diary');
    await zone.save({recordName: 'today', recordType: 'Day', fields: {title: {value: 'in the clear'}},
      encryptedValues: {secret: {value: 'nobody knows'}, day: {value: new Date(5)}}});
    await one.settle();
    assert.equal(zone.get('today').encryptedValues.secret.value, 'nobody knows');
    const sent = one.requests.map(({body}) => body ?? '').join();
    assert.equal(sent.includes('nobody knows'), false);
    assert.equal(sent.includes('in the clear'), true);

    const other = await device('ann');
    await other.settle();
    const theirs = other.store.zone('Diary');
    assert.equal(theirs.get('today').encryptedValues, undefined);
    await theirs.save({recordName: 'today', fields: {title: {value: 'changed while locked'}}});
    await theirs.save({recordName: 'new', recordType: 'Day', encryptedValues: {secret: {value: 'waits'}}});
    await other.store.sync();
    assert.equal(theirs.get('new').refused.code, 'LOCKED');
    assert.equal(await other.store.encryption.status(), 'locked');
    await assert.rejects(other.store.encryption.unlock({passphrase: 'wrong horse'}), {code: 'WRONG_SECRET'});
    await other.store.encryption.unlock({recoveryCode: code.toLowerCase().replaceAll('-', ' ')});
    assert.equal(theirs.get('today').encryptedValues.secret.value, 'nobody knows');
    await other.settle();
    await one.settle();
    assert.deepEqual(other.store.refused, []);
    assert.equal(zone.get('new').encryptedValues.secret.value, 'waits');
    assert.equal(zone.get('today').fields.title.value, 'changed while locked');
    assert.equal(zone.get('today').encryptedValues.day.value, 5);
    await other.store.encryption.lock();
    await other.store.encryption.unlock({passphrase: 'correct horse'});
    await one.store.encryption.setPassphrase('another');
    await other.store.encryption.lock();
    await assert.rejects(other.store.encryption.unlock({passphrase: 'correct horse'}), {code: 'WRONG_SECRET'});
    await assert.rejects(one.store.encryption.setUp('again'), {ckErrorCode: 'CONFLICT'});
  });

  test('the first value makes the key; what is shared is not encrypted for one alone', async () => {
    const one = await device('bob');
    const zone = one.store.zone('Diary');
    await zone.save({recordName: 'root', recordType: 'Day', encryptedValues: {secret: {value: 'x'}}});
    await one.settle();
    assert.match(await one.store.encryption.recoveryCode(), /^(\w{4}-){7}\w{4}$/);
    await zone.save({recordName: 'plain', recordType: 'Day', fields: {}});
    await zone.share('plain');
    await zone.save({recordName: 'child', recordType: 'Day', parent: {recordName: 'plain'},
      encryptedValues: {secret: {value: 'x'}}});
    await one.store.sync();
    assert.equal(zone.get('child').refused.code, 'INVALID_ARGUMENTS');
  });
});

describe('files', () => {
  let server;
  before(async () => { server = await Server.start('ann'); });
  after(() => server.stop());

  test('are kept offline, go on with an upload that was cut off, and are kept when they were fetched', async () => {
    const uploads = [];
    let isCut = true;
    const sending = async (url, options = {}) => {
      if (options.method === 'PATCH') {
        uploads.push(Number(options.headers['Upload-Offset']));
        if (isCut && uploads.length === 2) throw new TypeError('cut off');
      }
      return fetch(url, options);
    };
    const one = new Device(server, server.tokens.ann, {store: {fetch: sending}});
    await one.start();
    one.isOnline = false;
    const content = new Uint8Array(10 << 20).map((_, index) => index * 7);
    const zone = one.store.zone('Cats');
    await zone.save({recordName: 'milo', recordType: 'Cat', fields: {
      photo: {value: new Blob([content])}, more: {value: [new Blob(['a']), new Blob([''])]}}});
    assert.equal((await zone.file(zone.get('milo'), 'photo')).size, content.length);
    one.isOnline = true;
    await assert.rejects(one.store.sync());
    one.kill();
    isCut = false;
    await one.start();
    await one.settle();
    assert.deepEqual(one.store.refused, []);
    // The parts of the photo: the second one twice, and none of them anew.
    assert.deepEqual(uploads.filter(offset => offset > 0), [4 << 20, 4 << 20, 8 << 20]);

    let downloads = 0;
    const other = new Device(server, server.webToken('ann'), {store: {cacheBytesMax: 11 << 20, fetch: (...all) => {
      downloads += 1;
      return fetch(...all);
    }}});
    await other.start();
    await other.settle();
    const theirs = other.store.zone('Cats');
    const cat = theirs.get('milo');
    assert.equal(cat.fields.photo.value.size, content.length);
    for (let time = 0; time < 2; time++) {
      const found = new Uint8Array(await (await theirs.file(cat, 'photo')).arrayBuffer());
      assert.ok(Buffer.from(found).equals(Buffer.from(content)));
    }
    assert.equal(downloads, 1);
    assert.equal(await (await theirs.file(cat, 'more', 0)).text(), 'a');
    await assert.rejects(theirs.file(cat, 'nothing'), {code: 'NOT_FOUND'});
    // Over the limit of what is kept, the oldest goes.
    await one.store.zone('Cats').save({recordName: 'lea', recordType: 'Cat', fields: {photo: {value: new Blob([content, 'x'])}}});
    await one.settle();
    await other.settle();
    await theirs.file(theirs.get('lea'), 'photo');
    const kept = (await other.journal.files()).filter(({blob}) => blob);
    assert.deepEqual(kept.map(({blob}) => blob.size), [1, content.length + 1]);
    // A file in a field that is changed no more stays as it is.
    await theirs.save({recordName: 'milo', fields: {name: {value: 'Milo'}}});
    await other.settle();
    assert.deepEqual(other.store.refused, []);
    one.kill();
    other.kill();
  });
});
