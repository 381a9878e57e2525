"""The measuring steps of a server on PostgreSQL, beside libpq in C with the same rows in the same groups."""

import machine
from measures import MANY, Measures
from programs import POSTGRESQL

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
