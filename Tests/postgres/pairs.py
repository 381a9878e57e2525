"""Pairs of a change by one server and a read by another that begins after the answer: none may miss it.

By turns: a record is saved and looked up, comes up in the changes of its zone, or is found by a query with an index; or
another user accepts a share by one server, and looks up by another what is shared.
"""

import collections
import random
import threading

from servers import must

THREADS = 8
KINDS = ("lookup", "changes", "query", "share")
# A pair that is told to try again is left out: so many may be, of a hundred.
LEFT_PERCENT_MAX = 1


class Again(Exception):
    """A server has said TRY_AGAIN_LATER."""


class Pairs:
    def __init__(self, servers, owner, other, seed):
        self.servers, self.owner, self.other, self.seed = servers, owner, other, seed

    def run(self, count):
        threads = [Thread(self, number, count // THREADS) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
            if thread.failure:
                raise thread.failure
        asked = sum(thread.asked for thread in threads)
        reached = sum((thread.reached for thread in threads), collections.Counter())
        stale = [name for thread in threads for name in thread.stale]
        words = ", ".join(f"{reached[kind]} {kind}" for kind in KINDS)
        if stale:
            raise RuntimeError(f"{len(stale)} of {reached.total()} reads were stale ({words}): {stale[:10]}")
        if (asked - reached.total()) * 100 > asked * LEFT_PERCENT_MAX or len(reached) < min(asked, len(KINDS)):
            raise RuntimeError(f"of {asked} pairs only {reached.total()} were reached ({words})")
        print(
            f"{reached.total()} of {asked} pairs of a change and a read by another server ({words}), 0 stale", flush=True)


class Thread(threading.Thread):
    """Has a zone of its own, and reads on in it."""

    def __init__(self, pairs, number, count):
        super().__init__(daemon=True)
        self.pairs, self.number, self.asked = pairs, number, count
        self.chosen = random.Random(f"{pairs.seed} {number}")
        self.zone = {"zoneID": {"zoneName": f"Pairs{number}"}}
        self.token = None
        self.reached, self.stale, self.failure = collections.Counter(), [], None

    def run(self):
        try:
            must(lambda: self.pairs.owner.post(
                "zones/modify", {"operations": [{"operationType": "create", "zone": self.zone}]}))
            # The first query has the index built.
            must(lambda: self.pairs.owner.post("records/query", self.question("none")))
            for number in range(self.asked):
                kind = KINDS[number % len(KINDS)]
                try:
                    self.pair(kind, f"{kind}-{self.number}-{number}")
                except Again:
                    pass
        except Exception as error:
            self.failure = error

    def pair(self, kind, name):
        writer, reader = self.chosen.sample(self.pairs.servers, 2)
        if not getattr(self, kind)(writer, reader, name):
            self.stale.append(name)
        self.reached[kind] += 1

    # MARK: Kinds

    def lookup(self, writer, reader, name):
        self.save(writer, self.record(name))
        found = self.ask(reader, "records/lookup", self.zone | {"records": [{"recordName": name}]})
        return "fields" in found["records"][0]

    def changes(self, writer, reader, name):
        self.save(writer, self.record(name))
        names, more = set(), True
        while more:
            entry = self.zone | ({"syncToken": self.token} if self.token else {})
            page = self.ask(reader, "changes/zone", {"zones": [entry]})["zones"][0]
            names |= {record["recordName"] for record in page["records"]}
            self.token, more = page["syncToken"], page["moreComing"]
        return name in names

    def query(self, writer, reader, name):
        self.save(writer, self.record(name))
        found = self.ask(reader, "records/query", self.question(name))
        return [record["recordName"] for record in found["records"]] == [name]

    def share(self, writer, reader, name):
        """The owner's share is accepted at once by another server, and read by a third, or the first."""
        share = {"recordName": f"share-{name}", "recordType": "cloudkit.share", "publicPermission": "READ_ONLY",
                 "forRecord": {"recordName": name}, "fields": {}}
        saved = self.save(reader, self.record(name), share)
        short = {"shortGUIDs": [{"value": saved[0]["shortGUID"]}]}
        accepted = self.ask(writer, "records/accept", short, self.pairs.other, "public")
        if any("serverErrorCode" in result for result in accepted["results"]):
            return False
        zone = {"zoneID": saved[0]["zoneID"]}
        found = self.ask(
            reader, "records/lookup", zone | {"records": [{"recordName": name}]}, self.pairs.other, "shared")
        return "fields" in found["records"][0]

    # MARK: Asking

    def question(self, text):
        return self.zone | {"query": {
            "recordType": "Note",
            "filterBy": [{"fieldName": "text", "comparator": "EQUALS", "fieldValue": {"value": text}}]}}

    def record(self, name):
        return {"recordName": name, "recordType": "Note", "fields": {"text": {"value": name}}}

    def save(self, server, *records):
        operations = [{"operationType": "create", "record": record} for record in records]
        saved = self.ask(server, "records/modify", self.zone | {"operations": operations, "atomic": True})["records"]
        if any("serverErrorCode" in record for record in saved):
            raise RuntimeError(f"{saved}")
        return saved

    def ask(self, server, operation, body, caller=None, database="private"):
        answer = (caller or self.pairs.owner).post_to(server, operation, body, database)
        if answer is None:
            raise Again
        return answer
