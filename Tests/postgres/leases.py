#!/usr/bin/env python3
"""Stops the server that does for all what one does at a time; another one goes on with it, and nothing is left out.

    Tests/postgres/leases.py [--servers N] [--stops N] [--seconds S] [--writers N] [--children N] [--seed N] [--binary FILE]

Writers save by all servers; a webhook is told of every change. Each time, a record is deleted on which others depend, so
that there is queued work, and a server that holds leases is stopped (SIGSTOP) for longer than they last. Meanwhile its
leases must go to others, with greater numbers, and the webhook must hear of what is saved after the stop. Once the server
has woken up (SIGCONT), the webhook has heard of every change that was acknowledged and of every record that was deleted
with another. What it has heard twice came with the same id.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from postgresql import PostgreSQL, url
from servers import CONTAINER, Caller, Server, leases, must, provision, until
from tasks import Task, finish

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Shelf"}}
# Five seconds until a process is taken for dead, and ten until another has gone on: with room for a busy machine, and for what
# waited to be told before.
TAKEOVER_SECONDS_MAX = 180
HEARD_SECONDS_MAX = 180
BATCH = 200


class Receiver(ThreadingHTTPServer):
    """Where the webhook's notices go."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        # Of each change of a record, the ids of the notices that have told of it.
        self.ids, self.repeats = {}, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def hear(self, notice, identifier):
        change = (notice.get("recordName"), notice["change"])
        with self.lock:
            ids = self.ids.setdefault(change, set())
            self.repeats += bool(ids)
            ids.add(identifier)

    def lacks(self, changes):
        with self.lock:
            return [change for change in changes if change not in self.ids]

    def handle_error(self, *_):
        """A server that was stopped may have gone within a request."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.hear(json.loads(body), self.headers["webhook-id"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Writer(Task):
    """Saves under names that nobody uses again, by one server, which may sleep."""

    def __init__(self, caller, label, pause=0.02):
        super().__init__()
        self.caller, self.label, self.pause, self.count = caller, label, pause, 0
        self.acknowledged = []

    def step(self):
        self.count += 1
        name = f"{self.label}-{self.count}"
        if save(self.caller, [name]):
            self.acknowledged.append((name, "create"))


def save(caller, names, **fields):
    operations = [
        {"operationType": "create", "record": {"recordName": name, "recordType": "Note", "fields": fields}}
        for name in names]
    answer = caller.post("records/modify", ZONE | {"operations": operations})
    if answer and any("serverErrorCode" in record for record in answer["records"]):
        raise RuntimeError(f"{answer['records']}")
    return answer


class Leases:
    def __init__(self, asked):
        self.asked = asked
        self.seed = asked.seed or random.randrange(1 << 32)
        self.chosen = random.Random(self.seed)
        self.changes = []

    def run(self):
        print(f"seed {self.seed}", flush=True)
        with PostgreSQL() as self.database, tempfile.TemporaryDirectory() as folder, Receiver() as self.receiver:
            self.servers = {}
            try:
                for number in range(self.asked.servers):
                    self.start(number, Path(folder))
                self.caller = provision(list(self.servers.values()))
                self.caller.post("zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]})
                first = next(iter(self.servers.values()))
                first.command(
                    "webhook", "add", CONTAINER, "development",
                    f"http://127.0.0.1:{self.receiver.server_port}/", "--name", "all")
                for number in range(self.asked.stops):
                    self.round(number)
                self.compare(first)
                for server in self.servers.values():
                    server.stop()
                problems = first.command("check")["problems"]
                assert problems == [], problems
            finally:
                for server in self.servers.values():
                    server.kill()

    def start(self, number, folder):
        """Starts a server, and finds out as which process the others know it."""
        server = Server(
            self.asked.binary, folder, url(self.database), number,
            {"LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"})
        if number > 0:
            (server.data / "containers").symlink_to(folder / "data0/containers")
        server.start()
        self.servers[server.identity()] = server

    def round(self, number):
        parent, children = f"parent{number}", [f"child{number}-{index}" for index in range(self.asked.children)]
        must(lambda: save(self.caller, [parent]))
        reference = {"value": {"recordName": parent, "action": "DELETE_SELF"}}
        for first in range(0, len(children), BATCH):
            must(lambda: save(self.caller, children[first:first + BATCH], parent=reference))
        writers = [
            Writer(Caller([list(self.servers.values())[index % len(self.servers)]], self.caller.query), f"{number}-{index}")
            for index in range(self.asked.writers)]
        for writer in writers:
            writer.start()
        until("somebody tells the webhook", TAKEOVER_SECONDS_MAX, lambda: {"notices", "outbox"} <= {
            name.split()[1] for name in leases(self.database)})
        # The last that was saved before it, and the work behind it.
        must(lambda: self.caller.post("records/modify", ZONE | {"operations": [
            {"operationType": "forceDelete", "record": {"recordName": parent}}]}))
        # Queued work is leased for as long as there is some: what is always told must go to others.
        process = self.chosen.choice([
            holder for name, (_, holder) in leases(self.database).items() if not name.endswith(" work")])
        words = self.stop(process, writers)
        time.sleep(self.chosen.uniform(0, 1))
        finish(writers)
        self.changes += [change for writer in writers for change in writer.acknowledged]
        self.changes += [(name, change) for name in [parent, *children] for change in ("create", "delete")]
        print(f"stop {number + 1}: {words}, {len(self.changes)} changes in all", flush=True)

    def stop(self, process, writers):
        """Lets a server sleep until others have gone on for it."""
        server = self.servers[process]
        server.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            held = {name: number for name, (number, holder) in leases(self.database).items() if holder == process}
            assert any(not name.endswith(" work") for name in held), f"the server has let go of its leases: {held}"
            others = [writer for writer in writers if writer.caller.servers != [server]]
            counts = [len(writer.acknowledged) for writer in others]
            until(f"somebody takes over {held}", TAKEOVER_SECONDS_MAX, lambda: all(
                found != process and number > held[name] for name, (number, found) in leases(self.database).items()
                if name in held and not name.endswith(" work")))
            took = time.monotonic() - began
            until("the others save", TAKEOVER_SECONDS_MAX, lambda: all(
                len(writer.acknowledged) > count for writer, count in zip(others, counts)))
            later = [writer.acknowledged[count] for writer, count in zip(others, counts)]
            until("the webhook hears of what is saved meanwhile", TAKEOVER_SECONDS_MAX, lambda: not self.receiver.lacks(later))
            heard = time.monotonic() - began
            time.sleep(max(0, self.asked.seconds - heard))
        finally:
            server.process.send_signal(signal.SIGCONT)
        server.wait_until_ready()
        return f"{', '.join(sorted(held))} taken over after {took:.1f} s, heard of after {heard:.1f} s"

    def compare(self, server):
        until("the webhook hears of every change", HEARD_SECONDS_MAX, lambda: not self.receiver.lacks(self.changes))
        doubled = {change: ids for change, ids in self.receiver.ids.items() if len(ids) > 1}
        if doubled:
            raise RuntimeError(f"{len(doubled)} changes came with several ids: {list(doubled.items())[:5]}")
        hook = server.command("webhook", "list", CONTAINER, "development")["webhooks"][0]
        assert hook["givenUp"] == 0, hook
        print(f"{self.asked.stops} stops of {len(self.servers)} servers: {len(self.changes)} changes, each heard of;"
              f" {self.receiver.repeats} heard of again, with the same id", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--stops", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--children", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    Leases(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
