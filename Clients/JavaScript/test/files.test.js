import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {createHash, generateKeyPairSync} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import vm from 'node:vm';
import {gzipSync} from 'node:zlib';
import {CloudKit} from '../cloudkit.js';
import {containerIdentifier, Server} from './support/server.js';

const here = fileURLToPath(new URL('..', import.meta.url));
const read = name => readFileSync(here + name, 'utf8');
const {version, files, exports} = JSON.parse(read('package.json'));
const bytesMax = {'cloudkit.js': 25_000, 'store.js': 25_000, 'elements.js': 15_000};

describe('the files that are handed out', () => {
  test('those that are made from src/ are up to date', () => {
    const built = spawnSync(process.execPath, ['build.mjs', '--check'], {cwd: here, encoding: 'utf8'});
    assert.equal(built.status, 0, built.stderr);
  });

  test('each module is as small as it is to be, compressed', context => {
    for (const [name, most] of Object.entries(bytesMax)) {
      const {length} = gzipSync(read(name), {level: 9});
      context.diagnostic(`${name}: ${length} bytes`);
      assert.ok(length <= most, `${name}: ${length} bytes`);
    }
  });

  test('the declarations hold for modules, for require() and for classic scripts', context => {
    if (spawnSync('tsc', ['--version']).status !== 0) {
      assert.notEqual(process.env.CI_REQUIRE_ALL, '1', 'tsc is needed (Debian: node-typescript)');
      return context.skip('tsc is needed (Debian: node-typescript)');
    }
    const options = ['--noEmit', '--strict', '--skipDefaultLibCheck', '--target', 'es2022', '--lib', 'es2022,dom'];
    for (const [module, ...sources] of [
      ['node16', 'test/types/module.mts', 'test/types/store.mts', 'test/types/elements.mts',
        'test/types/required.cts'],
      ['none', 'test/types/classic.ts'],
    ]) {
      const checked = spawnSync('tsc', [...options, '--module', module,
        '--moduleResolution', module === 'none' ? 'node' : module, ...sources],
      {cwd: here, encoding: 'utf8'});
      assert.equal(checked.status, 0, checked.stdout);
    }
  });

  test('every member of the declarations is one of the program', () => {
    const types = read('cloudkit.d.ts');
    const members = name => [...new RegExp(`export interface ${name} \\{\\n([^]*?)\\n\\}`).exec(types)[1]
      .matchAll(/^ {2}(?:readonly )?(\w+)[?(:]/gm)].map(([, member]) => member);
    CloudKit.configure({serverURL: 'https://sync.example.org', containers: [
      {containerIdentifier: 'x', environment: 'development', apiTokenAuth: {apiToken: 'a'}}]});
    const container = CloudKit.getDefaultContainer();
    const database = container.privateCloudDatabase;
    for (const [name, value] of Object.entries({CloudKitStatic: CloudKit, Container: container,
      Database: database, RecordsBatchBuilder: database.newRecordsBatch()})) {
      const declared = members(name);
      assert.ok(declared.length > 5, name);
      for (const member of declared) assert.ok(member in value, `${name}.${member}`);
      const own = [...Object.keys(value), ...Object.getOwnPropertyNames(Object.getPrototypeOf(value))]
        .filter(member => !['constructor', 'toString', 'close'].includes(member) &&
          !(member in Object.prototype));
      assert.deepEqual(own.filter(member => !declared.includes(member)), [], name);
    }
  });

  test('the package has every file that it names, and its names work in Node', () => {
    for (const file of [...files, ...Object.values(exports['.']).flatMap(Object.values),
      ...Object.values(exports['./store']), ...Object.values(exports['./elements'])]) {
      assert.doesNotThrow(() => execFileSync('test', ['-e', file], {cwd: here}), file);
    }
    const required = createRequire(import.meta.url)('../cloudkit.cjs');
    assert.deepEqual(Object.keys(required), Object.keys(CloudKit));
    assert.equal(required.VERSION, version);
  });

  test('a classic script makes the global CloudKit and says so', () => {
    const events = [];
    const page = {
      Event: class { constructor(type) { this.type = type; } },
      dispatchEvent: event => { events.push([event.type, typeof page.CloudKit]); },
      document: {currentScript: {src: 'https://sync.example.org/base/client/9/cloudkit.cjs'}},
      AbortController, setTimeout, clearTimeout, URL,
      fetch: async url => Response.json({seen: url}),
    };
    vm.runInNewContext(read('cloudkit.cjs'), page);
    assert.deepEqual(events, [['cloudkitloaded', 'object']]);
    page.CloudKit.configure({containers: [
      {containerIdentifier: 'x', environment: 'production', apiTokenAuth: {apiToken: 'a'}}]});
    // The server that the script came from is the one to ask.
    return page.CloudKit.getDefaultContainer().fetchCurrentUserIdentity().then(({seen}) => {
      assert.match(seen, /^https:\/\/sync\.example\.org\/base\/database\/1\/x\/production\/public\/users\/caller\?/);
    });
  });
});

describe('the server', () => {
  let server;
  before(async () => { server = await Server.start(); });
  after(() => server.stop());

  test('hands out the files as they are, to pages of every origin, for good', async () => {
    const list = await (await fetch(`${server.url}/client`)).text();
    for (const [name, type] of [['cloudkit.js', 'text/javascript'], ['cloudkit.cjs', 'text/javascript'],
      ['cloudkit.d.ts', 'application/typescript'], ['cloudkit.d.cts', 'application/typescript'],
      ['store.js', 'text/javascript'], ['store.d.ts', 'application/typescript'],
      ['elements.js', 'text/javascript'], ['elements.d.ts', 'application/typescript']]) {
      const address = `/client/${version}/${name}`;
      const answer = await fetch(`${server.url}${address}?x`, {headers: {Origin: 'https://a.example'}});
      assert.equal(answer.status, 200, name);
      assert.ok(await answer.text() === read(name), `${name}: build the server again`);
      for (const [header, value] of Object.entries({
        'Content-Type': `${type}; charset=utf-8`, 'Access-Control-Allow-Origin': '*',
        'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })) assert.equal(answer.headers.get(header), value, `${name}: ${header}`);
      const digest = createHash('sha256').update(read(name)).digest('base64');
      assert.ok(list.includes(`${address} sha256-${digest}\n`), list);
    }
    const module = await fetch(`${server.url}/client/${version}/cloudkit.js`, {method: 'HEAD'});
    assert.equal(module.headers.get('X-TypeScript-Types'), './cloudkit.d.ts');
    for (const gone of ['/client/0.0.9/cloudkit.js', `/client/${version}/`, '/client/../etc/passwd',
      `/client/${version}/package.json`]) {
      const answer = await fetch(server.url + gone);
      assert.equal(answer.status, 404, gone);
      await answer.text();
    }
    const posted = await fetch(`${server.url}/client/${version}/cloudkit.js`, {method: 'POST'});
    assert.equal(posted.status, 405);
  });

  test('takes what a server key has signed, and refuses another one', async () => {
    for (const passphrase of [undefined, 'secret']) {
      const name = passphrase ? 'sealed' : 'plain';
      const [key, publicPath] = [server.path(`${name}.pem`), server.path(`${name}.pub.pem`)];
      const sealed = passphrase && {cipher: 'aes-256-cbc', passphrase};
      const {privateKey, publicKey} = generateKeyPairSync('ec', {
        namedCurve: 'P-256', publicKeyEncoding: {type: 'spki', format: 'pem'},
        privateKeyEncoding: {type: 'pkcs8', format: 'pem', ...sealed}});
      writeFileSync(key, privateKey);
      writeFileSync(publicPath, publicKey);
      const {keyID} = server.command(
        'server-key', 'add', containerIdentifier, 'development', '--public-key', publicPath);
      const configure = changes => CloudKit.configure({serverURL: server.url, containers: [{
        containerIdentifier, environment: 'development', serverToServerKeyAuth: {
          keyID, privateKeyFile: key, privateKeyPassPhrase: passphrase, ...changes}}]})
        .getDefaultContainer();
      const container = configure({});
      const user = await container.setUpAuth();
      assert.equal(typeof user.userRecordName, 'string');
      const database = container.publicCloudDatabase;
      const {records: [record]} = await database.saveRecords({
        recordType: 'Fact', recordName: name, fields: {text: {value: 'Ü'}}});
      assert.equal(record.created.user, user.userRecordName);
      await assert.rejects(configure({keyID: 'f'.repeat(64)}).setUpAuth(),
        {ckErrorCode: 'AUTHENTICATION_FAILED'});
      await assert.rejects(configure({privateKeyFile: '/nowhere.pem'}).setUpAuth(),
        {ckErrorCode: 'CONFIGURATION_ERROR'});
      const inline = configure({privateKeyFile: undefined, privateKey});
      assert.deepEqual(await inline.setUpAuth(), user);
    }
  });

  test("a page for the original script runs with its configuration and the server's address", async () => {
    server.command('user', 'create', 'eve@example.org');
    const token = server.webToken('eve');
    // As docs/protocol/moving-a-page.md has it, with its fetch still in place.
    const moved = (url, options) => fetch(String(url).replace(
      /^https:\/\/[^/]*\.apple-cloudkit\.com(:\d+)?(?=\/)/, server.url), options);
    for (const change of [{serverURL: server.url}, {serverURL: 'https://api.apple-cloudkit.com'}]) {
      const store = {putToken() {}, getToken: () => token};
      CloudKit.configure({
        ...change, services: {fetch: moved, authTokenStore: store},
        containers: [{containerIdentifier, environment: 'development',
          apiTokenAuth: {apiToken: server.apiToken, persist: true}}]});
      assert.ok(await CloudKit.getDefaultContainer().setUpAuth());
    }
    CloudKit.configure({containers: [{containerIdentifier, environment: 'development',
      privateDatabasePartition: server.url, publicDatabasePartition: server.url,
      apiToken: server.apiToken, auth: {persist: false}}]});
    assert.equal(await CloudKit.getDefaultContainer().setUpAuth(), null);
  });
});
