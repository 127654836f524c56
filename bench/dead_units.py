"""Print the health of the networks of run directories over their steps: `python -m bench.dead_units RUN_DIR...`."""

import argparse
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from arcadia_workers.contract.events import Metrics
from arcadia_workers.contract.metrics import DEAD_UNITS
from bench.learning_curve import WINDOW, read_events

SPREAD = "network/value_spread"


def rows(directory: Path, every: int) -> Iterator[str]:
    """Yield the first measurement in each interval of steps, with the mean return of the last 100 episodes."""
    returns: deque[float] = deque(maxlen=WINDOW)
    due = 0
    for event in read_events(directory):
        if not isinstance(event, Metrics):
            continue
        returns.extend(episode.episode_return for episode in event.episodes)
        if SPREAD in event.values and event.step >= due:
            due = event.step // every * every + every
            dead = [f"{event.values[unit.name]:.0%}" for unit in DEAD_UNITS if unit.name in event.values]
            mean = f"{sum(returns) / len(returns):.2f}" if returns else "–"
            yield f"{event.step:>10,}  {mean:>7}  {event.values[SPREAD]:>8.3f}  {'  '.join(dead)}"


def main() -> None:
    """Print a table for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=50_000, help="steps between two rows")
    arguments = parser.parse_args()
    for directory in arguments.directories:
        print(f"{directory.name}: step, mean return, spread of values, dead share of each layer")
        for row in rows(directory, arguments.every):
            print(row)


if __name__ == "__main__":
    main()
