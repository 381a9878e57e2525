#!/usr/bin/env python3
"""Containers that move between SQLite and PostgreSQL, and from one database to another, by `storage copy`.

    SERVER_BINARY=FILE STORAGE_COPY_KILLS=N Tests/postgres/moving.py

What Tests/acceptance/storage_copy.py does between folders; the binary must have the engine on PostgreSQL.
"""

import sys
from pathlib import Path

from postgresql import PostgreSQL

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "acceptance"))
import storage_copy  # noqa: E402
from databases import databases  # noqa: E402


def main():
    with PostgreSQL(fsync="off") as database_server:
        database = databases(database_server.folder)
        ways = [(storage_copy.Files, database), (database, storage_copy.Files), (database, database)]
        for way in ways:
            print("storage copy:", " to ".join(kind.__name__ for kind in way), flush=True)
            storage_copy.all_of(*way)


if __name__ == "__main__":
    main()
