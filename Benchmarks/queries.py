"""The measuring steps of queries, over a store of their own with the same rows asked by a C program.

Rows and notes are made here, from the seed: rows with a kind that a thousand share, a size, a weight, a
time and a text; notes with a text of words as unevenly used as those of a language, and a place.
"""

import http.client
import itertools
import json
import math
import os
import random
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import machine
from lenticular import Lenticular
from measures import READER_CACHE_KIB

PER_REQUEST = 200
PER_PAGE = 200
LOADERS = 4
WRITERS = 8
SIZES = 1_000_000
EARTH_RADIUS = 6_371_008.8
FEW = 1_000
# Fields of the records that `load save` sends.
FIVE = ("name", "count", "price", "madeAt", "done")


def compared(of, to):
    return lambda figures: figures[of] / figures[to]


def milliseconds(of):
    return lambda figures: figures[of] / 1000


GOALS = [
    *((f"query, {what} of 1,000,000 / C loop", f"query.{name}.recordsPerSecond",
       compared(f"query.{name}.recordsPerSecond", f"limit.query.{name}.rowsPerSecond"), ">=", 0.4)
      for name, what in (("equal", "1,000 equal"), ("range", "a range of 20,000"))),
    ("query, a page nine tenths on / the first, p50", "query.deep.p50us",
     compared("query.deep.p50us", "query.first.p50us"), "<=", 1.3),
    ("query, 200 of 800 places of 100,000, p50 ms", "query.near.p50us",
     milliseconds("query.near.p50us"), "<=", 3),
    ("query, the nearest 200 of them, p50 ms", "query.nearest.p50us",
     milliseconds("query.nearest.p50us"), "<=", 3),
    ("query, 200 notes with a word of 100,000, p50 ms", "query.words.p50us",
     milliseconds("query.words.p50us"), "<=", 5),
    ("single saves while 1,000,000 rows are indexed / quiet, p99", "build.busy.p99us",
     compared("build.busy.p99us", "build.quiet.p99us"), "<=", 3),
    ("ingest with 5 indexed fields / with none", "ingest.five.recordsPerSecond",
     compared("ingest.five.recordsPerSecond", "ingest.none.recordsPerSecond"), ">=", 0.25),
]

BESIDE = [
    *((f"C loop, {what}, p50 µs", f"limit.query.{name}.p50us") for name, what in (
        ("equal", "a page of the equal"), ("range", "a page of the range"),
        ("near", "200 of 800 places"), ("nearest", "the nearest 200"), ("words", "a word"),
        ("allWords", "two frequent words"))),
    *((f"C loop / server, processor time a page, {what}", f"query.{name}.processorFraction")
      for name, what in (("equal", "the equal"), ("range", "the range"), ("near", "places"),
                         ("nearest", "the nearest"), ("words", "a word"))),
    ("an index of 1,000,000 rows is whole beside saves after, s", "build.seconds"),
    ("another one alone after, s", "build.alone.seconds"),
    ("single saves before and after, p99 µs", "build.quiet.p99us"),
]

WORKLOADS = (
    "query.equal", "query.range", "query.first", "query.deep", "query.near", "query.nearest",
    "query.words", "query.allWords", "build.quiet.before", "build.busy", "build.quiet.after",
    "ingest.none", "ingest.five")


def filtered(field, comparator, value, kind, **more):
    return {"fieldName": field, "comparator": comparator,
            "fieldValue": {"value": value, "type": kind}, **more}


class QueryMeasures:
    def __init__(self, sizes, programs, binary, folder, seed):
        self.sizes, self.programs, self.folder, self.seed = sizes, programs, folder, seed
        folder.mkdir()
        self.server = Lenticular(binary, folder, page_records_max=PER_PAGE)
        self.draw = random.Random(seed)
        self.figures, self.next_record = {}, 0

    def run(self):
        try:
            self.server.start()
            self.server.provision()
            self.load_rows()
            self.load_notes()
            self.build_beside_writes()
            self.build_others()
            self.pages_of_rows()
            self.deep_pages()
            self.few_of_many()
            self.ingests()
        finally:
            self.server.stop()
        return self.figures

    # What is asked.

    def load_rows(self):
        """Records of a thousand kinds and of sizes below a million, as many as `sizes.large`."""
        self.server.create_zone("Rows")
        self.kinds, self.row_sizes = Counter(), []
        kinds = max(1, self.sizes.large // FEW)

        def row(number):
            kind, size = self.draw.randrange(kinds), self.draw.randrange(SIZES)
            self.kinds[kind] += 1
            self.row_sizes.append(size)
            return (
                f'{{"kind":{{"value":"Kind {kind}","type":"STRING"}},'
                f'"size":{{"value":{size},"type":"INT64"}},'
                f'"weight":{{"value":{size}.25,"type":"DOUBLE"}},'
                f'"madeAt":{{"value":{1_700_000_000_000 + number},"type":"TIMESTAMP"}},'
                f'"text":{{"value":"row {number} {"lorem ipsum dolor " * 8}","type":"STRING"}}}}')

        seconds = self.save("Rows", "Row", self.sizes.large, row)
        self.figures["rows.loadedPerSecond"] = self.sizes.large / seconds

    def load_notes(self):
        """Notes of 20 words out of 20,000, the n-th as often as 1/n says, at places all over the globe."""
        self.server.create_zone("Notes")
        vocabulary = [self.word(number) for number in range(20_000)]
        weights = list(itertools.accumulate(1 / (number + 1) for number in range(20_000)))
        self.notes, self.places = [], []

        def note(_):
            words = self.draw.choices(vocabulary, cum_weights=weights, k=20)
            latitude = math.degrees(math.asin(self.draw.uniform(-1, 1)))
            longitude = self.draw.uniform(-180, 180)
            self.notes.append(set(words))
            self.places.append((latitude, longitude))
            return (
                f'{{"text":{{"value":"{" ".join(words)}","type":"STRING"}},'
                f'"place":{{"value":{{"latitude":{latitude!r},"longitude":{longitude!r}}},'
                '"type":"LOCATION"}}')

        self.save("Notes", "Note", self.sizes.records, note)

    @staticmethod
    def word(number):
        """Pronounceable, and no stop word: at least three syllables."""
        consonants, vowels, word = "bdfgklmnprstvz", "aeiou", ""
        for _ in range(3):
            number, syllable = divmod(number, len(consonants) * len(vowels))
            word += consonants[syllable // len(vowels)] + vowels[syllable % len(vowels)]
        return word

    def save(self, zone, kind, count, fields):
        """Saves records over several connections; the seconds that it took."""
        target = self.server.target("records/modify")
        clients = threading.local()

        def bodies():
            for first in range(0, count, PER_REQUEST):
                operations = ",".join(
                    f'{{"operationType":"create","record":{{"recordType":"{kind}",'
                    f'"recordName":"{kind}-{number}","fields":{fields(number)}}}}}'
                    for number in range(first, min(count, first + PER_REQUEST)))
                yield f'{{"zoneID":{{"zoneName":"{zone}"}},"operations":[{operations}]}}'

        def send(body):
            if not hasattr(clients, "connection"):
                clients.connection = http.client.HTTPConnection(
                    "127.0.0.1", self.server.port, timeout=120)
            clients.connection.request("POST", target, body)
            answer = clients.connection.getresponse()
            content = answer.read()
            if answer.status != 200 or b"serverErrorCode" in content[:4096]:
                raise RuntimeError(f"{answer.status} {content[:500]!r}")

        began = time.monotonic()
        # The first one makes the type and its fields.
        waiting = bodies()
        send(next(waiting))
        with ThreadPoolExecutor(LOADERS) as pool:
            for batch in iter(lambda: list(itertools.islice(waiting, 64)), []):
                list(pool.map(send, batch))
        return time.monotonic() - began

    @staticmethod
    def body(zone, kind, filters=(), sorts=()):
        return {
            "zoneID": {"zoneName": zone}, "resultsLimit": PER_PAGE,
            "query": {"recordType": kind, "filterBy": list(filters), "sortBy": list(sorts)},
        }

    def stored(self, kind, field, index_kind):
        """The number of an index, as the C program needs it."""
        with sqlite3.connect(f"file:{self.server.store}?mode=ro", uri=True) as store:
            return store.execute(
                "SELECT i.id FROM indexes i JOIN record_types t ON t.id = i.record_type"
                " WHERE t.name = ? AND i.field = ? AND i.kind = ? AND i.state = 1",
                (kind, field, index_kind)).fetchone()[0]

    def zone_number(self, zone):
        with sqlite3.connect(f"file:{self.server.store}?mode=ro", uri=True) as store:
            return store.execute("SELECT id FROM zones WHERE name = ?", (zone,)).fetchone()[0]

    # What is measured.

    def load(self, name, workload, operation, **values):
        before = machine.processor_seconds(self.server.pid)
        outcome = self.programs.load(
            workload, port=self.server.port, target=self.server.target(operation), **values)
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

    def saves(self, name, zone, records, **values):
        first, self.next_record = self.next_record, self.next_record + records
        return self.load(
            name, "save", "records/modify", zone=zone, records=records, first=first,
            seed=self.seed, **values)

    def build_beside_writes(self):
        """Single saves alone, and while the index over all rows is built; both in a zone of their own.

        Before and after in the same store, so that the two differ by the building alone.
        """
        seconds = self.sizes.seconds
        quiet = []
        for turn in ("before", "after"):
            if turn == "after":
                self.singles_beside_build()
            self.server.create_zone(f"Quiet{turn}")
            outcome = self.saves(
                f"build.quiet.{turn}", f"Quiet{turn}", self.sizes.singles * 4, connections=WRITERS,
                per_request=1, seconds=seconds, warm=0.3)
            quiet.append(outcome["p99us"])
        self.figures["build.quiet.p99us"] = sum(quiet) / 2

    def singles_beside_build(self):
        self.server.create_zone("Busy")
        body = self.body("Rows", "Row", sorts=[{"fieldName": "size"}])
        built = {}

        def build():
            built["seconds"] = self.server.build_indexes(body)

        began = time.monotonic()
        building = threading.Thread(target=build)
        building.start()
        # The index is asked for once the writers are under way.
        self.saves(
            "build.busy", "Busy", self.sizes.singles * 4, connections=WRITERS, per_request=1,
            seconds=self.sizes.seconds, warm=0.3)
        lasted = time.monotonic() - began
        building.join()
        self.figures["build.seconds"] = built["seconds"]
        self.figures["build.coverage"] = min(1.0, built["seconds"] / lasted)

    def build_others(self):
        alone = self.server.build_indexes(self.body("Rows", "Row", [filtered("kind", "EQUALS", "x", "STRING")]))
        self.figures["build.alone.seconds"] = alone
        self.server.build_indexes(self.body("Notes", "Note", [filtered("text", "CONTAINS_ALL_TOKENS", "x", "STRING")]))
        self.server.build_indexes(self.body("Notes", "Note", [self.near((0, 0), 1)]))

    def file(self, name, lines):
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def compare(self, name, limit_kind, zone, index, queries, **more):
        """Asks queries by HTTP and by the C program; a query is its count, its body, the C program's line."""
        requests = self.file(f"{name}.requests", (f"{n} {json.dumps(body)}" for n, body, _ in queries))
        lines = self.file(f"{name}.lines", (line for _, _, line in queries))
        self.load(
            f"query.{name}", "query", "records/query", body=requests, connections=1, forever=True,
            per_page=PER_PAGE, seconds=self.sizes.seconds, warm=0.3, **more)
        self.keep(f"limit.query.{name}", self.programs.limit_queries(
            limit_kind, store=self.server.store, index=index, zone=self.zone_number(zone),
            list=lines, per_page=PER_PAGE, seconds=self.sizes.seconds, cache_kib=READER_CACHE_KIB,
            **more))

        # Processor time a page, which a busy machine changes less than the time by the clock.
        asked, limit = (
            {key: self.figures[f"{part}query.{name}.{key}"] for key in keys}
            for part, keys in (
                ("", ("serverProcessors", "requestsPerSecond")),
                ("limit.", ("processorSeconds", "pages"))))
        self.figures[f"query.{name}.processorFraction"] = (
            limit["processorSeconds"] / limit["pages"]
            * asked["requestsPerSecond"] / asked["serverProcessors"])

    def pages_of_rows(self):
        """Every kind's records, and ranges of a fiftieth of the sizes; drawn, then asked in turn."""
        kinds = self.draw.sample(sorted(self.kinds), min(500, len(self.kinds)))
        self.compare("equal", "equal", "Rows", self.stored("Row", "kind", 2), [
            (self.kinds[kind],
             self.body("Rows", "Row", [filtered("kind", "EQUALS", f"Kind {kind}", "STRING")]),
             f"kind {kind}") for kind in kinds])
        ranges, width = [], SIZES // 50
        for _ in range(50):
            low = self.draw.randrange(SIZES - width)
            count = sum(low <= size < low + width for size in self.row_sizes)
            ranges.append((
                count, self.body("Rows", "Row", [
                    filtered("size", "GREATER_THAN_OR_EQUALS", low, "INT64"),
                    filtered("size", "LESS_THAN", low + width, "INT64"),
                ], [{"fieldName": "size"}]), f"{low} {low + width}"))
        self.compare("range", "range", "Rows", self.stored("Row", "size", 1), ranges)

    def deep_pages(self):
        """The first page of all rows by size, and the one nine tenths on; in turn, five times."""
        body = self.body("Rows", "Row", sorts=[{"fieldName": "size"}])
        bodies = {"first": body}
        rows, pages = 0, self.sizes.large * 9 // 10 // PER_PAGE
        marker = None
        for _ in range(pages):
            answer = self.server.ask_records(body | ({"continuationMarker": marker} if marker else {}))
            rows += len(answer["records"])
            marker = answer["continuationMarker"]
        if rows != pages * PER_PAGE:
            raise RuntimeError(f"{rows} rows on {pages} pages")
        bodies["deep"] = body | {"continuationMarker": marker}
        medians = {name: [] for name in bodies}
        for _ in range(self.sizes.delta_rounds):
            for name, asked in bodies.items():
                path = self.file(f"page.{name}", [json.dumps(asked)])
                outcome = self.load(
                    f"query.{name}", "repeat", "records/query", body=path, records=PER_PAGE,
                    connections=1, seconds=self.sizes.seconds / 4, warm=0.1)
                medians[name].append(outcome["p50us"])
        for name, values in medians.items():
            self.figures[f"query.{name}.p50us"] = sorted(values)[len(values) // 2]

    @staticmethod
    def near(centre, metres):
        place = {"latitude": centre[0], "longitude": centre[1]}
        return filtered("place", "NEAR", place, "LOCATION", distance=metres)

    def few_of_many(self):
        """The first page of queries that find about 800 of the notes."""
        angle = math.acos(1 - 2 * 800 / 100_000)
        metres = angle * EARTH_RADIUS
        near = {"near": [], "nearest": []}
        while len(near["near"]) < 20:
            # Away from the poles and the date line, for the sake of the C program.
            centre = (self.draw.uniform(-60, 60), self.draw.uniform(-150, 150))
            count = sum(self.metres(centre, place) <= metres for place in self.places)
            line = f"{centre[0]!r} {centre[1]!r} {metres!r}"
            place = {"latitude": centre[0], "longitude": centre[1]}
            sort = {"fieldName": "place", "relativeLocation": place}
            for name, sorts in (("near", []), ("nearest", [sort])):
                near[name].append(
                    (count, self.body("Notes", "Note", [self.near(centre, metres)], sorts), line))
        index = self.stored("Note", "place", 4)
        for name, queries in near.items():
            self.compare(name, "near", "Notes", index, queries, pages_max=1)
        found = Counter(itertools.chain.from_iterable(self.notes))
        index, zone = self.stored("Note", "text", 3), self.zone_number("Notes")
        few = [word for word, count in found.items() if 400 <= count <= FEW] or list(found)[:20]
        queries = [
            (found[word], self.searched(word), f'"{index}x{zone}x{word}"')
            for word in self.draw.sample(sorted(few), min(20, len(few)))]
        self.compare("words", "words", "Notes", index, queries, pages_max=1)
        common = [word for word, _ in found.most_common(12)]
        pairs = []
        for left, right in itertools.combinations(common, 2):
            both = sum(left in words and right in words for words in self.notes)
            pairs.append((
                both, self.searched(f"{left} {right}"),
                f'"{index}x{zone}x{left}" AND "{index}x{zone}x{right}"'))
        self.compare("allWords", "words", "Notes", index, pairs, pages_max=1)

    def searched(self, words):
        return self.body("Notes", "Note", [filtered("text", "CONTAINS_ALL_TOKENS", words, "STRING")])

    @staticmethod
    def metres(left, right):
        north = math.sin(math.radians(right[0] - left[0]) / 2)
        east = math.sin(math.radians(right[1] - left[1]) / 2)
        part = north * north + (
            math.cos(math.radians(left[0])) * math.cos(math.radians(right[0])) * east * east)
        return 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(part)))

    def ingests(self):
        """The same ingest before and after five of the fields have indexes."""
        self.server.create_zone("None")
        self.saves("ingest.none", "None", self.sizes.records, connections=8, per_request=200)
        for field in FIVE:
            self.server.build_indexes(self.body("None", "Item", sorts=[{"fieldName": field}]))
        os.sync()
        self.server.create_zone("Five")
        self.saves("ingest.five", "Five", self.sizes.records, connections=8, per_request=200)
