"""How soon those who wait hear of a save: polls of the courier, and requests for changes that wait.

Every waiter is a connection of its own. One save is measured from its request to the answer of the last waiter.
"""

import json
import select
import socket
import time

import machine
from lenticular import CONTAINER, Lenticular

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
    ("a waiting poll, resident KiB", "notices.idle",
     lambda figures: figures["notices.idle.bytes"] / 1024, "<=", 4),
]

BESIDE = [
    ("polls that wait for the same save", "notices.waiters"),
    ("polls that wait for nothing", "notices.idle"),
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
                if not answer.startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(f"a waiter was answered {answer[:300]!r}")
                last = time.perf_counter()
                count -= 1
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
        return self.figures

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

    def measure(self, name, waiters, save, then=None):
        spent = []
        for number in range(self.rounds + 3):
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
        self.measure("courier", waiters, lambda: self.server.post(
            "records/modify", self.news(), database="public"))
        waiters.close()

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
        waiters = Waiters(self.server.port)
        for target in self.tokens(self.idle, 1_000):
            waiters.add(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        before = machine.resident_bytes(self.server.process.pid)
        waiters.ask()
        while self.server.metrics()["lenticular_requests_held"] < self.idle:
            time.sleep(0.01)
        after = machine.resident_bytes(self.server.process.pid)
        self.figures["notices.idle.bytes"] = (after - before) / self.idle
        waiters.close()
