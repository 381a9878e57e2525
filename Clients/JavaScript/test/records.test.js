import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {appOf} from './support/app.js';
import {Server} from './support/server.js';

describe('records', () => {
  let server, container, database;

  before(async () => {
    server = await Server.start('ann');
    container = appOf(server, server.tokens.ann);
    database = container.privateCloudDatabase;
    await database.saveRecordZones('Shelf');
  });
  after(() => server.stop());

  const cup = (recordName, fields) => ({recordType: 'Cup', recordName, fields});

  test('a record is saved, changed with its tag, fetched and deleted', async () => {
    const saved = await database.saveRecords(cup('c1', {name: {value: 'Ida'}, size: {value: 3}}));
    assert.equal(saved.hasErrors, false);
    const [record] = saved.records;
    assert.equal(record.recordName, 'c1');
    assert.equal(record.fields.name.value, 'Ida');
    assert.equal(record.created.user, record.created.userRecordName);
    record.fields.size.value = 4;
    const {records: [changed]} = await database.saveRecords([record]);
    assert.notEqual(changed.recordChangeTag, record.recordChangeTag);
    const fetched = await database.fetchRecords(['c1', {recordName: 'none'}], {desiredKeys: ['size']});
    assert.deepEqual(Object.keys(fetched.records[0].fields), ['size']);
    assert.equal(fetched.records[0].fields.size.value, 4);
    assert.equal(fetched.hasErrors, true);
    assert.equal(fetched.errors[0].ckErrorCode, 'NOT_FOUND');
    assert.equal(fetched.errors[0].recordName, 'none');
    const deleted = await database.deleteRecords('c1');
    assert.deepEqual(deleted.records, [{recordName: 'c1', deleted: true}]);
  });

  test('a record without a name gets one from the server', async () => {
    const {records} = await database.saveRecords([{recordType: 'Cup'}, {recordType: 'Cup', fields: {}}]);
    assert.equal(new Set(records.map(({recordName}) => recordName)).size, 2);
  });

  test('a conflict tells the record as the server has it, which can be saved', async () => {
    const {records: [first]} = await database.saveRecords(cup('c2', {size: {value: 1}}));
    await database.saveRecords({...first, fields: {size: {value: 2}}});
    const late = await database.saveRecords({...first, fields: {size: {value: 3}}});
    const [error] = late.errors;
    assert.equal(error.ckErrorCode, 'CONFLICT');
    assert.match(error.remedy, /serverRecord/);
    assert.equal(error.serverRecord.fields.size.value, 2);
    assert.equal(error.serverRecord.modified.user, first.created.user);
    error.serverRecord.fields.size.value = 3;
    assert.equal((await database.saveRecords(error.serverRecord)).hasErrors, false);
  });

  test('a batch does each of its operations, in one request', async () => {
    const zoneID = {zoneName: 'Shelf'};
    const {records: [kept, lost]} = await database.newRecordsBatch({zoneID})
      .create([cup('k', {a: {value: 1}, b: {value: 1}}), cup('l', {})]).commit();
    const {records, errors} = await database.newRecordsBatch({zoneID, atomic: true})
      .createOrUpdate([{...kept, fields: {a: {value: 2}}}, cup('new', {a: {value: 1}})])
      .delete(lost).forceUpdate(cup('forced', {a: {value: 5}}), {desiredKeys: []}).commit();
    assert.deepEqual(errors, []);
    assert.deepEqual(records.map(({recordName}) => recordName), ['k', 'new', 'l', 'forced']);
    assert.deepEqual([records[0].fields.a.value, records[0].fields.b.value], [2, 1]);
    assert.equal(records[2].deleted, true);
    assert.deepEqual(records[3].fields, {});
    const replaced = await database.newRecordsBatch({zoneID})
      .replace({...records[0], fields: {a: {value: 9}}})
      .forceReplace(cup('forced', {b: {value: 1}})).forceDelete('new').commit();
    assert.deepEqual(Object.keys(replaced.records[0].fields), ['a']);
    assert.deepEqual(Object.keys(replaced.records[1].fields), ['b']);
    const updated = await database.newRecordsBatch({zoneID})
      .update({...replaced.records[0], fields: {a: {value: 10}}}).commit();
    assert.equal(updated.records[0].fields.a.value, 10);
  });

  test('of an atomic batch that fails nothing is saved, and each error has its code', async () => {
    const {errors, records} = await database.newRecordsBatch({zoneID: 'Shelf', atomic: true})
      .create(cup('never', {})).update({...cup('c1', {}), recordChangeTag: 'x'}).commit();
    assert.deepEqual(records, []);
    assert.deepEqual(errors.map(({ckErrorCode}) => ckErrorCode), ['ATOMIC_ERROR', 'NOT_FOUND']);
  });

  test('a query goes on where its answer ended, with its options', async () => {
    await database.newRecordsBatch({zoneID: 'Shelf'}).create(
      Array.from({length: 5}, (_, n) => ({recordType: 'Page', fields: {n: {value: n}}}))).commit();
    const query = {recordType: 'Page', sortBy: [{fieldName: 'n'}],
      filterBy: [{fieldName: 'n', comparator: 'GREATER_THAN', fieldValue: {value: 0}}]};
    let page = await database.performQuery(query, {zoneID: 'Shelf', resultsLimit: 3});
    assert.equal(page.isQueryResponse && page.isRecordsResponse && page.isResponse, true);
    assert.equal(page.moreComing, true);
    const found = [...page.records];
    page = await database.performQuery(page);
    assert.deepEqual([page.resultsLimit, page.zoneID.zoneName], [3, 'Shelf']);
    assert.equal(page.moreComing, false);
    found.push(...page.records);
    assert.deepEqual(found.map(({fields}) => fields.n.value), [1, 2, 3, 4]);
  });

  test('whole numbers over 2^53, dates and lists keep their values', async () => {
    const date = new Date('2026-03-01T09:05:07.123Z');
    const fields = {big: {value: 2n ** 62n + 1n}, bigs: {value: [1n, 2n ** 60n]},
      at: {value: date}, days: {value: [date]}, none: {value: null}};
    await database.saveRecords(cup('values', fields));
    const {records: [record]} = await database.fetchRecords('values', {numbersAsStrings: true});
    assert.equal(BigInt(record.fields.big.value), 2n ** 62n + 1n);
    assert.deepEqual(record.fields.bigs.value.map(BigInt), [1n, 2n ** 60n]);
    assert.equal(record.fields.at.type, 'TIMESTAMP');
    assert.equal(Number(record.fields.days.value[0]), date.getTime());
    assert.equal(record.fields.none, undefined);
    assert.equal(typeof fields.big.value, 'bigint', "the app's own object stays as it is");
  });

  test('strings of every kind come back as they were, or are refused', async () => {
    const strings = ['', ' ', '\u0000\u0001\u001f', '"\\/\b\f\n\r\t', 'ﷺ𝒳👩‍👩‍👧‍👦', '\u202eright to left',
      '<script>alert(1)</script>', '${f} %00 %s', "'; DROP TABLE records; --", '\ufeff\uffff',
      '__proto__', 'constructor', '1e999', 'null', 'Ａ\u0301\u0327', 'x'.repeat(100_000)];
    const names = strings.map((_, index) => `s${index}`);
    const saved = await database.saveRecords(
      strings.map((value, index) => cup(names[index], {name: {value}})));
    assert.deepEqual(saved.errors.map(String), []);
    const {records} = await database.fetchRecords(names);
    assert.deepEqual(records.map(({fields}) => fields.name.value), strings);
    await assert.rejects(database.saveRecords(cup('half', {name: {value: '\ud83d'}})),
      {ckErrorCode: 'BAD_REQUEST'});
  });

  test('names of every kind are sent as they are', async () => {
    for (const recordName of ['a/b', 'a b', 'a%2Fb', 'x:y', '${f}', 'constructor', '-', 'a&b=c?d#e']) {
      const {errors} = await database.saveRecords({recordType: 'Cup', recordName});
      assert.deepEqual(errors.map(String), []);
      const {records: [record]} = await database.fetchRecords(recordName);
      assert.equal(record.recordName, recordName);
    }
    const fields = Object.fromEntries([['__proto__', {value: 'x'}]]);
    const saved = await database.saveRecords({recordType: 'Cup', fields});
    assert.equal(saved.errors[0]?.ckErrorCode, 'BAD_REQUEST');
    assert.equal({}.value, undefined);
  });

  test('what cannot be meant is refused before it is sent', async () => {
    for (const call of [
      () => database.saveRecords({fields: {}}), () => database.saveRecords(null),
      () => database.saveRecords({recordName: 'x'}), () => database.fetchRecords({}),
      () => database.deleteRecords([{}]), () => database.performQuery(),
      () => database.saveRecordZones({}), () => database.fetchSubscriptions({}),
    ]) await assert.rejects(call(), {ckErrorCode: 'INVALID_ARGUMENTS'});
    assert.throws(() => container.getDatabaseWithDatabaseScope('OTHER'),
      {ckErrorCode: 'INVALID_ARGUMENTS'});
    assert.equal(container.getDatabaseWithDatabaseScope('PUBLIC'), container.publicCloudDatabase);
  });
});
