"""The C programs of this folder: the load generator, and the loops that measure SQLite and PostgreSQL."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
SCHEMA = sorted((REPOSITORY / "migrations/sqlite/store").glob("*.sql"))
# The server's own sums; the word that Swift reads in their header is not C's.
CHECKSUM = REPOSITORY / "Sources/System/CChecksum"
SUMS = [str(CHECKSUM / "CChecksum.c"), "-D_Nullable=", "-I", str(CHECKSUM / "include")]
FLAGS = ["-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"]


def module(path):
    """A module that tests have, too."""
    made = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(made)
    made.loader.exec_module(loaded)
    return loaded


POSTGRESQL = module(REPOSITORY / "Tests/postgres/postgresql.py")


def options(values):
    """Keyword arguments as long options: `per_page=200` is `--per-page 200`."""
    result = []
    for name, value in values.items():
        if value is False or value is None:
            continue
        result.append("--" + name.replace("_", "-"))
        if value is not True:
            result.append(str(value))
    return result


class Programs:
    def __init__(self, folder):
        self.load_path = folder / "load"
        self.limits_path = folder / "limits"
        self.queries_path = folder / "queries"
        self.postgres_path = folder / "postgres"

    def compile(self):
        load = [str(path) for path in sorted((HERE / "load").glob("*.c"))]
        subprocess.run(["cc", *FLAGS, "-o", str(self.load_path), *load], check=True)
        limits = [
            str(HERE / path) for path in ("limits/limits.c", "limits/names.c", "load/latency.c")]
        subprocess.run(
            ["cc", *FLAGS, "-o", str(self.limits_path), *limits, *SUMS, "-lsqlite3", "-lm"],
            check=True)
        queries = [str(HERE / "limits/queries.c"), str(HERE / "load/latency.c")]
        subprocess.run(
            ["cc", *FLAGS, "-o", str(self.queries_path), *queries, "-lsqlite3", "-lm"],
            check=True)

    def limit_postgres(self, loop, **values):
        """Asks libpq for the same as the server does; compiled by the one part that needs it."""
        if not self.postgres_path.exists():
            library = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "libpq"], check=True, capture_output=True, text=True)
            sources = [str(HERE / "limits/postgres.c"), str(HERE / "load/latency.c"), *SUMS]
            subprocess.run(
                ["cc", *FLAGS, "-D_DEFAULT_SOURCE", "-o", str(self.postgres_path), *sources,
                 *library.stdout.split(), "-lm"], check=True)
        os.sync()
        done = subprocess.run(
            [str(self.postgres_path), loop, *options(values)],
            check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def start_load(self, workload, **values):
        return subprocess.Popen(
            [str(self.load_path), workload, *options(values)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def load(self, workload, **values):
        """Runs one workload to its end."""
        return self.finish(self.start_load(workload, **values))

    def load_together(self, *workloads):
        """Prepares several workloads, lets them begin at once, and waits for all of them."""
        processes = [self.start_load(name, gate=True, **values) for name, values in workloads]
        for process in processes:
            if process.stdout.readline() != "prepared\n":
                raise RuntimeError("a load generator did not get ready")
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        return [self.finish(process) for process in processes]

    def sample(self, **values):
        """The records that `save` sends, by name."""
        lines = subprocess.run(
            [str(self.load_path), "sample", *options(values)],
            check=True, capture_output=True).stdout.splitlines()
        return {record["recordName"]: record for record in map(json.loads, lines)}

    def limit(self, loop, **values):
        os.sync()
        schema = [part for path in SCHEMA for part in ("--schema", str(path))]
        done = subprocess.run(
            [str(self.limits_path), loop, *(schema if loop == "write" else []), *options(values)],
            check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def limit_queries(self, kind, **values):
        """Asks the server's own file with hand-written SQL."""
        done = subprocess.run(
            [str(self.queries_path), kind, *options(values)],
            check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    @staticmethod
    def finish(process):
        output, _ = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"a load generator ended with {process.returncode}")
        return json.loads(output.splitlines()[-1])
