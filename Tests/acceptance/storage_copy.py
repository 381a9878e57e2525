"""Containers that move to another server by `storage copy`, and back into use by `--reopen`.

A device goes on at the copy with its sync token, its web token and its API token, and a server key signs for it; the
server that was left answers TRY_AGAIN_LATER, from the first moment of the copy on, and serves its other containers; what it
acknowledged before is in the copy; containers of one user may go one by one; two accounts with one address are refused; a
row that is changed on its way is noticed; and a copy that is killed 50 times has each row and each file once in the end
(`copy_kills.py`).

Where TEST_POSTGRES names the folder of a PostgreSQL's socket, both servers keep their data in databases there.
"""

import contextlib
import itertools
import json
import os
import pty
import re
import subprocess
import threading

from client import Signer
from copy_kills import kills
from databases import databases
from movable import (
    CONTAINER, OTHER, ZONE, Device, Files, accounts, ask_signed, check, copy, copying, reopen, run, saving)
from server import BINARY


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
        database_token = ada.ask(here, "changes/database", {})["syncToken"]
        accounts_before = accounts(here)

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
        assert ada.ask(there, "changes/database", {"syncToken": database_token})["zones"] == []
        assert ada.load(there, "file") == b"A" * 100_000
        ask_signed(there, signer)
        ada.save(there, ["three"])
        names, later = ada.changes(there, token)
        assert names == ["three"], names
        later_database = ada.ask(there, "changes/database", {"syncToken": database_token})
        assert len(later_database["zones"]) == 1, later_database
        found = check(there)
        assert found == "no problems\n", found
        assert accounts(there) == accounts_before, "the account came along with its id"

        # A server that runs there is not written to behind its back.
        busy = copy(here, there, "--container", OTHER)
        assert busy.returncode == 1 and "stop the server there first" in busy.stderr, busy
        other.save(here, ["and still"])

        # Here again: what the copy has given out has expired, what came before it goes on.
        reopened = reopen(here)
        assert reopened.returncode == 0 and CONTAINER in reopened.stdout, reopened
        told, _ = ada.changes(here, later)
        assert told.get("changeTokenExpired") is True, told
        told = ada.ask(here, "changes/database", {"syncToken": later_database["syncToken"]}, status=400)
        assert told.get("changeTokenExpired") is True, told
        assert ada.ask(here, "changes/database", {"syncToken": database_token})["zones"] == []
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


class LastWriter(threading.Thread):
    """Saves under names that nobody uses again, until its container is out of use."""

    def __init__(self, device, server, label):
        super().__init__(daemon=True)
        self.device, self.server, self.label = device, server, label
        self.acknowledged, self.failure = [], None
        self.start()

    def run(self):
        try:
            for number in itertools.count():
                name = f"{self.label}-{number}"
                body = saving({name: {"text": {"value": name}}})
                status, data = self.device.post(self.server, "records/modify", body)
                answer = json.loads(data)
                if status == 503:
                    assert answer["serverErrorCode"] == "TRY_AGAIN_LATER", answer
                    return
                assert status == 200 and "serverErrorCode" not in answer["records"][0], answer
                self.acknowledged.append(name)
        except Exception as error:
            self.failure = error

    def end(self):
        self.join()
        if self.failure:
            raise self.failure
        assert self.acknowledged, "nothing was saved before the container went out"
        return self.acknowledged


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
        texts, files = ada.fill(here)
        requests = itertools.cycle([
            ("changes/zone", {"zones": [{"zoneID": ZONE}]}),
            ("records/lookup", {"zoneID": ZONE, "records": [{"recordName": "f1"}]}),
            ("records/modify", {"zoneID": ZONE, "operations": [
                {"operationType": "forceUpdate", "record": {"recordName": "n1", "recordType": "Note", "fields": {}}}]}),
            ("assets/upload", {"zoneID": ZONE, "tokens": [{"recordType": "Note", "fieldName": "file"}]}),
            ("zones/list", {})])
        writers = [LastWriter(ada, here, f"last{number}") for number in range(3)]
        copying_process = subprocess.Popen(
            [BINARY, *copying(here, there, "--container", CONTAINER)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        refused, saved, closed = 0, [], set()
        while copying_process.poll() is None:
            endpoint, body = next(requests)
            status, data = ada.post(here, endpoint, body)
            if status == 503:
                assert json.loads(data)["serverErrorCode"] == "TRY_AGAIN_LATER", data
                refused += 1
                # Writes may end a moment before reads do.
                closed.add(endpoint)
            else:
                assert status == 200 and endpoint not in closed, (endpoint, status, refused, data[:500])
            saved.append(f"n{len(saved)}")
            other.save(here, saved[-1:])
        assert copying_process.returncode == 0, copying_process.stderr.read()
        acknowledged = [name for writer in writers for name in writer.end()]
        assert refused >= 5, f"{refused} requests came while the container went out"
        for _ in range(5):
            ada.ask(here, *next(requests), status=503)
        assert sorted(other.changes(here)[0]) == sorted(saved)
        there.start()
        copied = sorted(ada.changes(there)[0])
        assert copied == sorted({*texts, *files, *copied}), "something came twice, or not at all"
        assert set(acknowledged) <= set(copied), f"lost: {sorted(set(acknowledged) - set(copied))[:10]}"
        assert reopen(here).returncode == 0
        assert sorted(ada.changes(here)[0]) == copied
        for _ in range(5):
            ada.ask(here, *next(requests))
        print(
            f"storage copy: {refused} requests refused meanwhile, {len(saved)} of another container answered,"
            f" {len(acknowledged)} records of the last moment came along")


def one_by_one(kind_here=Files, kind_there=Files):
    """Containers of one user that go one after the other, the second one to where the user is by then."""
    with kind_here() as here, kind_there() as there:
        here.start()
        here.command("user", "create", "ada@example.org")
        here.command("user", "create", "bea@example.org")
        devices, signers = {}, {}
        for container in CONTAINER, OTHER:
            here.command("container", "create", container)
            devices[container] = Device(here, "ada@example.org", container)
            devices[container].make_zone(here)
            devices[container].save(here, ["one"])
            devices[container].save(here, ["file"], devices[container].upload(here, container.encode() * 1_000))
            signers[container] = Signer.make(here, container)
        tokens = {container: device.changes(here)[1] for container, device in devices.items()}
        ada = accounts(here)["ada@example.org"]
        for moved in [CONTAINER], [CONTAINER, OTHER]:
            copied = copy(here, there, "--container", moved[-1])
            assert copied.returncode == 0, copied
            there.start()
            for container in moved:
                device = devices[container]
                device.save(there, [f"later{len(moved)}"])
                assert device.changes(there, tokens[container])[0] == [f"later{len(moved)}"]
                tokens[container] = device.changes(there, tokens[container])[1]
                assert device.load(there, "file") == container.encode() * 1_000
                ask_signed(there, signers[container], container)
                device.ask(here, "changes/zone", {"zones": [{"zoneID": ZONE}]}, status=503)
            # Who has nothing there stays behind.
            assert accounts(there) == {"ada@example.org": ada}
            there.stop()


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
        ids = accounts(here)["ada@example.org"], accounts(there)["ada@example.org"]
        assert ids[0] != ids[1], ids
        for server in here, there:
            server.stop()
        refused = copy(here, there)
        assert refused.returncode == 1, refused
        assert "ada@example.org is the address of account" in refused.stderr, refused
        assert all(account in refused.stderr for account in ids), refused
        there.start()
        assert accounts(there) == {"ada@example.org": ids[1]}, "the account there is no longer what it was"
        there.stop()
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


def all_of(kind_here, kind_there):
    for part in moves, one_by_one, meanwhile, refusals, differs, kills:
        part(kind_here, kind_there)


if __name__ == "__main__":
    # Not for the servers themselves: their settings say where their data are.
    postgres = os.environ.pop("TEST_POSTGRES", None)
    kind = databases(postgres) if postgres else Files
    all_of(kind, kind)
