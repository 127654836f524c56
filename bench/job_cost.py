"""Measure how much a job slows down training on the same host: `python -m bench.job_cost --rounds 5`.

One trainer runs all the time. In turn, it trains alone and beside an evaluation, which is started as by a worker and
paused in between. The program compares neighboring measurements, so that other load affects both.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from arcadia_workers.contract import layout
from arcadia_workers.contract.jobs import EvaluationParameters, JobRequest
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.settings import WorkerSettings
from arcadia_workers.worker.work import JOB, LIMITED
from bench.raw_values import add_csv_option, write_rows

# The checkpoint for the job, which the trainer writes at its end.
FIRST_STEPS = 5_000
NICENESS = str(WorkerSettings.model_fields["job_niceness"].default)


def train(directory: Path, env: str, steps: int) -> "subprocess.Popen[bytes]":
    """Start a trainer that saves only at its end."""
    changes = [f"env={env}", f"total_steps={steps}", "checkpoint_seconds=86400"]
    options = [part for change in changes for part in ("--set", change)]
    command = [
        sys.executable,
        "-m",
        "arcadia_workers.trainer",
        "--preset",
        "paac-pong",
        *options,
        "--dir",
        str(directory),
    ]
    return subprocess.Popen([*command, "--no-progress-bar"], start_new_session=True, stdout=subprocess.DEVNULL)


def last_event(directory: Path, kind: str) -> dict[str, Any] | None:
    """Return the last event of a kind that was written to a directory."""
    file = directory / layout.EVENTS
    lines = file.read_text().splitlines()[-200:] if file.exists() else []
    found = [event for line in lines if line.endswith("}") and (event := json.loads(line))["kind"] == kind]
    return found[-1] if found else None


def wait_for(directory: Path, kind: str, process: "subprocess.Popen[bytes]") -> None:
    """Wait for an event of a kind."""
    while last_event(directory, kind) is None:
        if process.poll() is not None:
            sys.exit(f"{directory} ended with status {process.returncode} before its first {kind}")
        time.sleep(0.1)


@contextmanager
def job(directory: Path, checkpoints: Path, step: int, protocol: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start an endless evaluation, paused at first."""
    directory.mkdir()
    (directory / layout.CHECKPOINTS).symlink_to(checkpoints)
    how = EvaluationParameters(protocol=protocol, acting=SAMPLED, seed=1, episodes=1_000_000)
    request = JobRequest(kind="evaluation", step=step, parameters=how.model_dump(mode="json"))
    (directory / layout.REQUEST).write_text(request.model_dump_json())
    process = subprocess.Popen(
        [*JOB, str(directory / layout.REQUEST), "--dir", str(directory), "--nice", NICENESS],
        env={**os.environ, **LIMITED},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(directory, "evaluated_episode", process)
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        process.wait()


def rate(directory: Path, seconds: float) -> float:
    """Return a trainer's steps per second over the next seconds."""
    first = last_event(directory, "metrics") or sys.exit(f"{directory} has no metrics yet")
    time.sleep(seconds)
    last = last_event(directory, "metrics") or first
    return float((last["step"] - first["step"]) / (last["time"] - first["time"]))


def main() -> None:
    """Measure in turn, and print the ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.job_cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--env", default="ALE/Pong-v5")
    parser.add_argument("--protocol", default="no-op-5min")
    add_csv_option(parser)
    options = parser.parse_args()
    ratios: list[float] = []
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        first, run = Path(folder) / "first", Path(folder) / "run"
        train(first, options.env, FIRST_STEPS).wait()
        trainer = train(run, options.env, 10**9)
        try:
            wait_for(run, "metrics", trainer)
            step = layout.newest_step(first)
            with job(Path(folder) / "job", first / layout.CHECKPOINTS, step, options.protocol) as evaluation:
                before, used = rate(run, options.seconds), psutil.Process(evaluation.pid).cpu_times
                for _ in range(options.rounds):
                    spent = used().user
                    evaluation.send_signal(signal.SIGCONT)
                    beside = rate(run, options.seconds)
                    evaluation.send_signal(signal.SIGSTOP)
                    after = rate(run, options.seconds)
                    alone, before = statistics.mean((before, after)), after
                    ratios.append(beside / alone)
                    line = f"alone {alone:,.0f}/s, beside a job {beside:,.0f}/s: {ratios[-1]:.3f}"
                    share = (used().user - spent) / options.seconds
                    row = {"alone": round(alone), "beside": round(beside), "job_share": round(share, 2)}
                    rows.append({"round": len(ratios), **row})
                    line += f", the job had {share:.0%} of a core, load average {os.getloadavg()[0]:.0f}"
                    print(line, flush=True)
        finally:
            trainer.kill()
            trainer.wait()
    write_rows(options.csv, rows)
    print(f"median {statistics.median(ratios):.3f} of {len(ratios)}")


if __name__ == "__main__":
    main()
