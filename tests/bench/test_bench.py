"""Arithmetic of the benchmark: its ratios, table and stopwatch, and its error without a GPU."""

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import torch

import bench.__main__ as bench
from bench import rates
from bench.rates import CONTENDERS, Stopwatch
from tests.workers.waiting import PATIENCE_SECONDS

MEDIANS = {
    "ceiling": 1000.0,
    "paac": 600.0,
    "paac-128": 650.0,
    "ga3c": 400.0,
    "a3c-1-5": 100.0,
    "a3c-2-5": 190.0,
    "a3c-1-20": 200.0,
    "a3c-2-20": 350.0,
    "n-step-q-2": 300.0,
    "sb3-a2c-dummy": 100.0,
    "sb3-a2c-subproc": 150.0,
}


def test_the_ratios_have_names_and_are_computed_from_the_medians() -> None:
    assert bench.ratios(MEDIANS) == {
        "PAAC, 32 environments over the ceiling": 0.6,
        "PAAC, 128 environments over the ceiling": 0.65,
        "PAAC, 32 environments over the better A2C of Stable-Baselines3": 4.0,
        "GA3C over the ceiling": 0.4,
        "A3C, 2 processes, t_max 5 over the ceiling": 0.19,
        "A3C, 2 processes over 1, t_max 5": 1.9,
        "A3C, 2 processes, t_max 20 over the ceiling": 0.35,
        "A3C, 2 processes over 1, t_max 20": 1.75,
        "n-step Q, 2 processes over the ceiling": 0.3,
    }


def test_the_report_shows_the_median_of_the_rounds_and_each_round() -> None:
    report = bench.report("ALE/Pong-v5", {name: [rate, 3 * rate, 2 * rate] for name, rate in MEDIANS.items()})
    assert "1,200 steps/s (600, 1,800, 1,200)" in report
    assert report.splitlines()[-2].split() == ["A3C,", "2", "processes", "over", "1,", "t_max", "20", "1.75"]


def test_every_contender_has_a_label_for_the_table() -> None:
    assert set(bench.WORDS) == set(CONTENDERS)


def test_the_stopwatch_starts_after_a_warm_up_from_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(100.0)  # each look is one second later
    monkeypatch.setattr("bench.rates.time.perf_counter", lambda: next(seconds))
    stopwatch, step, looks = Stopwatch(seconds=4), 0, 0
    for _ in range(5):
        assert stopwatch.running(step)  # the environments are still opening
    while stopwatch.running(step := step + 10):
        looks += 1
    assert stopwatch.rate == 10
    assert looks == rates.WARM_UP_SECONDS + 4


HELP = """
import contextlib, io, runpy, sys, traceback
for module in sys.argv[1:]:
    sys.argv, shown = [module, "--help"], io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            runpy.run_module(module, run_name="__main__")
        print(module, "ran instead of printing its help")
    except SystemExit as ended:
        if ended.code or not shown.getvalue().startswith("usage: "):
            print(module, ended, shown.getvalue())
    except ModuleNotFoundError as error:
        # Some modules run in an environment with the packages that they measure.
        if error.name not in ("mlflow", "trackio", "rliable", "scipy"):
            print(module, error)
    except BaseException:
        print(module, traceback.format_exc())
"""


@pytest.mark.nightly
def test_every_benchmark_prints_its_help() -> None:
    folder = Path(bench.__file__).parent
    programs = [path for path in sorted(folder.rglob("*.py")) if '__name__ == "__main__"' in path.read_text()]
    modules = [".".join(path.relative_to(folder.parent).with_suffix("").parts) for path in programs]
    assert len(modules) > 20
    command = [sys.executable, "-c", HELP, *modules]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (shown.stdout, shown.returncode) == ("", 0), shown.stdout + shown.stderr


@pytest.mark.nightly
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_the_gpu_benchmark_fails_without_a_gpu() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "bench.gpu"], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert ended.returncode == 1
    assert "needs a GPU" in ended.stderr
