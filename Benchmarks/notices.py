"""How soon those who wait hear of a save: polls of the courier, event streams, and requests for changes that wait.

Every waiter is a connection of its own. One save is measured from its request to the answer of the last waiter.
"""

import json
import select
import socket
import time

import machine
from lenticular import CONTAINER, Lenticular
from subscriptions import SubscriptionMeasures

DEVICES_PER_USER = 50
SILENT_SECONDS_MAX = 30

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
    ("ingest with query subscriptions / without", "notices.subscribed.subscriptions",
     lambda figures: figures["notices.subscribed.with.recordsPerSecond"]
     / figures["notices.subscribed.without.recordsPerSecond"], ">=", 0.8),
]

BESIDE = [
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
    """Connections that each have one request waiting."""

    def __init__(self, port):
        self.port = port
        self.sockets = {}
        self.requests = {}
        # Those whose answer has begun and goes on.
        self.staying = set()
        self.events = select.epoll()

    def add(self, request):
        waiter = socket.create_connection(("127.0.0.1", self.port))
        self.sockets[waiter.fileno()] = waiter
        self.requests[waiter.fileno()] = request
        self.events.register(waiter.fileno(), select.EPOLLIN)

    def ask(self):
        for number, waiter in self.sockets.items():
            waiter.sendall(self.requests[number])

    def wait(self, count, then=None):
        """Waits for an answer to each; the moment of the last."""
        last = 0.0
        deadline = time.perf_counter() + SILENT_SECONDS_MAX
        while count > 0:
            for number, _ in self.events.poll(1):
                answer = self.sockets[number].recv(65_536)
                # Of an answer that stays open only the beginning has a head.
                if not answer.startswith(b"HTTP/1.1 200") and number not in self.staying:
                    raise RuntimeError(f"a waiter was answered {answer[:300]!r}")
                last = time.perf_counter()
                count -= 1
                if b"text/event-stream" in answer:
                    self.staying.add(number)
                if then:
                    then(number, answer)
            if time.perf_counter() > deadline:
                raise RuntimeError(f"{count} waiters were not answered")
        return last

    def close(self):
        for waiter in self.sockets.values():
            waiter.close()
        self.events.close()


class NoticeMeasures:
    def __init__(self, sizes, binary, folder):
        folder.mkdir(parents=True)
        self.waiters, self.idle, self.rounds = sizes.waiters, sizes.idle, sizes.saves
        self.server = Lenticular(binary, folder, page_records_max=200)
        # One user stands for many.
        self.server.environment["LENTICULAR_HTTP_HELD_POLLS_PER_USER_MAX"] = "1000000"
        self.server.environment["LENTICULAR_LIMITS_WAITING_PER_CALLER_MAX"] = "100000"
        self.server.environment["LENTICULAR_LIMITS_WAITING_MAX"] = "100000"
        # Streams stay for the whole measure, and say nothing of themselves.
        self.server.environment["LENTICULAR_PUSH_STREAM_EVENTS_MAX"] = "1000"
        self.server.environment["LENTICULAR_PUSH_STREAM_QUIET_SECONDS"] = "300"
        self.subscribed = SubscriptionMeasures(sizes, binary, folder / "subscribed")
        self.figures = {"notices.waiters": self.waiters, "notices.idle": self.idle}

    def run(self):
        try:
            self.server.start()
            self.server.provision()
            self.server.post("records/modify", self.news(), database="public")
            self.courier()
            self.feed()
            self.idlers()
        finally:
            self.server.stop()
        return self.figures | self.subscribed.run()

    def news(self):
        return {"operations": [{"operationType": "create", "record": {
            "recordType": "News", "fields": {"text": {"value": "news"}}}}]}

    def tokens(self, count, first):
        """The polls of as many devices, of as few users as may have them."""
        targets = []
        for number in range(first, first + -(-count // DEVICES_PER_USER)):
            _, query = self.server.make_user(f"waiter{number}@example.com")
            for _ in range(min(DEVICES_PER_USER, count - len(targets))):
                made = self.server.post_to(
                    f"/device/1/{CONTAINER}/development/tokens/create{query}",
                    {"apnsEnvironment": "development"})
                targets.append("/courier/" + made["webcourierURL"].partition("/courier/")[2])
            self.queries.append(query)
        return targets

    def measure(self, name, waiters, save, then=None, stays=False):
        """Saves, and waits until all have heard of it; those who do not stay ask again each time."""
        spent = []
        for number in range(self.rounds + 3):
            if not stays:
                waiters.ask()
            # All of them wait before the save.
            while self.server.metrics()["lenticular_requests_held"] < len(waiters.sockets):
                time.sleep(0.01)
            began = time.perf_counter()
            save()
            last = waiters.wait(len(waiters.sockets), then)
            if number >= 3:
                spent.append((last - began) * 1000)
        self.figures[f"notices.{name}.p50ms"] = percentile(spent, 0.5)
        self.figures[f"notices.{name}.p99ms"] = percentile(spent, 0.99)

    def courier(self):
        self.queries = []
        waiters = Waiters(self.server.port)
        for target in self.tokens(self.waiters, 0):
            waiters.add(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for query in self.queries:
            self.server.post(
                "subscriptions/modify", {"operations": [{
                    "operationType": "create", "subscription": {
                        "subscriptionID": "news", "subscriptionType": "query",
                        "firesOn": ["create"], "query": {"recordType": "News"}}}]},
                database="public", query=query)
        def save():
            self.server.post("records/modify", self.news(), database="public")

        self.measure("courier", waiters, save)
        targets = [request.split(b" ")[1] for request in waiters.requests.values()]
        waiters.close()
        self.streams(targets, save)

    def streams(self, targets, save):
        """The same devices, each with an event stream that stays."""
        waiters = Waiters(self.server.port)
        for target in targets:
            waiters.add(self.stream(target.decode()))
        waiters.ask()
        # The heads of the answers.
        waiters.wait(len(targets))
        self.measure("stream", waiters, save, stays=True)
        waiters.close()

    @staticmethod
    def stream(target):
        return (f"GET {target} HTTP/1.1\r\nHost: localhost\r\n"
                "Accept: text/event-stream\r\n\r\n").encode()

    def feed(self):
        """Many devices of the owner of one zone."""
        self.server.create_zone("Waited")
        zone = {"zoneID": {"zoneName": "Waited"}}
        token = self.server.post("changes/zone", {"zones": [zone]})["zones"][0]["syncToken"]
        waiters = Waiters(self.server.port)

        def request(token):
            body = json.dumps({"waitSeconds": 30, "zones": [dict(zone, syncToken=token)]})
            target = self.server.target("changes/zone")
            return (f"POST {target} HTTP/1.1\r\nHost: localhost\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

        for _ in range(self.waiters):
            waiters.add(request(token))

        def goes_on(number, answer):
            body = json.loads(answer.partition(b"\r\n\r\n")[2])
            waiters.requests[number] = request(body["zones"][0]["syncToken"])

        record = {"recordType": "News", "recordName": "news", "fields": {}}
        self.measure("feed", waiters, lambda: self.server.post(
            "records/modify", dict(zone, operations=[
                {"operationType": "forceReplace", "record": record}])), goes_on)
        waiters.close()

    def idlers(self):
        """What one of those costs who wait for nothing; the same devices poll, then have streams."""
        targets = self.tokens(self.idle, 1_000)
        polls = [f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for target in targets]
        self.figures["notices.idle.poll.bytes"] = self.resident(polls)
        self.figures["notices.idle.stream.bytes"] = self.resident(map(self.stream, targets))

    def resident(self, requests):
        """Bytes of memory for each request that waits, beside those of its connection."""
        # What the one before has given back would hide what this one takes.
        self.server.stop()
        self.server.start()
        waiters = Waiters(self.server.port)
        for request in requests:
            waiters.add(request)
        while self.server.metrics()["lenticular_connections_open"] < len(waiters.sockets):
            time.sleep(0.01)
        before = machine.resident_bytes(self.server.process.pid)
        waiters.ask()
        while self.server.metrics()["lenticular_requests_held"] < len(waiters.sockets):
            time.sleep(0.01)
        after = machine.resident_bytes(self.server.process.pid)
        count = len(waiters.sockets)
        waiters.close()
        return (after - before) / count
