"""The measuring steps of one run, in their order. Each adds named figures to `self.figures`."""

import json
import os
import time

import machine
import requirements
from assets import Assets
from lenticular import Lenticular
from nginx import Nginx
from sharing import Sharing

MANY = 64
# The defaults of `storage.sqlite.writerCacheKiB` and `storage.sqlite.readerCacheKiB`.
WRITER_CACHE_KIB = 32_768
READER_CACHE_KIB = 16_384


class Measures:
    def __init__(self, sizes, programs, binary, folder, seed):
        self.sizes, self.programs, self.folder, self.seed = sizes, programs, folder, seed
        self.server = Lenticular(binary, folder, page_records_max=2000)
        # One address stands for all.
        self.server.environment["LENTICULAR_HTTP_CONNECTIONS_PER_ADDRESS_MAX"] = "100000"
        self.figures, self.tokens, self.next_record = {}, {}, 0

    def run(self, only=None):
        """Does all of it, or only one part that needs no other."""
        if only == "sharing":
            return self.run_sharing()
        if only == "assets":
            return self.run_assets()
        with Nginx(self.folder) as self.nginx:
            try:
                self.start_and_idle()
                self.ingest()
                self.full_sync()
                self.single_saves()
                self.small_requests()
                self.deltas()
                self.reads_while_ingesting()
                Sharing(self).run()
                if not requirements.missing("assets"):
                    Assets(self).run(self.nginx)
                self.end()
            finally:
                self.server.stop()
        return self.figures

    def run_sharing(self):
        try:
            self.server.start()
            self.server.provision()
            Sharing(self).run()
        finally:
            self.server.stop()
        return self.figures

    def run_assets(self):
        with Nginx(self.folder) as nginx:
            try:
                self.server.start()
                self.server.provision()
                Assets(self).run(nginx)
            finally:
                self.server.stop()
        return self.figures

    def load(self, name, workload, operation, **values):
        """Runs one workload; keeps its outcome, with the server's processor time, as `name`."""
        os.sync()
        before = machine.processor_seconds(self.server.pid)
        values.setdefault("target", self.server.target(operation))
        outcome = self.programs.load(
            workload, port=self.server.port, seed=self.seed, **values)
        used = machine.processor_seconds(self.server.pid) - before
        outcome["serverProcessors"] = used / (outcome["seconds"] + values.get("warm", 0))
        self.keep(name, outcome)
        return outcome

    def keep(self, name, outcome):
        for key, value in outcome.items():
            if isinstance(value, (int, float)):
                self.figures[f"{name}.{key}"] = value
        if "cpuUser" in outcome:
            own = outcome["cpuUser"] + outcome["cpuSystem"]
            self.figures[f"{name}.generatorProcessors"] = own / outcome["seconds"]

    def save(self, name, zone, records, connections, per_request, **values):
        """Saves new records in a zone and remembers which they are."""
        first, self.next_record = self.next_record, self.next_record + records
        return first, self.load(
            name, "save", "records/modify", zone=zone, records=records, first=first,
            connections=connections, per_request=per_request, **values)

    def start_and_idle(self):
        self.figures["ready.fresh.ms"] = self.server.start()
        self.server.provision()
        self.figures["resident.idle"] = machine.resident_bytes(self.server.pid)
        self.server.metrics()
        time.sleep(0.3)
        before = machine.resident_bytes(self.server.pid)
        process = self.programs.start_load(
            "idle", port=self.server.port, target="/healthz", connections=self.sizes.idle)
        if not process.stdout.readline():
            raise RuntimeError("the idle connections did not come up")
        time.sleep(0.5)
        grown = machine.resident_bytes(self.server.pid) - before
        process.communicate()
        if process.returncode != 0:
            raise RuntimeError("the idle connections failed")
        self.figures["idle.bytesEach"] = grown / self.sizes.idle

    def ingest(self):
        self.server.create_zone("Items")
        before = self.server.metrics()
        self.first, _ = self.save("ingest", "Items", self.sizes.records, 8, 200)
        after = self.server.metrics()
        commits = self.grown(before, after, "lenticular_commit_requests_count")
        rows = self.sizes.records
        self.per_commit = max(1, round(rows / commits)) if commits else 1600
        self.figures["ingest.recordsPerCommit"] = self.per_commit
        self.verify("Items", self.first, self.sizes.records)
        self.limit_store = self.folder / "limit.sqlite"
        self.keep("limit.ingest", self.programs.limit(
            "write", source=self.server.store, zone="Items", store=self.limit_store, rows=rows,
            per_commit=self.per_commit, cache_kib=WRITER_CACHE_KIB))
        for page in (200, 2000):
            self.keep(f"limit.scan{page}", self.programs.limit(
                "scan", store=self.limit_store, per_page=page, seconds=self.sizes.seconds,
                cache_kib=READER_CACHE_KIB))

    @staticmethod
    def grown(before, after, name):
        return after.get(name, 0.0) - before.get(name, 0.0)

    def verify(self, zone, first, count):
        """Follows the zone and compares every record with what was sent."""
        sent = self.programs.sample(seed=self.seed, first=first, records=count)
        token, more = None, True
        while more:
            entry = {"zoneID": {"zoneName": zone}, "resultsLimit": 2000}
            if token:
                entry["syncToken"] = token
            page = self.server.post("changes/zone", {"zones": [entry]})["zones"][0]
            for record in page["records"]:
                if sent.pop(record["recordName"])["fields"] != record["fields"]:
                    raise RuntimeError(f"another content: {record}")
            token, more = page["syncToken"], page["moreComing"]
        if sent:
            raise RuntimeError(f"{len(sent)} of {count} records are missing")

    def full_sync(self):
        for name, values in self.syncs().items():
            self.load(name, "follow", "changes/zone", **values)

    def timed(self, connections):
        return dict(connections=connections, seconds=self.sizes.seconds, warm=0.3)

    def syncs(self):
        kinds = {"sync1": (1, 200), "sync2": (2, 200), "sync2000": (1, 2000)}
        return {
            name: dict(
                zone="Items", records=self.sizes.records, forever=True, per_page=per_page,
                **self.timed(connections))
            for name, (connections, per_page) in kinds.items()
        }

    def single_saves(self):
        self.server.create_zone("Singles")
        self.save("singles", "Singles", self.sizes.singles, MANY, 1)
        self.keep("limit.singles", self.programs.limit(
            "write", source=self.server.store, zone="Singles", store=self.limit_store,
            rows=self.sizes.singles, per_commit=MANY, cache_kib=WRITER_CACHE_KIB))
        self.limit_store.unlink()

    def static(self, name, file):
        self.keep(name, self.programs.load(
            "repeat", port=self.nginx.port, target=file, connections=MANY,
            seconds=self.sizes.seconds, warm=0.3))

    def small_requests(self):
        self.static("nginx500", "/500")
        self.load("lookup", "lookup", "records/lookup", **self.lookups())
        self.empty_delta = self.delta_body("Items", self.last_token("Items", self.sizes.records))
        self.load("deltaEmpty", "repeat", "changes/zone", **self.empty_deltas())
        self.static("nginx500again", "/500")
        self.static("nginx100k", "/100k")

    def lookups(self):
        return dict(zone="Items", records=self.sizes.records, first=self.first, **self.timed(MANY))

    def empty_deltas(self):
        return dict(body=self.empty_delta, **self.timed(MANY))

    def last_token(self, zone, records):
        return self.programs.load(
            "follow", port=self.server.port, target=self.server.target("changes/zone"), zone=zone,
            records=records, per_page=2000, connections=1)["token"]

    def delta_body(self, zone, token):
        """A file with the request for a zone's changes since a token."""
        path = self.folder / f"delta-{zone}-{len(self.tokens)}"
        self.tokens[str(path)] = token
        entry = {"zoneID": {"zoneName": zone}, "syncToken": token, "resultsLimit": 200}
        path.write_text(json.dumps({"zones": [entry]}))
        return path

    def change(self, zone, first, records, changed):
        """Changes some records of a zone, and returns the request that asks which they are."""
        body = self.delta_body(zone, self.last_token(zone, records))
        self.programs.load(
            "save", port=self.server.port, target=self.server.target("records/modify"), zone=zone,
            seed=self.seed, first=first, stride=records // changed, records=changed,
            per_request=changed, operation="forceReplace", connections=1)
        answer = self.server.post("changes/zone", json.loads(body.read_text()))["zones"][0]
        if len(answer["records"]) != changed or answer["moreComing"]:
            raise RuntimeError(f"a delta of {len(answer['records'])} records, not {changed}")
        return body

    def deltas(self):
        bodies = {}
        for name, records in (("small", 1000), ("large", self.sizes.large)):
            zone = name.capitalize()
            self.server.create_zone(zone)
            first = self.next_record
            done = 0
            while done < records:
                part = min(100_000, records - done)
                self.save(f"fill.{name}", zone, part, 8, 200)
                done += part
            bodies[name] = self.change(zone, first, records, 100)
        self.large_delta = bodies["large"]
        rounds = {"small": [], "large": []}
        for _ in range(self.sizes.delta_rounds):
            for name, body in bodies.items():
                outcome = self.load(
                    f"delta.{name}", "repeat", "changes/zone", body=body, records=100,
                    connections=1, seconds=self.sizes.seconds / 4, warm=0.1)
                rounds[name].append(outcome["p50us"])
        for name, medians in rounds.items():
            self.figures[f"delta.{name}.p50us"] = sorted(medians)[len(medians) // 2]

    def reads_while_ingesting(self):
        """Each read alone, then with ingest beside it; ingest alone in the same store."""
        quiet = self.mixed_ingest("mixed.quiet", [])[0]["recordsPerSecond"]
        reads = {
            **{name: ("follow", "changes/zone", values) for name, values in self.syncs().items()},
            "delta": ("repeat", "changes/zone", dict(body=self.large_delta, **self.timed(1))),
            "deltaEmpty": ("repeat", "changes/zone", self.empty_deltas()),
            "lookup": ("lookup", "records/lookup", self.lookups()),
        }
        for name, (workload, operation, values) in reads.items():
            alone = self.load(f"mixed.{name}.quiet", workload, operation, **values)
            ingest, read = self.mixed_ingest(f"mixed.{name}", [(workload, dict(
                values, port=self.server.port, target=self.server.target(operation),
                seed=self.seed))])
            self.keep(f"mixed.{name}.read", read)
            self.figures[f"mixed.{name}.readFraction"] = (
                read["requestsPerSecond"] / alone["requestsPerSecond"])
            self.figures[f"mixed.{name}.ingestFraction"] = ingest["recordsPerSecond"] / quiet

    def mixed_ingest(self, name, others):
        """Ingest into a new zone for the counted time, with the other workloads beside it."""
        zone = "Mixed" + str(self.next_record)
        self.server.create_zone(zone)
        records = int(self.figures["ingest.recordsPerSecond"] * (self.sizes.seconds + 0.5) * 2)
        records = -(-records // 200) * 200
        first, self.next_record = self.next_record, self.next_record + records
        outcomes = self.programs.load_together(("save", dict(
            port=self.server.port, target=self.server.target("records/modify"), zone=zone,
            seed=self.seed, first=first, records=records, per_request=200, connections=8,
            seconds=self.sizes.seconds, warm=0.3)), *others)
        if outcomes[0]["seconds"] < 0.95 * self.sizes.seconds:
            raise RuntimeError("the prepared records did not last for the counted time")
        self.keep(f"{name}.ingest", outcomes[0])
        return outcomes

    def end(self):
        self.figures["resident.after"] = machine.resident_bytes(self.server.pid)
        self.server.stop()
        self.figures["ready.full.ms"] = self.server.start()
