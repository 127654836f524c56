"""`make bench`: PAAC beside the environment-only ceiling and Stable-Baselines3's A2C, on one game in one run."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from bench.rates import CONTENDERS

PACKAGES = ("torch", "ale-py", "gymnasium", "stable-baselines3")


def measure(contender: str, env: str, seconds: float) -> float:
    """Take one measurement in a fresh process."""
    command = [sys.executable, "-m", "bench.rates", contender, env, str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output.splitlines()[-1])["steps_per_second"])


def machine() -> str:
    """Say on what the numbers were taken."""
    from importlib.metadata import version

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), platform.processor())
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"{len(os.sched_getaffinity(0))} cores, {model}; Python {platform.python_version()}, {versions}"


def report(env: str, rates: dict[str, list[float]]) -> str:
    """Lay the medians out as a table, with the two ratios that matter."""
    medians = {contender: statistics.median(values) for contender, values in rates.items()}
    rival = max(medians["sb3-a2c-dummy"], medians["sb3-a2c-subproc"])
    lines = [f"{env}, {machine()}", "", f"{'contender':<18}{'steps/s':>10}   each round"]
    for contender, values in rates.items():
        each = ", ".join(f"{value:,.0f}" for value in values)
        lines.append(f"{contender:<18}{medians[contender]:>10,.0f}   {each}")
    lines += [
        "",
        f"PAAC over the environment-only ceiling: {medians['paac'] / medians['ceiling']:.2f}",
        f"PAAC over the better A2C of Stable-Baselines3: {medians['paac'] / rival:.2f}×",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure every contender in turn, some rounds over, so that drift of the machine meets them all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--env", default="ALE/Pong-v5")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {contender: [] for contender in CONTENDERS}
    for measured in range(options.rounds):
        for contender, values in rates.items():
            values.append(measure(contender, options.env, options.seconds))
            print(f"round {measured + 1}  {contender:<18}{values[-1]:>10,.0f} steps/s", flush=True)
    print()
    print(report(options.env, rates))


if __name__ == "__main__":
    main()
