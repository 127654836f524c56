"""`make bench`: compare the methods with the environments alone and with Stable-Baselines3's A2C, in one run."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from bench.rates import CONTENDERS
from bench.raw_values import add_csv_option, write_rows

WORDS = {
    "ceiling": "environments alone: 32, two threads, random actions",
    "paac": "PAAC, 32 environments",
    "paac-128": "PAAC, 128 environments",
    "ga3c": "GA3C, 16 agents, 1 predictor, 1 trainer",
    "a3c-1-5": "A3C, 1 process, t_max 5",
    "a3c-2-5": "A3C, 2 processes, t_max 5",
    "a3c-1-20": "A3C, 1 process, t_max 20",
    "a3c-2-20": "A3C, 2 processes, t_max 20",
    "n-step-q-2": "n-step Q, 2 processes",
    "sb3-a2c-dummy": "Stable-Baselines3 A2C, 16 environments, DummyVecEnv",
    "sb3-a2c-subproc": "Stable-Baselines3 A2C, 16 environments, SubprocVecEnv",
}
GAMES = ("ALE/Pong-v5", "ALE/Breakout-v5")
PACKAGES = ("torch", "ale-py", "gymnasium", "stable-baselines3")


def measure(contender: str, env: str, seconds: float) -> float:
    """Take one measurement in a new process."""
    command = [sys.executable, "-m", "bench.rates", contender, env, str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output.splitlines()[-1])["steps_per_second"])


def machine() -> str:
    """Describe the machine and the versions."""
    from importlib.metadata import version

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), platform.processor())
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"{len(os.sched_getaffinity(0))} cores, {model}; Python {platform.python_version()}, {versions}"


def ratios(medians: dict[str, float]) -> dict[str, float]:
    """Return the ratios between contenders for which there are targets."""
    ceiling, rival = medians["ceiling"], max(medians["sb3-a2c-dummy"], medians["sb3-a2c-subproc"])
    return {
        "PAAC, 32 environments over the ceiling": medians["paac"] / ceiling,
        "PAAC, 128 environments over the ceiling": medians["paac-128"] / ceiling,
        "PAAC, 32 environments over the better A2C of Stable-Baselines3": medians["paac"] / rival,
        "GA3C over the ceiling": medians["ga3c"] / ceiling,
        "A3C, 2 processes, t_max 5 over the ceiling": medians["a3c-2-5"] / ceiling,
        "A3C, 2 processes over 1, t_max 5": medians["a3c-2-5"] / medians["a3c-1-5"],
        "A3C, 2 processes, t_max 20 over the ceiling": medians["a3c-2-20"] / ceiling,
        "A3C, 2 processes over 1, t_max 20": medians["a3c-2-20"] / medians["a3c-1-20"],
        "n-step Q, 2 processes over the ceiling": medians["n-step-q-2"] / ceiling,
    }


def report(env: str, rates: dict[str, list[float]]) -> str:
    """Return one game's rates as text: the median, then each round."""
    lines = [env]
    for contender, values in rates.items():
        each = ", ".join(f"{value:,.0f}" for value in values)
        lines.append(f"{WORDS[contender]:<56}{statistics.median(values):>8,.0f} steps/s ({each})")
    medians = {contender: statistics.median(values) for contender, values in rates.items()}
    lines += [f"{words:<64}{value:.2f}" for words, value in ratios(medians).items()]
    return "\n".join(lines)


def measure_all(env: str, rounds: int, seconds: float) -> dict[str, list[float]]:
    """Measure every contender in turn for several rounds, so that the machine's drift affects all of them."""
    rates: dict[str, list[float]] = {contender: [] for contender in CONTENDERS}
    for measured in range(rounds):
        for contender, values in rates.items():
            values.append(measure(contender, env, seconds))
            print(f"{env}  round {measured + 1}  {contender:<16}{values[-1]:>8,.0f} steps/s", flush=True)
    return rates


def main() -> None:
    """Measure and print. With --csv, `python -m bench.tables --write` puts the rates into docs/results/speed.md."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--env", action="append", metavar="ID", help="a game; repeatable (default: Pong and Breakout)")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    add_csv_option(parser)
    options = parser.parse_args()
    games = {env: measure_all(env, options.rounds, options.seconds) for env in options.env or GAMES}
    print(machine(), *(report(env, rates) for env, rates in games.items()), sep="\n\n")
    rows: list[dict[str, object]] = []
    for env, rates in games.items():
        for contender, values in rates.items():
            rows += [
                {"env": env, "contender": contender, "round": n, "steps_per_second": round(value)}
                for n, value in enumerate(values, 1)
            ]
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
