#!/usr/bin/env python3
"""Two servers that reach PostgreSQL by a pooler (PgBouncer), but for the session in which each listens and lives.

    Tests/postgres/pooler.py [--binary FILE]

What one saves the other reads and is told of. While others have all places of the pool, and while the pooler is gone,
requests are answered or told to try again, the same server goes on leading, and nothing is lost that was acknowledged.
A pooler that keeps no sessions is refused.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from pgbouncer import PgBouncer
from postgresql import PostgreSQL, url
from servers import Server, leases, must, provision, until
from tasks import Task, Waiting, finish

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Pooled"}}
# Of each server at most; the pool has some for what copies or checks.
SESSIONS_MAX, PLACES = 8, 36
# Longer than a lease lasts that nobody renews.
AWAY_SECONDS = 8
WRITERS = 3


class Writer(Task):
    """Saves by one server after the other until it is ended."""

    def __init__(self, caller, label):
        super().__init__()
        self.caller, self.label, self.count = caller, label, 0
        self.acknowledged, self.refused = [], 0

    def step(self):
        self.count += 1
        name = f"w{self.label}-{self.count}"
        # Anything but 200 and TRY_AGAIN_LATER is an error.
        if self.caller.post("records/modify", saving(name)) is None:
            self.refused += 1
            time.sleep(0.05)
        else:
            self.acknowledged.append(name)


def saving(name):
    return ZONE | {"operations": [
        {"operationType": "create", "record": {"recordName": name, "recordType": "Note", "fields": {}}}]}


def page(caller, server, token=None, wait=None):
    """A page of the zone; nil where the server said to try again."""
    zone = ZONE | ({"syncToken": token} if token else {})
    body = {"zones": [zone]} | ({"waitSeconds": wait} if wait else {})
    answer = caller.post_to(server, "changes/zone", body)
    return answer and answer["zones"][0]


def read_all(caller, server):
    names, token, more = [], None, True
    while more:
        found = must(lambda: page(caller, server, token))
        names += [record["recordName"] for record in found["records"]]
        token, more = found["syncToken"], found["moreComing"]
    return names, token


class Check:
    def __init__(self, database, pooler, servers, caller):
        self.database, self.pooler, self.servers, self.caller = database, pooler, servers, caller
        must(lambda: caller.post("zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]}))
        self.saved = []

    def save(self, server, name):
        answer = must(lambda: self.caller.post_to(server, "records/modify", saving(name)))
        assert "serverErrorCode" not in answer["records"][0], answer
        self.saved.append(name)

    def tells(self, name):
        """One waits for changes, which the other makes: it is told while it waits."""
        for number, (writer, reader) in enumerate((self.servers, self.servers[::-1])):
            _, token = read_all(self.caller, reader)
            waiting = Waiting(lambda: must(lambda: page(self.caller, reader, token, wait=30)))
            # Once it waits; it would be told in any case.
            time.sleep(0.2)
            self.save(writer, f"{name}{number}")
            began = time.monotonic()
            names = [record["recordName"] for record in waiting.answer()["records"]]
            took = time.monotonic() - began
            assert names == [f"{name}{number}"] and took < 10, (names, took)

    def sees(self):
        """What each saves the other finds."""
        for number in range(20):
            writer, reader = self.servers if number % 2 else self.servers[::-1]
            self.save(writer, f"pair{number}")
            body = ZONE | {"records": [{"recordName": f"pair{number}"}]}
            found = must(lambda: self.caller.post_to(reader, "records/lookup", body))
            assert "serverErrorCode" not in found["records"][0], found

    def lives(self):
        """Who lives and who leads, which both sit in the sessions past the pooler."""
        rows = self.database.ask(
            "SELECT encode(process, 'hex') FROM catalog.processes"
            " WHERE lives_until > extract(epoch FROM clock_timestamp()) * 1000 ORDER BY 1")
        return rows.split(), {name: lease for name, lease in leases(self.database).items() if name.startswith("0 ")}

    def loaded(self, trouble):
        """Something happens while writers save; who lives and leads stays so all the time."""
        before = self.lives()
        assert len(before[0]) == 2 and before[1], before
        writers = [Writer(self.caller, f"{trouble.__name__}{number}") for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        trouble(before)
        counts = [len(writer.acknowledged) for writer in writers]
        until("all writers save again", 60, lambda: all(
            len(writer.acknowledged) > count or writer.failure for writer, count in zip(writers, counts)))
        finish(writers)
        assert self.lives() == before, (self.lives(), before)
        acknowledged = [name for writer in writers for name in writer.acknowledged]
        refused = sum(writer.refused for writer in writers)
        assert refused > 0, "no request met it"
        self.saved += acknowledged
        for server in self.servers:
            names, _ = read_all(self.caller, server)
            missing = set(self.saved) - set(names)
            assert not missing and len(names) == len(set(names)), sorted(missing)[:10]
        print(f"{trouble.__doc__} {len(acknowledged)} saves acknowledged, {refused} told to try again", flush=True)

    def stays(self, before):
        """For longer than a lease lasts."""
        end = time.monotonic() + AWAY_SECONDS
        while time.monotonic() < end:
            assert self.lives() == before, (self.lives(), before)
            time.sleep(0.2)

    def gone(self, before):
        """The pooler ended and began anew:"""
        self.pooler.kill()
        self.stays(before)
        self.pooler.start()

    def full(self, before):
        """Others had all places of the pool:"""
        held = self.pooler.hold(PLACES)
        try:
            until("others wait for a place", 60, lambda: sum(
                row["application_name"] == "psql" for row in self.pooler.shows("CLIENTS")) == PLACES)
            pooled = ", ".join(self.own_sessions()[0])
            # Those who wait come first into the places of those whose sessions end.
            self.database.ask(f"SELECT pg_terminate_backend(pid) FROM unnest(ARRAY[{pooled}]) AS pid")
            for one in held:
                assert one.stdout.readline() == "has a place\n"
            self.stays(before)
        finally:
            for one in held:
                one.kill()
                one.wait()

    def own_sessions(self):
        """The processes of PostgreSQL that serve our servers: by the pooler, and past it."""
        places = set(self.pooler.places)
        found = set(self.database.ask(
            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'lenticular %'").split())
        return found & places, found - places

    def listens_past(self):
        pooled, direct = self.own_sessions()
        return pooled and len(direct) == len(self.servers)

    def run(self):
        until("all sessions but one of each server are the pooler's", 60, self.listens_past)
        self.sees()
        self.tells("first")
        self.loaded(self.gone)
        self.tells("second")
        self.loaded(self.full)
        self.tells("third")


def refused(binary, folder, database):
    """A pooler that gives each transaction another session, whether it lets what was prepared lie there or not."""
    for number, (mode, further) in enumerate((
            ("transaction", ""), ("transaction", "server_reset_query_always = 1"), ("statement", ""))):
        with PgBouncer(database, PLACES, mode, further) as pooler:
            folder_of_it = folder / f"refused{number}"
            folder_of_it.mkdir(parents=True)
            server = Server(binary, folder_of_it, pooler.url, settings=past(database))
            done = subprocess.run(
                [binary, "serve", "--data", str(server.data), "--listen", f"127.0.0.1:{server.port}"],
                env=server.environment, capture_output=True, text=True, timeout=120)
            words = done.stdout + done.stderr
            assert done.returncode != 0 and "pool_mode = session" in words, (mode, further, words)


def past(database):
    return {
        "LENTICULAR_STORAGE_POSTGRES_LISTEN_URL": url(database),
        "LENTICULAR_STORAGE_POSTGRES_SESSIONS_MAX": str(SESSIONS_MAX),
        # A place that does not come is told of soon.
        "LENTICULAR_STORAGE_POSTGRES_ANSWER_SECONDS_MAX": "2"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    asked = parser.parse_args()
    if not PgBouncer.is_installed():
        raise SystemExit("PgBouncer is not installed")
    with PostgreSQL(fsync="off") as database, tempfile.TemporaryDirectory() as folder:
        refused(asked.binary, Path(folder), database)
        servers = []
        with PgBouncer(database, PLACES) as pooler:
            try:
                for number in range(2):
                    server = Server(asked.binary, Path(folder), pooler.url, number, past(database))
                    if number > 0:
                        (server.data / "containers").symlink_to(servers[0].data / "containers")
                    servers.append(server)
                    server.start()
                Check(database, pooler, servers, provision(servers)).run()
                for server in servers:
                    server.stop()
            finally:
                for server in servers:
                    server.kill()
        refused(asked.binary, Path(folder) / "behind", database)
    print("two servers past a pooler: nothing lost, nobody taken for dead; poolers without sessions are refused")


if __name__ == "__main__":
    main()
