#!/usr/bin/env python3
"""Measures the release server beside the limits of the machine; see docs/performance.md."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import goals
import machine
import requirements
from client import ClientMeasures
from fairness import FairnessMeasures
from growth import SIZES as GROWTH_SIZES
from growth import GrowthMeasures
from javascript import JavaScriptMeasures
from large import LargeMeasures
from measures import Measures
from notices import NoticeMeasures
from peers import PeerMeasures
from postgres import PostgreSQLMeasures
from programs import REPOSITORY, Programs
from queries import QueryMeasures
from stores import StoreMeasures


@dataclass
class Sizes:
    records: int = 100_000
    singles: int = 50_000
    large: int = 1_000_000
    idle: int = 10_000
    seconds: float = 4
    delta_rounds: int = 5
    shares: int = 1_000
    seconds_quiet: float = 20
    fairness_seconds: float = 60
    endpoint_seconds: float = 20
    fairness_rounds: int = 3
    containers: int = 10_000
    waiters: int = 1_000
    saves: int = 100
    subscribers: int = 1_000
    ingest_rounds: int = 6
    deliveries: int = 40_000
    ingest_requests: int = 25
    growth: tuple = GROWTH_SIZES[:2]
    growth_singles: int = 20_000
    peers: tuple = (250_000, 1_000_000)
    snapshot_seconds: float = 600
    large_store: tuple = ()


MARKER = "<!-- measured -->"

QUICK = Sizes(
    records=10_000, singles=3_000, large=20_000, idle=1_000, seconds=0.4, delta_rounds=1,
    shares=40, seconds_quiet=2, fairness_seconds=2, fairness_rounds=1,
    containers=300, waiters=100, saves=10, subscribers=20, ingest_rounds=2, deliveries=2_000,
    ingest_requests=2, growth=(20_000,), growth_singles=1_000, peers=(10_000, 20_000),
    snapshot_seconds=5)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1, help="how often all of it is done")
    parser.add_argument("--quick", action="store_true", help="small counts, a smoke test")
    parser.add_argument(
        "--only",
        choices=["assets", "client", "fairness", "growth", "javascript", "large", "notices",
                 "peers", "postgres", "queries", "sharing", "stores"],
        help="one part alone"
    )
    parser.add_argument("--fairness-seconds", type=float, help="of each round of that part")
    parser.add_argument("--rows", type=lambda text: text.split(","),
                        help="of that part: abuses, endpoints, or names, commas between")
    parser.add_argument("--growth-records", type=int, help="the one size of the part growth")
    parser.add_argument("--large", action="store_true", help="sizes that take hours, too")
    parser.add_argument("--large-records", type=int, default=20_000_000,
                        help="how many the large store of the part large has")
    parser.add_argument(
        "--before", type=Path, help="an older server, for the parts fairness and growth")
    parser.add_argument("--seed", type=int, default=0, help="of names and contents; 0 draws one")
    parser.add_argument("--json", type=Path, help="a file for all figures of all runs")
    parser.add_argument("--page", type=Path, help="a page whose measured part is written anew")
    parser.add_argument("--binary", type=Path, default=REPOSITORY / ".build/release/lenticular",
                        help="the server (default: what make release built)")
    parser.add_argument("--folder", type=Path, help="where data is written (default: .build)")
    return parser.parse_args()


def parts(asked, sizes, programs, folder, seed):
    """What is asked for, in order: names, and what measures each."""
    binary, before = asked.binary.resolve(), asked.before
    if asked.only in ("assets", "sharing"):
        return {asked.only: lambda: Measures(
            sizes, programs, binary, folder, seed).run(asked.only)}
    every = {
        "measures": lambda: Measures(sizes, programs, binary, folder, seed).run(),
        "queries": lambda: QueryMeasures(
            sizes, programs, binary, folder / "queries", seed).run(),
        "fairness": lambda: FairnessMeasures(
            sizes, binary, folder / "fairness", before, asked.rows).run(),
        "large": lambda: LargeMeasures(sizes, programs, binary, folder / "large", seed).run(),
        "growth": lambda: GrowthMeasures(
            sizes, programs, binary, folder / "growth", seed, before).run(),
        "peers": lambda: PeerMeasures(sizes, programs, binary, folder / "peers", seed).run(),
        "notices": lambda: NoticeMeasures(sizes, programs, binary, folder / "notices").run(),
        "stores": lambda: StoreMeasures(sizes, binary, folder / "stores").run(),
        "client": lambda: ClientMeasures(sizes, binary, folder / "client").run(),
        "javascript": lambda: JavaScriptMeasures(binary, folder / "javascript").run(),
        "postgres": lambda: PostgreSQLMeasures(
            sizes, programs, binary, folder / "postgres", seed).run(),
    }
    if asked.only:
        return {asked.only: every[asked.only]}
    # Fairness by itself alone: its many rounds take longer than all the rest together. PostgreSQL by itself, too: a
    # default build has not that engine.
    left = {"fairness", "postgres"} | (set() if sizes.large_store else {"large"})
    return {name: measure for name, measure in every.items() if name not in left}


def one_run(asked, sizes, programs, parent, seed, keep):
    """Measures part after part; one that fails ends alone, and `keep` gets what there is after each.

    Returns the names of those that failed.
    """
    folder = Path(tempfile.mkdtemp(prefix="benchmark-", dir=parent))
    began, own = time.monotonic(), machine.own_seconds()
    busy, stolen = machine.busy_seconds()
    figures, failed = {}, []
    try:
        for name, measure in parts(asked, sizes, programs, folder, seed).items():
            if requirements.missing(name):
                continue
            try:
                figures |= measure()
            except Exception:
                traceback.print_exc()
                failed.append(name)
                for log in sorted(folder.rglob("server.log")):
                    shutil.copy(log, parent / f"benchmark-{log.parent.name}.log")
            seconds = time.monotonic() - began
            busy_after, stolen_after = machine.busy_seconds()
            others = (busy_after - busy) - (machine.own_seconds() - own)
            figures["machine.seconds"] = seconds
            figures["machine.otherProcessors"] = max(0.0, others / seconds)
            figures["machine.stolenProcessors"] = (stolen_after - stolen) / seconds
            print(f"{name}: {'failed' if name in failed else 'measured'}, "
                  f"{seconds:.0f} s so far", flush=True)
            keep(figures)
    finally:
        shutil.rmtree(folder)
    return failed


def write_page(page, text):
    """Replaces everything after the page's marker."""
    kept, marker, _ = page.read_text().partition(MARKER)
    if not marker:
        sys.exit(f"benchmark: {page} has no line {MARKER}")
    page.write_text(f"{kept}{marker}\n\n{text}\n")


def chosen_sizes(asked):
    sizes = QUICK if asked.quick else Sizes()
    if asked.fairness_seconds:
        sizes.fairness_seconds = asked.fairness_seconds
    if asked.large:
        sizes.growth = GROWTH_SIZES
    if asked.large or asked.only == "large":
        sizes.large_store = (100_000, asked.large_records)
    if asked.growth_records:
        sizes.growth = (asked.growth_records,)
    return sizes


def look_around(asked, sizes):
    """Ends where nothing can be measured, and says what is left out, before anything begins."""
    if not asked.binary.exists():
        sys.exit(f"benchmark: {asked.binary} is missing, see make release")
    if not requirements.has_compiler():
        sys.exit("benchmark: needs a C compiler and SQLite's headers"
                 " (apt-get install gcc libsqlite3-dev)")
    names = list(parts(asked, sizes, None, Path(), 0))
    # The first part has files beside the rest.
    for name in names + ["assets"] * ("measures" in names):
        if words := requirements.missing(name):
            print(f"{name}: left out, for it needs {words}", flush=True)
    if all(requirements.missing(name) for name in names):
        sys.exit("benchmark: nothing is left to be measured")
    sizes.idle = requirements.idle_connections(sizes.idle)


def write_figures(written, asked, seed, runs):
    written.write_text(json.dumps({
        "seed": seed, "quick": asked.quick, "machine": machine.described(),
        "goals": goals.results(runs), "runs": runs}, indent=1) + "\n")


def write_tables(asked, seed, runs):
    print("\n" + goals.table(runs))
    if not asked.page:
        return
    there = machine.described()
    others = max(figures["machine.otherProcessors"] for figures in runs)
    warning = f"**Other programs used {others:.1f} processors meanwhile.** " * (others > 0.2)
    write_page(asked.page, warning + (
        f"{asked.runs} run(s), seed {seed}, {there['processors']} processors"
        f" ({there['model']}), {there['memoryMB']} MB, Linux {there['kernel']};"
        f" median (min – max).\n\n{goals.table(runs)}"))


def main():
    asked = arguments()
    sizes = chosen_sizes(asked)
    look_around(asked, sizes)
    parent = (asked.folder or REPOSITORY / ".build").resolve()
    parent.mkdir(parents=True, exist_ok=True)
    tools = parent / "benchmark-programs"
    tools.mkdir(exist_ok=True)
    programs = Programs(tools)
    programs.compile()
    seed = asked.seed or int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}, {machine.described()}", flush=True)
    written = asked.json or parent / "benchmark.json"
    runs, failed = [], set()
    for number in range(asked.runs):
        kept = list(runs)

        def keep(figures, kept=kept):
            runs[:] = [*kept, figures]
            write_figures(written, asked, seed, runs)
        failed |= set(one_run(asked, sizes, programs, parent, seed, keep))
        print(f"run {number + 1} of {asked.runs}: {runs[-1]['machine.seconds']:.0f} s", flush=True)
    write_tables(asked, seed, runs)
    print(f"\nAll figures: {written}")
    if failed:
        sys.exit(f"benchmark: failed: {', '.join(sorted(failed))}")


if __name__ == "__main__":
    main()
