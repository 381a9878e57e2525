#!/usr/bin/env python3
"""Ends servers that have a letter, a push and a webhook's notice under way; others send each again, as the same.

    Tests/postgres/deliveries.py [--servers N] [--rounds N] [--writers N] [--seed N] [--binary FILE]

Mail server, push service and webhook take what comes. Each round they stop answering: then a record is saved of which a
device and the webhook are to be told, and somebody is invited by a letter. Once all three are under way without an
answer, the servers that hold the leases for them end, and each of the three must come once more from a server that
lives, with the same identifier and the same words. Writers save meanwhile: the webhook and the device hear of all that was
acknowledged.

By turns they are killed, or stopped (SIGSTOP) until others have the three under way. Then they wake up and get their
answers: what they do then leaves no trace in the database, since their leases are over.

The binary needs the traits PostgreSQL and ApplePush, and Python needs `h2`.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from leases import Writer, save
from postgresql import PostgreSQL, url
from receivers import ApplePush, Mail, Webhook
from servers import CONTAINER, Caller, Server, free_port, leases, must, provision, until
from tasks import finish

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Shelf"}}
SECONDS_MAX = 120
# Of more than 1,000 notices that wait, a device hears together.
WRITER_PAUSE = 0.2


class Deliveries:
    def __init__(self, asked):
        self.asked = asked
        self.seed = asked.seed or random.randrange(1 << 32)
        self.chosen = random.Random(self.seed)
        self.acknowledged, self.again, self.refused = [], 0, 0

    def run(self):
        print(f"seed {self.seed}", flush=True)
        with PostgreSQL() as self.database, tempfile.TemporaryDirectory() as folder:
            self.receivers = {"letter": Mail(), "push": ApplePush(Path(folder)), "webhook": Webhook()}
            self.servers = []
            try:
                for number in range(self.asked.servers):
                    self.servers.append(self.server(number, Path(folder)))
                self.processes = {}
                for server in self.servers:
                    self.start(server)
                self.subscribe(Path(folder))
                for number in range(self.asked.rounds):
                    self.round(number, self.stop if number % 2 else self.kill)
                self.compare()
                assert self.refused or self.asked.rounds < 2, "nobody who slept was refused"
                for server in self.servers:
                    server.stop()
                problems = self.servers[0].command("check")["problems"]
                assert problems == [], problems
            finally:
                for server in self.servers:
                    server.kill()

    def server(self, number, folder):
        metrics = free_port()
        port = {name: receiver.server.port for name, receiver in self.receivers.items()}
        server = Server(self.asked.binary, folder, url(self.database), number, {
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8,::1",
            "LENTICULAR_OUTGOING_APPLE_PUSH_DEVELOPMENT_URL": f"https://localhost:{port['push']}",
            "LENTICULAR_OUTGOING_AUTHORITIES_FILE": str(self.receivers["push"].certificate),
            # Letters name it.
            "LENTICULAR_PUBLIC_BASE_URL": "https://sync.example.org",
            "LENTICULAR_MAIL_SENDER": "smtp", "LENTICULAR_MAIL_HOST": "127.0.0.1",
            "LENTICULAR_MAIL_PORT": str(port["letter"]), "LENTICULAR_MAIL_SECURITY": "none",
            "LENTICULAR_MAIL_FROM": "sync@example.org", "LENTICULAR_METRICS_LISTEN": f"127.0.0.1:{metrics}"})
        server.metrics_port = metrics
        if number > 0:
            (server.data / "containers").symlink_to(folder / "data0/containers")
        elif not server.data.exists():
            server.start()
            server.stop()
        return server

    def start(self, server):
        """Starts it, and finds out as which process the others know it."""
        server.start()
        self.processes[server.identity()] = server

    def subscribe(self, folder):
        """Has a device of a user and a webhook be told of all records."""
        self.caller = provision(self.servers)
        first = self.servers[0]
        first.command(
            "webhook", "add", CONTAINER, "development",
            f"http://127.0.0.1:{self.receivers['webhook'].server.port}/", "--name", "all")
        key = folder / "app.p8"
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", str(key)],
            check=True, stderr=subprocess.DEVNULL)
        first.command(
            "push", "key", "add", CONTAINER, "--topic", "org.example.proof", "--key", str(key), "--key-id", "ABC1234567",
            "--team-id", "TEAM123456")
        self.caller.post("zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]})
        self.caller.post("subscriptions/modify", {"operations": [{"operationType": "create", "subscription": {
            "subscriptionID": "notes", "subscriptionType": "query", "firesOn": ["create"], "zoneID": ZONE["zoneID"],
            "query": {"recordType": "Note"}}}]})
        status, answer = first.ask(
            "POST", f"/device/1/{CONTAINER}/development/tokens/register{self.caller.query}&clientId=device",
            {"apnsEnvironment": "development", "apnsToken": "1a" * 32})
        assert status == 200, answer

    def holders(self):
        """The servers that hold what letters, pushes and webhooks leave by."""
        return [self.processes[process] for process in sorted({holder for _, holder in self.deliverers().values()})]

    def deliverers(self):
        return {
            name: lease for name, lease in leases(self.database).items()
            if name.split()[1] in ("lead", "outbox", "notices")}

    def round(self, number, end):
        for receiver in self.receivers.values():
            receiver.shut()
        name, person = f"held{number}", f"person{number}@example.org"
        must(lambda: save(self.caller, [name]))
        self.acknowledged.append((name, "create"))
        self.chosen.choice(self.servers).command("user", "invite", person)
        until("all three are under way", SECONDS_MAX, lambda: all(self.receivers[kind].held for kind in self.receivers))
        held = {kind: receiver.held[0].delivery for kind, receiver in self.receivers.items()}
        assert held["letter"].content.startswith(person), held
        assert held["push"].content == name and held["webhook"].content == f"create {name}", held
        ended = self.holders()
        others = [server for server in self.servers if server not in ended]
        assert ended and others, "no server is left to take over"
        writers = [
            Writer(Caller([self.chosen.choice(others)], self.caller.query), f"{number}-{index}", WRITER_PAUSE)
            for index in range(self.asked.writers)]
        for writer in writers:
            writer.start()
        began = time.monotonic()
        end(held, ended, person)
        until("all three come again", SECONDS_MAX, lambda: all(
            held[kind] in receiver.taken for kind, receiver in self.receivers.items()))
        took = time.monotonic() - began
        finish(writers)
        self.acknowledged += [change for writer in writers for change in writer.acknowledged]
        self.wait_for_all()
        self.again += len(held)
        print(
            f"round {number + 1}: {end.__name__} of {len(ended)} servers; letter, push and webhook came again within"
            f" {took:.1f} s, with the same identifiers", flush=True)

    def kill(self, _, ended, __):
        for server in ended:
            server.kill()
        for receiver in self.receivers.values():
            receiver.open(answers=False)
        for server in ended:
            self.start(server)

    def stop(self, held, ended, person):
        """Has servers sleep until others have the three under way, and wake up to answers of their own."""
        before = sum(self.told(server) for server in ended)
        for server in ended:
            server.process.send_signal(signal.SIGSTOP)
        try:
            until("others have all three under way", SECONDS_MAX, lambda: all(
                [one.delivery for one in receiver.held].count(held[kind]) > 1
                for kind, receiver in self.receivers.items()))
            taken = self.deliverers()
        finally:
            for server in ended:
                server.process.send_signal(signal.SIGCONT)
        for server in ended:
            server.wait_until_ready()
        for receiver in self.receivers.values():
            receiver.held[0].answer()
        until("those who slept have read their answers", SECONDS_MAX, lambda: (
            self.receivers["letter"].held[0].heard.is_set()
            and sum(self.told(server) for server in ended) >= before + 2))
        if self.leaves_no_trace(held, person, taken):
            self.refused += len(held)
        for receiver in self.receivers.values():
            receiver.open(answers=True)

    def leaves_no_trace(self, held, person, taken):
        """Whether all three wait for those who have them now; false where these have lost their leases, too."""
        identifiers = ", ".join(f"'{held[kind].identifier}'" for kind in ("push", "webhook"))
        for _ in range(10):
            waits = self.database.ask(
                f"SELECT (SELECT count(*) FROM catalog.letters WHERE convert_from(address, 'UTF8') = '{person}'"
                f" AND tries = 0), (SELECT count(*) FROM stores.outbox WHERE lower(convert_from(identifier, 'UTF8')) IN"
                f" ({identifiers})), (SELECT max(failures) FROM stores.destinations)")
            if waits != "1|2|0":
                now = self.deliverers()
                assert now != taken, f"one who slept has gone on: {waits}, {now}"
                print(f"those who took over were slow: {taken} are {now}", flush=True)
                return False
            time.sleep(0.1)
        return True

    def told(self, server):
        """Of how many notices a server knows what came of them."""
        with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return sum(
            int(float(line.split()[-1])) for line in lines
            if line.startswith(("lenticular_notices_sent_total", "lenticular_notices_failed_total")))

    def wait_for_all(self):
        """Each device and webhook hears of all, however much waits; it fails where nothing more comes."""
        names = {name for name, _ in self.acknowledged}
        for kind, wanted in (("push", names), ("webhook", {f"create {name}" for name in names})):
            while lacking := wanted - self.receivers[kind].contents():
                until(f"the {kind} hears of {len(lacking)} records, {sorted(lacking)[:5]}", SECONDS_MAX, lambda: not (
                    lacking <= wanted - self.receivers[kind].contents()))

    def compare(self):
        names = {name for name, _ in self.acknowledged}
        repeats = 0
        for kind, receiver in self.receivers.items():
            identifiers = {}
            for delivery in receiver.taken:
                identifiers.setdefault(delivery.content, set()).add(delivery.identifier)
            doubled = {content: ids for content, ids in identifiers.items() if len(ids) > 1}
            assert not doubled, f"{kind}: one thing under several identifiers: {list(doubled.items())[:5]}"
            repeats += len(receiver.taken) - len(identifiers)
        print(
            f"{self.asked.rounds} rounds of {len(self.servers)} servers: {self.again} deliveries came again,"
            f" {self.refused} steps of those who slept were refused; {len(names)} records, the device and the webhook"
            f" heard of each; {repeats} deliveries came twice, as the same", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # One more than there are leases: one is left, whoever holds them.
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    Deliveries(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
