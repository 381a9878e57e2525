#!/usr/bin/env python3
"""Has the disk of a PostgreSQL become full under a server of ours, and makes room again.

    Tests/postgres/full_disk.py [--writers N] [--binary FILE]

The database lies on a small disk (tmpfs, for which this has to be root's): first its tables alone, then its log of writes,
too, without which PostgreSQL itself ends. Writers save until they are refused. Nothing may come of it but
`TRY_AGAIN_LATER`; once there is room, saves are done again, by the same process, and what was acknowledged is there.
"""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from postgresql import PostgreSQL, run, url
from servers import Server, provision
from tasks import Task, finish

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Shelf"}}
DISK_BYTES, FREE_BYTES = 512 << 20, 48 << 20
TEXT_BYTES = 20_000
REFUSALS_WANTED = 20
WAIT_SECONDS_MAX = 180


class SmallDisk(PostgreSQL):
    def __init__(self, log_folder=None):
        super().__init__(shared_buffers="32MB", max_wal_size="64MB", min_wal_size="32MB")
        owner = pwd.getpwnam("postgres").pw_uid
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=700,uid={owner}", "tmpfs", self.folder], check=True)
        if log_folder:
            shutil.chown(log_folder, "postgres")
            self.made_with = ("-X", f"{log_folder}/wal")

    def __exit__(self, *_):
        self.runs = self.lives
        self.crash()
        subprocess.run(["umount", self.folder], check=True)
        self.folder.rmdir()

    @property
    def ballast(self):
        return self.folder / "ballast"

    def fill(self):
        """Leaves so much room that saves take it soon."""
        with self.ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(self.folder).free - FREE_BYTES)

    @property
    def lives(self):
        try:
            run("pg_ctl", "-D", str(self.data), "status")
        except RuntimeError:
            return False
        return True

    def make_room(self):
        self.ballast.unlink()
        self.stands()

    def stands(self):
        """Starts it, where it has ended."""
        if not self.lives:
            self.start()
        return True


class Writer(Task):
    """Saves records under names that nobody uses again."""

    def __init__(self, caller, label):
        super().__init__()
        self.caller, self.label, self.count = caller, label, 0
        self.acknowledged, self.refused = [], 0

    def step(self):
        self.count += 1
        name = f"{self.label}-{self.count}"
        # Nothing that the database could make smaller.
        record = {"recordName": name, "recordType": "Note", "fields": {"text": {"value": os.urandom(TEXT_BYTES).hex()}}}
        answer = self.caller.post(
            "records/modify", ZONE | {"operations": [{"operationType": "create", "record": record}]})
        if answer is None:
            self.refused += 1
            time.sleep(0.05)
            return
        if any("serverErrorCode" in record for record in answer["records"]):
            raise RuntimeError(f"{answer['records']}")
        self.acknowledged.append(name)


def until(words, writers, holds):
    end = time.monotonic() + WAIT_SECONDS_MAX
    while not holds():
        for writer in writers:
            if writer.failure:
                raise writer.failure
        if time.monotonic() > end:
            raise RuntimeError(f"waited in vain until {words}")
        time.sleep(0.1)


def names(caller):
    """All that the zone has."""
    found, token, more = [], None, True
    while more:
        entry = ZONE | ({"syncToken": token} if token else {})
        page = caller.post("changes/zone", {"zones": [entry], "desiredKeys": []})["zones"][0]
        found += [record["recordName"] for record in page["records"]]
        token, more = page["syncToken"], page["moreComing"]
    return found


def prove(asked, words, log_folder=None):
    with SmallDisk(log_folder) as database, tempfile.TemporaryDirectory() as folder:
        server = Server(asked.binary, Path(folder), url(database))
        server.start()
        try:
            caller = provision([server])
            caller.post("zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]})
            writers = [Writer(caller, number) for number in range(asked.writers)]
            database.fill()
            for writer in writers:
                writer.start()
            until("saves are refused", writers, lambda: sum(writer.refused for writer in writers) >= REFUSALS_WANTED)
            outlived = database.lives
            assert outlived or not log_folder, "PostgreSQL has ended, though its log had room"
            before = [len(writer.acknowledged) for writer in writers]
            database.make_room()
            began = time.monotonic()
            # Without room for its log it may be about to end.
            until("each saves again", writers, lambda: (log_folder or database.stands()) and all(
                len(writer.acknowledged) > count for writer, count in zip(writers, before)))
            took = time.monotonic() - began
            finish(writers)
            found = names(caller)
            acknowledged = {name for writer in writers for name in writer.acknowledged}
            assert len(set(found)) == len(found)
            if missing := acknowledged - set(found):
                raise RuntimeError(f"lost: {len(missing)} of {len(acknowledged)}")
            assert server.process.poll() is None, "the server ended"
            server.stop()
            problems = server.command("check")["problems"]
            assert problems == [], problems
            print(
                f"{words}: {len(acknowledged)} records acknowledged and there,"
                f" {sum(writer.refused for writer in writers)} refused; PostgreSQL {'went on' if outlived else 'ended'};"
                f" each writer saved again {took:.1f} s after there was room", flush=True)
        finally:
            server.kill()


def may_mount():
    """Root in a container often may not."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        tried = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", folder], capture_output=True)
        if tried.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return tried.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    asked = parser.parse_args()
    if not may_mount():
        print("left out: a full disk, which only one who may mount can have for a test")
        return 1 if os.environ.get("CI_REQUIRE_ALL") else 0
    with tempfile.TemporaryDirectory(dir="/tmp") as log_folder:
        prove(asked, "tables on a full disk", log_folder)
    prove(asked, "all of it on a full disk")


if __name__ == "__main__":
    sys.exit(main())
