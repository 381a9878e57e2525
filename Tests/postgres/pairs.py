"""Pairs of a change by one server and a read by another that begins after the answer: none may miss it.

Most are of records: one is saved and looked up, comes up in the changes of its zone, or is found by a query with an
index; another user accepts a share by one server, and looks up by another what is shared. The others are of what servers
answer from memory: the zones that have changed since a token, the answer to who waits for changes, a type of records and a
field that a save has made, the name of a person, and the rights that somebody has been given or has lost (`rights.py`).
"""

import collections
import random
import threading

from persons import App, Person
from rights import Rights
from servers import must
from tasks import Waiting

THREADS = 8
# How many of 200 pairs are of each kind.
SHARES = {
    "lookup": 44, "changes": 44, "query": 44, "share": 18, "rename": 12, "database": 10, "waiter": 6, "field": 6,
    "type": 1, "web": 3, "api": 2, "key": 2, "account": 1, "unshare": 7}
# A pair that is told to try again is left out, and another one asked: so many may be, of a hundred.
LEFT_PERCENT_MAX = 1
# A type has at most 256 fields.
FIELDS_PER_TYPE = 200
WAIT_SECONDS = 20


class Again(Exception):
    """A server has said TRY_AGAIN_LATER."""


class Pairs:
    def __init__(self, servers, owner, other, seed):
        self.servers, self.owner, self.other, self.seed = servers, owner, other, seed
        self.app = App(servers[0])

    def run(self, count):
        self.left_max = count * LEFT_PERCENT_MAX / 100
        self.threads = threads = [Thread(self, number, -(-count // THREADS)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
            if thread.failure:
                raise thread.failure
        reached = sum((thread.reached for thread in threads), collections.Counter())
        stale = [name for thread in threads for name in thread.stale]
        words = ", ".join(f"{reached[kind]} {kind}" for kind in SHARES)
        if stale:
            raise RuntimeError(f"{len(stale)} of {reached.total()} reads were stale ({words}): {stale[:10]}")
        if count >= THREADS * sum(SHARES.values()) and (none := SHARES.keys() - reached.keys()):
            raise RuntimeError(f"no pair was of {none}")
        left = sum(thread.left for thread in threads)
        print(
            f"{reached.total()} pairs of a change and a read by another server ({words}), 0 stale;"
            f" {left} more were told to try again", flush=True)


class Thread(Rights, threading.Thread):
    """Has a zone of its own, and reads on in it."""

    def __init__(self, pairs, number, count):
        super().__init__(daemon=True)
        self.pairs, self.number, self.count = pairs, number, count
        self.chosen = random.Random(f"{pairs.seed} {number}")
        self.zone = {"zoneID": {"zoneName": f"Pairs{number}"}}
        self.token = self.database_token = None
        self.fields = 0
        self.reached, self.stale, self.failure = collections.Counter(), [], None
        self.left = 0

    def run(self):
        try:
            must(lambda: self.pairs.owner.post(
                "zones/modify", {"operations": [{"operationType": "create", "zone": self.zone}]}))
            # The first query has the index built, of a type that is there.
            must(lambda: self.pairs.owner.post("records/modify", self.zone | {
                "operations": [{"operationType": "create", "record": self.record(f"first-{self.number}")}]}))
            must(lambda: self.pairs.owner.post("records/query", self.question("none")))
            self.person = Person(self.pairs.app, self.pairs.servers, f"person {self.number}")
            number, kinds = 0, []
            while self.reached.total() < self.count:
                if not kinds:
                    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
                    self.chosen.shuffle(kinds)
                kind = kinds.pop()
                number += 1
                try:
                    self.pair(kind, f"{kind}-{self.number}-{number}")
                except Again:
                    self.left += 1
                    left = sum(thread.left for thread in self.pairs.threads)
                    if left > self.pairs.left_max:
                        raise RuntimeError(f"{left} pairs were told to try again; {self.reached}") from None
        except Exception as error:
            self.failure = error

    def pair(self, kind, name):
        writer, reader = self.chosen.sample(self.pairs.servers, 2)
        if not getattr(self, kind)(writer, reader, name):
            self.stale.append(name)
        self.reached[kind] += 1

    # MARK: Records

    def lookup(self, writer, reader, name):
        self.save(writer, self.record(name))
        found = self.ask(reader, "records/lookup", self.zone | {"records": [{"recordName": name}]})
        return "fields" in found["records"][0]

    def changes(self, writer, reader, name):
        self.save(writer, self.record(name))
        return name in self.catch_up(reader)

    def query(self, writer, reader, name):
        self.save(writer, self.record(name))
        found = self.ask(reader, "records/query", self.question(name))
        return [record["recordName"] for record in found["records"]] == [name]

    def share(self, writer, reader, name):
        """The owner's share is accepted at once by another server, and read by a third, or the first."""
        saved = self.save(reader, self.record(name), self.share_of(name, "READ_ONLY"))
        if not self.accept(writer, saved[0]):
            return False
        return self.is_seen(reader, saved[0])

    # MARK: What servers have in memory

    def database(self, writer, reader, name):
        """Its zone has changed since the token that its database had a moment ago."""
        self.changed_zones(reader)
        self.save(writer, self.record(name))
        return self.zone["zoneID"]["zoneName"] in self.changed_zones(reader)

    def waiter(self, writer, reader, name):
        """What one who waited was answered a moment ago is no answer to the same question after another change."""
        self.catch_up(reader)
        asked = {"zones": [self.zone | {"syncToken": self.token}], "waitSeconds": WAIT_SECONDS}
        waiting = Waiting(lambda: self.names(reader, asked))
        self.save(writer, self.record(f"{name}-before"))
        if waiting.answer() is None:
            raise Again
        self.save(writer, self.record(name))
        names = self.names(reader, asked)
        if names is None:
            raise Again
        return {f"{name}-before", name} <= names

    def type(self, writer, reader, name):
        """One that a query has missed a moment ago is known with its field once a record has made it.

        The query asks for a number in a text, which is refused before any index is needed.
        """
        kind = f"Type{name.replace('-', 'x')}"
        question = self.zone | {"query": {
            "recordType": kind,
            "filterBy": [{"fieldName": "text", "comparator": "EQUALS", "fieldValue": {"value": 1}}]}}
        path = self.pairs.owner.path("records/query")
        status, answer = self.answer(reader, path, question)
        if status != 404:
            raise RuntimeError(f"a type that nobody has made: {status} {answer}")
        self.save(writer, self.record(name) | {"recordType": kind})
        status, answer = self.answer(reader, path, question)
        if status == 400 and "STRING" in answer["reason"]:
            return True
        if status not in (400, 404):
            raise RuntimeError(f"a number in a text: {status} {answer}")
        return False

    def field(self, writer, reader, name):
        """A number for one server is none for another either that would make a text of it."""
        kind, field = f"Form{self.number}x{self.fields // FIELDS_PER_TYPE}", f"field{self.fields}"
        self.fields += 1
        self.save(writer, {"recordName": name, "recordType": kind, "fields": {field: {"value": 1}}})
        text = {"recordName": f"{name}-text", "recordType": kind, "fields": {field: {"value": "one"}}}
        saved = self.ask(reader, "records/modify", self.zone | {"operations": [
            {"operationType": "create", "record": text}]})["records"][0]
        return saved.get("serverErrorCode") == "BAD_REQUEST"

    def rename(self, writer, reader, name):
        # It knows the name before from here on.
        for asked in (lambda: self.person.name(reader), lambda: self.person.rename(writer, name)):
            if not asked():
                raise Again
        shown = self.person.name(reader)
        if shown is None:
            raise Again
        return shown == name

    # MARK: Asking

    def question(self, text):
        return self.zone | {"query": {
            "recordType": "Note",
            "filterBy": [{"fieldName": "text", "comparator": "EQUALS", "fieldValue": {"value": text}}]}}

    def record(self, name):
        return {"recordName": name, "recordType": "Note", "fields": {"text": {"value": name}}}

    def share_of(self, name, permission, *participants):
        return {"recordName": f"share-{name}", "recordType": "cloudkit.share", "publicPermission": permission,
                "forRecord": {"recordName": name}, "fields": {}, "participants": list(participants)}

    def save(self, server, *records, kind="create"):
        operations = [{"operationType": kind, "record": record} for record in records]
        saved = self.ask(server, "records/modify", self.zone | {"operations": operations, "atomic": True})["records"]
        if any("serverErrorCode" in record for record in saved):
            raise RuntimeError(f"{saved}")
        return saved

    def catch_up(self, reader):
        """The names of what has changed in the zone since it was read last."""
        names, more = set(), True
        while more:
            entry = self.zone | ({"syncToken": self.token} if self.token else {})
            page = self.ask(reader, "changes/zone", {"zones": [entry]})["zones"][0]
            names |= {record["recordName"] for record in page["records"]}
            self.token, more = page["syncToken"], page["moreComing"]
        return names

    def changed_zones(self, reader):
        """The names of the zones that have changed since it asked last."""
        names, more = set(), True
        while more:
            body = {"syncToken": self.database_token} if self.database_token else {}
            page = self.ask(reader, "changes/database", body)
            names |= {zone["zoneID"]["zoneName"] for zone in page["zones"]}
            self.database_token, more = page["syncToken"], page["moreComing"]
        return names

    def names(self, reader, asked):
        """Of one page of the zone; None where the server has said TRY_AGAIN_LATER."""
        answer = self.pairs.owner.post_to(reader, "changes/zone", asked)
        return answer and {record["recordName"] for record in answer["zones"][0]["records"]}

    def accept(self, server, record):
        short = {"shortGUIDs": [{"value": record["shortGUID"]}]}
        accepted = self.ask(server, "records/accept", short, self.pairs.other, "public")
        return not any("serverErrorCode" in result for result in accepted["results"])

    def is_seen(self, server, record):
        """Whether the other user sees a record that is or was shared."""
        body = {"zoneID": record["zoneID"], "records": [{"recordName": record["recordName"]}]}
        status, answer = self.answer(server, self.pairs.other.path("records/lookup", "shared"), body)
        if status == 200:
            return "fields" in answer["records"][0]
        # Nothing of it is shared with them any more.
        if answer["serverErrorCode"] != "ZONE_NOT_FOUND":
            raise RuntimeError(f"{status} {answer}")
        return False

    def answer(self, server, path, body):
        """Status and answer, which may be an error."""
        status, answer = server.ask("POST", path, body)
        if answer.get("serverErrorCode") == "TRY_AGAIN_LATER":
            raise Again
        return status, answer

    def ask(self, server, operation, body, caller=None, database="private"):
        answer = (caller or self.pairs.owner).post_to(server, operation, body, database)
        if answer is None:
            raise Again
        return answer
