#!/usr/bin/env python3
"""Containers that move between SQLite and PostgreSQL, and from one database to another, by `storage copy`.

    SERVER_BINARY=FILE STORAGE_COPY_KILLS=N Tests/postgres/moving.py

What Tests/acceptance/storage_copy.py does between folders; the binary must have the engine on PostgreSQL.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from postgresql import PostgreSQL

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "acceptance"))
import storage_copy  # noqa: E402
from server import Server  # noqa: E402


def databases(database_server):
    """A kind of servers that keep their data in databases of their own on one PostgreSQL."""

    class Database(Server):
        count = 0

        def __init__(self):
            super().__init__()
            Database.count += 1
            self.database = f"moving{Database.count}"
            database_server.ask(f"CREATE DATABASE {self.database}")
            self.file = Path(tempfile.mkdtemp()) / "settings.json5"
            self.file.write_text(json.dumps({
                "data": self.data, "storage": {"engine": "postgres", "postgresURL": self.url}}))

        def __exit__(self, *failure):
            super().__exit__(*failure)
            shutil.rmtree(self.file.parent)

        @property
        def url(self):
            return f"postgresql://postgres@/{self.database}?host={database_server.folder}"

        @property
        def settings(self):
            return ["--config", str(self.file)]

        @property
        def others_settings(self):
            return ["--to-config", str(self.file)]

        def started(self, arguments, **outputs):
            return super().started([*arguments, *self.settings], **outputs)

        def command(self, *words):
            return super().command(*words, *self.settings)

        def empty(self):
            shutil.rmtree(self.data, ignore_errors=True)
            database_server.ask(f"DROP DATABASE {self.database} WITH (FORCE)")
            database_server.ask(f"CREATE DATABASE {self.database}")

    return Database


def main():
    with PostgreSQL(fsync="off") as database_server:
        database = databases(database_server)
        ways = [(storage_copy.Files, database), (database, storage_copy.Files), (database, database)]
        for way in ways:
            print("storage copy:", " to ".join(kind.__name__ for kind in way), flush=True)
            storage_copy.moves(*way)
            storage_copy.refusals(*way)
            storage_copy.kills(*way)


if __name__ == "__main__":
    main()
