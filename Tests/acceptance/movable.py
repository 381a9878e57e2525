"""Servers whose containers are copied to others, and devices that use them wherever they are."""

import contextlib
import glob
import http.client
import json
import shutil
import sqlite3
import subprocess
import urllib.parse

from client import Signer
from server import BINARY, Server

CONTAINER = "iCloud.org.example.Notes"
OTHER = "iCloud.org.example.Other"
ZONE = {"zoneName": "Notes"}


class Files(Server):
    """A server that keeps its data in its folder."""

    @property
    def url(self):
        return f"sqlite:{self.data}"

    @property
    def settings(self):
        """What says where a server is, beside the address of its data."""
        return []

    @property
    def others_settings(self):
        """The same, for the one that takes a copy."""
        return []

    def empty(self):
        shutil.rmtree(self.data, ignore_errors=True)

    def record_count(self):
        """How many records lie in all stores, be they whole or not; nothing is changed by looking."""
        count = 0
        for file in glob.glob(f"{self.data}/containers/**/*.sqlite", recursive=True):
            # One that was killed early has no tables.
            with contextlib.suppress(sqlite3.OperationalError), \
                    contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
                count += store.execute("SELECT count(*) FROM heads").fetchone()[0]
        return count

    def change_row(self):
        """Changes a row of the one store as nobody does."""
        file, = glob.glob(f"{self.data}/containers/**/*.sqlite", recursive=True)
        with contextlib.closing(sqlite3.connect(file)) as store, store:
            assert store.execute("UPDATE zones SET created = created + 1").rowcount > 0


class Device:
    """A user with tokens, who finds the server wherever it is."""

    def __init__(self, server, email, container=CONTAINER, environment="development"):
        self.path = f"/database/1/{container}/{environment}/private/"
        token = server.command("api-token", "create", container, environment)["apiToken"]
        user = server.command("web-token", "create", container, environment, email)
        self.query = urllib.parse.urlencode(
            {"ckAPIToken": token, "ckWebAuthToken": user["webAuthToken"]})

    def send(self, server, method, target, body=b""):
        connection = http.client.HTTPConnection(*server.address, timeout=600)
        connection.request(method, target, body=body)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def post(self, server, endpoint, body):
        return self.send(server, "POST", f"{self.path}{endpoint}?{self.query}", json.dumps(body).encode())

    def ask(self, server, endpoint, body, status=200):
        found, data = self.post(server, endpoint, body)
        assert found == status, f"{endpoint}: {found} {data[:500]}"
        return json.loads(data)

    def fill(self, server, records=4_000, files=20):
        """Saves so much that a copy of it takes a while; the text of each record, by its name, and each file."""
        texts = {f"n{number}": f"{number} " + "x" * 500 for number in range(records)}
        names = list(texts)
        for begin in range(0, len(names), 200):
            self.save_each(server, {name: {"text": {"value": texts[name]}} for name in names[begin:begin + 200]})
        contents = {f"f{number}": bytes([number]) * 300_000 for number in range(files)}
        for name, data in contents.items():
            self.save(server, [name], self.upload(server, data))
        return texts, contents

    def make_zone(self, server):
        self.ask(server, "zones/modify", {
            "operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]})

    def save(self, server, names, fields={"text": {"value": "Tea"}}):
        self.save_each(server, dict.fromkeys(names, fields))

    def save_each(self, server, records):
        """Saves records with their fields, by name."""
        answer = self.ask(server, "records/modify", saving(records))
        assert "serverErrorCode" not in json.dumps(answer), answer

    def upload(self, server, data):
        made = self.ask(server, "assets/upload", {
            "zoneID": ZONE, "tokens": [{"recordType": "Note", "fieldName": "file"}]})
        url = urllib.parse.urlsplit(made["tokens"][0]["url"])
        status, text = self.send(server, "POST", f"{url.path}?{url.query}".rstrip("?"), data)
        assert status == 200, text
        return {"file": {"value": json.loads(text)["singleFile"], "type": "ASSETID"}}

    def load(self, server, name):
        record = self.ask(server, "records/lookup", {
            "zoneID": ZONE, "records": [{"recordName": name}]})["records"][0]
        link = record["fields"]["file"]["value"]["downloadURL"].replace("${f}", "file")
        url = urllib.parse.urlsplit(link)
        status, data = self.send(server, "GET", f"{url.path}?{url.query}".rstrip("?"))
        assert status == 200, data
        return data

    def changes(self, server, token=None):
        """The names of what has changed, and the token of the end."""
        records, token = self.records(server, token)
        return (records, token) if token is None else ([record["recordName"] for record in records], token)

    def records(self, server, token=None):
        """What has changed, and the token of the end; an error and none where the token is refused."""
        records = []
        while True:
            zone = {"zoneID": ZONE, **({"syncToken": token} if token else {})}
            answer = self.ask(server, "changes/zone", {"zones": [zone]})["zones"][0]
            if "serverErrorCode" in answer:
                return answer, None
            records += answer["records"]
            token = answer["syncToken"]
            if not answer["moreComing"]:
                return records, token


def saving(records):
    """A request that saves records with their fields, by name."""
    return {"zoneID": ZONE, "operations": [
        {"operationType": "forceUpdate", "record": {"recordName": name, "recordType": "Note", "fields": fields}}
        for name, fields in records.items()]}


def accounts(server):
    """The ID of each account, by its address."""
    return {account["email"]: account["accountID"] for account in server.command("user", "list")["users"]}


def run(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True)


def copying(source, target, *more):
    return ["storage", "copy", "--from", source.url, *source.settings,
            "--to", target.url, *target.others_settings, *more]


def copy(source, target, *more):
    return run(*copying(source, target, *more))


def reopen(server):
    return run("storage", "copy", "--from", server.url, *server.settings, "--reopen")


def check(server):
    """What the server's own check finds."""
    return run("check", "--data", server.data, *server.settings).stdout


def ask_signed(server, signer, container=CONTAINER, environment="development"):
    """A request by a server key."""
    data = b"{}"
    target, headers = signer(f"/database/1/{container}/{environment}/public/users/caller", data)
    connection = http.client.HTTPConnection(*server.address, timeout=600)
    connection.request("POST", target, body=data, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == 200 and b"userRecordName" in text, (answer.status, text)
