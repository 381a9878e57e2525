"""Assets in a real browser: a page of another origin uploads blobs, saves them, and gets them back.

Chromium draws a picture, makes a document, uploads them after preflights (raw, as a form, and resumed by
tus), compares every byte of what it downloads, shows the picture, and opens a stored page with a script,
which must not run. The page tells this script what it saw. Without a Chromium there is nothing to do.
"""

import json

from chromium import Origin, showing, with_chromium
from server import Server

CONTAINER = "iCloud.org.example.Photos"
SECONDS_MAX = 120

PAGE = """<!doctype html><meta charset="utf-8"><title>Assets</title><body><script type="module">
const settings = SETTINGS;
const seen = [];
const check = (what, holds) => { seen.push([what, Boolean(holds)]); };
const post = async (endpoint, body) => {
  const answer = await fetch(`${settings.database}/${endpoint}${settings.query}`,
    {method: 'POST', body: JSON.stringify(body)});
  return answer.json();
};
const here = url => settings.origin + url.slice(url.indexOf('/assets/'));
const uploadURL = async () => {
  const {tokens} = await post('assets/upload', {tokens: [{recordType: 'Photo', fieldName: 'file'}]});
  return here(tokens[0].url);
};
const save = async (name, value) => {
  const {records} = await post('records/modify', {operations: [{operationType: 'forceReplace',
    record: {recordType: 'Photo', recordName: name, fields: {file: {value}}}}]});
  return here(records[0].fields.file.value.downloadURL);
};
const same = async (blob, link, name) => {
  const answer = await fetch(link.replace('${f}', encodeURIComponent(name)));
  const [a, b] = await Promise.all([blob.arrayBuffer(), answer.arrayBuffer()]);
  const [x, y] = [new Uint8Array(a), new Uint8Array(b)];
  return x.length === y.length && x.every((byte, index) => byte === y[index]);
};
const draw = type => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [640, 480];
  const context = canvas.getContext('2d');
  for (let x = 0; x < 640; x += 4) {
    context.fillStyle = `hsl(${x / 2} 80% ${30 + x / 16}%)`;
    context.fillRect(x, (x * 37) % 400, 40, 80);
  }
  return new Promise(done => canvas.toBlob(done, type, 0.9));
};
const picture = link => new Promise(done => {
  const image = new Image();
  image.onload = () => done(image.naturalWidth === 640);
  image.onerror = () => done(false);
  image.src = link.replace('${f}', 'photo.png');
});
const resumed = async blob => {
  const url = await uploadURL();
  const tus = {'Tus-Resumable': '1.0.0'};
  const made = await fetch(url, {method: 'POST', headers: {...tus, 'Upload-Length': blob.size}});
  check('tus creates, and shows where', made.status === 201 && made.headers.get('Location'));
  const half = blob.size >> 1;
  for (const [start, end] of [[0, half], [half, blob.size]]) {
    const head = await fetch(url, {method: 'HEAD', headers: tus});
    check('tus says how far it is', head.headers.get('Upload-Offset') === String(start));
    await fetch(url, {method: 'PATCH', body: blob.slice(start, end), headers: {
      ...tus, 'Upload-Offset': start, 'Content-Type': 'application/offset+octet-stream'}});
  }
  return (await (await fetch(url)).json()).singleFile;
};
try {
  const documentText = '%PDF-1.4\\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\\n' +
    '2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\\n' +
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj\\ntrailer<</Root 1 0 R>>\\n%%EOF\\n';
  const files = {
    'Übung 1/2.png': await draw('image/png'), 'photo.jpg': await draw('image/jpeg'),
    'note.pdf': new Blob([documentText], {type: 'application/pdf'}), 'empty': new Blob([]),
    'large.bin': new Blob([crypto.getRandomValues(new Uint8Array(65536)), new Uint8Array(3e6)]),
  };
  for (const [name, blob] of Object.entries(files)) {
    const raw = await fetch(await uploadURL(),
      {method: 'POST', body: blob, headers: {'X-Of-A-Page': 'so that a preflight is needed'}});
    const value = (await raw.json()).singleFile;
    check(`${name}: its size`, value.size === blob.size);
    check(`${name}: raw`, await same(blob, await save('raw', value), name));
    const form = new FormData();
    form.append('files', blob, name);
    const sent = await fetch(await uploadURL(), {method: 'POST', body: form});
    check(`${name}: as a form`, await same(
      blob, await save('form', (await sent.json()).singleFile), name));
    check(`${name}: by PUT`, (await fetch(
      await uploadURL(), {method: 'PUT', body: blob})).status === 200);
  }
  check('resumed', await same(
    files['large.bin'], await save('tus', await resumed(files['large.bin'])), 'x'));
  const png = await fetch(
    await uploadURL(), {method: 'POST', body: files['Übung 1/2.png']}).then(a => a.json());
  const link = await save('png', png.singleFile);
  check('the picture is shown', await picture(link));
  const part = await fetch(link, {headers: {Range: 'bytes=1-3'}});
  check('a range', part.status === 206 && await part.text() === 'PNG');

  let ran = false;
  addEventListener('message', () => { ran = true; });
  const evil = new Blob(
    ['<script>(parent || opener).postMessage("ran", "*")</' + 'script>'], {type: 'text/html'});
  const stored = await fetch(await uploadURL(), {method: 'POST', body: evil}).then(a => a.json());
  const evilLink = (await save('evil', stored.singleFile)).replace('${f}', 'page.html');
  const answer = await fetch(evilLink);
  check('a stored page is no page', answer.headers.get('Content-Type') === 'application/octet-stream');
  const frame = document.createElement('iframe');
  frame.src = evilLink;
  document.body.append(frame);
  // By then a page in the frame would have run: this one is loaded after it.
  const after = document.createElement('iframe');
  const loaded = new Promise(done => { after.onload = done; });
  after.src = '/plain';
  document.body.append(after);
  await loaded;
  check('a stored page does not run', !ran);
} catch (error) {
  check(`${error} ${error.stack}`, false);
}
await fetch('/', {method: 'POST', body: JSON.stringify(seen)});
</script>"""


def settings(server):
    server.start()
    server.command("container", "create", CONTAINER)
    token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
    server.command("user", "create", "ann@example.org")
    web = server.command("web-token", "create", CONTAINER, "development", "ann@example.org")
    origin = "http://%s:%d" % server.address
    return {
        "origin": origin,
        "database": f"{origin}/database/1/{CONTAINER}/development/private",
        "query": f"?ckAPIToken={token}&ckWebAuthToken={web['webAuthToken']}",
    }


def main(program):
    with Server() as server:
        page = PAGE.replace("SETTINGS", json.dumps(settings(server)))
        with Origin(page) as app, showing(program, f"http://127.0.0.1:{app.server_port}/"):
            _, seen = app.told.get(timeout=SECONDS_MAX)
        wrong = [what for what, holds in seen if not holds]
        assert not wrong, f"the browser found: {wrong}"
        assert len(seen) > 25, seen
        server.stop()


if __name__ == "__main__":
    with_chromium(main)
