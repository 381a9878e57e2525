#!/usr/bin/env python3
"""Containers that move between SQLite and PostgreSQL, and from one database to another, by `storage copy`.

    SERVER_BINARY=FILE STORAGE_COPY_KILLS=N Tests/postgres/moving.py

What Tests/acceptance/storage_copy.py does between folders; the binary must have the engine on PostgreSQL. And a container
leaves a database that two servers serve: the one that copies it is killed, and the other goes on with that.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from postgresql import PostgreSQL, url
from servers import CONTAINER, Server, until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "acceptance"))
import storage_copy  # noqa: E402
from databases import databases  # noqa: E402
from movable import ZONE, Device, Files, accounts, check  # noqa: E402
from server import BINARY  # noqa: E402


CLOSING_SECONDS_MAX = 30


class Several:
    """Two servers of one database, whose container goes to a folder."""

    def __init__(self, database, there):
        self.database, self.there = database, there

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.servers = []
            try:
                for number in range(2):
                    server = Server(BINARY, Path(folder), url(self.database), number)
                    server.start()
                    server.address = ("127.0.0.1", server.port)
                    self.servers.append(server)
                self.moves()
            finally:
                for server in self.servers:
                    server.kill()

    def moves(self):
        first, second = self.servers
        first.command("container", "create", CONTAINER)
        first.command("user", "create", "ada@example.org")
        ada = Device(first, "ada@example.org", CONTAINER)
        ada.make_zone(first)
        texts, files = ada.fill(first, 2_000, 5)
        _, token = ada.changes(second)
        writers = [
            storage_copy.LastWriter(ada, server, f"last{number}")
            for number, server in enumerate([first, first, second, second])]
        copying = self.command(first)
        acknowledged = [name for writer in writers for name in writer.end()]
        # Writes end a moment before reads do, of which the other one has to hear first.
        until("both have closed it", CLOSING_SECONDS_MAX, lambda: all(
            self.status(ada, server) == 503 for server in self.servers))
        self.answer(ada, 503)
        first.kill()
        copying.communicate(timeout=600)
        assert copying.returncode != 0, "the copy had come to its end before its server was killed"
        self.answer(ada, 503, [second])
        again = self.command(second)
        _, errors = again.communicate(timeout=600)
        assert again.returncode == 0, errors
        first.start()
        self.answer(ada, 503)
        assert check(self.there) == "no problems\n", check(self.there)
        self.there.start()
        changed, _ = ada.changes(self.there, token)
        assert set(acknowledged) <= set(changed), f"lost: {sorted(set(acknowledged) - set(changed))[:10]}"
        copied = sorted(ada.changes(self.there)[0])
        assert copied == sorted({*texts, *files, *changed}), "something came twice, or not at all"
        assert accounts(self.there) == accounts(first)
        self.there.stop()
        # Once the command has ended, both use it again.
        self.command(second, "--reopen").communicate(timeout=600)
        self.answer(ada, 200)
        for server in self.servers:
            assert sorted(ada.changes(server)[0]) == copied
        print(
            f"storage copy: out of a database of two servers, with {len(acknowledged)} records of the last moment",
            flush=True)

    def command(self, server, *words):
        return subprocess.Popen(
            [BINARY, "storage", "copy", "--from", url(self.database), "--data", str(server.data),
             *(words or ("--to", self.there.url))],
            env=server.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def status(self, device, server):
        return device.post(server, "changes/zone", {"zones": [{"zoneID": ZONE}], "resultsLimit": 1})[0]

    def answer(self, device, status, servers=None):
        found = [self.status(device, server) for server in servers or self.servers]
        assert set(found) == {status}, found


def main():
    with PostgreSQL(fsync="off") as database_server:
        with Files() as there:
            Several(database_server, there).run()
        database = databases(database_server.folder)
        ways = [(Files, database), (database, Files), (database, database)]
        for way in ways:
            print("storage copy:", " to ".join(kind.__name__ for kind in way), flush=True)
            storage_copy.all_of(*way)


if __name__ == "__main__":
    main()
