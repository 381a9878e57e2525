#!/usr/bin/env python3
"""Runs the acceptance scripts with a server on PostgreSQL, each server in a database of its own.

Without names, all but those that are left out, which it names with the reason; a binary with the trait is needed. With
TEST_POSTGRES_STANDBY=1 each commit waits for a standby.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from postgresql import primary, run

SCRIPTS = Path(__file__).resolve().parent.parent / "acceptance"
LEFT = {
    "guides.py": "the commands of the pages start their servers themselves, each with a folder",
    "going_back.py": "an upgrade copies SQLite's files; the database's own backup is what one goes back to on PostgreSQL",
    "readme-commands.sh": "`make serve` builds the server without the trait",
    "systemd.py": "the unit's filter of system calls and its drop-ins are of the process, whatever its engine",
}
PARTS = {
    "canonical.py", "chromium.py", "client.py", "console.py", "console_actions.py", "console_sheets.py", "copy_kills.py",
    "databases.py", "listener.py", "movable.py", "object_store.py", "provider.py", "server.py", "viewer.py",
    "web_client.py", "web_firefox.py", "web_share.py", "web_store.py"}


def chosen(names):
    every = sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh"))
    if not names:
        for name, reason in LEFT.items():
            print(f"left out: {name}: {reason}", flush=True)
    return names or [name for name in every if name not in LEFT.keys() | PARTS]


def command(name, database):
    """What runs a script, and what its servers' environment says: those of Python make a database for each server."""
    if name.endswith(".py"):
        return [sys.executable, str(SCRIPTS / name)], {"TEST_POSTGRES": str(database.folder)}
    own = name.removesuffix(".sh")
    run("createdb", "-h", str(database.folder), "-U", "postgres", own)
    return ["bash", str(SCRIPTS / name)], {
        "LENTICULAR_STORAGE_ENGINE": "postgres",
        "LENTICULAR_STORAGE_POSTGRES_URL": f"postgresql://postgres@/{own}?host={database.folder}"}


def used(database):
    """The databases in which a server has made its tables."""
    names = database.ask("SELECT datname FROM pg_database WHERE datallowconn AND datname <> 'template1'").split()
    words = ["-h", str(database.folder), "-U", "postgres", "-At", "-c", "SELECT to_regclass('catalog.containers')"]
    return {name for name in names if run("psql", *words, "-d", name).strip()}


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--binary", type=Path, required=True, help="a server with the trait PostgreSQL")
    asked.add_argument("scripts", nargs="*", help="names of scripts")
    asked = asked.parse_args()
    failed = []
    with primary() as database:
        environment = os.environ | {"SERVER_BINARY": str(asked.binary.resolve())}
        for name in chosen(asked.scripts):
            began = time.monotonic()
            words, settings = command(name, database)
            before = used(database)
            process = subprocess.Popen(words, env=environment | settings, stdin=subprocess.DEVNULL)
            try:
                status = process.wait()
            except KeyboardInterrupt:
                # The script is interrupted as well, and says where it was.
                print(f"{name} is interrupted", flush=True)
                process.wait(timeout=50)
                raise
            took = time.monotonic() - began
            where = "PostgreSQL with a standby" if os.environ.get("TEST_POSTGRES_STANDBY") == "1" else "PostgreSQL"
            print(f"{'passed' if status == 0 else 'FAILED'} {name} on {where} ({took:.0f} s)", flush=True)
            if status != 0:
                failed.append(name)
            elif not used(database) - before:
                failed.append(f"{name} (its servers made no tables in a database)")
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
