"""How soon those who wait hear of a save: polls of the courier, event streams, and requests for changes that wait.

Every waiter is a connection of its own, all held by one thread of the load generator. One save is measured from
its request to the answer of the last waiter.
"""

import json
import statistics
import time

import machine
from deliveries import GOALS as DELIVERY_GOALS
from deliveries import DeliveryMeasures
from lenticular import CONTAINER, Lenticular
from subscriptions import SubscriptionMeasures

DEVICES_PER_USER = 50
ZONE = {"zoneID": {"zoneName": "Waited"}}

GOALS = [
    ("save to the last of the courier polls, p50 ms", "notices.waiters",
     lambda figures: figures["notices.courier.p50ms"], "<=", 10),
    ("save to the last of the courier polls, p99 ms", "notices.waiters",
     lambda figures: figures["notices.courier.p99ms"], "<=", 20),
    ("save to the last of the feed polls, p50 ms", "notices.waiters",
     lambda figures: figures["notices.feed.p50ms"], "<=", 10),
    ("save to the last of the feed polls, p99 ms", "notices.waiters",
     lambda figures: figures["notices.feed.p99ms"], "<=", 20),
    ("save to the last of the event streams, p50 ms", "notices.waiters",
     lambda figures: figures["notices.stream.p50ms"], "<=", 10),
    ("save to the last of the event streams, p99 ms", "notices.waiters",
     lambda figures: figures["notices.stream.p99ms"], "<=", 20),
    ("a waiting poll, resident KiB", "notices.idle",
     lambda figures: figures["notices.idle.poll.bytes"] / 1024, "<=", 4),
    ("a waiting event stream, resident KiB", "notices.idle",
     lambda figures: figures["notices.idle.stream.bytes"] / 1024, "<=", 4),
    ("a waiting request for changes, resident KiB", "notices.idle",
     lambda figures: figures["notices.idle.feed.bytes"] / 1024, "<=", 4),
    ("rows of the outbox for all who only wait", "notices.idle",
     lambda figures: sum(figures[f"notices.idle.{kind}.rows"] for kind in ("poll", "stream", "feed")),
     "<=", 0),
    ("ingest with query subscriptions / without", "notices.subscribed.subscriptions",
     lambda figures: figures["notices.subscribed.with.recordsPerSecond"]
     / figures["notices.subscribed.without.recordsPerSecond"], ">=", 0.8),
    *DELIVERY_GOALS,
]

BESIDE = [
    *((f"save to {what}, {words}, p50 ms", f"notices.{name}.{key}")
      for name, words in (("courier", "courier polls"), ("feed", "feed polls"),
                          ("stream", "event streams"))
      for what, key in (("its own answer", "savedms"), ("the first waiter", "firstms"))),
    ("polls that wait for the same save", "notices.waiters"),
    ("polls that wait for nothing", "notices.idle"),
    ("query subscriptions of the ingest", "notices.subscribed.subscriptions"),
    ("notices that the ingest made", "notices.subscribed.queued"),
    ("ingest of 200 a request without subscriptions, records/s",
     "notices.subscribed.without.recordsPerSecond"),
]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Waiters:
    """Connections of the load generator that each have one request waiting, and the one that all wait for."""

    def __init__(self, programs, server, file, change, requests, follows=False):
        self.server, self.count = server, len(requests)
        file.write_bytes(b"".join(request + b"\0" for request in [change, *requests]))
        self.process = programs.start_load("wait", port=server.port, body=file, forever=follows)
        self.expect("open")

    def expect(self, answer=None):
        line = self.process.stdout.readline().strip()
        if not line or answer and line != answer:
            raise RuntimeError(f"the waiters said {line!r} and not {answer!r}")
        return line

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self):
        self.tell("ask")
        self.expect("asked")

    def heads(self):
        self.tell("heads")
        self.expect("heads")

    def all_wait(self):
        """Returns once the server holds the request of each."""
        self.server.reaches("lenticular_requests_held", self.count)

    def change(self):
        self.tell("change")
        return json.loads(self.expect())

    def close(self):
        self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError(f"the waiters ended with {self.process.returncode}")


class NoticeMeasures:
    def __init__(self, sizes, programs, binary, folder):
        folder.mkdir(parents=True)
        self.programs, self.file = programs, folder / "requests"
        self.waiters, self.idle, self.rounds = sizes.waiters, sizes.idle, sizes.saves
        self.server = Lenticular(binary, folder, page_records_max=200)
        self.server.environment |= {
            # One user stands for many, and one address for all.
            "LENTICULAR_HTTP_HELD_POLLS_PER_USER_MAX": "100000",
            # Half of them may wait.
            "LENTICULAR_HTTP_CONNECTIONS_MAX": "200000",
            "LENTICULAR_HTTP_CONNECTIONS_PER_ADDRESS_MAX": "100000",
            # One user has a sixteenth.
            "LENTICULAR_LIMITS_WAITING_MAX": "1000000",
            # Polls stay for the whole measure, and say nothing of themselves.
            "LENTICULAR_PUSH_POLL_SECONDS": "300",
        }
        self.deliveries = DeliveryMeasures(sizes, folder / "deliveries")
        self.subscribed = SubscriptionMeasures(sizes, binary, folder / "subscribed")
        self.figures = {"notices.waiters": self.waiters, "notices.idle": self.idle}

    def run(self):
        try:
            self.server.start()
            self.server.provision()
            self.server.post("records/modify", self.news(), database="public")
            targets = self.courier()
            self.streams(targets)
            self.feed()
            self.idlers()
        finally:
            self.server.stop()
        return self.figures | self.subscribed.run() | self.deliveries.run()

    def news(self):
        return {"operations": [{"operationType": "create", "record": {
            "recordType": "News", "fields": {"text": {"value": "news"}}}}]}

    def devices(self, count, first):
        """Where as many devices wait, of as few users as may have them; and the users."""
        targets, queries = [], []
        for number in range(first, first + -(-count // DEVICES_PER_USER)):
            _, query = self.server.make_user(f"waiter{number}@example.com")
            for _ in range(min(DEVICES_PER_USER, count - len(targets))):
                made = self.server.post_to(
                    f"/device/1/{CONTAINER}/development/tokens/create{query}",
                    {"apnsEnvironment": "development"})
                targets.append("/courier/" + made["webcourierURL"].partition("/courier/")[2])
            queries.append(query)
        return targets, queries

    def wait(self, change, requests, follows=False):
        return Waiters(self.programs, self.server, self.file, change, requests, follows)

    def measure(self, name, waiters, stays=False):
        """Saves, and waits until all have heard of it; those who do not stay ask again each time."""
        moments = []
        # A stream ends after a hundred notices.
        rounds = min(self.rounds, 90) if stays else self.rounds
        for number in range(rounds + 3):
            if not stays:
                waiters.ask()
            waiters.all_wait()
            found = waiters.change()
            if number >= 3:
                moments.append(found)
        last = [found["lastus"] / 1000 for found in moments]
        self.figures[f"notices.{name}.p50ms"] = percentile(last, 0.5)
        self.figures[f"notices.{name}.p99ms"] = percentile(last, 0.99)
        for key in ("saved", "first"):
            self.figures[f"notices.{name}.{key}ms"] = statistics.median(
                found[f"{key}us"] / 1000 for found in moments)
        waiters.close()

    def post(self, operation, body, **place):
        """The bytes of a request."""
        # Without spaces, as the load generator looks for a token.
        text = json.dumps(body, separators=(",", ":"))
        return (f"POST {self.server.target(operation, **place)} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}").encode()

    def save(self):
        return self.post("records/modify", self.news(), database="public")

    @staticmethod
    def poll(target):
        return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()

    @staticmethod
    def stream(target):
        return (f"GET {target} HTTP/1.1\r\nHost: localhost\r\n"
                "Accept: text/event-stream\r\n\r\n").encode()

    def courier(self):
        targets, queries = self.devices(self.waiters, 0)
        for query in queries:
            self.server.post(
                "subscriptions/modify", {"operations": [{
                    "operationType": "create", "subscription": {
                        "subscriptionID": "news", "subscriptionType": "query",
                        "firesOn": ["create"], "query": {"recordType": "News"}}}]},
                database="public", query=query)
        self.measure("courier", self.wait(self.save(), list(map(self.poll, targets))))
        return targets

    def streams(self, targets):
        """The same devices, each with an event stream that stays."""
        waiters = self.wait(self.save(), list(map(self.stream, targets)))
        waiters.ask()
        waiters.heads()
        self.measure("stream", waiters, stays=True)

    def feed(self):
        """Many devices of the owner of one zone."""
        self.server.create_zone(ZONE["zoneID"]["zoneName"])
        record = {"recordType": "News", "recordName": "news", "fields": {}}
        change = self.post("records/modify", dict(ZONE, operations=[
            {"operationType": "forceReplace", "record": record}]))
        waiters = self.wait(change, [self.feed_poll()] * self.waiters, follows=True)
        self.measure("feed", waiters)

    def feed_poll(self):
        """Waits for the next change of the zone."""
        token = self.server.post("changes/zone", {"zones": [ZONE]})["zones"][0]["syncToken"]
        return self.post(
            "changes/zone", {"waitSeconds": 55, "zones": [dict(ZONE, syncToken=token)]})

    def idlers(self):
        """What one of those costs who wait for nothing; the same devices poll, then have streams."""
        targets, _ = self.devices(self.idle, 1_000)
        for name, requests in (
                ("poll", list(map(self.poll, targets))), ("stream", list(map(self.stream, targets))),
                ("feed", [self.feed_poll()] * self.idle)):
            each, rows = self.resident(requests)
            self.figures[f"notices.idle.{name}.bytes"] = each
            self.figures[f"notices.idle.{name}.rows"] = rows

    def resident(self, requests):
        """Bytes of memory for each request that waits, beside those of its connection."""
        # What the one before has given back would hide what this one takes.
        self.server.stop()
        self.server.start()
        waiters = self.wait(self.save(), requests)
        self.server.reaches("lenticular_connections_open", len(requests))
        rows = self.server.outbox_rows()
        before = machine.resident_bytes(self.server.pid)
        waiters.ask()
        waiters.all_wait()
        after = machine.resident_bytes(self.server.pid)
        rows = self.server.outbox_rows() - rows
        waiters.close()
        return (after - before) / len(requests), rows
