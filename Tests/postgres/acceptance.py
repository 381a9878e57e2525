#!/usr/bin/env python3
"""Runs the acceptance scripts with a server on PostgreSQL, each server in a database of its own.

Without names, all that know no engine by its files; a binary with the trait is needed.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from postgresql import PostgreSQL

SCRIPTS = Path(__file__).resolve().parent.parent / "acceptance"
# What is about SQLite's files, or about no server of ours.
FILES = {"going_back.py", "systemd.py"}
PARTS = {
    "canonical.py", "chromium.py", "client.py", "console.py", "console_actions.py", "databases.py", "listener.py",
    "object_store.py", "provider.py", "server.py", "viewer.py", "web_client.py", "web_firefox.py", "web_share.py",
    "web_store.py"}


def chosen(names):
    every = sorted(path.name for path in SCRIPTS.glob("*.py"))
    return names or [name for name in every if name not in FILES | PARTS]


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--binary", type=Path, required=True, help="a server with the trait PostgreSQL")
    asked.add_argument("scripts", nargs="*", help="names of scripts")
    asked = asked.parse_args()
    failed = []
    with PostgreSQL() as database:
        environment = os.environ | {
            "SERVER_BINARY": str(asked.binary.resolve()), "TEST_POSTGRES": str(database.folder)}
        for name in chosen(asked.scripts):
            began = time.monotonic()
            done = subprocess.run(
                [sys.executable, str(SCRIPTS / name)], env=environment, stdin=subprocess.DEVNULL)
            took = time.monotonic() - began
            print(f"{'passed' if done.returncode == 0 else 'FAILED'} {name} on PostgreSQL ({took:.0f} s)", flush=True)
            if done.returncode != 0:
                failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
