"""The goals, and the table and spread that show how far a run came."""

import assets
import client
import fairness
import growth
import javascript
import large
import notices
import peers
import postgres
import queries
import sharing
import stores

READS = ("sync1", "sync2", "sync2000", "delta", "deltaEmpty", "lookup")


def ratio(of, to):
    return lambda figures: figures[of] / figures[to]


def figure(name, scale=1.0):
    return lambda figures: figures[name] * scale


def nginx_ratio(of):
    """Against the mean of nginx before and after, for the two are minutes of one machine."""
    return lambda figures: figures[of] / (
        (figures["nginx500.requestsPerSecond"] + figures["nginx500again.requestsPerSecond"]) / 2)


def mixed_sum(read):
    return lambda figures: (
        figures[f"mixed.{read}.readFraction"] + figures[f"mixed.{read}.ingestFraction"])


def mixed_least(read):
    return lambda figures: min(
        figures[f"mixed.{read}.readFraction"], figures[f"mixed.{read}.ingestFraction"])


MIB = 1 / 1_000_000

# Work, the figure shown beside the ratio, what is compared, at least or at most, the goal.
GOALS = [
    ("ingest / C loop", "ingest.recordsPerSecond",
     ratio("ingest.recordsPerSecond", "limit.ingest.rowsPerSecond"), ">=", 0.7),
    ("full sync, 200 a page, 1 connection / C scan", "sync1.recordsPerSecond",
     ratio("sync1.recordsPerSecond", "limit.scan200.rowsPerSecond"), ">=", 0.4),
    ("full sync, 200 a page, 2 connections / C scan", "sync2.recordsPerSecond",
     ratio("sync2.recordsPerSecond", "limit.scan200.rowsPerSecond"), ">=", 0.55),
    ("full sync, 2,000 a page, 1 connection / C scan", "sync2000.recordsPerSecond",
     ratio("sync2000.recordsPerSecond", "limit.scan2000.rowsPerSecond"), ">=", 0.6),
    ("delta, 100 of the large zone, p50 ms", "delta.large.p50us",
     figure("delta.large.p50us", 0.001), "<=", 0.2),
    ("delta, large zone / zone of 1,000, p50", "delta.small.p50us",
     ratio("delta.large.p50us", "delta.small.p50us"), "<=", 1.1),
    ("empty delta, 64 connections / nginx 500 B", "deltaEmpty.requestsPerSecond",
     nginx_ratio("deltaEmpty.requestsPerSecond"), ">=", 0.7),
    ("lookup of one, 64 connections / nginx 500 B", "lookup.requestsPerSecond",
     nginx_ratio("lookup.requestsPerSecond"), ">=", 0.6),
    ("single saves, 64 connections / C loop", "singles.recordsPerSecond",
     ratio("singles.recordsPerSecond", "limit.singles.rowsPerSecond"), ">=", 0.7),
    ("single saves, p99 ms", "singles.p99us", figure("singles.p99us", 0.001), "<=", 15),
    *((f"{read} while ingesting: sum of fractions", f"mixed.{read}.readFraction",
       mixed_sum(read), ">=", 0.85) for read in READS),
    *((f"{read} while ingesting: lesser fraction", f"mixed.{read}.ingestFraction",
       mixed_least(read), ">=", 0.35) for read in READS),
    ("idle connection, resident bytes each", "idle.bytesEach",
     figure("idle.bytesEach"), "<=", 512),
    ("resident when idle, MB", "resident.idle", figure("resident.idle", MIB), "<=", 30),
    ("resident after all, MB", "resident.after", figure("resident.after", MIB), "<=", 250),
    ("start to ready, empty folder, ms", "ready.fresh.ms", figure("ready.fresh.ms"), "<=", 100),
    ("start to ready, full store, ms", "ready.full.ms", figure("ready.full.ms"), "<=", 100),
    *sharing.GOALS,
    *queries.GOALS,
    *assets.GOALS,
    *fairness.GOALS,
    *growth.GOALS,
    *large.GOALS,
    *notices.GOALS,
    *peers.GOALS,
    *postgres.GOALS,
    *stores.GOALS,
    *client.GOALS,
    *javascript.GOALS,
]

LIMITS = [
    ("C loop, the server's records per commit, rows/s", "limit.ingest.rowsPerSecond"),
    ("records per commit that the server reached", "ingest.recordsPerCommit"),
    ("mean bytes of a stored body", "limit.ingest.bodyBytesMean"),
    ("C loop, 64 rows per commit, rows/s", "limit.singles.rowsPerSecond"),
    ("C scan, 200 a page, rows/s", "limit.scan200.rowsPerSecond"),
    ("C scan, 2,000 a page, rows/s", "limit.scan2000.rowsPerSecond"),
    ("nginx, 500 B, requests/s", "nginx500.requestsPerSecond"),
    ("nginx, 500 B, again, requests/s", "nginx500again.requestsPerSecond"),
    ("nginx, 100 KB, requests/s", "nginx100k.requestsPerSecond"),
    *sharing.BESIDE,
    *queries.BESIDE,
    *assets.BESIDE,
    *fairness.BESIDE,
    *growth.BESIDE,
    *large.BESIDE,
    *notices.BESIDE,
    *peers.BESIDE,
    *postgres.BESIDE,
    *stores.BESIDE,
    *client.BESIDE,
    ("processors used by other programs", "machine.otherProcessors"),
]

WORKLOADS = (
    "ingest", "sync1", "sync2", "sync2000", "singles", "lookup", "deltaEmpty", "delta.small",
    "delta.large", *sharing.WORKLOADS, *queries.WORKLOADS, *growth.WORKLOADS, *postgres.WORKLOADS,
)


def spread(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return {"min": ordered[0], "median": median, "max": ordered[-1]}


def shown(value):
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def spread_cell(values):
    if len(values) == 1:
        return shown(values[0])
    found = spread(values)
    return f"{shown(found['median'])} ({shown(found['min'])} – {shown(found['max'])})"


def results(runs):
    """Each goal with the spread over the runs; those of parts that were left out are not there."""
    rows = []
    for work, beside, value, direction, goal in GOALS:
        if any(beside not in figures for figures in runs):
            continue
        values = [value(figures) for figures in runs]
        median = spread(values)["median"]
        rows.append({
            "work": work, "goal": f"{direction} {goal}", "values": values, **spread(values),
            "met": median >= goal if direction == ">=" else median <= goal,
            "beside": beside, "besideSpread": spread([figures[beside] for figures in runs]),
        })
    return rows


def table(runs):
    """Markdown, for people and for docs/performance/as-measured.md."""
    lines = ["| work | measured | reached | goal | met |", "|---|---|---|---|---|"]
    for row in results(runs):
        measured = f"{shown(row['besideSpread']['median'])} {row['beside'].rsplit('.', 1)[1]}"
        lines.append(
            f"| {row['work']} | {measured} | {spread_cell(row['values'])} | {row['goal']} |"
            f" {'yes' if row['met'] else 'no'} |")
    lines += ["", "| beside it | median (min – max) |", "|---|---|"]
    for name, key in LIMITS:
        if any(key not in figures for figures in runs):
            continue
        lines.append(f"| {name} | {spread_cell([figures[key] for figures in runs])} |")
    lines += [
        "", "| workload (medians) | requests/s | p50 µs | p99 µs | max µs | processors of the server"
        " | of the generator |", "|---|---|---|---|---|---|---|"]
    for name in WORKLOADS:
        if any(f"{name}.p50us" not in figures for figures in runs):
            continue
        cells = [
            shown(spread([figures[f"{name}.{key}"] for figures in runs])["median"])
            for key in ("requestsPerSecond", "p50us", "p99us", "maxus", "serverProcessors",
                        "generatorProcessors")
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
