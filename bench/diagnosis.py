"""False alarms of each rule of the diagnosis in healthy runs, and how often it finds an injected fault.

python -m bench.diagnosis [--quick] [--json] [--recorded FOLDER] [--train SEEDS]

Without a folder, the recorded runs are those of the shipped examples. With --train, presets that learn within a minute
are first trained with these seeds below the folder.
"""

import argparse
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arcadia_backend.examples import EXAMPLES
from arcadia_backend.marks.anomalies import SLOW_SECONDS, SPEED_AFTER, SPEED_BEFORE
from arcadia_backend.marks.rules import METRICS, RULES, find_anomalies
from arcadia_backend.marks.signals import Anomaly, Samples, Signals
from arcadia_backend.metrics.points import Array
from arcadia_backend.metrics.service import pack_events
from arcadia_workers.contract.events import Metrics
from arcadia_workers.contract.layout import CONFIG, EVENTS
from arcadia_workers.contract.metrics import STEPS_PER_SECOND
from bench.healthy import FAULTS, KINDS, simulate
from bench.learning_curve import read_events
from bench.raw_values import add_csv_option, write_rows

SEED = 20_261_129
RUNS, QUICK_RUNS = 400, 40
# Promised share of healthy runs with a finding at most, and of runs with a fault in which it is found at least.
MAX_FALSE, MIN_FOUND = 0.05, 0.75
# A lower speed is confirmed below this share of the one before.
CONFIRMED = 0.6
PRESETS = (
    "paac-cartpole",
    "a3c-cartpole",
    "a3c-lstm-cartpole",
    "a3c-inverted-pendulum",
    "ga3c-cartpole",
    "one-step-q-cartpole",
    "one-step-sarsa-cartpole",
    "n-step-q-cartpole",
    "paac-n-step-q-cartpole",
    "paac-catch",
    "paac-identity",
)


@dataclass(frozen=True)
class Row:
    """How often a rule is wrong and right."""

    rule: str
    # Share of simulated healthy runs with this finding, by their kind.
    alarms: Mapping[str, float]
    # Recorded healthy runs with this finding.
    recorded: list[str]
    recorded_runs: int
    # Share of simulated runs with the fault in which it is found, by their kind.
    found: Mapping[str, float]

    def is_broken(self, runs: int) -> bool:
        """Return True if a promise is broken by more than three standard errors of the simulation."""
        allowed, least = (
            share + sign * 3 * (share * (1 - share) / runs) ** 0.5 for share, sign in ((MAX_FALSE, 1), (MIN_FOUND, -1))
        )
        return (
            max(self.alarms.values()) > allowed
            or float(np.mean([*self.found.values()])) < least
            or len(self.recorded) > MAX_FALSE * self.recorded_runs
        )


def triggered_rules(signals: Signals) -> set[str]:
    """Return the rules that find something."""
    return {anomaly.rule for anomaly in find_anomalies(signals)}


def false_alarms(signals: Signals) -> set[str]:
    """Return the rules that find something in a recorded run.

    Its host may have been busy, so a lower speed is false only if the clock does not confirm it.
    """
    return {
        anomaly.rule
        for anomaly in find_anomalies(signals)
        if anomaly.metric != STEPS_PER_SECOND or not clock_confirms(anomaly, signals[STEPS_PER_SECOND])
    }


def clock_confirms(slowed: Anomaly, samples: Samples) -> bool:
    """Return True if the steps and times of the samples show a lower speed than before."""

    at = int(np.searchsorted(samples.seconds, slowed.seconds))

    def speed(begin: float, end: float) -> float:
        inside = (samples.seconds >= begin) & (samples.seconds <= end)
        return float(np.ptp(samples.steps[inside]) / np.ptp(samples.seconds[inside]))

    # Some methods report their speed seldom.
    first, last = (float(samples.seconds[max(0, at - SPEED_BEFORE)]), float(samples.seconds[-1]))
    before = speed(min(first, slowed.seconds - 2 * SLOW_SECONDS), slowed.seconds)
    if slowed.rule == "speed_halved":
        last = min(last, max(float(samples.seconds[at + SPEED_AFTER - 1]), slowed.seconds + SLOW_SECONDS))
    return speed(slowed.seconds, last) < CONFIRMED * before


def measure(runs: int, recorded: Mapping[str, Signals]) -> list[Row]:
    """Judge simulated and recorded healthy runs, and runs with a fault, by all rules."""
    random = np.random.default_rng(SEED)
    healthy = {name: [triggered_rules(simulate(random, kind)) for _ in range(runs)] for name, kind in KINDS.items()}
    judged = {name: false_alarms(signals) for name, signals in recorded.items()}
    rows = []
    for rule in RULES:
        name = rule.info.name
        fault, each = FAULTS[name], range(-(-runs // len(FAULTS[name].kinds)))
        found = {
            kind: float(np.mean([name in triggered_rules(fault.simulate(random, kind)) for _ in each]))
            for kind in fault.kinds
        }
        alarms = {kind: float(np.mean([name in run for run in of_kind])) for kind, of_kind in healthy.items()}
        wrong = [run for run, those in judged.items() if name in those]
        rows.append(Row(name, alarms, wrong, len(judged), found))
    return rows


def read_examples() -> dict[str, Signals]:
    """Return the shipped example runs."""
    runs = {}
    with zipfile.ZipFile(EXAMPLES) as archive:
        for member in archive.namelist():
            if member.endswith("/rows/run.jsonl"):
                run, folder = json.loads(archive.read(member)), member.removesuffix("rows/run.jsonl")
                series = {}
                for row in map(json.loads, archive.read(f"{folder}rows/series.jsonl").splitlines()):
                    points = np.load(io.BytesIO(archive.read(f"{folder}points/{row['archive_number']}.npy")))
                    ends = np.cumsum([count for _attempt, count in row["segments"]])
                    numbers = [attempt for attempt, _count in row["segments"]]
                    series[row["name"]] = dict(zip(numbers, np.split(points, ends[:-1]), strict=True))
                runs[run["name"]] = to_signals(series, run["config"])
    return runs


def read_runs(folder: Path) -> dict[str, Signals]:
    """Return the runs in the directories of a folder. Each has a single attempt."""
    runs = {}
    for directory in sorted(path.parent for path in folder.glob(f"*/{EVENTS}")):
        points = pack_events([event for event in read_events(directory) if isinstance(event, Metrics)])
        config = json.loads((directory / CONFIG).read_text())
        runs[directory.name] = to_signals({name: {1: each} for name, each in points.items()}, config)
    return runs


def to_signals(series: Mapping[str, Mapping[int, Array]], config: Mapping[str, object]) -> Signals:
    """Return the points of each attempt as the rules read them. Time between attempts does not count."""
    passed, shifts = 0.0, {}
    wanted = {name: of_attempts for name, of_attempts in series.items() if name in METRICS}
    for attempt in sorted({attempt for of_attempts in wanted.values() for attempt in of_attempts}):
        times = np.concatenate([each[attempt]["time"] for each in wanted.values() if attempt in each])
        shifts[attempt] = float(times.min()) - passed
        passed += float(np.ptp(times))
    samples = {
        name: Samples(
            np.concatenate([points["step"] for points in of_attempts.values()]),
            np.concatenate([points["time"] - shifts[attempt] for attempt, points in of_attempts.items()]),
            np.concatenate([points["value"] for points in of_attempts.values()]),
        )
        for name, of_attempts in wanted.items()
    }
    return Signals(samples, config)


def train(folder: Path, seeds: Iterable[int]) -> None:
    """Train the presets with these seeds, each in a directory of the folder, unless it exists."""
    for seed in seeds:
        for preset in PRESETS:
            directory = folder / f"{preset}-{seed}"
            if not directory.exists():
                command = [sys.executable, "-m", "arcadia_workers.trainer", "--preset", preset, "--set", f"seed={seed}"]
                # One checkpoint at the end, because replays are not judged.
                command += ["--set", "checkpoint_seconds=86400"]
                # An interrupted training is no healthy run.
                partial = directory.with_name(f"{directory.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                subprocess.run(
                    [*command, "--dir", str(partial), "--no-progress-bar"], check=True, stdout=subprocess.DEVNULL
                )
                partial.rename(directory)


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| rule | simulated | most of one kind | recorded | fault found |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        kind = max(row.alarms, key=lambda name: row.alarms[name])
        most = f"{row.alarms[kind]:.1%}" + (f", {kind}" if row.alarms[kind] else "")
        mean, found = (float(np.mean([*shares.values()])) for shares in (row.alarms, row.found))
        yield f"| `{row.rule}` | {mean:.1%} | {most} | {len(row.recorded)} of {row.recorded_runs} | {found:.0%} |"


def raw_rows(rows: Iterable[Row], runs: int) -> Iterator[dict[str, object]]:
    """Yield the number of findings of each rule in the runs of each kind."""
    for row in rows:
        for truth, shares in (("healthy", row.alarms), ("fault", row.found)):
            for kind, share in shares.items():
                yield {"rule": row.rule, "truth": truth, "kind": kind, "runs": runs, "found": round(share * runs)}
        recorded = {"kind": "recorded", "runs": row.recorded_runs, "found": len(row.recorded)}
        yield {"rule": row.rule, "truth": "recorded", **recorded}


def main() -> int:
    """Print the table as Markdown, or as JSON. Return 1 if a rule breaks its promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} instead of {RUNS:,} runs of each kind")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--recorded", type=Path, metavar="FOLDER", help="run directories that are healthy")
    parser.add_argument("--train", type=int, default=0, metavar="SEEDS", help="train presets below the folder first")
    add_csv_option(parser)
    options = parser.parse_args()
    if options.train and not options.recorded:
        parser.error("--train needs --recorded FOLDER, where the runs are kept")
    runs, recorded = QUICK_RUNS if options.quick else RUNS, read_examples()
    if options.recorded:
        train(options.recorded, range(1, options.train + 1))
        recorded |= read_runs(options.recorded)
    rows = measure(runs, recorded)
    write_rows(options.csv, [*raw_rows(rows, runs)])
    if options.json:
        print(json.dumps({"runs": runs, "rows": [vars(row) for row in rows]}))
    else:
        print("\n".join(table(rows)))
    return int(any(row.is_broken(runs) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
