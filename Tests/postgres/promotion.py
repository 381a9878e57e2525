#!/usr/bin/env python3
"""Promotes a standby that lacks commits; servers go on with what it has, and say so to those who have seen more.

    Tests/postgres/promotion.py [--servers N] [--rounds N] [--records N] [--seed N] [--binary FILE]

No commit waits for the standby. Each round it is cut off from the primary, and what is saved, changed and deleted from
then on is acknowledged and read by the primary alone. Then the primary ends and the standby is promoted under the same
servers. Each of them must refuse as expired the sync tokens that cover what is gone, in `changes/zone` and in
`changes/database`, and go on from those before it; a full sync has exactly what the standby had. A save under a change
tag of what is gone is a conflict, and no change tag and no token is given out a second time. A session that was begun and
used meanwhile is one that nobody knows.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from postgresql import PostgreSQL, url
from servers import CONTAINER, Server, must, provision, until

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Shelf"}}
SECONDS_MAX = 120


class Promotion:
    def __init__(self, asked):
        self.asked = asked
        self.seed = asked.seed or random.randrange(1 << 32)
        self.chosen = random.Random(self.seed)
        self.count = self.lost = self.expired = 0
        # What the records hold that must be there, by name; and of what was given out, which life it is of.
        self.records, self.tags = {}, {}
        self.given = {}

    def run(self):
        print(f"seed {self.seed}", flush=True)
        with PostgreSQL() as self.primary, PostgreSQL() as self.standby, tempfile.TemporaryDirectory() as folder:
            self.standby.follow(self.primary, "standby")
            self.servers = []
            try:
                for number in range(self.asked.servers):
                    server = Server(self.asked.binary, Path(folder), url(self.primary, self.standby), number)
                    server.start()
                    self.servers.append(server)
                self.caller = provision(self.servers)
                must(lambda: self.caller.post(
                    "zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]}))
                for number in range(self.asked.rounds):
                    self.round(number)
                for server in self.servers:
                    server.stop()
                problems = self.servers[0].command("check")["problems"]
                assert problems == [], problems
            finally:
                for server in self.servers:
                    server.kill()
        print(
            f"{self.asked.rounds} promotions under {len(self.servers)} servers of a standby that lacked commits:"
            f" {self.lost} acknowledged changes gone, {self.expired} tokens of them refused as expired,"
            f" {len(self.records)} records there, {len(self.given)} tags and tokens given out, none twice", flush=True)

    def round(self, number):
        for _ in range(self.asked.records):
            self.change(self.records, self.tags, number)
        before = self.tokens(number)
        self.cut_off()
        records, tags = dict(self.records), dict(self.tags)
        for _ in range(self.asked.records):
            self.change(records, tags, f"{number} lost")
        beyond = self.tokens(f"{number} lost")
        self.lost += self.asked.records
        session = self.sign_in()
        self.promote()
        self.forget(session)
        # Asked before the first write behind it, and then again.
        self.refuse(beyond)
        self.go_on(before)
        self.conflict({name: tag for name, tag in tags.items() if self.tags.get(name) != tag}, records)
        for _ in range(self.asked.records):
            self.change(self.records, self.tags, f"{number} behind")
        self.refuse(beyond)
        self.go_on(before)
        self.tokens(f"{number} behind")
        self.standby.follow(self.primary, "standby")
        print(f"promotion {number + 1}: {len(self.records)} records there", flush=True)

    # MARK: What is saved

    def change(self, records, tags, life):
        """Makes, changes or deletes a record by one of the servers."""
        living = list(records)
        kind = self.chosen.choice(["create", "create", "update", "delete"]) if living else "create"
        self.count += 1
        name = f"r{self.count}" if kind == "create" else self.chosen.choice(living)
        record = {"recordName": name}
        if kind != "create":
            record["recordChangeTag"] = tags[name]
        if kind != "delete":
            record |= {"recordType": "Note", "fields": {"text": {"value": f"{self.count}"}}}
        saved = must(lambda: self.caller.post(
            "records/modify", ZONE | {"operations": [{"operationType": kind, "record": record}]}))["records"][0]
        assert "serverErrorCode" not in saved, saved
        if kind == "delete":
            del records[name], tags[name]
            return
        records[name], tags[name] = f"{self.count}", saved["recordChangeTag"]
        self.give(f"tag {saved['recordChangeTag']}", life)

    def give(self, what, life):
        """Notes what was given out: nothing may be given out again that another life has given."""
        assert self.given.setdefault(what, life) == life, f"{what} of {self.given[what]} came again, of {life}"

    # MARK: What is read

    def page(self, server, token=None):
        entry = ZONE | ({"syncToken": token} if token else {})
        return must(lambda: self.caller.post_to(server, "changes/zone", {"zones": [entry]}))["zones"][0]

    def read(self, server, token=None):
        """What has changed since a token, and the token behind it."""
        changed, more = {}, True
        while more:
            page = self.page(server, token)
            assert "serverErrorCode" not in page, page
            for record in page["records"]:
                changed[record["recordName"]] = \
                    None if record.get("deleted") else record["fields"]["text"]["value"]
            token, more = page["syncToken"], page["moreComing"]
        return changed, token

    def tokens(self, life):
        """Those of the zone and of the database that each server gives out now, with what a device then has."""
        given = []
        for server in self.servers:
            has, zone = self.read(server)
            database = must(lambda: self.caller.post_to(server, "changes/database", {}))["syncToken"]
            for token in (zone, database):
                self.give(f"token {token}", life)
            given.append(({name: text for name, text in has.items() if text is not None}, zone, database))
        return given

    def refuse(self, beyond):
        """Every server says of what has seen more that it must begin anew."""
        for server in self.servers:
            for _, zone, database in beyond:
                page = self.page(server, zone)
                assert page.get("serverErrorCode") == "BAD_REQUEST" and page.get("changeTokenExpired") is True, page
                status, answer = server.ask(
                    "POST", self.caller.path("changes/database"), {"syncToken": database})
                assert status == 400 and answer.get("changeTokenExpired") is True, (status, answer)
                self.expired += 2

    def go_on(self, before):
        """Every server has exactly what must be there, for who begins anew and for who goes on."""
        for server in self.servers:
            has = {name: text for name, text in self.read(server)[0].items() if text is not None}
            assert has == self.records, "a full sync has something else than what is there"
            for had, zone, _ in before:
                changed, _ = self.read(server, zone)
                now = {name: text for name, text in (had | changed).items() if text is not None}
                assert now == self.records, "who goes on has something else than what is there"

    def conflict(self, gone, records):
        """Nothing is saved over a version that is gone."""
        for name, tag in gone.items():
            operation = {"operationType": "update", "record": {
                "recordName": name, "recordType": "Note", "recordChangeTag": tag,
                "fields": {"text": {"value": records[name]}}}}
            answer = must(lambda: self.caller.post("records/modify", ZONE | {"operations": [operation]}))["records"][0]
            assert answer.get("serverErrorCode") in ("CONFLICT", "NOT_FOUND"), answer

    # MARK: Who is signed in

    def sign_in(self):
        """A session that each server has seen: the path to ask by."""
        web = self.servers[0].command(
            "web-token", "create", CONTAINER, "development", "ada@example.org", "--expires", "86400")
        path = self.caller.path("zones/list").split("&")[0] + f"&ckWebAuthToken={web['webAuthToken']}"
        for server in self.servers:
            status, answer = server.ask("POST", path, {})
            assert status == 200, (status, answer)
        return path

    def forget(self, path):
        """No server lets anybody in by it."""
        for server in self.servers:
            status, answer = must(lambda: self.decided(server, path))
            assert status == 421, (status, answer)

    def decided(self, server, path):
        status, answer = server.ask("POST", path, {})
        return None if answer.get("serverErrorCode") == "TRY_AGAIN_LATER" else (status, answer)

    # MARK: The standby

    def cut_off(self):
        """Has the standby get nothing of what is committed from now on."""
        here = self.primary.ask("SELECT pg_current_wal_lsn()")
        until("the standby has all so far", SECONDS_MAX, lambda: self.standby.ask(
            f"SELECT pg_last_wal_replay_lsn() >= '{here}'") == "t")
        self.standby.ask("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.ask("SELECT pg_reload_conf()")
        until("nothing comes to the standby", SECONDS_MAX, lambda: self.standby.ask(
            "SELECT count(*) FROM pg_stat_wal_receiver") == "0")

    def promote(self):
        self.primary.crash()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary
        for server in self.servers:
            server.wait_until_ready()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--records", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    Promotion(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
