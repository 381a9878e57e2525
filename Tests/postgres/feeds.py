#!/usr/bin/env python3
"""Writers and followers on several servers, first in peace, then while the servers are restarted one after the other.

    Tests/postgres/feeds.py [--servers N] [--writers N] [--followers N] [--zones N] [--seconds N] [--restarts N]
        [--seed N] [--binary FILE]

Each writer goes from server to server with each request, and writes to all of the zones: it makes records under names
that nobody uses again, changes them and deletes them. Each follower reads the changes of all zones, each page by another
server. None may miss what was acknowledged, nor get the same version twice, nor an older one behind a newer one.

A restart is SIGTERM, the end, a start, and `/readyz`. Nothing may come of it but `TRY_AGAIN_LATER`, and connections that
the server which is down refuses. With HAProxy before all servers nothing may come of it but 200 and `TRY_AGAIN_LATER`.
"""

import argparse
import http.client
import json
import random
import select
import sys
import tempfile
import time
from pathlib import Path

from haproxy import HAProxy
from postgresql import PostgreSQL, url
from servers import CONTAINER, Server, provision
from tasks import Task, finish

REPOSITORY = Path(__file__).resolve().parents[2]
# How long a restarted server serves before the next one goes.
REST_SECONDS = 1


class Client:
    """A user's device: it goes to another server with each request; half of them keep their connections."""

    def __init__(self, servers, query, chosen):
        # One that stands for all of them, when it is a proxy.
        self.servers, self.query, self.chosen = servers, query, chosen
        self.keeps = chosen.random() < 0.5
        self.connections = {}
        self.refused = self.again = self.closed = 0

    def post(self, operation, body):
        """The answer of whichever server gives one."""
        target = f"/database/1/{CONTAINER}/development/private/{operation}{self.query}"
        while True:
            server = self.chosen.choice(self.servers)
            status, answer = self.ask(server, target, json.dumps(body))
            if status == 200:
                return answer
            if status is None:
                self.refused += 1
            elif answer.get("serverErrorCode") == "TRY_AGAIN_LATER":
                self.again += 1
            else:
                raise RuntimeError(f"{operation}: {status} {answer}")
            time.sleep(0.01)

    def ask(self, server, target, body):
        """Status and answer; None where nobody takes the connection."""
        connection = self.connections.pop(server.port, None)
        if connection and select.select([connection.sock], [], [], 0)[0]:
            # Closed while nobody used it.
            connection.close()
            connection = None
        while True:
            isKept = connection is not None
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                try:
                    connection.connect()
                except ConnectionRefusedError:
                    return None, None
            try:
                connection.request("POST", target, body)
                answer = connection.getresponse()
            except ConnectionError:
                # The server may have closed it at this moment. What came too late was not done: else a follower gets
                # it twice.
                if not isKept:
                    raise
                connection.close()
                connection = None
                self.closed += 1
                continue
            content = answer.read()
            try:
                content = json.loads(content)
            except ValueError as error:
                # Of a proxy that has no answer of a server.
                raise RuntimeError(f"{answer.status} {content}") from error
            if answer.will_close or not self.keeps:
                connection.close()
            else:
                self.connections[server.port] = connection
            return answer.status, content


class Writer(Task):
    """What it has in each zone is in `records`, by name: the number of the version, or None once it is deleted."""

    def __init__(self, client, label, zones):
        super().__init__()
        self.client, self.chosen = client, client.chosen
        self.label, self.count, self.versions = label, 0, 0
        self.records = {zone: {} for zone in zones}

    def step(self):
        zone = self.chosen.choice(list(self.records))
        records = self.records[zone]
        living = [name for name, version in records.items() if version is not None]
        changes = {}
        for _ in range(self.chosen.choice([1, 1, 2, 10])):
            kind = self.chosen.choice("mmmccd") if living else "m"
            if kind == "m":
                self.count += 1
                name = f"{self.label}-{self.count}"
            else:
                name = self.chosen.choice(living)
            changes[name] = None if kind == "d" else self.next()
        operations = [
            {"operationType": "forceUpdate", "record": {
                "recordName": name, "recordType": "Note", "fields": {"version": {"value": version}}}}
            if version is not None else
            {"operationType": "forceDelete", "record": {"recordName": name}}
            for name, version in changes.items()]
        answer = self.client.post(
            "records/modify", {"zoneID": {"zoneName": zone}, "operations": operations})
        if any("serverErrorCode" in record for record in answer["records"]):
            raise RuntimeError(f"{answer['records']}")
        records.update(changes)

    def next(self):
        self.versions += 1
        return self.versions


class Follower(Task):
    """A device that keeps what it has read of all zones."""

    def __init__(self, client, zones):
        super().__init__()
        self.client, self.chosen = client, client.chosen
        self.tokens = {zone: None for zone in zones}
        # The newest version of each record, and None once it is deleted.
        self.records = {zone: {} for zone in zones}
        self.tags = set()
        self.pages = 0

    def step(self):
        self.read()

    def catch_up(self):
        while self.read():
            pass

    def read(self):
        """One page of each zone; whether any has more."""
        asked = [
            {"zoneID": {"zoneName": zone}} | ({"syncToken": token} if token else {})
            for zone, token in self.tokens.items()]
        answer = self.client.post("changes/zone", {"zones": asked, "resultsLimit": 50})
        self.pages += 1
        more = False
        for zone in answer["zones"]:
            if "serverErrorCode" in zone:
                raise RuntimeError(f"{zone}")
            name = zone["zoneID"]["zoneName"]
            for record in zone["records"]:
                self.take(name, record)
            self.tokens[name] = zone["syncToken"]
            more = more or zone["moreComing"]
        return more

    def take(self, zone, record):
        name = record["recordName"]
        records = self.records[zone]
        if record.get("deleted"):
            if records.get(name, 0) is None:
                raise RuntimeError(f"the end of {name} came twice")
            records[name] = None
            return
        version = record["fields"]["version"]["value"]
        tag = (zone, name, record["recordChangeTag"])
        if tag in self.tags or name in records and (records[name] is None or records[name] >= version):
            raise RuntimeError(f"{name} came in version {version} behind {records[name]}")
        self.tags.add(tag)
        records[name] = version


class Feeds:
    def __init__(self, asked):
        self.asked = asked
        self.seed = asked.seed or random.randrange(1 << 32)
        self.chosen = random.Random(self.seed)
        self.zones = [f"Shelf{number}" for number in range(asked.zones)]

    def run(self):
        print(f"seed {self.seed}", flush=True)
        with PostgreSQL() as database, tempfile.TemporaryDirectory() as folder:
            self.servers = []
            try:
                for number in range(self.asked.servers):
                    server = Server(self.asked.binary, Path(folder), url(database), number)
                    server.start()
                    self.servers.append(server)
                self.query = provision(self.servers).query
                self.client().post("zones/modify", {"operations": [
                    {"operationType": "create", "zone": {"zoneID": {"zoneName": zone}}}
                    for zone in self.zones]})
                self.load(lambda: time.sleep(self.asked.seconds), "in peace")
                if self.asked.restarts:
                    self.load(self.restart, f"{self.asked.restarts} rolling restarts")
                    with HAProxy(self.servers, folder) as proxy:
                        self.load(self.restart, f"proxied, {self.asked.restarts} rolling restarts", [proxy])
                for server in self.servers:
                    server.stop()
                problems = self.servers[0].command("check")["problems"]
                assert problems == [], problems
            finally:
                for server in self.servers:
                    server.kill()

    def client(self, servers=None):
        return Client(servers or self.servers, self.query, random.Random(self.chosen.random()))

    def load(self, meanwhile, words, proxies=None):
        """Has writers and followers run while something goes on, and compares."""
        writers = [
            Writer(self.client(proxies), f"{words.split()[0]}-{number}", self.zones)
            for number in range(self.asked.writers)]
        followers = [Follower(self.client(proxies), self.zones) for _ in range(self.asked.followers)]
        for task in [*followers, *writers]:
            task.start()
        meanwhile()
        finish(writers)
        finish(followers)
        anew = Follower(self.client(), self.zones)
        for follower in [*followers, anew]:
            follower.catch_up()
            self.compare(follower, writers)
        versions = sum(writer.versions for writer in writers)
        clients = [task.client for task in [*writers, *followers]]
        if proxies and any(client.refused or client.closed for client in clients):
            raise RuntimeError("a proxy refused connections, or closed some")
        if meanwhile == self.restart and not proxies and not any(client.refused or client.again for client in clients):
            raise RuntimeError("no request met a restart")
        if not versions or not all(follower.pages for follower in followers):
            raise RuntimeError("nothing was written, or nobody read")
        print(
            f"{words}: {versions} versions by {len(writers)} writers over {len(self.servers)} servers,"
            f" {sum(follower.pages for follower in followers)} pages to {len(followers)} followers,"
            f" 0 missed, 0 twice; {sum(client.again for client in clients)} told to try again,"
            f" {sum(client.refused for client in clients)} refused,"
            f" {sum(client.closed for client in clients)} sent while their connection was closed", flush=True)

    def compare(self, follower, writers):
        for zone in self.zones:
            found = follower.records[zone]
            for writer in writers:
                for name, version in writer.records[zone].items():
                    # Who comes anew is told of no record that is gone before.
                    if found.get(name) != version:
                        raise RuntimeError(f"{name} is {found.get(name)} and not {version} for a follower")

    def restart(self):
        """All servers, one after the other."""
        for _ in range(self.asked.restarts):
            for server in self.servers:
                time.sleep(REST_SECONDS)
                server.stop()
                if server.process.returncode != 0:
                    raise RuntimeError(f"a server ended with {server.process.returncode}")
                server.start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--followers", type=int, default=4)
    parser.add_argument("--zones", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    Feeds(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
