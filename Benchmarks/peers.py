"""The measuring steps beside a server that others know: Redis, which keeps all in memory, too."""

import contextlib
import os

import machine
import redis
from growth import AT_A_TIME, CONNECTIONS, PER_REQUEST, Growing
from measures import MANY

PEERS = ("now", "redis")
STAGES = ("first", "last")


def over(key):
    beside = key.replace("now", "redis", 1)
    return lambda figures: figures[f"peers.{key}"] / figures[f"peers.{beside}"]


def goal(words, key, least):
    return (f"{words} / Redis", f"peers.{key}", over(key), ">=", least)


GOALS = [
    goal("ingest, the first records", "now.first.ingest.recordsPerSecond", 1.0),
    goal("ingest, up to all", "now.last.ingest.recordsPerSecond", 0.9),
    goal("single saves", "now.first.singles.recordsPerSecond", 0.7),
    ("single saves, p99 ms, beside Redis", "peers.now.first.singles.p99us",
     lambda figures: figures["peers.now.first.singles.p99us"] / 1000, "<=", 12),
    goal("full sync, 200 a page", "now.first.sync.recordsPerSecond", 1.3),
    goal("single saves beside all records", "now.last.singles.recordsPerSecond", 0.7),
    goal("full sync of all, 200 a page", "now.last.sync.recordsPerSecond", 1.3),
]

BESIDE = [
    (f"{words}, {stage}, {who}", f"peers.{who}.{stage}.{key}")
    for words, key in (
        ("ingest, records/s", "ingest.recordsPerSecond"),
        ("single saves, records/s", "singles.recordsPerSecond"),
        ("single saves, p99 µs", "singles.p99us"),
        ("full sync, records/s", "sync.recordsPerSecond"),
        ("resident bytes", "resident"), ("bytes on disk", "disk"))
    for stage in STAGES for who in PEERS
]


class Here:
    """The server, loaded as its clients do."""

    def __init__(self, programs, growing, seed):
        self.programs, self.growing, self.seed = programs, growing, seed

    @property
    def pid(self):
        return self.growing.server.pid

    def load(self, workload, operation, **values):
        server = self.growing.server
        return self.programs.load(
            workload, port=server.port, target=server.target(operation), seed=self.seed, **values)

    def save(self, first, records, per_request, connections):
        zone = "Items" if per_request > 1 else "Singles"
        return self.load(
            "save", "records/modify", zone=zone, first=first, records=records,
            per_request=per_request, connections=connections)

    def sync(self, records, seconds):
        return self.load(
            "follow", "changes/zone", zone="Items", records=records, forever=True,
            per_page=PER_REQUEST, connections=1, seconds=seconds, warm=0.3)

    def file_bytes(self):
        return self.growing.file_bytes()


class There:
    """Redis, with the same records."""

    def __init__(self, programs, process, seed):
        self.programs, self.process, self.seed = programs, process, seed

    @property
    def pid(self):
        return self.process.pid

    def save(self, first, records, per_request, connections):
        return self.programs.load(
            "redis-save", port=self.process.port, seed=self.seed, first=first, records=records,
            per_request=per_request, connections=connections)

    def sync(self, records, seconds):
        # What is counted are the first so many; single saves are in the same feed.
        return self.programs.load(
            "redis-follow", port=self.process.port, seed=self.seed, records=records, forever=True,
            per_page=PER_REQUEST, connections=1, seconds=seconds, warm=0.3)

    def file_bytes(self):
        return self.process.file_bytes()


class PeerMeasures:
    def __init__(self, sizes, programs, binary, folder, seed):
        self.sizes, self.programs, self.binary = sizes, programs, binary
        self.folder, self.seed = folder, seed
        self.figures = {}

    def run(self):
        if redis.program() is None:
            print("peers: left out, for there is no redis-server (apt-get install redis-server)",
                  flush=True)
            return {}
        with redis.Redis(self.folder / "redis") as process, contextlib.ExitStack() as ends:
            growing = Growing("now", self.binary, self.folder / "now", ())
            ends.callback(growing.server.stop)
            both = {
                "now": Here(self.programs, growing, self.seed),
                "redis": There(self.programs, process, self.seed)}
            former = 0
            for number, (stage, records) in enumerate(zip(STAGES, self.sizes.peers)):
                # In turn, and each first as often as the other.
                for who in PEERS if number % 2 == 0 else reversed(PEERS):
                    self.measure(f"peers.{who}.{stage}", both[who], former, records, number)
                former = records
        return self.figures

    def keep(self, name, outcome):
        os.sync()
        for key, value in outcome.items():
            if isinstance(value, (int, float)):
                self.figures[f"{name}.{key}"] = value

    def measure(self, name, one, former, records, number):
        seconds = 0
        for first in range(former, records, AT_A_TIME):
            os.sync()
            seconds += one.save(
                first, min(AT_A_TIME, records - first), PER_REQUEST, CONNECTIONS)["seconds"]
        self.keep(f"{name}.ingest", {"recordsPerSecond": (records - former) / seconds})
        singles = self.sizes.growth_singles
        # Names that no other record has.
        self.keep(f"{name}.singles", one.save(
            self.sizes.peers[-1] * 2 + number * singles, singles, 1, MANY))
        self.keep(f"{name}.sync", one.sync(records, self.sizes.seconds))
        self.figures[f"{name}.resident"] = machine.resident_bytes(one.pid)
        self.figures[f"{name}.disk"] = one.file_bytes()
