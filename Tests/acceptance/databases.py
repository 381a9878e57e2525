"""Servers that keep their data in databases of their own on one PostgreSQL, for what copies from one to another."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from server import Server


def databases(socket_folder):
    """A kind of servers on the PostgreSQL that is reached by a socket in a folder."""

    def ask(program, *words):
        subprocess.run(
            [program, "-h", str(socket_folder), "-U", "postgres", *words], check=True, stdin=subprocess.DEVNULL,
            timeout=120)

    class Database(Server):
        count = 0

        def __init__(self):
            super().__init__()
            Database.count += 1
            self.database = f"moving{Database.count}"
            ask("createdb", self.database)
            self.file = Path(tempfile.mkdtemp()) / "settings.json5"
            self.file.write_text(json.dumps({
                "data": self.data, "storage": {"engine": "postgres", "postgresURL": self.url}}))

        def __exit__(self, *failure):
            super().__exit__(*failure)
            shutil.rmtree(self.file.parent)

        @property
        def url(self):
            return f"postgresql://postgres@/{self.database}?host={socket_folder}"

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
            ask("dropdb", "--force", self.database)
            ask("createdb", self.database)

        def record_count(self):
            # One that was killed early has no tables.
            counted = subprocess.run(
                ["psql", "-h", str(socket_folder), "-U", "postgres", "-At", "-d", self.database, "-c",
                 "SELECT count(*) FROM stores.records"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            return int(counted.stdout) if counted.returncode == 0 else 0

        def change_row(self):
            ask("psql", "-q", "-d", self.database, "-c", "UPDATE stores.zones SET created = created + 1")

    return Database
