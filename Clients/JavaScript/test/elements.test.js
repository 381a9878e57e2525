import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {englishTexts, shareSource} from '../elements.js';
import {lookupInfoOf, nameOf, pictureOf} from '../src/elements/people.js';
import {appOf} from './support/app.js';
import {Server} from './support/server.js';

const zoneID = {zoneName: 'Notes'};
const invited = emailAddress => ({
  type: 'USER', permission: 'READ_ONLY', userIdentity: {lookupInfo: {emailAddress}}});

describe('the elements, without a page', () => {
  test('an address is a mail address or a phone number with its country', () => {
    assert.deepEqual(lookupInfoOf(' bob@example.org '), {emailAddress: 'bob@example.org'});
    assert.deepEqual(lookupInfoOf('+1 (555) 010-0199'), {phoneNumber: '+15550100199'});
    for (const none of ['', ' ', 'bob', '5550100199', 'a b@example.org', '+1', '<b>@', '@example.org']) {
      assert.equal(lookupInfoOf(none), null, none);
    }
  });

  test('somebody is called by their name, else by the address that invited them', () => {
    const userIdentity = {nameComponents: {givenName: 'Ann', familyName: 'Archer'}};
    assert.equal(nameOf({userIdentity}, englishTexts), 'Ann Archer');
    assert.equal(nameOf(invited('a@example.org'), englishTexts), 'a@example.org');
    assert.equal(nameOf({userIdentity: {userRecordName: '_a'}}, englishTexts), 'Unnamed person');
    assert.equal(nameOf({oneTimeURL: 'https://a.example'}, englishTexts), 'One-time link');
  });

  test('only what begins as a picture is shown as one', () => {
    const share = value => ({fields: {'cloudkit.thumbnailImageData': {value}}});
    assert.match(pictureOf(share('iVBORw0KGgoAAA')), /^data:image\/png;base64,iVBOR/);
    for (const none of ['PHN2Zz4=', 7, undefined, '"><script>']) assert.equal(pictureOf(share(none)), undefined);
    assert.equal(pictureOf(null), undefined);
  });
});

describe('a source of shares', () => {
  let server, ann, bob;
  before(async () => {
    server = await Server.start('ann', 'bob');
    [ann, bob] = ['ann', 'bob'].map(name => appOf(server, server.tokens[name]));
    await ann.privateCloudDatabase.saveRecordZones('Notes');
    await ann.privateCloudDatabase.saveRecords(
      {recordType: 'Note', recordName: 'note', fields: {}}, {zoneID});
  });
  after(() => server.stop());

  const source = options => shareSource({
    database: ann.privateCloudDatabase, record: 'note', zoneID, serverURL: server.url, ...options});

  test('makes a share, changes it, and ends it', async () => {
    const of = source({title: 'Shopping'});
    assert.equal(await of.read(), null);
    let share = await of.save(null, {participants: [invited('bob@example.org')]});
    assert.equal(share.fields['cloudkit.title'].value, 'Shopping');
    assert.equal(of.link(share), `${server.url}/share/${share.shortGUID}`);
    assert.deepEqual((await of.read()).recordChangeTag, share.recordChangeTag);
    share = await of.save(share, {publicPermission: 'READ_ONLY'});
    assert.equal(share.participants.length, 2);
    await assert.rejects(of.save({...share, recordChangeTag: 'old'}, {}), {ckErrorCode: 'CONFLICT'});
    await of.end(share);
    assert.equal(await of.read(), null);
  });

  test('keeps what a change does not name: access, requests and people', async () => {
    const of = source({});
    let share = await of.save(await of.read(), {allowsAccessRequests: true, participants: [
      invited('bob@example.org'), {type: 'USER', permission: 'READ_ONLY', oneTimeLink: true}]});
    const urlOf = ({participants}) => participants.find(({oneTimeURL}) => oneTimeURL)?.oneTimeURL;
    const url = urlOf(share);
    assert.match(url, /^http.*~/);
    share = await of.save(share, {participants: share.participants.map(
      ({participantId, type, permission, userIdentity: {lookupInfo, userRecordName}}) =>
        ({participantId, type, permission, userIdentity: {lookupInfo, userRecordName}}))});
    assert.equal(share.allowsAccessRequests, true);
    assert.equal(share.participants.length, 3);
    assert.equal(urlOf(share), url);
    await of.end(share);
  });

  test('a participant sees it by their own database, and leaves', async () => {
    const of = source({});
    const {shortGUID} = await of.save(await of.read(), {participants: [invited('bob@example.org')]});
    const {results: [{zoneID: shared}]} = await bob.acceptShares(shortGUID);
    const theirs = shareSource({database: bob.sharedCloudDatabase, record: 'note', zoneID: shared});
    const share = await theirs.read();
    assert.equal(share.currentUserParticipant.type, 'USER');
    assert.equal(theirs.link(share), undefined);
    await assert.rejects(theirs.save(share, {publicPermission: 'READ_WRITE'}), {ckErrorCode: 'ACCESS_DENIED'});
    await theirs.end(share);
    const left = (await of.read()).participants.find(({type}) => type === 'USER');
    assert.equal(left.acceptanceStatus, 'REMOVED');
    await of.end(await of.read());
  });

  test('of a whole zone is the share of the zone', async () => {
    const of = source({record: undefined});
    assert.equal(await of.read(), null);
    const share = await of.save(null, {publicPermission: 'READ_WRITE'});
    assert.equal(share.recordName, 'cloudkit.zoneshare');
    assert.equal((await of.read()).publicPermission, 'READ_WRITE');
    await of.end(share);
    assert.equal(await of.read(), null);
  });

  test('the server says the texts of the elements, to pages of every site', async () => {
    const answer = await fetch(`${server.url}/share-sheet/texts`, {headers: {Origin: 'https://a.example'}});
    assert.equal(answer.headers.get('Access-Control-Allow-Origin'), '*');
    assert.deepEqual(await answer.json(), {...englishTexts});
  });

  test('the page for frames names those who may show it: the origins of its API token', async () => {
    const page = async query => {
      const answer = await fetch(`${server.url}/share-sheet${query}`);
      const policy = answer.headers.get('Content-Security-Policy');
      return [answer.status, /frame-ancestors ([^;]*);/.exec(policy)[1],
        answer.headers.get('X-Frame-Options'), await answer.text(), policy];
    };
    const {apiToken} = server.command('api-token', 'create', 'iCloud.org.example.Script', 'development',
      '--origin', 'https://a.example', '--origin', 'https://b.example:8443');
    const [status, ancestors, options, text, policy] = await page(`?ckAPIToken=${apiToken}`);
    assert.deepEqual([status, ancestors, options], [200, 'https://a.example https://b.example:8443', null]);
    assert.match(text, /<share-frame data-server="http/);
    assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'/);
    assert.deepEqual((await page(`?ckAPIToken=${server.apiToken}`)).slice(0, 3), [200, "'none'", 'DENY']);
    for (const query of ['', '?ckAPIToken=', '?ckAPIToken=%27%3B*', `?ckAPIToken=${'f'.repeat(64)}`]) {
      assert.deepEqual((await page(query)).slice(0, 3), [404, "'none'", 'DENY'], query);
    }
  });
});
