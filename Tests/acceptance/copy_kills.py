"""All containers of a server are copied to another one, and what copies them is killed at random moments.

By turns that is the command, which copies by itself; the server of the source, which serves and copies for the command; or
the command that waits for it. In between, the server of the destination begins and is killed. In the end each record and
each file of each container is there once, as it was; accounts have the ids that they had; and sync tokens, web tokens, API
tokens and server keys of each container go on.
"""

import collections
import itertools
import json
import os
import random
import subprocess
import time

from client import Signer
from movable import CONTAINER, OTHER, ZONE, Device, Files, accounts, ask_signed, check, copying
from server import BINARY

KILLS = int(os.environ.get("STORAGE_COPY_KILLS", "50"))
THIRD = "iCloud.org.example.Third"
# Who uses it, and how many records and files they save there.
USES = (
    (CONTAINER, "development", "ada@example.org", 3_000, 12),
    (OTHER, "development", "bea@example.org", 800, 6),
    (THIRD, "development", "ada@example.org", 100, 2),
    (THIRD, "production", "bea@example.org", 400, 4))
VICTIMS = ("command", "server", "waiting command")
# How long a server may go on with a copy for which nobody waits any more.
NOTICE_SECONDS_MAX = 30
# So often the destination's server begins behind a killed copy, and is killed in its turn.
DESTINATIONS_PERCENT = 25


class Use:
    """What one user has in a container environment, with a device that has read all of it."""

    def __init__(self, server, container, environment, email, records, files):
        self.container, self.environment = container, environment
        self.device = Device(server, email, container, environment)
        self.signer = Signer.make(server, container, environment)
        self.device.make_zone(server)
        self.texts, self.files = self.device.fill(server, records, files)
        _, self.token = self.device.changes(server)

    def require_all(self, server):
        """Requires all of it to be there once, by the tokens of before."""
        found, later = self.device.changes(server, self.token)
        assert found == [] and later == self.token, (len(found), later)
        records, _ = self.device.records(server)
        names = sorted(record["recordName"] for record in records)
        assert names == sorted([*self.texts, *self.files]), f"{len(names)} records of {self.container}"
        texts = {
            record["recordName"]: record["fields"]["text"]["value"] for record in records if "text" in record["fields"]}
        assert texts == self.texts, f"records of {self.container} are not as they were"
        for name, data in self.files.items():
            assert self.device.load(server, name) == data, f"{name} of {self.container} is not as it was"
        ask_signed(server, self.signer, self.container, self.environment)

    def go_on(self, server, name):
        """Saves by the tokens and the key of before, and finds it behind the sync token."""
        self.device.save(server, [name], {"text": {"value": name}})
        self.texts[name] = name
        found, self.token = self.device.changes(server, self.token)
        assert found == [name], found

    def status(self, server):
        """200, or 503 where the container is out of use."""
        status, data = self.device.post(server, "changes/zone", {"zones": [{"zoneID": ZONE}]})
        assert status == 200 or json.loads(data)["serverErrorCode"] == "TRY_AGAIN_LATER", (status, data)
        return status

    def is_known(self, server):
        status, data = self.device.post(server, "changes/zone", {"zones": [{"zoneID": ZONE}]})
        assert status in (200, 401), (self.container, status, data[:500])
        return status == 200


def kill(server):
    server.process.kill()
    server.process.wait()


class Kills:
    def __init__(self, here, there, chance):
        self.here, self.there, self.chance = here, there, chance
        self.killed, self.continued, self.destinations, self.arrived = collections.Counter(), 0, 0, 0
        # How long a copy takes, and when the last one was cut short.
        self.seconds = self.killed_at = 0

    def run(self):
        self.here.start()
        for container in CONTAINER, OTHER, THIRD:
            self.here.command("container", "create", container)
        for email in "ada@example.org", "bea@example.org", "cara@example.org":
            self.here.command("user", "create", email)
        self.uses = []
        for use in USES:
            if use[1] == "production":
                self.here.command("schema", "deploy", use[0], "--yes")
            self.uses.append(Use(self.here, *use))
        accounts_before = accounts(self.here)
        assert len(set(accounts_before.values())) == 3, accounts_before
        self.stop(self.here)
        began = time.monotonic()
        self.complete()
        self.seconds = time.monotonic() - began
        self.begin_anew()
        victims = itertools.cycle(VICTIMS)
        victim = next(victims)
        while self.killed.total() < KILLS:
            if self.attempt(victim):
                self.look(victim)
                victim = next(victims)
        self.complete()
        self.compare(accounts_before)
        print(
            f"storage copy: {KILLS} kills {dict(self.killed)}; {self.continued} killed copies had gone on with what was"
            f" there; {self.destinations} servers there killed in between; {len(self.uses)} container environments are"
            " there once", flush=True)

    # MARK: Copies

    def begin(self):
        return subprocess.Popen(
            [BINARY, *copying(self.here, self.there)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def attempt(self, victim):
        """Begins a copy and kills somebody; whether that came in time."""
        if victim == "command":
            self.stop(self.here)
        else:
            self.start(self.here)
        process = self.begin()
        try:
            process.wait(timeout=self.chance.uniform(0, self.seconds))
        except subprocess.TimeoutExpired:
            if victim == "server":
                kill(self.here)
            else:
                process.kill()
        _, errors = process.communicate(timeout=600)
        if process.returncode == 0:
            self.begin_anew()
            return False
        if self.is_in_use(errors):
            return False
        assert victim == "server" or process.returncode < 0, (victim, process.returncode, errors)
        self.killed[victim] += 1
        self.killed_at = time.monotonic()
        count = self.there.record_count()
        # What has come stays: who goes on brings only the rest.
        assert count >= self.arrived, f"of {self.arrived} records {count} were left by a copy that went on"
        self.continued += self.arrived > 0
        self.arrived = count
        return True

    def is_in_use(self, errors):
        """Whether the server has not noticed yet that nobody waits for the copy before; it does soon."""
        if "stop the server there first" not in errors:
            return False
        assert time.monotonic() < self.killed_at + NOTICE_SECONDS_MAX, errors
        time.sleep(0.05)
        return True

    def complete(self):
        while True:
            process = self.begin()
            _, errors = process.communicate(timeout=600)
            if process.returncode == 0:
                return
            assert self.is_in_use(errors), errors

    def begin_anew(self):
        self.there.empty()
        self.arrived = 0

    # MARK: Servers

    def start(self, server):
        if server.process is None or server.process.poll() is not None:
            server.start()

    def stop(self, server):
        if server.process and server.process.poll() is None:
            server.stop()

    def look(self, victim):
        """Looks whether nobody uses here what is half on its way, and nobody finds it there."""
        self.start(self.here)
        marked = {
            container["container"] for container in self.here.command("container", "list")["containers"]
            if "moved" in container["settings"]}
        for use in self.uses:
            assert (use.status(self.here) == 503) == (use.container in marked), (use.container, marked)
        if self.arrived:
            assert len(marked) == 3, f"records have gone out of containers in use: {marked}"
        # The server may not have noticed yet that nobody waits.
        if victim != "waiting command" and self.chance.randrange(100) < DESTINATIONS_PERCENT:
            self.there.start()
            # Nobody finds a part; all of it, where the kill came behind the catalog's last step.
            known = {use.is_known(self.there) for use in self.uses}
            assert len(known) == 1, "some containers are known, and others are not"
            if known == {True}:
                for use in self.uses:
                    use.require_all(self.there)
            kill(self.there)
            self.killed_at = time.monotonic()
            self.destinations += 1

    # MARK: The end

    def compare(self, accounts_before):
        found = check(self.there)
        # Of a file that was there when a kill came, the checksum beside it may not have been: check makes it again.
        assert found.splitlines()[0] == "no problems", found
        self.there.start()
        for use in self.uses:
            use.require_all(self.there)
        assert accounts(self.there) == accounts_before, "accounts have other ids"
        # Both servers end as a machine does that stops; the one goes on, the other is left.
        for number in range(2):
            for use in self.uses:
                use.go_on(self.there, f"later{number}")
            self.there.kill_and_restart()
            for use in self.uses:
                use.require_all(self.there)
        self.start(self.here)
        self.here.kill_and_restart()
        for use in self.uses:
            assert use.status(self.here) == 503, use.container


def kills(kind_here=Files, kind_there=Files):
    seed = int(os.environ.get("STORAGE_COPY_SEED", random.randrange(1 << 32)))
    print(f"storage copy: {KILLS} kills, STORAGE_COPY_SEED={seed}", flush=True)
    with kind_here() as here, kind_there() as there:
        Kills(here, there, random.Random(seed)).run()
