#!/usr/bin/env python3
"""Kills servers on PostgreSQL, their primary, or both, and promotes the standby; what was acknowledged must be there.

    Tests/postgres/proof.py [--servers N] [--rounds N] [--promotions N] [--stops N] [--pairs N] [--writers N]
        [--seed N] [--binary FILE]

Writers save records under names that nobody uses again, one request after the other, each by one of the servers, and
note what was acknowledged. Followers read the zone's changes from the position that they have come to, each page by
another server, one of them all the time; none of their tokens may be refused. Each round ends something in the middle of
this, has it begin again, and compares: every writer saves again, and every follower has every record that was
acknowledged, once. One server lets people in meanwhile, whom any server must know afterwards. A stop (SIGSTOP) lets one
server sleep for 30 seconds; the others go on.

At the end come pairs: a change by one server, and a read by another that begins after the answer (`pairs.py`). None may
miss it.
"""

import argparse
import contextlib
import itertools
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from pairs import Pairs
from persons import App
from postgresql import PostgreSQL, url
from servers import Caller, Server, enter, leases, provision, until
from tasks import Task, finish

REPOSITORY = Path(__file__).resolve().parents[2]
# A zone takes the records of so many rounds: all of it is read after each.
ZONE_ROUNDS = 20
# How long writers go on before something ends, at most.
ROUND_SECONDS_MAX = 1.5
# How long it takes at most until every writer saves again, however busy the machine is.
SAVE_SECONDS_MAX = 120
# Between two people who are let in.
DOOR_SECONDS = 0.05
# Longer than any lease, and than a group may be silent.
STOP_SECONDS = 30


class Writer(Task):
    """Saves by one server, which may end or sleep meanwhile."""

    def __init__(self, caller, zone, name, chosen):
        super().__init__()
        self.caller, self.zone, self.label, self.chosen = caller, zone, name, chosen
        self.acknowledged, self.unknown, self.refused, self.count = [], 0, 0, 0

    def step(self):
        size = self.chosen.choice([1, 1, 1, 5, 40])
        names = [f"{self.label}-{self.count + index}" for index in range(size)]
        self.count += size
        operations = [{"operationType": "create", "record": {
            "recordName": name, "recordType": "Note", "fields": {"text": {"value": name}}}} for name in names]
        try:
            answer = self.caller.post(
                "records/modify", self.zone | {"operations": operations, "atomic": True})
        except OSError:
            self.unknown += size
            time.sleep(0.02)
            return
        if answer is None:
            self.refused += size
            time.sleep(0.02)
            return
        if any("serverErrorCode" in record for record in answer["records"]):
            raise RuntimeError(f"{answer['records']}")
        self.acknowledged += names


class Doorkeeper(Task):
    """Lets people in whom nobody knows yet, each with an account and a token of their own, by one server."""

    pause = DOOR_SECONDS

    def __init__(self, app, server, label):
        super().__init__()
        self.app, self.server, self.label, self.numbers = app, server, label, itertools.count()
        # By external ID, the query of each who was let in, and their record name.
        self.acknowledged = {}

    def step(self):
        name = f"{self.label}-{next(self.numbers)}"
        with contextlib.suppress(OSError):
            if let_in := self.app.let_in(self.server, name, name):
                self.acknowledged[name] = let_in


class Follower:
    """A device that keeps what it has read."""

    def __init__(self, caller, zone):
        self.caller, self.zone = caller, zone
        self.token, self.records = None, {}

    def catch_up(self):
        more = True
        while more:
            entry = self.zone | ({"syncToken": self.token} if self.token else {})
            try:
                answer = self.caller.post("changes/zone", {"zones": [entry]})
            except OSError:
                answer = None
            if answer is None:
                time.sleep(0.02)
                continue
            page = answer["zones"][0]
            if code := page.get("serverErrorCode"):
                # Nothing is lost here, so every token stays good.
                if code != "TRY_AGAIN_LATER":
                    raise RuntimeError(f"a follower's token was refused: {page}")
                time.sleep(0.02)
                continue
            for record in page["records"]:
                name = record["recordName"]
                if name in self.records:
                    raise RuntimeError(f"{name} came twice")
                self.records[name] = record["fields"]["text"]["value"]
            self.token, more = page["syncToken"], page["moreComing"]


class Reader(Task):
    """Has a follower read on while something ends."""

    pause = 0.02

    def __init__(self, follower):
        super().__init__()
        self.follower = follower

    def step(self):
        self.follower.catch_up()


class Proof:
    def __init__(self, asked):
        self.asked = asked
        self.seed = asked.seed or random.randrange(1 << 32)
        self.chosen = random.Random(self.seed)
        # Of each zone, the last one being written to.
        self.acknowledged, self.counts = {}, {}
        # By external ID, all who were let in.
        self.people = {}
        self.unknown = self.refused = 0

    def run(self):
        print(f"seed {self.seed}", flush=True)
        with PostgreSQL() as self.primary, PostgreSQL() as self.standby, \
                tempfile.TemporaryDirectory() as folder:
            self.standby.follow(self.primary, "standby")
            self.primary.wait_for("standby")
            self.servers = []
            try:
                for number in range(self.asked.servers):
                    server = Server(
                        self.asked.binary, Path(folder), url(self.primary, self.standby), number)
                    server.start()
                    self.servers.append(server)
                self.caller = provision(self.servers)
                self.app = App(self.servers[0])
                for number, kind in enumerate(self.kinds()):
                    if number % ZONE_ROUNDS == 0:
                        self.begin_zone()
                    self.round(number, kind)
                self.read_all()
                if self.counts and not (self.unknown + self.refused and self.people):
                    raise RuntimeError("no request met what ended, or nobody was let in")
                if len(self.servers) > 1:
                    pairs = Pairs(self.servers, self.caller, enter(self.servers, "bea@example.org"), self.seed)
                    pairs.run(self.asked.pairs)
                for server in self.servers:
                    server.stop()
                problems = self.servers[0].command("check")["problems"]
                assert problems == [], problems
            finally:
                for server in self.servers:
                    server.kill()

    def kinds(self):
        """What ends in each round, in an order by chance."""
        promotions = ["promotion"] * self.asked.promotions + ["stop"] * self.asked.stops
        others = ["server", "primary", "both"] * (self.asked.rounds // 3 + 1)
        kinds = promotions + others[: max(0, self.asked.rounds - len(promotions))]
        self.chosen.shuffle(kinds)
        return kinds

    def begin_zone(self):
        name = f"Shelf{len(self.acknowledged)}"
        self.zone = {"zoneID": {"zoneName": name}}
        self.acknowledged[name] = set()
        while not self.caller.post(
                "zones/modify", {"operations": [{"operationType": "create", "zone": self.zone}]}):
            time.sleep(0.02)
        self.followers = [Follower(self.caller, self.zone) for _ in range(2)]

    @property
    def count(self):
        return sum(map(len, self.acknowledged.values()))

    def round(self, number, kind):
        writers = [
            Writer(
                Caller([self.servers[index % len(self.servers)]], self.caller.query), self.zone,
                f"{number}-{index}", random.Random(self.chosen.random()))
            for index in range(self.asked.writers)]
        door = Doorkeeper(self.app, self.chosen.choice(self.servers), f"person {number}")
        # The other follower reads once all is over.
        tasks = [*writers, door, Reader(self.followers[0])]
        for task in tasks:
            task.start()
        time.sleep(self.chosen.uniform(0, ROUND_SECONDS_MAX))
        getattr(self, f"end_{kind}")()
        for server in self.servers:
            server.wait_until_ready()
        # All go on by themselves. What is saved behind it must not be mistaken for anything before it.
        counts = [len(writer.acknowledged) for writer in writers]
        until("all writers save again", SAVE_SECONDS_MAX, lambda: all(
            writer.failure or len(writer.acknowledged) > count for writer, count in zip(writers, counts)))
        time.sleep(self.chosen.uniform(0, 0.3))
        finish(tasks)
        self.people |= door.acknowledged
        for writer in writers:
            self.acknowledged[self.zone["zoneID"]["zoneName"]].update(writer.acknowledged)
            self.unknown += writer.unknown
            self.refused += writer.refused
        self.compare(kind)
        self.know(door.acknowledged, kind)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        print(f"round {number + 1}: {kind}, {self.count} acknowledged in all", flush=True)

    def compare(self, kind):
        anew = Follower(self.caller, self.zone)
        for follower in [*self.followers, anew]:
            self.read(follower, kind)
        for follower in self.followers:
            if follower.records.keys() != anew.records.keys():
                raise RuntimeError("a follower has what another has not")

    def read(self, follower, kind):
        follower.catch_up()
        acknowledged = self.acknowledged[follower.zone["zoneID"]["zoneName"]]
        if missing := acknowledged - follower.records.keys():
            raise RuntimeError(f"lost by {kind}: {sorted(missing)[:10]} of {len(missing)}")
        if others := [name for name, text in follower.records.items() if text != name]:
            raise RuntimeError(f"not as saved: {others[:10]}")

    def know(self, people, kind):
        """Every server lets those in who were let in once, as who they were."""
        for name, (query, record_name) in people.items():
            caller = Caller([self.chosen.choice(self.servers)], query)
            status, answer = caller.servers[0].ask("POST", caller.path("users/caller", "public"), {})
            if (status, answer.get("userRecordName")) != (200, record_name):
                raise RuntimeError(f"lost by {kind}: {name}, {status} {answer}")

    def read_all(self):
        """Zones that nobody has written to for long have what they had."""
        self.know(self.people, "all rounds")
        for name in self.acknowledged:
            self.read(Follower(self.caller, {"zoneID": {"zoneName": name}}), "all rounds")

    # MARK: What ends

    def end_server(self):
        server = self.chosen.choice(self.servers)
        server.kill()
        server.start()

    def end_stop(self):
        """Lets one sleep that holds leases; others hold them once it wakes up."""
        processes = {server.identity(): server for server in self.servers}
        # Queued work is taken over once there is some, and mostly there is none; one that was killed a moment ago is
        # down as a holder until another has something to do for it.
        while not (living := [
                holder for name, (_, holder) in leases(self.primary).items()
                if not name.endswith(" work") and holder in processes]):
            time.sleep(0.1)
        process = self.chosen.choice(living)
        server = processes[process]
        server.process.send_signal(signal.SIGSTOP)
        held = {name: number for name, (number, holder) in leases(self.primary).items() if holder == process}
        time.sleep(STOP_SECONDS)
        now = leases(self.primary)
        server.process.send_signal(signal.SIGCONT)
        taken = [name for name, number in held.items() if now[name][1] != process and now[name][0] > number]
        if not taken:
            raise RuntimeError(f"nobody has taken over from who slept: {held} is {now}")

    def end_primary(self):
        self.primary.crash()
        self.primary.start()

    def end_both(self):
        server = self.chosen.choice(self.servers)
        server.kill()
        self.primary.crash()
        self.primary.start()
        server.start()

    def end_promotion(self):
        self.primary.crash()
        self.standby.promote()
        self.standby.wait_for("")
        self.primary, self.standby = self.standby, self.primary
        self.standby.follow(self.primary, "standby")
        self.primary.wait_for("standby")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--promotions", type=int, default=3)
    parser.add_argument("--stops", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    proof = Proof(parser.parse_args())
    proof.run()
    print(f"{sum(proof.counts.values())} rounds of {proof.asked.servers} servers ({proof.counts}):"
          f" {proof.count} records and {len(proof.people)} people acknowledged, none lost;"
          f" {proof.unknown} without an answer, {proof.refused} told to try again")


if __name__ == "__main__":
    sys.exit(main())
