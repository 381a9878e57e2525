"""One store that gets very large: what is asked of it costs what it costs of a small one."""

import machine
from growth import AT_A_TIME, CONNECTIONS, PER_REQUEST
from measures import MANY, Measures

STAGES = ("small", "large")
CHANGED = 100


def over(of, to):
    return lambda figures: figures[of] / figures[to]


GOALS = [
    ("lookups, small store / large store", "large.large.lookup.requestsPerSecond",
     over("large.small.lookup.requestsPerSecond", "large.large.lookup.requestsPerSecond"),
     "<=", 1.3),
    ("delta of 100, large store / small store, p50", "large.large.delta.p50us",
     over("large.large.delta.p50us", "large.small.delta.p50us"), "<=", 1.3),
    ("resident with the large store, MB", "large.large.resident",
     lambda figures: figures["large.large.resident"] / 1e6, "<=", 250),
]

BESIDE = [
    (f"{words}, {stage} store", f"large.{stage}.{key}")
    for stage in STAGES for words, key in (
        ("records", "records"), ("ingest, records/s", "recordsPerSecond"),
        ("lookups/s", "lookup.requestsPerSecond"), ("of the file in memory", "shareInMemory"),
        ("lookups/s, the file as it was left", "asLeft.lookup.requestsPerSecond"),
        ("of the file in memory, as it was left", "asLeft.shareInMemory"), ("delta of 100, p50 µs", "delta.p50us"),
        ("bytes on disk for a record", "disk.bytesEach"))
]


class LargeMeasures:
    def __init__(self, sizes, programs, binary, folder, seed):
        folder.mkdir(parents=True)
        self.stages = zip(STAGES, sizes.large_store)
        self.measures = Measures(sizes, programs, binary, folder, seed)
        self.figures = {}

    def run(self):
        server = self.measures.server
        try:
            server.start()
            server.provision()
            server.create_zone("Items")
            for stage, records in self.stages:
                self.grow(f"large.{stage}", records)
                self.look(f"large.{stage}", records)
        finally:
            server.stop()
        return self.figures

    def grow(self, name, records):
        measures, former, seconds = self.measures, self.measures.next_record, 0
        while measures.next_record < records:
            part = min(AT_A_TIME, records - measures.next_record)
            seconds += measures.save(
                "large.fill", "Items", part, CONNECTIONS, PER_REQUEST)[1]["seconds"]
        self.figures[f"{name}.records"] = records
        self.figures[f"{name}.recordsPerSecond"] = (records - former) / seconds
        self.figures[f"{name}.disk.bytesEach"] = measures.server.store.stat().st_size / records

    def look(self, name, records):
        measures = self.measures
        body = measures.change("Items", 0, records, CHANGED)
        self.lookups(f"{name}.asLeft", records)
        machine.read_through(measures.server.store)
        self.lookups(name, records)
        self.keep(f"{name}.delta", measures.load(
            "large.delta", "repeat", "changes/zone", body=body, records=CHANGED,
            **measures.timed(1)))
        self.figures[f"{name}.resident"] = machine.resident_bytes(measures.server.pid)

    def lookups(self, name, records):
        measures = self.measures
        self.figures[f"{name}.shareInMemory"] = machine.share_in_memory(measures.server.store)
        self.keep(f"{name}.lookup", measures.load(
            "large.lookup", "lookup", "records/lookup", zone="Items", first=0, records=records,
            **measures.timed(MANY)))

    def keep(self, name, outcome):
        for key, value in outcome.items():
            if isinstance(value, (int, float)):
                self.figures[f"{name}.{key}"] = value
