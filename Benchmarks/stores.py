"""Many containers, each touched in turn: what the server keeps open, and how soon a closed one answers."""

import hashlib
import http.client
import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import machine
from lenticular import CONTAINER, Lenticular

ENVIRONMENT = "development"
SAMPLES_MAX = 50
# Stores whose making is timed, one after the other; the rest is made by several clients at once.
MADE_ALONE = 200
MAKERS = 8

GOALS = [
    ("containers touched in turn: resident, MB", "stores.containers",
     lambda figures: figures["stores.residentBytesMost"] / 1e6, "<=", 300),
    ("the same: descriptors", "stores.containers",
     lambda figures: figures["stores.descriptorsMost"], "<=", 2_500),
    ("first read of a closed store, p99 ms", "stores.first.p50ms",
     lambda figures: figures["stores.first.p99ms"], "<=", 20),
]

BESIDE = [
    ("containers", "stores.containers"),
    ("making a container's first store, p50 ms", "stores.made.p50ms"),
    ("making a container's first store, p99 ms", "stores.made.p99ms"),
    ("first read of a closed store, p50 ms", "stores.first.p50ms"),
    ("read of an open store, p50 ms", "stores.open.p50ms"),
    ("read of an open store, p99 ms", "stores.open.p99ms"),
    ("stores open at the end", "stores.openAtEnd"),
    ("start to ready with all containers, ms", "stores.ready.ms"),
]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class StoreMeasures:
    def __init__(self, sizes, binary, folder):
        self.count = sizes.containers
        folder.mkdir(parents=True)
        self.server = Lenticular(binary, folder, page_records_max=200)
        self.figures = {"stores.containers": self.count}
        self.most = {"resident": 0, "descriptors": 0}

    def run(self):
        try:
            self.server.start()
            self.server.provision()
            self.server.stop()
            tokens = self.make_containers()
            self.server.start()
            self.connection = self.connect()
            self.note("made", [self.read(*each) for each in tokens[:MADE_ALONE]])
            self.make_rest(tokens[MADE_ALONE:])
            # The server has closed the first one meanwhile.
            self.connection = self.connect()
            self.note("first", [self.read(number, token) for number, token in tokens])
            self.note("open", [self.read(*tokens[-1]) for _ in range(min(1_000, self.count))])
            self.look()
            self.figures["stores.openAtEnd"] = self.server.metrics()["lenticular_stores_open"]
            self.figures["stores.residentBytesMost"] = machine.resident_bytes_most(
                self.server.pid)
            self.figures["stores.descriptorsMost"] = self.most["descriptors"]
            self.server.stop()
            self.figures["stores.ready.ms"] = self.server.start()
        finally:
            self.server.stop()
        return self.figures

    def make_containers(self):
        """Adds rows to the catalog of the stopped server: ten thousand commands would take minutes."""
        catalog = sqlite3.connect(self.server.data / "catalog.sqlite")
        now = int(time.time() * 1_000)
        tokens = []
        with catalog:
            for number in range(self.count):
                name = self.container(number)
                token = hashlib.sha256(f"token {number}".encode()).hexdigest()
                catalog.execute(
                    "INSERT INTO containers (folded, name, created_at) VALUES (?, ?, ?)",
                    (name.lower(), name, now))
                catalog.execute(
                    "INSERT INTO api_tokens (hash, name, container, environment, created_at)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (hashlib.sha256(token.encode()).digest(), f"stores-{number}", name.lower(),
                     ENVIRONMENT, now))
                tokens.append((number, token))
        catalog.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        catalog.close()
        return tokens

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def make_rest(self, tokens):
        """Makes stores by several connections: each store takes some writes that wait for the disk."""
        def make(part):
            connection = self.connect()
            for number, token in part:
                self.read(number, token, connection)
            connection.close()
        with ThreadPoolExecutor(MAKERS) as makers:
            list(makers.map(make, [tokens[first::MAKERS] for first in range(MAKERS)]))

    @staticmethod
    def container(number):
        return f"{CONTAINER}.Number{number}"

    def read(self, number, token, connection=None):
        """A look-up of a record that is not there; the first one makes the container's store."""
        return self.ask(
            connection or self.connection, number, token, "records/lookup",
            {"records": [{"recordName": "none"}]})

    def ask(self, connection, number, token, operation, body):
        """The milliseconds that a request of a container's public database takes."""
        target = (f"/database/1/{self.container(number)}/{ENVIRONMENT}/public/{operation}"
                  f"?ckAPIToken={token}")
        text = json.dumps(body)
        began = time.perf_counter()
        connection.request("POST", target, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        took = (time.perf_counter() - began) * 1_000
        if answer.status != 200:
            raise RuntimeError(f"{target.partition('?')[0]}: {answer.status} {content[:300]!r}")
        if number % max(1, self.count // SAMPLES_MAX) == 0:
            self.look()
        return took

    def look(self):
        count = len(list(Path(f"/proc/{self.server.pid}/fd").iterdir()))
        self.most["descriptors"] = max(self.most["descriptors"], count)

    def note(self, name, times):
        self.figures[f"stores.{name}.p50ms"] = percentile(times, 0.5)
        self.figures[f"stores.{name}.p99ms"] = percentile(times, 0.99)
