"""What the parts of a run need of the machine, looked for before the first begins."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import machine
import nginx
from programs import POSTGRESQL

# By part: programs, with Debian's packages that have them.
PROGRAMS = {
    "measures": {"nginx": "nginx"},
    "assets": {"nginx": "nginx", "wrk": "wrk", "dd": "coreutils"},
    "fairness": {"openssl": "openssl"},
    "peers": {"redis-server": "redis-server"},
    "client": {"swift": None},
    "postgres": {"initdb": "postgresql", "pkg-config": "libpq-dev pkgconf"},
    "javascript": {"chromium": "chromium"},
}
# What Tests/javascript has installed, for the part that drives a browser.
PLAYWRIGHT = Path(__file__).resolve().parent.parent / ".build/acceptance-venv/bin/playwright"
# Of the limit on open files, what idle connections may take: the rest is for databases and the like.
IDLE_SHARE = 0.75


def has(program):
    if program == "nginx":
        return nginx.program() is not None
    return (POSTGRESQL.program(program) if program == "initdb" else shutil.which(program)) is not None


def missing(part):
    """The programs that a part needs and that are not here, as words."""
    found = []
    for program, package in PROGRAMS.get(part, {}).items():
        if not has(program):
            found.append(f"{program} (apt-get install {package})" if package else program)
    if part == "javascript" and not PLAYWRIGHT.exists():
        found.append("Playwright (make javascript-test installs it)")
    return ", ".join(found)


def has_compiler():
    """Whether the programs of this folder can be built."""
    if shutil.which("cc") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "try.c"
        source.write_text("#include <sqlite3.h>\nint main(void) { return 0; }\n")
        return subprocess.run(
            ["cc", "-o", str(source.with_suffix("")), str(source), "-lsqlite3"],
            capture_output=True).returncode == 0


def idle_connections(wanted):
    """As many as the limit on open files lets the server and the load generator have."""
    limit = machine.raise_open_files()
    allowed = int(limit * IDLE_SHARE)
    if allowed >= wanted:
        return wanted
    print(f"{allowed:,} idle connections in place of {wanted:,}: "
          f"the limit on open files is {limit:,} (ulimit -n)", flush=True)
    return allowed
