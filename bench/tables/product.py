"""Tables of times and counts: speed, requests, faults and tests."""

import statistics
from collections.abc import Callable

from bench.__main__ import WORDS, ratios
from bench.tables.cells import NONE, group, listing, number, numbers, percentile, ratio, show, values
from bench.tables.data import Lines, Row, Rows, table

SPEED_TARGETS = {
    "PAAC, 32 environments over the ceiling": 0.60,
    "PAAC, 128 environments over the ceiling": 0.60,
    "PAAC, 32 environments over the better A2C of Stable-Baselines3": 3.0,
    "GA3C over the ceiling": 0.35,
    "A3C, 2 processes, t_max 5 over the ceiling": 0.30,
    "A3C, 2 processes over 1, t_max 5": 1.8,
    "A3C, 2 processes, t_max 20 over the ceiling": 0.30,
    "A3C, 2 processes over 1, t_max 20": 1.8,
}
GAMES = {"Pong": "ALE/Pong-v5", "Breakout": "ALE/Breakout-v5"}


def rates(rows: Rows, env: str) -> dict[str, list[float]]:
    """Return the speeds of each contender in a game."""
    found = group([row for row in rows if row["env"] == env], "contender")
    return {str(contender): numbers(measured, "steps_per_second") for (contender,), measured in found.items()}


@table("speed.csv")
def speed(rows: Rows) -> Lines:
    games = [rates(rows, env) for env in GAMES.values()]
    lines = [["contender", *(f"{game}, steps/s: median (each round)" for game in GAMES)]]
    for contender, words in WORDS.items():
        lines.append([words, *(_rounds(game[contender]) for game in games)])
    return lines


def _rounds(measured: list[float]) -> str:
    return f"{show(statistics.median(measured))} ({'; '.join(show(rate) for rate in measured)})"


@table("speed.csv")
def speed_ratios(rows: Rows) -> Lines:
    medians = [{name: statistics.median(each) for name, each in rates(rows, env).items()} for env in GAMES.values()]
    found = [ratios(game) for game in medians]
    return [
        ["ratio of the medians", *GAMES, "target"],
        *([name, *(show(game[name], 2) for game in found), show(SPEED_TARGETS.get(name), 2)] for name in found[0]),
    ]


@table("futures.csv")
def futures(rows: Rows) -> Lines:
    lines = [["what", "repetitions", "seconds, each", "the training kept, each", "target, seconds"]]
    for (what,), found in group(rows, "what").items():
        kept = "; ".join(show(each, 2) for each in numbers(found, "training_speed_kept"))
        seconds = "; ".join(show(each, 1) for each in numbers(found, "seconds"))
        target = found[0]["target_seconds"]
        lines.append([str(what), str(len(found)), seconds, kept or NONE, NONE if target is None else str(target)])
    return lines


@table("job-cost.csv")
def job_cost(rows: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "round": "{round}",
            "alone, steps/s": "{alone:,}",
            "beside a job, steps/s": "{beside:,}",
            "ratio": ratio("beside", "alone", 3),
            "share of a core that the job used": "{job_share:.0%}",
        },
    )
    median = statistics.median(number(row["beside"]) / number(row["alone"]) for row in rows)
    return [*lines, ["median", "", "", show(median, 3), ""]]


@table("run-list.csv")
def run_list(rows: Rows) -> Lines:
    lines = [["request", "repetitions", "median", "p95", "kB"]]
    for row in rows:
        sample = values(row["milliseconds"])
        shown = [f"{percentile(sample, share):,.0f} ms" for share in (0.5, 0.95)]
        lines.append([f"`{row['request']}`", str(len(sample)), *shown, show(number(row["bytes"]) / 1e3)])
    return lines


@table("slurm-study.csv")
def slurm_study(rows: Rows) -> Lines:
    lines = [["what", "repetitions", "median", "p95"]]
    for row in rows:
        sample = values(row["values"])
        shown = [f"{percentile(sample, share):,.1f} {row['unit']}" for share in (0.5, 0.95)]
        lines.append([str(row["what"]), str(len(sample)), *shown])
    return lines


@table("job-start.csv")
def job_start(rows: Rows) -> Lines:
    """Show how long a run takes to each part of its start, in both places."""
    lines = [["until", *(f"{place}, median and largest" for (place,) in group(rows, "place"))]]
    for (until,), found in group(rows, "until").items():
        samples = [values(row["values"]) for row in found]
        lines.append([str(until), *(f"{percentile(each, 0.5):.2f} and {max(each):.2f} s" for each in samples)])
    return lines


@table("recorded-times.csv")
def recorded_times(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "what": "{what}",
            "repetitions": "{repetitions}",
            "median": "{median_ms:,} ms",
            "p95": "{p95_ms:,} ms",
            "longest": "{longest_ms:,} ms",
            "target": "{target_ms:,} ms",
            "load average": "{load}",
        },
    )


@table("ingest.csv")
def ingest(rows: Rows) -> Lines:
    lines = [["points per event", "SQLite, points/s", "PostgreSQL, points/s"]]
    for (points,), found in group(rows, "points_per_event").items():
        lines.append([str(points), *(show(number(row["points_per_second"])) for row in found)])
    return lines


@table("repeats.csv")
def repeats(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "environment": "{env}",
            "updates": "{updates}",
            "computation": "{computation}",
            "repetitions": "{repetitions}",
            "different results": "{different_results}",
        },
    )


@table("run-table.csv", "run-table-before.csv")
def run_table(rows: Rows, before: Rows) -> Lines:
    return _run_table(10_000, rows, before)


@table("run-table.csv", "run-table-before.csv")
def large_run_table(rows: Rows, before: Rows) -> Lines:
    return _run_table(100_000, rows, before)


def _run_table(runs: int, rows: Rows, before: Rows) -> Lines:
    """Return the processor time of each query on each database, before the table of settings and now."""
    databases = ("SQLite", "PostgreSQL")
    lines = [["query", *(name for database in databases for name in (f"{database} before", database))]]
    measured = {
        (row["runs"], row["query"], row["database"], place): row for place in (0, 1) for row in (before, rows)[place]
    }
    for query in dict.fromkeys(row["query"] for row in rows if row["runs"] == runs):
        cells = [measured.get((runs, query, database, place)) for database in databases for place in (0, 1)]
        lines.append([f"`{query}`", *(_processor_time(row) for row in cells)])
    return lines


def _processor_time(row: Row | None) -> str:
    return show(statistics.median(values(row["processor_milliseconds"]))) if row else NONE


@table("idle.csv")
def idle(rows: Rows) -> Lines:
    lines = [["process", "CPU time, % of a core", "wakeups/s"]]
    for (process,), found in group(rows, "process").items():
        sums = [sum(numbers(found, name)) for name in ("percent", "wakeups")]
        lines.append([str(process), show(sums[0], 3), show(sums[1], 1)])
    everything = [sum(numbers(rows, name)) for name in ("percent", "wakeups")]
    return [*lines, ["all", show(everything[0], 3), show(everything[1], 1)]]


@table("idle.csv")
def idle_threads(rows: Rows) -> Lines:
    busiest = sorted(rows, key=lambda row: -number(row["percent"]))[:8]
    return listing(
        busiest,
        {
            "process": "{process}",
            "thread": "{thread}",
            "CPU time, % of a core": "{percent:.3f}",
            "wakeups/s": "{wakeups:.1f}",
        },
    )


@table("idle-workers.csv")
def idle_workers(rows: Rows) -> Lines:
    columns = {
        "workers that wait": "{workers}",
        "CPU time of the server, % of a core": "{percent:.2f}",
        "first ring after a launch": "{ring_milliseconds:.0f} ms",
    }
    return listing(rows, columns)


@table("claims.csv")
def claims(rows: Rows) -> Lines:
    return listing(rows, {"what": "{what}", "median": "{milliseconds:.1f} ms"})


@table("lab.csv")
def lab(rows: Rows) -> Lines:
    columns = {
        "month": "{seed}",
        "error of a share": "{share_error:.3f}",
        "utilization": "{utilization:.2f}",
        "covered": "{covered:.3f}",
        "forecasts": "{forecasts:,}",
        "unknown": "{unknown:,}",
        "longest time without a start": "{longest_gap_hours:.0f} h",
        "longest wait of a run": "{longest_wait_hours:.0f} h",
    }
    return listing(rows, columns)


@table("live.csv")
def live(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "other load": "{load}",
            "viewers": "{viewers}",
            "measured viewer": "{viewer}",
            "pictures per second": "{pictures_per_second}",
            "delay, median": "{median_ms} ms",
            "delay, p95": "{p95_ms} ms",
        },
    )


@table("fuzz-requests.csv")
def fuzz_requests(rows: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "requests": "{requests}",
            "database": "{database}",
            "sent": "{sent:,}",
            "5xx": "{server_errors}",
            "violations": "{violations}",
            "duration": "{seconds} s",
        },
    )
    sums = [show(sum(numbers(rows, name))) for name in ("sent", "server_errors", "violations")]
    return [*lines, ["all", "", *sums, ""]]


@table("fuzz-files.csv")
def fuzz_files(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "files": "{files}",
            "database": "{database}",
            "sent": "{sent:,}",
            "accepted": "{accepted:,}",
            "refused": "{refused:,}",
            "problems": "{problems}",
        },
    )


@table("gorila-speed.csv")
def gorila_speed(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "minibatch": "{minibatch} every {steps_per_gradient} steps",
            "bundles": "{bundles}",
            "updates/s": "{updates_per_second:.1f}",
            "steps/s": "{steps_per_second}",
            "acting, ms": "{acting_ms:.1f}",
            "learning, ms": "{learning_ms:.1f}",
            "waiting, ms": "{waiting_ms:.1f}",
            "shard busy": "{shard_busy:.0%}",
            "staleness": "{staleness:.2f}",
        },
    )


@table("gorila-two-hosts.csv")
def gorila_two_hosts(rows: Rows) -> Lines:
    return listing(rows, {"phase": "{phase}", "seconds": "{seconds}"})


@table("gpu-speed.csv")
def gpu_speed(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "GPU": "{gpu}",
            "method": "{method}",
            "network": "{network}",
            "environments": "{environments}",
            "ceiling, steps/s": "{ceiling:,}",
            "method, steps/s": "{steps_per_second:,}",
            "over the ceiling": ratio("steps_per_second", "ceiling"),
        },
    )


@table("gpu-ga3c-graphs.csv")
def gpu_ga3c_graphs(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "agents": "{agents}",
            "predictors": "{predictors}",
            "trainers": "{trainers}",
            "without graphs, steps/s": "{without_graphs:,}",
            "with graphs, steps/s": "{with_graphs:,}",
        },
    )


@table("gpu-pong.csv")
def gpu_pong(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "GPU": "{gpu}",
            "seed": "{seed}",
            "steps": "{steps:,}",
            "seconds since the first update": "{seconds}",
            "mean of the last 100": "{mean_return:.1f}",
        },
    )


@table("gpu-system.csv")
def gpu_system(rows: Rows) -> Lines:
    def span(name: str) -> Callable[[Row], str]:
        return lambda row: NONE if row[f"{name}_low"] is None else _span(row[f"{name}_low"], row[f"{name}_high"])

    return listing(rows, {"metric": "{metric}", "the run's samples": span("run"), "`nvidia-smi`": span("nvidia_smi")})


def _span(low: object, high: object) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


@table("seeds-until-certain.csv")
def false_verdicts(rows: Rows) -> Lines:
    lines = [["scores", "points", "studies", "false verdicts", "share"]]
    for row in rows:
        if row["false"] is not None:
            share = number(row["false"]) / number(row["studies"])
            counts = [show(number(row["studies"])), show(number(row["false"]))]
            lines.append([str(row["scores"]), str(row["points"]), *counts, show(100 * share, 1, " %")])
    return lines


@table("seeds-until-certain.csv")
def seeds_saved(rows: Rows) -> Lines:
    lines = [["limit", "difference", "studies", "power", "seeds, mean", "fixed seeds", "saved"]]
    for row in rows:
        if row["seeds_used"] is None:
            continue
        counts = [tuple(map(int, pair.split(":"))) for pair in str(row["seeds_used"]).split()]
        studies, limit = number(row["studies"]), number(row["limit"])
        power = sum(count for seeds, count in counts if seeds <= limit) / studies
        mean = sum(min(seeds, limit) * count for seeds, count in counts) / studies
        saved = 1 - mean / number(row["fixed_seeds"])
        shown = [show(100 * power, 1, " %"), show(mean, 1), str(row["fixed_seeds"]), show(100 * saved, 0, " %")]
        lines.append([str(row["limit"]), f"{row['difference']} σ", show(studies), *shown])
    return lines


@table("study-failures.csv")
def study_failures(rows: Rows) -> Lines:
    """Show how often a study says that the method that fails is the better one."""

    def share(field: str) -> Callable[[Row], str]:
        return lambda row: show(100 * number(row[field]) / number(row["studies"]), 1, " %")

    return listing(
        rows,
        {
            "fails": lambda row: show(100 * number(row["fails"]), 0, " %"),
            "better otherwise": "{better} σ",
            "wins": lambda row: show(100 * number(row["wins"]), 1, " %"),
            "ranks highest if failures are left out": share("left_out"),
            "ranks highest": share("highest"),
            "the other ranks highest": share("other_highest"),
            "10 seeds: “among finished runs … beats”": share("among_10"),
            "10 seeds: “beats”": share("beats_10"),
            "5 seeds: “beats”": share("beats_5"),
        },
    )


@table("storm.csv")
def storm(rows: Rows) -> Lines:
    lines = listing(
        rows,
        {
            "last killed": "{last_killed}",
            "kills": "{kills}",
            "recoveries": "{recoveries}",
            "median": "{median_seconds:.1f} s",
            "longest": "{longest_seconds:.1f} s",
        },
    )
    kills, recoveries = (show(sum(numbers(rows, name))) for name in ("kills", "recoveries"))
    return [*lines, ["all", kills, recoveries, "", show(max(numbers(rows, "longest_seconds")), 1, " s")]]


@table("storm-counts.csv")
def storm_counts(rows: Rows) -> Lines:
    return listing(rows, {"what": "{what}", "count": "{count:,}"})


@table("storm-busy.csv")
def storm_busy(rows: Rows) -> Lines:
    return storm(rows)


@table("storm-busy-counts.csv")
def storm_busy_counts(rows: Rows) -> Lines:
    return storm_counts(rows)


@table("mutants.csv")
def mutants(rows: Rows) -> Lines:
    """Show how many mutations the tests noticed, and how many they notice with the tests that were added."""
    names = ("tried", "killed", "survived", "equivalent", "undecided", "killed_now")
    lines = [["package", *names[:-1], "killed now"]]
    lines += [[str(row["package"]), *(show(number(row[name])) for name in names)] for row in rows]
    return [*lines, ["all", *(show(sum(numbers(rows, name))) for name in names)]]


@table("suite.csv")
def suite(rows: Rows) -> Lines:
    return listing(rows, {"tests": "{tests}", "number": "{count:,}", "minutes": "{minutes}"})


@table("suite-repeats.csv")
def suite_repeats(rows: Rows) -> Lines:
    """Show how often the whole suite failed."""
    columns = {"commit": "{commit}", "passed": "{passed:,}", "failed": "{failed}", "minutes": "{minutes}"}
    return listing(rows, {**columns, "beside": "{beside}"})


@table("doors.csv")
def doors(rows: Rows) -> Lines:
    """Show the answers to requests of all routes by caller."""
    names = {"done": "done", "sign_in": "sign in", "no_right": "no right", "hidden": "hidden", "other": "other"}
    return listing(rows, {"caller": "{caller}", **{title: f"{{{field}}}" for field, title in names.items()}})


@table("rights-cost.csv")
def rights_cost(rows: Rows) -> Lines:
    """Show the processor times of a page of runs for an administrator and for a person with a role."""
    lines = [["query", "administrator, median and p95", "person, median and p95", "ratio of the medians"]]
    for row in rows:
        cells = [
            f"{show(number(row[f'{caller}_median']), 1)} and {show(number(row[f'{caller}_p95']), 1, ' ms')}"
            for caller in ("administrator", "person")
        ]
        ratio = number(row["person_median"]) / number(row["administrator_median"])
        lines.append([f"`{row['query']}`", *cells, show(ratio, 2)])
    return lines
