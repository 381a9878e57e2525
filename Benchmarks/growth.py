"""The measuring steps of one store that grows, beside an older server and the C loop on the same rows."""

import contextlib
import os
import sqlite3
from pathlib import Path

import machine
from lenticular import Lenticular
from measures import MANY, READER_CACHE_KIB, WRITER_CACHE_KIB
from nginx import Nginx
from queries import FIVE

CONNECTIONS = 16
PER_REQUEST = 200
# The load generator has all that it sends in memory.
AT_A_TIME = 50_000
SIZES = (250_000, 1_000_000, 4_000_000)
CHOSEN = "chosen"
SERVERS = ("now", "before")
# Servers of the same binary whose records have so many indexed fields, up to this size.
INDEXED = {"one": 1, "five": 5}
INDEXED_MAX = 1_000_000


def label(records):
    return f"{records // 1000}k" if records in SIZES else CHOSEN


def over(of, to):
    return lambda figures: figures[of] / figures[to]


def goals_at(size, words, beside_before):
    now, limit, before = (f"growth.{size}.{who}" for who in ("now", "limit", "before"))
    return [
        (f"ingest up to {words} / C loop", f"{now}.ingest.recordsPerSecond",
         over(f"{now}.ingest.recordsPerSecond", f"{limit}.ingest.rowsPerSecond"), ">=", 0.8),
        (f"single saves at {words} / C loop", f"{now}.singles.recordsPerSecond",
         over(f"{now}.singles.recordsPerSecond", f"{limit}.singles.rowsPerSecond"), ">=", 0.75),
        (f"single saves at {words}, p99 ms", f"{now}.singles.p99us",
         lambda figures: figures[f"{now}.singles.p99us"] / 1000, "<=", 10),
        (f"lookup at {words} / nginx 500 B", f"{now}.lookup.requestsPerSecond",
         over(f"{now}.lookup.requestsPerSecond", "growth.nginx.requestsPerSecond"), ">=", 0.7),
        (f"full sync at {words}, 200 a page / C scan", f"{now}.sync.recordsPerSecond",
         over(f"{now}.sync.recordsPerSecond", f"{limit}.scan.rowsPerSecond"), ">=", 0.4),
        (f"bytes on disk for a record at {words}", f"{now}.disk.bytesEach",
         lambda figures: figures[f"{now}.disk.bytesEach"], "<=", 850),
        (f"ingest up to {words} / the former server", f"{before}.ingest.recordsPerSecond",
         over(f"{now}.ingest.recordsPerSecond", f"{before}.ingest.recordsPerSecond"), ">=",
         beside_before),
    ]


def goals_of_indexes(size, words):
    now = f"growth.{size}.now"
    return [
        (f"ingest up to {words} with 5 indexed fields / with none",
         f"{now}.five.ingest.recordsPerSecond",
         over(f"{now}.five.ingest.recordsPerSecond", f"{now}.ingest.recordsPerSecond"), ">=", 0.5),
        (f"bytes on disk for a record with 1 indexed field at {words}",
         f"{now}.one.disk.bytesEach",
         lambda figures: figures[f"{now}.one.disk.bytesEach"], "<=", 1_000),
    ]


WORDS = {label(records): f"{records:,}" for records in SIZES} | {CHOSEN: "the size that was chosen"}
GOALS = [goal for size, words in WORDS.items()
         for goal in (*goals_at(size, words, 2.2 if size == label(SIZES[-1]) else 1),
                      *goals_of_indexes(size, words))]

BESIDE = [
    ("nginx, 500 B, requests/s", "growth.nginx.requestsPerSecond"),
    *((f"{what}, {words}, {who}", f"growth.{size}.{who}.{key}")
      for size, words in WORDS.items() for who in SERVERS for what, key in (
          ("ingest, records/s", "ingest.recordsPerSecond"),
          ("records to a commit", "ingest.perCommit"),
          ("written for a record, bytes", "ingest.writtenBytesEach"),
          ("processor time for a record, µs", "ingest.processorMicroseconds"),
          ("bytes on disk for a record", "disk.bytesEach"),
          ("single saves, records/s", "singles.recordsPerSecond"),
          ("single saves, p99 µs", "singles.p99us"),
          ("lookups/s", "lookup.requestsPerSecond"),
          ("of the file in memory", "shareInMemory"),
          ("lookups/s, the file as it was left", "asLeft.lookup.requestsPerSecond"),
          ("of the file in memory, as it was left", "asLeft.shareInMemory"),
          ("full sync, records/s", "sync.recordsPerSecond"))),
    *((f"{what}, {words}, {who}, indexed fields: {indexed}", f"growth.{size}.{who}.{indexed}.{key}")
      for size, words in WORDS.items() for who in SERVERS for indexed in INDEXED
      for what, key in (
          ("ingest, records/s", "ingest.recordsPerSecond"),
          ("records to a commit", "ingest.perCommit"),
          ("written for a record, bytes", "ingest.writtenBytesEach"),
          ("processor time for a record, µs", "ingest.processorMicroseconds"),
          ("bytes on disk for a record", "disk.bytesEach"))),
    *((f"C loop, {words}, {what}", f"growth.{size}.limit.{key}")
      for size, words in WORDS.items() for what, key in (
          ("ingest, rows/s", "ingest.rowsPerSecond"), ("singles, rows/s", "singles.rowsPerSecond"),
          ("scan, rows/s", "scan.rowsPerSecond"), ("bytes on disk for a row", "disk.bytesEach"))),
]

WORKLOADS = tuple(
    f"growth.{size}.{who}.{work}" for size in WORDS for who in SERVERS
    for work in ("singles", "lookup", "sync"))


class Growing:
    """One server with one store, and what it holds."""

    def __init__(self, who, binary, folder, indexed_fields):
        self.who, self.indexed_fields = who, indexed_fields
        folder.mkdir(parents=True)
        self.server = Lenticular(binary, folder, page_records_max=200)
        self.server.start()
        self.server.provision()
        self.server.create_zone("Items")
        self.server.create_zone("Singles")

    def written_bytes(self):
        text = Path(f"/proc/{self.server.pid}/io").read_text()
        return int(text.partition("\nwrite_bytes: ")[2].split()[0])

    def file_bytes(self):
        address = f"file:{self.server.store}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as store:
            return store.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ).fetchone()[0]


class GrowthMeasures:
    def __init__(self, sizes, programs, binary, folder, seed, before=None):
        self.sizes, self.programs, self.folder, self.seed = sizes, programs, folder, seed
        self.binaries = {"now": binary} | ({"before": before} if before else {})
        self.limit_store = folder / "limit.sqlite"
        self.figures = {}

    def run(self):
        with Nginx(self.folder) as nginx, contextlib.ExitStack() as ends:
            growing = []
            for who, binary in self.binaries.items():
                chosen = {who: 0} | {f"{who}.{name}": count for name, count in INDEXED.items()}
                for name, count in chosen.items():
                    growing.append(Growing(name, binary, self.folder / name, FIVE[:count]))
                    ends.callback(growing[-1].server.stop)
                    self.index(growing[-1])
            self.keep("growth.nginx", self.programs.load(
                "repeat", port=nginx.port, target="/500", **self.timed(MANY)))
            former = 0
            for number, records in enumerate(self.sizes.growth):
                # In turn, and each first as often as the other.
                for one in growing if number % 2 == 0 else reversed(growing):
                    if one.indexed_fields:
                        if records <= INDEXED_MAX:
                            self.ingest(one, former, records)
                            self.keep_size(one, records, records)
                    else:
                        self.grow(one, former, records, number)
                self.limits(growing[0], former, records, number)
                former = records
        return self.figures

    def timed(self, connections):
        return dict(connections=connections, seconds=self.sizes.seconds, warm=0.3)

    def keep(self, name, outcome):
        for key, value in outcome.items():
            if isinstance(value, (int, float)):
                self.figures[f"{name}.{key}"] = value

    def load(self, one, name, workload, operation, **values):
        os.sync()
        before = machine.processor_seconds(one.server.pid)
        outcome = self.programs.load(
            workload, port=one.server.port, target=one.server.target(operation), seed=self.seed,
            **values)
        used = machine.processor_seconds(one.server.pid) - before
        outcome["serverProcessors"] = used / (outcome["seconds"] + values.get("warm", 0))
        outcome["generatorProcessors"] = (
            outcome["cpuUser"] + outcome["cpuSystem"]) / outcome["seconds"]
        if name:
            self.keep(name, outcome)
        return outcome

    def index(self, one):
        """Has indexes made over fields of a type, of which there has to be a record first."""
        if not one.indexed_fields:
            return
        self.load(
            one, None, "save", "records/modify", zone="Singles", first=SIZES[-1] * 4, records=1,
            per_request=1, connections=1)
        for field in one.indexed_fields:
            one.server.build_indexes({
                "zoneID": {"zoneName": "Singles"},
                "query": {"recordType": "Item", "sortBy": [{"fieldName": field}]}})

    def ingest(self, one, former, records):
        """Lets a store grow to so many records."""
        written, commits = one.written_bytes(), self.commits(one)
        used = machine.processor_seconds(one.server.pid)
        seconds = 0
        for first in range(former, records, AT_A_TIME):
            seconds += self.load(
                one, None, "save", "records/modify", zone="Items", first=first,
                records=min(AT_A_TIME, records - first), per_request=PER_REQUEST,
                connections=CONNECTIONS)["seconds"]
        added = records - former
        used = machine.processor_seconds(one.server.pid) - used
        self.keep(f"growth.{label(records)}.{one.who}.ingest", {
            "recordsPerSecond": added / seconds,
            "perCommit": added / max(1, self.commits(one) - commits),
            "processorMicroseconds": 1e6 * used / added,
            "writtenBytesEach": (one.written_bytes() - written) / added})

    def keep_size(self, one, records, all_records):
        self.figures[f"growth.{label(records)}.{one.who}.disk.bytesEach"] = (
            one.file_bytes() / all_records)

    def grow(self, one, former, records, number):
        """Lets a store grow to so many records, and measures it at that size."""
        name = f"growth.{label(records)}.{one.who}"
        self.ingest(one, former, records)
        singles = self.sizes.growth_singles
        self.keep_size(one, records, records + number * singles)
        # Names that no record of the zone that grows will have.
        self.load(
            one, f"{name}.singles", "save", "records/modify", zone="Singles", per_request=1,
            first=SIZES[-1] * 2 + number * singles, records=singles, connections=MANY)
        self.lookups(one, f"{name}.asLeft", records)
        machine.read_through(one.server.store)
        self.lookups(one, name, records)
        self.load(
            one, f"{name}.sync", "follow", "changes/zone", zone="Items", records=records,
            forever=True, per_page=PER_REQUEST, **self.timed(1))

    def lookups(self, one, name, records):
        self.figures[f"{name}.shareInMemory"] = machine.share_in_memory(one.server.store)
        self.load(
            one, f"{name}.lookup", "lookup", "records/lookup", zone="Items", records=records,
            **self.timed(MANY))

    @staticmethod
    def commits(one):
        return one.server.metrics().get("lenticular_commit_requests_count", 0.0)

    def limits(self, one, former, records, number):
        """The same rows by the C loop, out of the server's own file."""
        name = f"growth.{label(records)}"
        singles = self.sizes.growth_singles
        for work, zone, skip, rows, per_commit in (
                ("ingest", "Items", former, records - former,
                 max(1, round(self.figures[f"{name}.{one.who}.ingest.perCommit"]))),
                ("singles", "Singles", number * singles, singles, MANY)):
            outcome = self.programs.limit(
                "write", source=one.server.store, zone=zone, store=self.limit_store, skip=skip,
                rows=rows, per_commit=per_commit, cache_kib=WRITER_CACHE_KIB)
            self.keep(f"{name}.limit.{work}", outcome)
            if work == "ingest":
                self.figures[f"{name}.limit.disk.bytesEach"] = (
                    outcome["fileBytes"] / (records + number * singles))
        self.keep(f"{name}.limit.scan", self.programs.limit(
            "scan", store=self.limit_store, per_page=PER_REQUEST, seconds=self.sizes.seconds,
            cache_kib=READER_CACHE_KIB))
