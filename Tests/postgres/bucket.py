#!/usr/bin/env python3
"""Servers on one PostgreSQL that keep their assets in one bucket (OpenStack Swift, by its S3 API).

    Tests/postgres/bucket.py [--binary FILE]

What one has saved the other reads, by a record that either of them saves; each goes on while the other begins anew. One
with another bucket, another prefix or a folder of its own is refused. Needs the Python of .build/acceptance-venv.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from postgresql import PostgreSQL, url
from servers import Server, provision

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/acceptance"))
from object_store import ACCESS_KEY, REGION, SECRET, ObjectStore  # noqa: E402

BUCKET, OTHER = "assets", "others"
# Of one request, and of an upload in parts.
SIZES = (0, 100_000, 20_000_003)


def settings(store, keys, bucket=BUCKET, prefix="one/"):
    return {
        "LENTICULAR_S3_ENDPOINT": store.origin, "LENTICULAR_S3_REGION": REGION, "LENTICULAR_S3_BUCKET": bucket,
        "LENTICULAR_S3_PREFIX": prefix, "LENTICULAR_S3_CREDENTIALS_FILE": str(keys)}


class Album:
    """A user's photos."""

    def __init__(self, caller):
        self.caller, self.files = caller, {}

    def post(self, server, operation, body):
        answer = self.caller.post_to(server, operation, body)
        assert answer, operation
        return answer

    def save(self, name, data, taker, saver):
        """One server takes the file, another saves the record."""
        made = self.post(taker, "assets/upload", {"tokens": [{"recordType": "Photo", "fieldName": "file"}]})
        status, answer = taker.send("POST", path_of(made["tokens"][0]["url"]), data)
        assert status == 200, answer
        record = {"recordName": name, "recordType": "Photo", "fields": {
            "file": {"value": json.loads(answer)["singleFile"], "type": "ASSETID"}}}
        saved = self.post(saver, "records/modify", {
            "operations": [{"operationType": "forceUpdate", "record": record}]})["records"][0]
        assert "serverErrorCode" not in saved, saved
        self.files[name] = data

    def read(self, looker, giver):
        """Every file, by a link that one server has given and another follows."""
        for name, data in self.files.items():
            record = self.post(looker, "records/lookup", {"records": [{"recordName": name}]})["records"][0]
            link = record["fields"]["file"]["value"]["downloadURL"].replace("${f}", "photo")
            status, found = giver.send("GET", path_of(link))
            assert (status, found) == (200, data), f"{name}: {status}, {len(found)} bytes"


def path_of(link):
    parts = urllib.parse.urlsplit(link)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def refused(server):
    done = subprocess.run(
        [server.binary, "serve", "--data", str(server.data), "--listen", f"127.0.0.1:{server.port}"],
        env=server.environment, capture_output=True, text=True, timeout=120)
    words = done.stdout + done.stderr
    assert done.returncode != 0 and "another process serves this database with its assets in s3" in words, words


def check(binary, folder, database, store):
    keys = folder / "keys"
    keys.write_text(f"{ACCESS_KEY}\n{SECRET}\n")
    own = settings(store, keys)
    servers = []

    def server(number, values):
        return Server(binary, folder, url(database), number, values)

    try:
        for number in range(2):
            servers.append(server(number, own))
            servers[-1].start()
        one, two = servers
        album = Album(provision(servers))
        chosen = random.Random(1)
        pairs = [(one, two), (two, one), (one, one), (two, two)]
        for number, pair in enumerate((*pairs, *pairs[:2])):
            album.save(f"photo{number}", chosen.randbytes(SIZES[number % 3]), *pair)
        for pair in pairs:
            album.read(*pair)
        refused(server(2, settings(store, keys, bucket=OTHER)))
        refused(server(3, settings(store, keys, prefix="two/")))
        refused(server(4, {}))
        # Each begins anew beside the other, and both go on.
        for stopped, other in ((one, two), (two, one)):
            stopped.stop()
            album.save(f"beside{stopped.port}", chosen.randbytes(1_000), other, other)
            stopped.start()
            for pair in pairs:
                album.read(*pair)
            album.save(f"behind{stopped.port}", chosen.randbytes(1_000), stopped, other)
        assert album.files and one.command("check")["problems"] == []
        # Once no other lives, it is still no server of another prefix.
        for each in servers:
            each.stop()
        again = server(5, own)
        servers.append(again)
        again.start()
        album.read(again, again)
    finally:
        for each in servers:
            each.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    asked = parser.parse_args()
    if not ObjectStore.is_installed():
        raise SystemExit("OpenStack Swift is not installed beside this Python")
    with ObjectStore() as store, PostgreSQL(fsync="off") as database, tempfile.TemporaryDirectory() as folder:
        for bucket in (BUCKET, OTHER):
            status, body = store.call("PUT", f"/{bucket}")
            assert status == 200, body
        check(asked.binary, Path(folder), database, store)
    print("two servers with one bucket: each reads what the other has saved, and others are refused")


if __name__ == "__main__":
    main()
