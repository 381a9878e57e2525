"""PostgreSQL as processes of a test's own, each in a temporary folder and reached by a socket there.

PostgreSQL refuses to run as root: then the user `postgres` runs it.
"""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

DATABASE = "lenticular"
STANDBY_SECONDS_MAX = 60
SETTINGS = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "512MB", "max_wal_size": "4GB"}


def program(name):
    """A program of the newest version that is installed; None where none is."""
    if found := shutil.which(name):
        return found
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    return str(versions[-1]) if versions else None


def run(name, *words):
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    # A server that stays must not hold the pipes that its starter's words come by.
    with tempfile.TemporaryFile("w+") as told:
        done = subprocess.run(
            [*as_user, program(name), *words], cwd="/", stdin=subprocess.DEVNULL, stdout=told,
            stderr=subprocess.STDOUT, timeout=600)
        told.seek(0)
        words_told = told.read()
    if done.returncode != 0:
        raise RuntimeError(f"{name} {words}: {words_told}")
    return words_told


class PostgreSQL:
    """A server with one database, as a primary or as the standby of another."""

    # What `initdb` is told beside.
    made_with = ()

    def __init__(self, **settings):
        self.settings = SETTINGS | settings
        # Where root's temporary folder is its own, the user that runs it may not enter it.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.runs = False

    @property
    def data(self):
        return self.folder / "data"

    def __enter__(self):
        run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
            *self.made_with)
        self.start()
        run("createdb", "-h", str(self.folder), "-U", "postgres", DATABASE)
        return self

    def __exit__(self, *_):
        self.crash()
        shutil.rmtree(self.folder)

    def start(self):
        options = " ".join(f"-c {name}={value!r}" for name, value in self.settings.items())
        run("pg_ctl", "-D", str(self.data), "-w", "-t", "600", "-s", "-l", str(self.folder / "log"),
            "-o", f"-k {self.folder} {options}", "start")
        self.runs = True

    def crash(self):
        """Ends it as a machine does that stops."""
        if self.runs:
            run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-s", "stop")
            self.runs = False

    def wait_for(self, standby):
        """Has every commit wait for a standby of that name from now on; for none where it is empty."""
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'")
        self.ask("SELECT pg_reload_conf()")

    def follow(self, primary, name):
        """Begins anew as a standby of a server, under a name that it may wait for."""
        self.crash()
        if self.data.exists():
            shutil.rmtree(self.data)
        run("pg_basebackup", "-D", str(self.data), "-R", "-X", "stream", "-c", "fast",
            "-d", f"host={primary.folder} user=postgres application_name={name}")
        self.start()

    def promote(self):
        """Returns once it takes writes."""
        run("pg_ctl", "-D", str(self.data), "-w", "-t", "600", "-s", "promote")

    def ask(self, query):
        return run("psql", "-h", str(self.folder), "-U", "postgres", "-At", "-c", query, DATABASE).strip()

    @contextmanager
    def snapshot(self):
        """Keeps a snapshot open, as a dump or a long report does, so that nothing newer than it is cleared away."""
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        with subprocess.Popen(
                [*as_user, program("psql"), "-h", str(self.folder), "-U", "postgres", "-At", DATABASE], cwd="/",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            reader.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'open';\n")
            reader.stdin.flush()
            while reader.stdout.readline() != "open\n":
                assert reader.poll() is None, "psql has ended"
            yield
            reader.stdin.close()

    @property
    def words(self):
        """How libpq reaches the database."""
        return f"host={self.folder} user=postgres dbname={DATABASE}"


@contextmanager
def primary(**settings):
    """A server that takes writes; with TEST_POSTGRES_STANDBY=1 each of its commits waits for a standby."""
    with PostgreSQL(**settings) as server:
        if os.environ.get("TEST_POSTGRES_STANDBY") != "1":
            yield server
            return
        with PostgreSQL(**settings) as standby:
            standby.follow(server, "standby")
            server.wait_for("standby")
            end = time.monotonic() + STANDBY_SECONDS_MAX
            while server.ask("SELECT sync_state FROM pg_stat_replication") != "sync":
                if time.monotonic() > end:
                    raise RuntimeError("no commit waits for the standby")
                time.sleep(0.02)
            yield server


def url(*servers):
    """How a server of ours reaches the one of them that takes writes."""
    hosts = ",".join(str(server.folder) for server in servers)
    return f"postgresql://postgres@/{DATABASE}?host={hosts}&target_session_attrs=read-write"
