"""A store that an older server has left moves into the present form, under clients and kills."""

import multiprocessing
import queue
import random
import signal
import sqlite3
import subprocess
import time
from dataclasses import dataclass

import machine
from growth import AT_A_TIME, CONNECTIONS, PER_REQUEST
from lenticular import Lenticular
from moving_client import digest, run_client
from stores import percentile

CLIENTS = 8
PAGE = 2_000
# Where the disk has less, nothing moves: more than any disk has.
ROOM_FOR_NOTHING = 1 << 50
MOVE_SECONDS_MAX = 3_600
ENDING_SECONDS_MAX = 600

GOALS = [
    (f"{kind} while a store moves / before, p99", f"moving.moving.{kind}.p99ms",
     lambda figures, kind=kind: (
         figures[f"moving.moving.{kind}.p99ms"] / figures[f"moving.still.{kind}.p99ms"]), "<=", 5)
    for kind in ("save", "lookup", "follow")
] + [("errors of clients and differences, moving", "moving.records",
      lambda figures: figures["moving.errors"], "<=", 0)]

BESIDE = [
    ("records that moved", "moving.records"), ("kills", "moving.kills"),
    ("seconds of moving, kills included", "moving.seconds"),
    ("records moved a second while nobody was killed", "moving.recordsPerSecond"),
    ("names moved a second meanwhile", "moving.namesPerSecond"),
    ("saves acknowledged", "moving.saves"),
    ("answers TRY_AGAIN_LATER", "moving.refusals"),
    ("longest save while moving, ms", "moving.moving.save.mostms"),
    *((f"{kind} {when}, p99 ms", f"moving.{when}.{kind}.p99ms")
      for kind in ("save", "lookup", "follow") for when in ("still", "moving")),
]


@dataclass
class Place:
    """Where the clients work."""
    query: str
    base: str
    zone: dict
    type: str

    def target(self, operation):
        return f"{self.base}/{operation}{self.query}"


class MovingMeasures:
    def __init__(self, sizes, programs, binary, folder, seed, before):
        self.sizes, self.programs, self.seed = sizes, programs, seed
        self.random = random.Random(seed)
        folder.mkdir(parents=True)
        self.server = Lenticular(before, folder, page_records_max=PAGE)
        self.binary = str(binary)
        self.figures = {"moving.records": sizes.moving, "moving.kills": sizes.kills}
        self.errors = []

    def run(self):
        try:
            self.make_former()
            self.server.binary = self.binary
            self.measure()
            self.server.stop()
            self.check()
        finally:
            self.server.stop()
        for error in self.errors[:20]:
            print(f"moving: {error}", flush=True)
        self.figures["moving.errors"] = len(self.errors)
        return self.figures

    # What the older server leaves

    def make_former(self):
        self.server.start()
        self.server.provision()
        self.server.create_zone("Items")
        for first in range(0, self.sizes.moving, AT_A_TIME):
            self.programs.load(
                "save", port=self.server.port, target=self.server.target("records/modify"),
                seed=self.seed, zone="Items", first=first,
                records=min(AT_A_TIME, self.sizes.moving - first), per_request=PER_REQUEST,
                connections=CONNECTIONS)
        self.former, self.middle, self.token = self.follow(None)
        self.server.stop()

    def follow(self, token):
        """What the feed shows from a token on: digests by names, a token half-way, the last."""
        found, middle = {}, (token, 0)
        while True:
            asked = {"zoneID": {"zoneName": "Items"}, "resultsLimit": PAGE}
            if token:
                asked["syncToken"] = token
            page = self.server.post("changes/zone", {"zones": [asked]})["zones"][0]
            for record in page["records"]:
                found[record["recordName"]] = digest(record)
                self.type = record.get("recordType")
            token = page["syncToken"]
            if len(found) <= self.sizes.moving // 2:
                middle = (token, len(found))
            if not page["moreComing"]:
                return found, middle, token

    def check(self):
        try:
            self.server.command("check")
        except subprocess.CalledProcessError as error:
            self.errors.append(f"check: {error.stdout}")

    # Moving

    def measure(self):
        self.server.environment["LENTICULAR_STORAGE_MOVE_FREE_BYTES_MIN"] = str(ROOM_FOR_NOTHING)
        self.server.start()
        # The store is copied and migrated by whoever asks for it first.
        self.server.post("zones/list", {})
        self.port = multiprocessing.Value("i", self.server.port)
        ending, outcomes = multiprocessing.Event(), multiprocessing.Queue()
        ended = multiprocessing.Barrier(CLIENTS)
        names = sorted(self.former)
        place = Place(self.server.query, self.server.target("").partition("/?")[0],
                      {"zoneName": "Items"}, self.type)
        clients = [
            multiprocessing.Process(target=run_client, args=(
                (number, place, self.port, names[number::CLIENTS], self.token), ending, ended,
                outcomes))
            for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            spans = self.move()
            ending.set()
            ends = [outcomes.get(timeout=ENDING_SECONDS_MAX) for _ in clients]
        except queue.Empty:
            raise RuntimeError("a client does not end") from None
        finally:
            for client in clients:
                client.join(timeout=1)
                client.kill()
        self.note(ends, spans)
        self.judge(ends)

    def move(self):
        """Lets the store move; the spans in which nothing else happened."""
        still = (time.time() + 1, time.time() + 1 + self.sizes.moving_seconds)
        time.sleep(still[1] - time.time())
        del self.server.environment["LENTICULAR_STORAGE_MOVE_FREE_BYTES_MIN"]
        self.server.stop()
        self.begin()
        began = time.time()
        moving = (began + 1, began + 1 + self.sizes.moving_seconds)
        while time.time() < moving[1] and self.is_moving():
            time.sleep(0.1)
        moving = (moving[0], min(moving[1], time.time()))
        for rows in ("records", "names"):
            count = self.server.metrics().get(f"lenticular_{rows}_moved_total", 0)
            self.figures[f"moving.{rows}PerSecond"] = count / (moving[1] - began)
        kills = 0
        while kills < self.sizes.kills and self.is_moving():
            time.sleep(self.random.uniform(0.05, 0.6))
            self.server.process.send_signal(signal.SIGKILL)
            self.server.process.wait()
            kills += 1
            self.begin()
        self.figures["moving.kills"] = kills
        while self.is_moving():
            if time.time() > began + MOVE_SECONDS_MAX:
                raise RuntimeError("there are rows that do not move")
            time.sleep(0.2)
        self.figures["moving.seconds"] = time.time() - began
        time.sleep(1)
        return {"still": still, "moving": moving}

    def begin(self):
        self.server.start()
        self.port.value = self.server.port

    def is_moving(self):
        """Whether anything is still in the former form; to count it would read all of it."""
        store = sqlite3.connect(f"file:{self.server.store}?mode=ro", uri=True, timeout=60)
        try:
            return store.execute(
                "SELECT EXISTS (SELECT 1 FROM versions) OR EXISTS (SELECT 1 FROM progress"
                " WHERE names_by_text) OR EXISTS (SELECT 1 FROM sqlite_schema"
                " WHERE name = 'heads_by_name')").fetchone()[0] == 1
        finally:
            store.close()

    # What came of it

    def note(self, ends, spans):
        for when, (first, last) in spans.items():
            for kind in ("save", "lookup", "follow"):
                seconds = [
                    seconds for end in ends for moment, seconds in end["latencies"][kind]
                    if first <= moment <= last]
                # A small store has moved before the first second is over.
                if not seconds:
                    continue
                name = f"moving.{when}.{kind}"
                self.figures[f"{name}.count"] = len(seconds)
                self.figures[f"{name}.p50ms"] = percentile(seconds, 0.5) * 1000
                self.figures[f"{name}.p99ms"] = percentile(seconds, 0.99) * 1000
                self.figures[f"{name}.mostms"] = max(seconds) * 1000
        self.figures["moving.saves"] = sum(len(end["acknowledged"]) for end in ends)
        self.figures["moving.refusals"] = sum(end["refusals"] for end in ends)
        self.figures["moving.resident"] = machine.resident_bytes(self.server.pid)

    def judge(self, ends):
        """Holds what clients were told, and what they have followed, to what is there now."""
        now, _, _ = self.follow(None)
        changed = {name for end in ends for name in end["possible"]}
        for end in ends:
            self.errors += [f"client {end['number']}: {error}" for error in end["errors"]]
            copy = self.former | end["copy"]
            others = [name for name in copy | now if copy.get(name) != now.get(name)]
            self.require(not others, f"client {end['number']} has another copy: {others[:5]}")
            for name in end["acknowledged"]:
                self.require(name in now, f"{name} was acknowledged and is not there")
            self.texts(end)
        self.require(
            all(now.get(name) == former for name, former in self.former.items()
                if name not in changed), "records that nobody saved are not what they were")
        token, seen = self.middle
        rest, _, _ = self.follow(token)
        later = set(list(self.former)[seen:]) | {
            name for name in now if now[name] != self.former.get(name)}
        self.require(set(rest) == later, "the token from half-way leads elsewhere")
        self.require(not self.is_moving(), "former rows are left")

    def texts(self, end):
        """Looks up what was acknowledged, in batches."""
        names = list(end["acknowledged"])
        for first in range(0, len(names), PER_REQUEST):
            some = names[first:first + PER_REQUEST]
            answer = self.server.post("records/lookup", {
                "zoneID": {"zoneName": "Items"},
                "records": [{"recordName": name} for name in some]})
            for name, record in zip(some, answer["records"]):
                text = record["fields"]["title"]["value"]
                self.require(
                    text in [end["acknowledged"][name], *end["possible"][name]],
                    f"{name} is '{text}', not '{end['acknowledged'][name]}'")

    def require(self, holds, words):
        if not holds:
            self.errors.append(words)
