"""What sharing costs: a large tree taken up and followed, a viewer of many shares, one of a corner.

All users are in one store. Whoever follows somebody else's zone is measured against its owner, or against
a zone that nobody shares, in the same run and in turn.
"""

import contextlib
import json
import sqlite3
import time

CONNECTIONS = 8
ROUNDS = 5
FANOUT = 300
CHILDREN = 10
CHANGED = 100
SHARES_PER_REQUEST = 50
RECORDS_PER_REQUEST = 200
OTHERS_CHANGED = 1_000


def middle(values):
    return sorted(values)[len(values) // 2]


def compared(of, to):
    return lambda figures: figures[of] / figures[to]


GOALS = [
    ("sharing a tree of 100,000: the request, ms", "share.request.ms",
     lambda figures: figures["share.request.ms"], "<=", 50),
    ("single saves while it is taken up / before, p99", "share.beside.p99us",
     compared("share.beside.p99us", "share.quiet.p99us"), "<=", 3),
    ("full sync of the share / the owner's", "share.viewer.recordsPerSecond",
     compared("share.viewer.recordsPerSecond", "share.owner.recordsPerSecond"), ">=", 0.6),
    ("delta in 1,000 shares / unshared zone, p50", "delta.many.p50us",
     compared("delta.many.p50us", "delta.plain.p50us"), "<=", 3),
    ("delta of one share of 1,000, p50, / unshared zone", "delta.one.p50us",
     compared("delta.one.p50us", "delta.plain.p50us"), "<=", 3),
    ("delta of 100 seen of 1,000,000 / unshared zone, p50", "delta.corner.p50us",
     compared("delta.corner.p50us", "delta.plain.p50us"), "<=", 3),
]

BESIDE = [
    ("single saves before a tree is shared, p99 µs", "share.quiet.p99us"),
    ("a shared tree of 100,000 is whole after, s", "share.whole.s"),
    ("the same beside single saves, s", "share.wholeBeside.s"),
    ("making 50 shares in one request, the last of 1,000, ms", "share.make.ms"),
    ("joining 50 shares in one request, the last of 1,000, ms", "share.join.ms"),
]

WORKLOADS = (
    "share.owner", "share.viewer", "delta.plain", "delta.many", "delta.one", "delta.corner",
    "empty.plain", "empty.many")


class Sharing:
    """Needs a provisioned server; uses the zone `Large` when it is there, else makes one."""

    def __init__(self, measures):
        self.measures = measures
        self.server, self.sizes, self.figures = measures.server, measures.sizes, measures.figures

    def run(self):
        self.viewer, self.viewer_query = self.server.make_user("viewer@example.com")
        self.deltas()
        self.tree()

    # What the two users ask.

    def zone(self, name, shared):
        return {"zoneName": name, **({"ownerRecordName": self.server.user} if shared else {})}

    def place(self, shared):
        return dict(database="shared", query=self.viewer_query) if shared else {}

    def modify(self, zone, operations):
        return self.server.post(
            "records/modify", {"zoneID": {"zoneName": zone}, "operations": operations})["records"]

    def join(self, short_guids):
        body = {"shortGUIDs": [{"value": value} for value in short_guids]}
        began = time.perf_counter()
        self.server.post("records/accept", body, database="public", query=self.viewer_query)
        return (time.perf_counter() - began) * 1000

    def follow(self, zone, shared):
        """Follows a zone from its beginning; the number of its records, and the last token."""
        token, count, more = None, 0, True
        while more:
            page = self.page(zone, shared, token)
            count += len(page["records"])
            token, more = page["syncToken"], page["moreComing"]
        return count, token

    def page(self, zone, shared, token):
        entry = {"zoneID": self.zone(zone, shared), "resultsLimit": 2000}
        if token:
            entry["syncToken"] = token
        body = {"zones": [entry]}
        return self.server.post("changes/zone", body, **self.place(shared))["zones"][0]

    # Deltas.

    def deltas(self):
        """Each changes after its token is taken; then all are measured in turn."""
        bodies = {"plain": self.plain(), **self.many(), "corner": self.corner()}
        times = {}
        for _ in range(self.sizes.delta_rounds):
            for name, (body, shared, count) in bodies.items():
                kind = "delta" if count else "empty"
                figure = f"{kind}.{name.removesuffix('Empty')}"
                outcome = self.measures.load(
                    figure, "repeat", "changes/zone", body=body, records=max(1, count),
                    target=self.server.target("changes/zone", **self.place(shared)),
                    connections=1, seconds=self.sizes.seconds / 4, warm=0.1)
                times.setdefault(figure, []).append(outcome["p50us"])
        for figure, medians in times.items():
            self.figures[f"{figure}.p50us"] = middle(medians)

    def delta(self, name, zone, shared, token, count):
        """The request for what has changed since a token, in a file, once the answer is as it should."""
        page = self.page(zone, shared, token)
        if len(page["records"]) != count or page["moreComing"]:
            raise RuntimeError(f"{zone}: a delta of {len(page['records'])} records, not {count}")
        entry = {"zoneID": self.zone(zone, shared), "syncToken": token, "resultsLimit": 200}
        path = self.measures.folder / f"delta-{name}"
        path.write_text(json.dumps({"zones": [entry]}))
        return path, shared, count

    def records(self, count):
        """New records as `save` sends them."""
        first, self.measures.next_record = (
            self.measures.next_record, self.measures.next_record + count)
        return list(self.measures.programs.sample(
            seed=self.measures.seed, first=first, records=count).values())

    def save(self, zone, records, operation="create"):
        for start in range(0, len(records), RECORDS_PER_REQUEST):
            self.modify(zone, [
                {"operationType": operation, "record": record}
                for record in records[start:start + RECORDS_PER_REQUEST]])

    def plain(self):
        """A zone that nobody shares, as large as the one with many shares."""
        self.server.create_zone("Plain")
        records = self.records(self.sizes.shares * (CHILDREN + 1))
        self.save("Plain", records)
        _, token = self.follow("Plain", False)
        self.save("Plain", records[::len(records) // CHANGED][:CHANGED], "forceReplace")
        return self.delta("plain", "Plain", False, token, CHANGED)

    def share(self, root, tag=None):
        """The operation that shares a root with whoever has its link."""
        root = {"recordName": root, **({"recordChangeTag": tag} if tag else {})}
        return {"operationType": "create", "record": {
            "recordType": "cloudkit.share", "recordName": "share-" + root["recordName"],
            "fields": {}, "forRecord": root, "publicPermission": "READ_WRITE"}}

    def make_shares(self, zone, roots):
        """Saves roots with their shares, and lets the viewer join them."""
        for start in range(0, len(roots), SHARES_PER_REQUEST):
            part = roots[start:start + SHARES_PER_REQUEST]
            operations = [{"operationType": "create", "record": root} for root in part]
            operations += [self.share(root["recordName"]) for root in part]
            began = time.perf_counter()
            made = self.modify(zone, operations)
            self.figures["share.make.ms"] = (time.perf_counter() - began) * 1000
            self.figures["share.join.ms"] = self.join(
                root["shortGUID"] for root in made[:len(part)])

    def many(self):
        self.server.create_zone("Many")
        roots = self.records(self.sizes.shares)
        self.make_shares("Many", roots)
        children = self.records(self.sizes.shares * CHILDREN)
        for number, child in enumerate(children):
            child["parent"] = {"recordName": roots[number // CHILDREN]["recordName"]}
        self.save("Many", children)
        count, token = self.follow("Many", True)
        if count != len(roots) * (CHILDREN + 2):
            raise RuntimeError(f"the viewer has {count} records of {len(roots)} shares")
        # One of each of as many shares; then those of few.
        self.save("Many", children[::len(children) // CHANGED][:CHANGED], "forceReplace")
        many = self.delta("many", "Many", True, token, CHANGED)
        _, token = self.follow("Many", True)
        self.save("Many", children[:CHANGED], "forceReplace")
        one = self.delta("one", "Many", True, token, CHANGED)
        _, token = self.follow("Many", True)
        _, plain_token = self.follow("Plain", False)
        return {
            "many": many, "one": one,
            "manyEmpty": self.delta("manyEmpty", "Many", True, token, 0),
            "plainEmpty": self.delta("plainEmpty", "Plain", False, plain_token, 0),
        }

    def corner(self):
        """A hundred records of a large zone, in which others change more."""
        if not any(name.startswith("fill.large") for name in self.figures):
            self.server.create_zone("Large")
            for start in range(0, self.sizes.large, 100_000):
                self.measures.save(
                    "fill.large", "Large", min(100_000, self.sizes.large - start), 8, 200)
        others = self.records(OTHERS_CHANGED)
        self.save("Large", others)
        root, *children = self.records(CHANGED)
        for child in children:
            child["parent"] = {"recordName": root["recordName"]}
        self.make_shares("Large", [root])
        self.save("Large", children)
        _, token = self.follow("Large", True)
        for start in range(0, CHANGED, 10):
            self.save("Large", ([root] + children)[start:start + 10], "forceReplace")
            self.save("Large", others[start * 10:start * 10 + 100], "forceReplace")
        return self.delta("corner", "Large", True, token, CHANGED)

    # A large tree.

    def tree(self):
        self.server.create_zone("Tree")
        self.server.create_zone("Beside")
        self.records_of_tree = self.sizes.records
        first = self.measures.next_record
        # Parents go first.
        for count, connections in ((FANOUT + 1, 1), (self.sizes.records - FANOUT - 1, 8)):
            self.measures.save(
                "fill.tree", "Tree", count, connections, 200, root=first, fanout=FANOUT)
        root = next(iter(self.measures.programs.sample(
            seed=self.measures.seed, first=first, records=1)))
        self.take_up(root)
        self.full_sync(root)

    def take_up(self, root):
        """Shares the tree several times, alone and with single saves beside it."""
        requests, wholes, besides, quiet, busy = [], [], [], [], []
        for _ in range(ROUNDS):
            requests.append(self.begin(root))
            wholes.append(self.wait_until_whole())
            self.end(root)
            quiet.append(self.singles("share.quiet"))
            busy.append(self.singles("share.beside", beside=lambda: requests.append(
                self.begin(root))))
            # How long it went on after the saves had ended is little: they are to be beside it.
            besides.append(self.wait_until_whole())
            self.end(root)
        self.figures["share.request.ms"] = max(requests)
        self.figures["share.whole.s"] = middle(wholes)
        self.figures["share.wholeBeside.s"] = middle(besides)
        self.figures["share.quiet.p99us"] = middle(quiet)
        self.figures["share.beside.p99us"] = middle(busy)

    def begin(self, root):
        """Shares the tree; the milliseconds until it was answered."""
        body = {"zoneID": {"zoneName": "Tree"}, "records": [{"recordName": root}]}
        tag = self.server.post("records/lookup", body)["records"][0]["recordChangeTag"]
        self.began = time.perf_counter()
        made = self.modify("Tree", [self.share(root, tag)])
        taken = (time.perf_counter() - self.began) * 1000
        self.short_guid = made[0]["shortGUID"]
        return taken

    def end(self, root):
        self.modify(
            "Tree", [{"operationType": "delete", "record": {"recordName": "share-" + root}}])

    def singles(self, name, beside=None):
        """Single saves into another zone; their p99 in microseconds."""
        # Shorter than the tree takes.
        seconds = self.sizes.seconds / 4
        first, self.measures.next_record = (
            self.measures.next_record, self.measures.next_record + 50_000)
        process = self.measures.programs.start_load(
            "save", port=self.server.port, target=self.server.target("records/modify"),
            zone="Beside", seed=self.measures.seed, first=first, records=50_000, per_request=1,
            connections=CONNECTIONS, seconds=seconds, warm=0.05, gate=True)
        process.stdout.readline()
        if beside:
            beside()
        process.stdin.write("\n")
        process.stdin.flush()
        outcome = self.measures.programs.finish(process)
        if beside and not self.has_work():
            print("  the tree was whole before the saves beside it had ended", flush=True)
        self.measures.keep(name, outcome)
        return outcome["p99us"]

    def has_work(self):
        address = f"file:{self.server.store}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as store:
            return store.execute("SELECT 1 FROM work WHERE kind = 1 LIMIT 1").fetchone() is not None

    def wait_until_whole(self):
        """The seconds since the tree was shared until nothing is left to be done."""
        while self.has_work():
            time.sleep(0.02)
        return time.perf_counter() - self.began

    def full_sync(self, root):
        self.begin(root)
        self.join([self.short_guid])
        self.wait_until_whole()
        count, _ = self.follow("Tree", True)
        if count != self.sizes.records + 1:
            raise RuntimeError(f"the viewer has {count} records of the tree")
        speeds = {"share.owner": [], "share.viewer": []}
        for _ in range(ROUNDS):
            for name, found in speeds.items():
                shared = name == "share.viewer"
                outcome = self.measures.load(
                    name, "follow", "changes/zone", zone="Tree", records=count, per_page=200,
                    owner=self.server.user if shared else None,
                    target=self.server.target("changes/zone", **self.place(shared)),
                    forever=True, connections=1, seconds=self.sizes.seconds / 2, warm=0.1)
                found.append(outcome["recordsPerSecond"])
        for name, found in speeds.items():
            self.figures[f"{name}.recordsPerSecond"] = middle(found)
