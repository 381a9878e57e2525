"""Containers that move to another server by `storage copy`, and back into use by `--reopen`.

A device goes on at the copy with its sync token, its web token and its API token, and a server key signs for it; the
server that was left answers TRY_AGAIN_LATER, from the first moment of the copy on, and serves its other containers; two
accounts with one address are refused; a row that is changed on its way is noticed; and a copy that is killed 50 times has
each row and each file once in the end.

Where TEST_POSTGRES names the folder of a PostgreSQL's socket, both servers keep their data in databases there.
"""

import contextlib
import glob
import http.client
import itertools
import json
import os
import pty
import random
import re
import shutil
import sqlite3
import subprocess
import time
import urllib.parse

from client import Signer
from databases import databases
from server import BINARY, Server

CONTAINER = "iCloud.org.example.Notes"
OTHER = "iCloud.org.example.Other"
KILLS = int(os.environ.get("STORAGE_COPY_KILLS", "50"))
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

    def change_row(self):
        """Changes a row of the one store as nobody does."""
        file, = glob.glob(f"{self.data}/containers/**/*.sqlite", recursive=True)
        with contextlib.closing(sqlite3.connect(file)) as store, store:
            assert store.execute("UPDATE zones SET created = created + 1").rowcount > 0


class Device:
    """A user with tokens, who finds the server wherever it is."""

    def __init__(self, server, email, container=CONTAINER):
        self.path = f"/database/1/{container}/development/private/"
        token = server.command("api-token", "create", container, "development")["apiToken"]
        user = server.command("web-token", "create", container, "development", email)
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
        assert found == status, f"{endpoint}: {found} {data}"
        return json.loads(data)

    def fill(self, server):
        """Saves so much that a copy of it takes a while; the names of all records."""
        names = [f"n{number}" for number in range(4_000)]
        for begin in range(0, len(names), 200):
            self.save(server, names[begin:begin + 200], {"text": {"value": "x" * 500}})
        files = [f"f{number}" for number in range(20)]
        for number, name in enumerate(files):
            self.save(server, [name], self.upload(server, bytes([number]) * 300_000))
        return names + files

    def make_zone(self, server):
        self.ask(server, "zones/modify", {
            "operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]})

    def save(self, server, names, fields={"text": {"value": "Tea"}}):
        operations = [
            {"operationType": "forceUpdate",
             "record": {"recordName": name, "recordType": "Note", "fields": fields}}
            for name in names]
        answer = self.ask(
            server, "records/modify", {"zoneID": ZONE, "operations": operations})
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
        names = []
        while True:
            zone = {"zoneID": ZONE, **({"syncToken": token} if token else {})}
            answer = self.ask(server, "changes/zone", {"zones": [zone]})["zones"][0]
            if "serverErrorCode" in answer:
                return answer, None
            names += [record["recordName"] for record in answer["records"]]
            token = answer["syncToken"]
            if not answer["moreComing"]:
                return names, token


def run(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True)


def copying(source, target, *more):
    return ["storage", "copy", "--from", source.url, *source.settings,
            "--to", target.url, *target.others_settings, *more]


def copy(source, target, *more):
    return run(*copying(source, target, *more))


def copy_at_a_terminal(source, target, *more):
    """What a copy shows on a terminal."""
    end, terminal = pty.openpty()
    process = subprocess.Popen(
        [BINARY, *copying(source, target, *more)], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.PIPE)
    os.close(terminal)
    shown = b""
    # The end of a terminal that nobody has is an error.
    with contextlib.suppress(OSError):
        while data := os.read(end, 65_536):
            shown += data
    os.close(end)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return shown.decode()


def reopen(server):
    return run("storage", "copy", "--from", server.url, *server.settings, "--reopen")


def check(server):
    """What the server's own check finds."""
    return run("check", "--data", server.data, *server.settings).stdout


def ask_signed(server, signer):
    """A request by a server key."""
    data = b"{}"
    target, headers = signer(f"/database/1/{CONTAINER}/development/public/users/caller", data)
    connection = http.client.HTTPConnection(*server.address, timeout=600)
    connection.request("POST", target, body=data, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == 200 and b"userRecordName" in text, (answer.status, text)


def moves(kind_here=Files, kind_there=Files):
    """A container moves while its server runs, is used there, and comes back into use here."""
    with kind_here() as here, kind_there() as there:
        here.start()
        here.command("container", "create", CONTAINER)
        here.command("container", "create", OTHER)
        here.command("user", "create", "ada@example.org")
        ada, other = Device(here, "ada@example.org"), Device(here, "ada@example.org", OTHER)
        for device in ada, other:
            device.make_zone(here)
        ada.save(here, ["one", "two"])
        ada.save(here, ["file"], ada.upload(here, b"A" * 100_000))
        signer = Signer.make(here, CONTAINER)
        ask_signed(here, signer)
        names, token = ada.changes(here)
        assert sorted(names) == ["file", "one", "two"], names

        copied = copy(here, there, "--container", CONTAINER, "--json")
        assert copied.returncode == 0, copied
        report = json.loads(copied.stdout)
        assert report["containers"] == [CONTAINER] and report["assets"] == 1, report
        refused = ada.ask(here, "changes/zone", {"zones": [{"zoneID": ZONE}]}, status=503)
        assert refused["serverErrorCode"] == "TRY_AGAIN_LATER", refused
        other.save(here, ["still"])
        again = copy(here, there, "--container", CONTAINER)
        assert again.returncode == 0, again
        assert "moved=moved" in run("container", "list", "--data", here.data, *here.settings).stdout

        # The tokens of before go on there; the name of the user stays what it was.
        there.start()
        names, later = ada.changes(there, token)
        assert names == [] and later == token, (names, later)
        assert ada.load(there, "file") == b"A" * 100_000
        ask_signed(there, signer)
        ada.save(there, ["three"])
        names, later = ada.changes(there, token)
        assert names == ["three"], names
        found = check(there)
        assert found == "no problems\n", found
        assert there.command("user", "apps", "ada@example.org"), "the account came along"

        # A server that runs there is not written to behind its back.
        busy = copy(here, there, "--container", OTHER)
        assert busy.returncode == 1 and "stop the server there first" in busy.stderr, busy
        other.save(here, ["and still"])

        # Here again: what the copy has given out has expired, what came before it goes on.
        reopened = reopen(here)
        assert reopened.returncode == 0 and CONTAINER in reopened.stdout, reopened
        told, _ = ada.changes(here, later)
        assert "serverErrorCode" in told, told
        names, _ = ada.changes(here, token)
        assert names == [], names
        ada.save(here, ["four"])
        assert ada.changes(here, token)[0] == ["four"]

        # The copy is another one by now.
        there.stop()
        refused = copy(here, there, "--container", CONTAINER)
        assert refused.returncode == 1 and "delete it there first" in refused.stderr, refused
        assert reopen(here).returncode == 0
        here.stop()
        assert check(here) == "no problems\n", check(here)


def meanwhile(kind_here=Files, kind_there=Files):
    """While a container goes out of a server that runs, nobody gets anything of it; others are served as always."""
    with kind_here() as here, kind_there() as there:
        here.start()
        for container in CONTAINER, OTHER:
            here.command("container", "create", container)
        here.command("user", "create", "ada@example.org")
        ada, other = Device(here, "ada@example.org"), Device(here, "ada@example.org", OTHER)
        for device in ada, other:
            device.make_zone(here)
        ada.fill(here)
        requests = itertools.cycle([
            ("changes/zone", {"zones": [{"zoneID": ZONE}]}),
            ("records/lookup", {"zoneID": ZONE, "records": [{"recordName": "f1"}]}),
            ("records/modify", {"zoneID": ZONE, "operations": [
                {"operationType": "forceUpdate", "record": {"recordName": "n1", "recordType": "Note", "fields": {}}}]}),
            ("assets/upload", {"zoneID": ZONE, "tokens": [{"recordType": "Note", "fieldName": "file"}]}),
            ("zones/list", {})])
        copying_process = subprocess.Popen(
            [BINARY, *copying(here, there, "--container", CONTAINER)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        refused, saved = 0, []
        while copying_process.poll() is None:
            status, data = ada.post(here, *next(requests))
            if status == 503:
                assert json.loads(data)["serverErrorCode"] == "TRY_AGAIN_LATER", data
                refused += 1
            else:
                assert status == 200 and refused == 0, (status, refused, data)
            saved.append(f"n{len(saved)}")
            other.save(here, saved[-1:])
        assert copying_process.returncode == 0, copying_process.stderr.read()
        assert refused >= 5, f"{refused} requests came while the container went out"
        for _ in range(5):
            ada.ask(here, *next(requests), status=503)
        assert sorted(other.changes(here)[0]) == sorted(saved)
        assert reopen(here).returncode == 0
        for _ in range(5):
            ada.ask(here, *next(requests))
        print(f"storage copy: {refused} requests refused meanwhile, {len(saved)} of another container answered")


def refusals(kind_here=Files, kind_there=Files):
    """Two people with one address stay two, and what is no address of such data is refused."""
    with kind_here() as here, kind_there() as there:
        for server in here, there:
            server.start()
            server.command("user", "create", "ada@example.org")
        here.command("container", "create", CONTAINER)
        ada = Device(here, "ada@example.org")
        ada.make_zone(here)
        there.command("container", "create", OTHER)
        for server in here, there:
            server.stop()
        refused = copy(here, there)
        assert refused.returncode == 1, refused
        assert "ada@example.org is the address of account" in refused.stderr, refused
        listed = run("container", "list", "--data", there.data, *there.settings).stdout
        assert listed.split() == [OTHER], listed
        # Nobody uses what is half on its way; until it is reopened.
        here.start()
        ada.ask(here, "changes/zone", {"zones": [{"zoneID": ZONE}]}, status=503)
        assert reopen(here).returncode == 0
        ada.save(here, ["one"])
        start = ["--from", here.url, *here.settings]
        for words in (["--from", "postgresql://x", *here.settings, "--to", there.url],
                      [*start, "--to", "postgresql://x"],
                      [*start, "--to", "postgresql://ada:secret@x/y"],
                      [*start, "--to", "x"],
                      [*start, "--to", here.url, *here.others_settings],
                      start):
            refused = run("storage", "copy", *words)
            assert refused.returncode in (1, 2) and refused.stderr, (words, refused)
            assert "secret" not in refused.stderr, refused
        ada.save(here, ["two"])


def differs(kind_here=Files, kind_there=Files):
    """A row that has changed on its way is noticed at the end; the next copy brings all of it, and shows how far it is."""
    with kind_here() as here, kind_there() as there:
        for server in here, there:
            server.start()
            server.command("user", "create", "ada@example.org")
        here.command("container", "create", CONTAINER)
        ada = Device(here, "ada@example.org")
        ada.make_zone(here)
        ada.save(here, ["one", "two"])
        _, token = ada.changes(here)
        here.stop()
        there.stop()
        # All rows come, and then the catalog is refused.
        refused = copy(here, there)
        assert refused.returncode == 1 and "ada@example.org" in refused.stderr, refused
        there.change_row()
        there.start()
        there.command("user", "delete", "ada@example.org", "--yes")
        there.stop()
        refused = copy(here, there)
        assert refused.returncode == 1, refused
        assert "what has come differs (zones); run this again" in refused.stderr, refused
        shown = copy_at_a_terminal(here, there)
        shares = [int(share) for share in re.findall(r"\[[#·]{30}\] (\d+) %", shown)]
        assert shares and shares == sorted(shares), shown
        assert CONTAINER in shown, shown
        assert check(there) == "no problems\n", check(there)
        there.start()
        assert ada.changes(there, token) == ([], token)
        assert sorted(ada.changes(there)[0]) == ["one", "two"]


def kills(kind_here=Files, kind_there=Files):
    """All containers, with a copy that is killed at random moments."""
    seed = int(os.environ.get("STORAGE_COPY_SEED", random.randrange(1 << 32)))
    print(f"storage copy: {KILLS} kills, STORAGE_COPY_SEED={seed}")
    chance = random.Random(seed)
    with kind_here() as here, kind_there() as there:
        here.start()
        here.command("container", "create", CONTAINER)
        here.command("user", "create", "ada@example.org")
        ada = Device(here, "ada@example.org")
        ada.make_zone(here)
        names = ada.fill(here)
        _, token = ada.changes(here)
        here.stop()

        def begin():
            return subprocess.Popen(
                [BINARY, *copying(here, there)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        began = time.monotonic()
        first = begin()
        _, errors = first.communicate()
        assert first.returncode == 0, errors
        whole = time.monotonic() - began
        there.empty()
        killed = 0
        while killed < KILLS:
            process = begin()
            try:
                process.wait(timeout=chance.uniform(0, whole))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                killed += 1
                continue
            assert process.returncode == 0, process.stderr.read()
            if killed < KILLS:
                there.empty()
        # Here nobody uses what is half on its way, and there nobody finds it.
        here.start()
        listed = here.command("container", "list")
        if "copying" in json.dumps(listed):
            ada.ask(here, "changes/zone", {"zones": [{"zoneID": ZONE}]}, status=503)
        here.stop()
        last = begin()
        _, errors = last.communicate()
        assert last.returncode == 0, errors
        found = check(there)
        # Of a file that was there when a kill came, the checksum beside it may not have been: check makes it again.
        assert found.splitlines()[0] == "no problems", found
        there.start()
        found, later = ada.changes(there, token)
        assert found == [] and later == token, (len(found), later)
        found, _ = ada.changes(there)
        assert sorted(found) == sorted(names), f"{len(found)} of {len(names)}"
        for number in range(20):
            assert ada.load(there, f"f{number}") == bytes([number]) * 300_000
        there.stop()
        here.start()
        ada.ask(here, "changes/zone", {"zones": [{"zoneID": ZONE}]}, status=503)


def all_of(kind_here, kind_there):
    for part in moves, meanwhile, refusals, differs, kills:
        part(kind_here, kind_there)


if __name__ == "__main__":
    # Not for the servers themselves: their settings say where their data are.
    postgres = os.environ.pop("TEST_POSTGRES", None)
    kind = databases(postgres) if postgres else Files
    all_of(kind, kind)
