"""PgBouncer before a PostgreSQL, as a process of a test's own, reached by a socket in its folder."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from postgresql import DATABASE, program

PORT = 6432
CONFIGURATION = """
[databases]
{database} = host={socket} dbname={database}
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
admin_users = postgres
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 1000
# How long a session waits for a place before it is cut off.
query_wait_timeout = 120
{further}
"""


class PgBouncer:
    """Refuses root: then the user `postgres` runs it, as PostgreSQL."""

    def __init__(self, database, size, mode="session", further=""):
        """Further lines are of its settings."""
        self.folder = Path(tempfile.mkdtemp(prefix="pooler-", dir="/tmp"))
        (self.folder / "users").write_text('"postgres" ""\n')
        (self.folder / "pgbouncer.ini").write_text(CONFIGURATION.format(
            database=DATABASE, socket=database.folder, folder=self.folder, port=PORT, mode=mode, size=size,
            further=further))
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.iterdir()):
                shutil.chown(path, "postgres")

    @staticmethod
    def is_installed():
        return shutil.which("pgbouncer") is not None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder)

    def start(self):
        as_user = ["-u", "postgres"] if os.geteuid() == 0 else []
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["pgbouncer", *as_user, str(self.folder / "pgbouncer.ini")], cwd="/", stdout=log, stderr=log)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            if subprocess.run(self.psql("pgbouncer", "-c", "SHOW VERSION"), cwd="/", capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError(f"PgBouncer does not start: {(self.folder / 'log').read_text()[-2000:]}")

    def kill(self):
        """Ends it as a machine does that stops."""
        self.process.kill()
        self.process.wait()

    @property
    def url(self):
        """How a server of ours reaches the database by it."""
        return f"postgresql://postgres@/{DATABASE}?host={self.folder}&port={PORT}"

    def psql(self, database, *words):
        return [program("psql"), "-h", str(self.folder), "-p", str(PORT), "-U", "postgres", "-At", *words, database]

    def shows(self, list_name):
        """The rows of one of its own lists, each with the names of its columns."""
        words = [word for word in self.psql("pgbouncer", "-c", f"SHOW {list_name}") if word != "-At"]
        lines = subprocess.run(
            [*words, "-A", "-P", "footer=off"], cwd="/", check=True, capture_output=True, text=True).stdout.splitlines()
        names = lines[0].split("|")
        rows = [dict(zip(names, line.split("|"))) for line in lines[1:]]
        return [row for row in rows if row["database"] == DATABASE]

    @property
    def places(self):
        """The processes of PostgreSQL that it has given out, or has to give."""
        return [row["remote_pid"] for row in self.shows("SERVERS")]

    def hold(self, count):
        """So many sessions that ask for a place, and have it until they are ended."""
        before = len(self.shows("CLIENTS"))
        held = [
            subprocess.Popen(self.psql(DATABASE), cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)]
        for one in held:
            one.stdin.write("SELECT 'has a place';\n")
            one.stdin.flush()
        return held
