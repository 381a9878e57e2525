"""Assets on a real S3-compatible store: OpenStack Swift with its S3 API.

Small and large files through the server and back, whole and by ranges, sealed, redirected; the store dying
in the middle; check, backup and restore; a container that goes, and one that moves into the bucket and out of it.
"""

import hashlib
import http.client
import json
import os
import random
import shutil
import subprocess
import urllib.parse

from movable import Device, Files, check, copy
from object_store import ACCESS_KEY, REGION, SECRET, ObjectStore
from server import BINARY, Server, database

CONTAINER = "iCloud.org.example.Photos"
BUCKET = "assets"
OWNER = "one/lenticular-owner"
PREFIX = f"one/{CONTAINER.lower()}/development/"


class Album:
    """A user with a device, on one server."""

    def __init__(self, server):
        self.server = server
        server.command("container", "create", CONTAINER)
        token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        server.command("user", "create", "ada@example.org")
        made = server.command("web-token", "create", CONTAINER, "development", "ada@example.org")
        self.query = urllib.parse.urlencode(
            {"ckAPIToken": token, "ckWebAuthToken": made["webAuthToken"]}
        )

    def send(self, method, target, body=b"", headers={}):
        connection = http.client.HTTPConnection(*self.server.address, timeout=120)
        connection.request(method, target, body=body, headers=headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def post(self, endpoint, body):
        path = f"/database/1/{CONTAINER}/development/private/{endpoint}?{self.query}"
        answer, data = self.send("POST", path, json.dumps(body).encode())
        assert answer.status == 200, f"{endpoint}: {answer.status} {data}"
        return json.loads(data)

    def upload(self, data):
        """Status and answer of an upload."""
        tokens = self.post(
            "assets/upload", {"tokens": [{"recordType": "Photo", "fieldName": "file"}]}
        )["tokens"]
        answer, text = self.send("POST", path_of(tokens[0]["url"]), data)
        return answer.status, json.loads(text)

    def save(self, name, data):
        status, answer = self.upload(data)
        assert status == 200, answer
        fields = {"file": {"value": answer["singleFile"], "type": "ASSETID"}}
        operation = {
            "operationType": "forceUpdate",
            "record": {"recordName": name, "recordType": "Photo", "fields": fields},
        }
        saved = self.post("records/modify", {"operations": [operation]})["records"][0]
        assert "serverErrorCode" not in saved, saved

    def link(self, name):
        record = self.post("records/lookup", {"records": [{"recordName": name}]})["records"][0]
        url = record["fields"]["file"]["value"]["downloadURL"]
        return path_of(url.replace("${f}", "photo.png"))

    def load(self, name, headers={}):
        answer, data = self.send("GET", self.link(name), headers=headers)
        return answer.status, data


def path_of(url):
    parts = urllib.parse.urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def file_of(count, seed):
    return random.Random(seed).randbytes(count)


def key_of(data):
    return PREFIX + hashlib.sha256(data).hexdigest()


def transfers(store, album, files, suffix=""):
    """Every file goes in and comes back, and lies in the bucket under its digest."""
    for name, data in files.items():
        album.save(name, data)
    keys = store.keys(BUCKET, PREFIX)
    for name, data in files.items():
        assert key_of(data) + suffix in keys, f"{name} is not in the bucket"
        status, body = album.load(name)
        assert status == 200 and body == data, f"{name}: {status}, {len(body)} bytes"
        count = len(data)
        for start, end in ((0, 0), (count // 2, count // 2 + 70_000), (count - 1, count)):
            if not count:
                continue
            status, body = album.load(name, {"Range": f"bytes={start}-{end}"})
            assert (status, body) == (206, data[start : end + 1]), f"{name}: {start}-{end}"


def deaths(store, album, files):
    """The store dies: uploads say so and leave nothing, downloads too; then all is well again."""
    name, data = next(iter(files.items()))
    store.kill("proxy")
    status, answer = album.upload(b"never stored")
    assert (status, answer["serverErrorCode"]) == (503, "TRY_AGAIN_LATER"), answer
    status, _ = album.load(name)
    assert status == 503, status
    store.start("proxy")
    # The gateway is there, what is behind it is not.
    store.kill("object")
    status, answer = album.upload(b"not stored either")
    assert (status, answer["serverErrorCode"]) == (503, "TRY_AGAIN_LATER"), answer
    store.start("object")
    assert album.load(name) == (200, data)
    album.save("later", b"stored")
    assert album.load("later") == (200, b"stored")
    assert key_of(b"never stored") not in store.keys(BUCKET, PREFIX)
    left = [
        file
        for folder, _, names in os.walk(os.path.join(album.server.data, "containers"))
        for file in names
        if "/incoming" in folder
    ]
    assert left == [], left


def checks(store, album, files):
    """check, backup and restore see to the bucket."""
    server = album.server
    assert server.command("check")["ok"] is True
    copy = os.path.join(server.folder, "copy")
    assert server.command("backup", copy)["ok"] is True
    assert not any("assets" in folders for _, folders, _ in os.walk(copy)), "bytes in the backup"
    restored = os.path.join(server.folder, "restored")
    os.environ.update(database())
    run("restore", copy, "--data", restored, "--yes")
    os.environ["LENTICULAR_S3_BACKUPS"] = "copied"
    full = os.path.join(server.folder, "full")
    run("backup", full, "--data", restored)
    del os.environ["LENTICULAR_S3_BACKUPS"]
    found = [name for _, _, names in os.walk(full) for name in names]
    for data in files.values():
        assert hashlib.sha256(data).hexdigest() in found, "a copied backup without a file"
    lost = key_of(next(iter(files.values())))
    status, body = store.call("DELETE", f"/{BUCKET}/{lost}")
    assert status == 204, body
    problems = run("check", "--data", restored, status=1)["problems"]
    assert len(problems) == 1 and "missing asset" in problems[0], problems
    # A backup that has the bytes brings them back into the bucket, once that is no other server's.
    shutil.rmtree(restored)
    os.environ.update(database())
    refused = subprocess.run(
        [BINARY, "restore", full, "--data", restored, "--yes"], capture_output=True, text=True
    )
    assert refused.returncode == 1 and OWNER in refused.stderr, refused
    take_over(store)
    run("restore", full, "--data", restored, "--yes")
    assert run("check", "--data", restored)["ok"] is True
    take_over(store)


class Configured(Files):
    """A server with a folder and settings of its own, which are in a file."""

    def __init__(self, more):
        super().__init__()
        self.file = os.path.join(self.folder, "settings.json5")
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump({"data": self.data} | more, file)

    @property
    def settings(self):
        return ["--config", self.file]

    @property
    def others_settings(self):
        return ["--to-config", self.file]

    def started(self, arguments, **outputs):
        return super().started([*arguments, *self.settings], **outputs)

    def command(self, *words):
        return super().command(*words, *self.settings)


def moves(store, keys, sealing):
    """A container goes from a server that seals its files to one with a bucket, and on to a folder."""
    bucket = {
        "endpoint": store.origin, "region": REGION, "bucket": BUCKET, "prefix": "moved/", "credentialsFile": keys}
    with Configured({"assets": {"keyFile": sealing}}) as first, Configured({"s3": bucket}) as second, \
            Configured({}) as third:
        first.start()
        first.command("container", "create", CONTAINER)
        first.command("user", "create", "ada@example.org")
        ada = Device(first, "ada@example.org", CONTAINER)
        ada.make_zone(first)
        texts, files = ada.fill(first, 20, 3)
        files["large"] = file_of(20_000_003, 5)
        ada.save(first, ["large"], ada.upload(first, files["large"]))
        for source, target in (first, second), (second, third):
            copied = copy(source, target, "--container", CONTAINER)
            assert copied.returncode == 0, copied
            target.start()
            assert sorted(ada.changes(target)[0]) == sorted([*texts, *files])
            for name, data in files.items():
                assert ada.load(target, name) == data, name
            assert check(target) == "no problems\n", check(target)
            if target is second:
                digests = {hashlib.sha256(data).hexdigest() for data in files.values()}
                found = {key.rsplit("/", 1)[1] for key in store.keys(BUCKET, "moved/")}
                assert digests <= found, "files are not in the bucket"
            files[f"of {target.address[1]}"] = data = file_of(1_000, target.address[1])
            ada.save(target, [f"of {target.address[1]}"], ada.upload(target, data))


def take_over(store):
    status, body = store.call("DELETE", f"/{BUCKET}/{OWNER}")
    assert status == 204, body


def run(*words, status=0):
    output = subprocess.run([BINARY, *words, "--json"], capture_output=True, text=True)
    assert output.returncode == status, output.stderr + output.stdout
    return json.loads(output.stdout)


def restart(server, **settings):
    server.stop()
    for name, value in settings.items():
        os.environ[name] = value
    server.start()


def main():
    if not ObjectStore.is_installed():
        raise SystemExit("OpenStack Swift is not installed beside this Python")
    files = {"empty": b"", "one": b"1", "small": file_of(100_000, 1), "large": file_of(40_000_003, 2)}
    with ObjectStore() as store, Server() as server:
        status, body = store.call("PUT", f"/{BUCKET}")
        assert status == 200, body
        keys = os.path.join(server.folder, "keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write(f"{ACCESS_KEY}\n{SECRET}\n")
        sealing = os.path.join(server.folder, "sealing")
        with open(sealing, "w", encoding="utf-8") as file:
            file.write("5" * 64 + "\n")
        # Between folders: on PostgreSQL, Tests/postgres/moving.py has containers move.
        if "TEST_POSTGRES" not in os.environ:
            moves(store, keys, sealing)
        os.environ |= {
            "LENTICULAR_S3_ENDPOINT": store.origin,
            "LENTICULAR_S3_REGION": REGION,
            "LENTICULAR_S3_BUCKET": BUCKET,
            "LENTICULAR_S3_PREFIX": "one/",
            "LENTICULAR_S3_CREDENTIALS_FILE": keys,
        }
        server.start()
        album = Album(server)
        transfers(store, album, files)
        deaths(store, album, files)

        restart(server, LENTICULAR_S3_DOWNLOADS="redirected")
        answer, _ = album.send("GET", album.link("large"))
        assert answer.status == 307, answer.status
        target = answer.getheader("Location")
        assert target.startswith(store.origin), target
        got = subprocess.run(["curl", "-sS", "--fail", target], capture_output=True, check=True)
        assert got.stdout == files["large"]

        checks(store, album, files)

        restart(server, LENTICULAR_ASSETS_KEY_FILE=sealing)
        sealed = {"sealed": file_of(300_000, 3), "sealed large": file_of(36_000_000, 4)}
        transfers(store, album, sealed, ".sealed")
        assert server.command("check")["ok"] is True
        with open(os.path.join(server.folder, "log"), encoding="utf-8") as log:
            assert SECRET not in log.read(), "the secret is in the log"

        server.command("container", "delete", CONTAINER, "--yes")
        assert store.keys(BUCKET, "one/") == [OWNER], "a deleted container's files are in the bucket"
        server.stop()


if __name__ == "__main__":
    main()
