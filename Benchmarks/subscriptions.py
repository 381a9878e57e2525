"""What 10,000 query subscriptions of 1,000 users on the public database cost those who save.

Two servers take the same records in turns, one without and one with subscriptions. Each subscription asks for one
topic. One record in ten has a topic that somebody asks for, so notices are made, and wait for devices.
"""

import http.client
import json
import random
import threading
import time

from lenticular import CONTAINER, Lenticular

PER_USER = 10
PER_REQUEST = 200
CONNECTIONS = 4
# So many topics that one record in ten has one which is asked for.
TOPICS_PER_SUBSCRIPTION = 10


class SubscriptionMeasures:
    def __init__(self, sizes, binary, folder):
        self.users, self.rounds = sizes.subscribers, sizes.ingest_rounds
        self.requests = sizes.ingest_requests
        self.servers = {}
        for name in ("without", "with"):
            (folder / name).mkdir(parents=True)
            self.servers[name] = Lenticular(binary, folder / name, page_records_max=200)
        self.random = random.Random(1)
        self.topics = self.users * PER_USER * TOPICS_PER_SUBSCRIPTION
        self.figures = {"notices.subscribed.subscriptions": self.users * PER_USER}

    def run(self):
        try:
            for server in self.servers.values():
                server.start()
                server.provision()
                # The type is there, and the writer's caches are warm.
                self.ingest(server, 1)
            self.subscribe(self.servers["with"])
            spent = {name: 0.0 for name in self.servers}
            for number in range(self.rounds):
                names = sorted(self.servers, reverse=number % 2 == 1)
                for name in names:
                    spent[name] += self.ingest(self.servers[name], self.requests)
                    self.settle(self.servers[name])
            count = self.rounds * self.requests * PER_REQUEST * CONNECTIONS
            for name, seconds in spent.items():
                self.figures[f"notices.subscribed.{name}.recordsPerSecond"] = count / seconds
            self.figures["notices.subscribed.queued"] = self.servers["with"].metrics()[
                "lenticular_notices_queued_total"]
        finally:
            for server in self.servers.values():
                server.stop()
        return self.figures

    def subscribe(self, server):
        for number in range(self.users):
            _, query = server.make_user(f"subscriber{number}@example.com")
            server.post_to(
                f"/device/1/{CONTAINER}/development/tokens/create{query}",
                {"apnsEnvironment": "development"})
            server.post("subscriptions/modify", {"operations": [
                {"operationType": "create", "subscription": {
                    "subscriptionID": f"s{index}", "subscriptionType": "query",
                    "firesOn": ["create"],
                    "query": {"recordType": "News", "filterBy": [{
                        "fieldName": "topic", "comparator": "EQUALS",
                        "fieldValue": {"value": f"t{number * PER_USER + index}"}}]}}}
                for index in range(PER_USER)]}, database="public", query=query)

    def body(self):
        return json.dumps({"operations": [{
            "operationType": "create", "record": {"recordType": "News", "fields": {
                "topic": {"value": f"t{self.random.randrange(self.topics)}"},
                "text": {"value": "what there is to say about it " * 4}}}}
            for _ in range(PER_REQUEST)]})

    def ingest(self, server, requests):
        """Seconds for so many requests on each of some connections."""
        bodies = [[self.body() for _ in range(requests)] for _ in range(CONNECTIONS)]
        target = server.target("records/modify", database="public")
        failures = []

        def send(own):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            for body in own:
                connection.request("POST", target, body)
                answer = connection.getresponse()
                content = answer.read()
                if answer.status != 200 or b"serverErrorCode" in content:
                    failures.append(content[:300])
            connection.close()

        threads = [threading.Thread(target=send, args=(own,)) for own in bodies]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise RuntimeError(f"{len(failures)} saves failed: {failures[0]!r}")
        return time.perf_counter() - began

    def settle(self, server):
        """Waits until the server has told all, so that the other one has the machine for itself."""
        last = -1
        while True:
            queued = server.metrics()["lenticular_notices_queued_total"]
            if queued == last:
                return
            last = queued
            time.sleep(0.5)
