"""The measuring steps of a server on PostgreSQL, beside libpq in C with the same rows in the same groups."""

import shutil
import time

import machine
from lenticular import Lenticular
from measures import MANY, Measures
from programs import POSTGRESQL

# What one process and two do, by turns; the median counts.
TURNS = 5

GOALS = [
    ("on PostgreSQL, ingest / libpq", "postgres.ingest.recordsPerSecond",
     lambda figures: figures["postgres.ingest.recordsPerSecond"]
     / figures["postgres.limit.ingest.rowsPerSecond"], ">=", 0.5),
    ("on PostgreSQL, full sync, 200 a page / libpq", "postgres.sync1.recordsPerSecond",
     lambda figures: figures["postgres.sync1.recordsPerSecond"]
     / figures["postgres.limit.scan200.rowsPerSecond"], ">=", 0.3),
    *((f"on PostgreSQL, {words}, p50 ms", f"postgres.{name}.p50us",
       lambda figures, name=name: figures[f"postgres.{name}.p50us"] / 1000, "<=", 1)
      for words, name in (("delta of 100 changes", "delta"), ("lookup of one, 64 connections", "lookup"))),
    ("on PostgreSQL, single saves, 64 connections", "postgres.singles.recordsPerSecond",
     lambda figures: figures["postgres.singles.recordsPerSecond"], ">=", 8_000),
    ("on PostgreSQL, single saves, p99 ms", "postgres.singles.p99us",
     lambda figures: figures["postgres.singles.p99us"] / 1000, "<=", 30),
    ("on PostgreSQL, single saves beside an old snapshot / without", "postgres.snapshot.singles.perSecond",
     lambda figures: figures["postgres.snapshot.singles.ratio"], ">=", 0.7),
    *((f"on PostgreSQL, two processes / one, {words}", f"postgres.two.{name}.perSecond",
       lambda figures, name=name: figures[f"postgres.two.{name}.ratio"], ">=", 0.95)
      for words, name in (("ingest", "ingest"), ("single saves", "singles"), ("lookups", "lookup"))),
]

BESIDE = [
    ("libpq, the server's records per commit, rows/s", "postgres.limit.ingest.rowsPerSecond"),
    ("records per commit that the server on PostgreSQL reached", "postgres.ingest.recordsPerCommit"),
    ("libpq, 64 rows per commit, rows/s", "postgres.limit.singles.rowsPerSecond"),
    ("libpq, pages of 200, rows/s", "postgres.limit.scan200.rowsPerSecond"),
]

WORKLOADS = tuple(f"postgres.{name}" for name in ("ingest", "sync1", "singles", "lookup", "delta"))


class PostgreSQLMeasures(Measures):
    def __init__(self, sizes, programs, binary, folder, seed):
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(sizes, programs, binary, folder, seed)

    def run(self):
        with POSTGRESQL.PostgreSQL() as self.database:
            self.server.environment |= {
                "LENTICULAR_STORAGE_ENGINE": "postgres",
                "LENTICULAR_STORAGE_POSTGRES_URL": POSTGRESQL.url(self.database)}
            try:
                self.figures["ready.fresh.ms"] = self.server.start()
                self.server.provision()
                self.ingest()
                self.single_saves()
                self.reads()
                self.old_snapshot()
                self.two_processes()
            finally:
                self.server.stop()
        return {f"postgres.{name}": value for name, value in self.figures.items()}

    def limit(self, name, loop, zone, **values):
        self.keep(f"limit.{name}", self.programs.limit_postgres(
            loop, address=self.database.words, zone=zone, **values))

    def ingest(self):
        self.server.create_zone("Items")
        before = self.server.metrics()
        self.first, _ = self.save("ingest", "Items", self.sizes.records, 8, 200)
        commits = self.grown(before, self.server.metrics(), "lenticular_commit_requests_count")
        self.per_commit = max(1, round(self.sizes.records / commits)) if commits else 1600
        self.figures["ingest.recordsPerCommit"] = self.per_commit
        self.verify("Items", self.first, self.sizes.records)
        self.limit("ingest", "write", "Items", rows=self.sizes.records, per_commit=self.per_commit)

    def single_saves(self):
        self.server.create_zone("Singles")
        self.save("singles", "Singles", self.sizes.singles, MANY, 1)
        self.limit("singles", "write", "Singles", rows=self.sizes.singles, per_commit=MANY)

    def reads(self):
        self.load("sync1", "follow", "changes/zone", **self.syncs()["sync1"])
        self.limit("scan200", "scan", "Items", per_page=200, seconds=self.sizes.seconds)
        self.load("lookup", "lookup", "records/lookup", **self.lookups())
        body = self.change("Items", self.first, self.sizes.records, 100)
        self.load("delta", "repeat", "changes/zone", body=body, records=100, **self.timed(1))
        self.figures["resident"] = machine.resident_bytes(self.server.pid)

    def old_snapshot(self):
        """Single saves without pause beside a snapshot that stays open; the last of them, beside those before and after."""
        def save():
            return self.save_by([self.server.port] * 2, "Snapshot", self.sizes.singles, MANY, 1)
        without = [save()]
        with self.database.snapshot():
            end = time.monotonic() + self.sizes.snapshot_seconds
            beside = [save()]
            while time.monotonic() < end:
                beside.append(save())
        without.append(save())
        self.figures["snapshot.singles.perSecond"] = beside[-1]
        self.figures["snapshot.singles.ratio"] = beside[-1] * len(without) / sum(without)
        self.figures["snapshot.singles.ratioMin"] = min(beside) * len(without) / sum(without)

    def two_processes(self):
        """One load on one process, and half of it on each of two, by turns."""
        folder = self.folder / "second"
        folder.mkdir()
        second = Lenticular(self.server.binary, folder, page_records_max=2000)
        second.environment = self.server.environment
        second.data.mkdir(mode=0o700)
        (second.data / "containers").symlink_to(self.server.data / "containers")
        shutil.copy(self.server.data / "secrets.key", second.data)
        second.start()
        try:
            ports = {"one": [self.server.port] * 2, "two": [self.server.port, second.port]}
            for name, rate in (
                    ("ingest", lambda ports: self.save_by(ports, "Shared", self.sizes.records // 2, 8, 200)),
                    ("singles", lambda ports: self.save_by(ports, "SharedSingles", self.sizes.singles // 2, MANY, 1)),
                    ("lookup", self.look_up_by)):
                self.by_turns(name, ports, rate)
        finally:
            second.stop()

    def by_turns(self, name, ports, rate):
        rates = {kind: [] for kind in ports}
        for turn in range(TURNS):
            # Who is first changes, too.
            for kind in sorted(ports, reverse=turn % 2 == 1):
                rates[kind].append(rate(ports[kind]))
        ratios = sorted(two / one for one, two in zip(rates["one"], rates["two"]))
        self.figures[f"two.{name}.perSecond"] = sorted(rates["two"])[TURNS // 2]
        self.figures[f"two.{name}.onePerSecond"] = sorted(rates["one"])[TURNS // 2]
        self.figures[f"two.{name}.ratio"] = ratios[TURNS // 2]
        self.figures[f"two.{name}.ratioMin"], self.figures[f"two.{name}.ratioMax"] = ratios[0], ratios[-1]

    def save_by(self, ports, zone, records, connections, per_request):
        """Records a second that two generators save, each by one of the ports."""
        self.server.create_zone(f"{zone}{self.next_record}")
        zone = f"{zone}{self.next_record}"
        each = records // 2 // per_request * per_request
        loads = []
        for port in ports:
            loads.append(("save", dict(
                port=port, target=self.server.target("records/modify"), seed=self.seed, zone=zone, records=each,
                first=self.next_record, connections=connections // 2, per_request=per_request)))
            self.next_record += each
        outcomes = self.programs.load_together(*loads)
        return 2 * each / max(outcome["seconds"] for outcome in outcomes)

    def look_up_by(self, ports):
        values = self.lookups() | {"connections": MANY // 2}
        outcomes = self.programs.load_together(*(
            ("lookup", dict(values, port=port, target=self.server.target("records/lookup"), seed=self.seed))
            for port in ports))
        return sum(outcome["requestsPerSecond"] for outcome in outcomes)
